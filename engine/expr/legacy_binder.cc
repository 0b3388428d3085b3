#include "engine/expr/legacy_binder.h"

#include <algorithm>
#include <compare>
#include <iterator>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "engine/expr/paths.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/constraint_list.h"
#include "storage/model/item_view.h"

namespace armature::expr {
namespace {

using model::ValueType;

// The enumerator with the same position as `name` in `names`.
template <class Enum, size_t kCount>
std::optional<Enum> ByName(const std::string_view (&names)[kCount], std::string_view name) {
  const auto found = std::find(std::begin(names), std::end(names), name);
  if (found == std::end(names)) return std::nullopt;
  return static_cast<Enum>(found - std::begin(names));
}

// Path to a top-level attribute. `position` orders paths, like the position in an expression.
DocumentPath LegacyPath(std::string attribute, size_t position) {
  DocumentPath path;
  path.elements.push_back(PathElement{PathElement::Kind::kName, std::move(attribute), 0});
  path.position = position;
  return path;
}

absl::Status CheckUpdate(const LegacyUpdate& update) {
  if (!update.value.has_value()) {
    if (update.action == LegacyAction::kDelete) return absl::OkStatus();
    return InvalidParameterError("Only DELETE action is allowed when no attribute value is specified");
  }
  const ValueType type = update.value->type();
  if (update.action == LegacyAction::kDelete && !IsSet(type)) {
    return InvalidParameterError(
        Cat("DELETE action with value is not supported for the type ", model::ValueTypeName(type)));
  }
  const bool addable = IsSet(type) || type == ValueType::kNumber || type == ValueType::kList;
  if (update.action == LegacyAction::kAdd && !addable) {
    return InvalidParameterError(Cat("ADD action is not supported for the type ", model::ValueTypeName(type)));
  }
  return absl::OkStatus();
}

// Requires that CheckUpdate returned OK.
void AddAction(const LegacyUpdate& update, DocumentPath target, Update* to) {
  if (!update.value.has_value()) {
    to->removes.push_back(std::move(target));
    return;
  }
  ValueOperand operand{std::string(), update.value};
  switch (update.action) {
    case LegacyAction::kPut: {
      UpdateValue value;
      value.left = Operand{std::move(operand)};
      to->sets.push_back(SetAction{std::move(target), std::move(value)});
      break;
    }
    case LegacyAction::kAdd:
      to->adds.push_back(OperandAction{std::move(target), std::move(operand)});
      break;
    case LegacyAction::kDelete:
      to->deletes.push_back(OperandAction{std::move(target), std::move(operand)});
      break;
  }
}

bool TakesNoArgument(LegacyOperator op) { return op == LegacyOperator::kNull || op == LegacyOperator::kNotNull; }

bool TakesThatMany(LegacyOperator op, size_t arguments) {
  switch (op) {
    case LegacyOperator::kNull:
    case LegacyOperator::kNotNull:
      return arguments == 0;
    case LegacyOperator::kBetween:
      return arguments == 2;
    case LegacyOperator::kIn:
      return arguments >= 1;
    default:
      return arguments == 1;
  }
}

bool TakesType(LegacyOperator op, ValueType type) {
  switch (op) {
    case LegacyOperator::kEqual:
    case LegacyOperator::kNotEqual:
      return true;
    case LegacyOperator::kBeginsWith:
      return type == ValueType::kString || type == ValueType::kBinary;
    default:
      return IsOrdered(type);
  }
}

absl::Status CheckArguments(LegacyOperator op, std::span<const model::ValueView> arguments) {
  if (!TakesThatMany(op, arguments.size())) {
    return InvalidParameterError(
        Cat("Invalid number of argument(s) for the ", LegacyOperatorName(op), " ComparisonOperator"));
  }
  if (arguments.empty()) return absl::OkStatus();
  const ValueType type = arguments[0].type();
  const bool one_type = std::all_of(arguments.begin(), arguments.end(),
                                    [type](const model::ValueView& argument) { return argument.type() == type; });
  if (!one_type) return InvalidParameterError("AttributeValues inside AttributeValueList must be of same type");
  if (!TakesType(op, type)) {
    return InvalidParameterError(Cat("ComparisonOperator ", LegacyOperatorName(op), " is not valid for ",
                                     model::ValueTypeName(type), " AttributeValue type"));
  }
  if (op == LegacyOperator::kBetween &&
      CompareScalars(type, arguments[0].scalar(), arguments[1].scalar()) == std::strong_ordering::greater) {
    return ValidationError(
        "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound");
  }
  return absl::OkStatus();
}

Operand AttributeOperand(const std::string& attribute) { return Operand{LegacyPath(attribute, 0)}; }
Operand Literal(const model::ValueView& value) { return Operand{ValueOperand{std::string(), value}}; }

ConditionNode Compared(const std::string& attribute, Comparator comparator, const model::ValueView& value) {
  return ConditionNode{Comparison{comparator, AttributeOperand(attribute), Literal(value)}};
}

ConditionNode Called(Function function, std::string_view name, const std::string& attribute,
                     std::span<const model::ValueView> arguments) {
  FunctionCall call;
  call.function = function;
  call.name = std::string(name);
  call.arguments.push_back(AttributeOperand(attribute));
  for (const model::ValueView& argument : arguments) call.arguments.push_back(Literal(argument));
  return ConditionNode{std::move(call)};
}

ConditionNode Existence(const std::string& attribute, bool wanted) {
  return wanted ? Called(Function::kAttributeExists, "attribute_exists", attribute, {})
                : Called(Function::kAttributeNotExists, "attribute_not_exists", attribute, {});
}

// Operators that compare the attribute with one argument.
struct OperatorComparison {
  LegacyOperator op;
  Comparator comparator;
  std::optional<KeyOperator> key_operator;  // of a range of keys; nullopt if no range answers it
};
constexpr OperatorComparison kComparisons[] = {
    {LegacyOperator::kEqual, Comparator::kEqual, KeyOperator::kEqual},
    {LegacyOperator::kNotEqual, Comparator::kNotEqual, std::nullopt},
    {LegacyOperator::kLess, Comparator::kLess, KeyOperator::kLess},
    {LegacyOperator::kLessOrEqual, Comparator::kLessOrEqual, KeyOperator::kLessOrEqual},
    {LegacyOperator::kGreater, Comparator::kGreater, KeyOperator::kGreater},
    {LegacyOperator::kGreaterOrEqual, Comparator::kGreaterOrEqual, KeyOperator::kGreaterOrEqual},
};

// Null for other operators.
const OperatorComparison* FindComparison(LegacyOperator op) {
  const auto* const found = std::find_if(std::begin(kComparisons), std::end(kComparisons),
                                         [op](const OperatorComparison& comparison) { return comparison.op == op; });
  return found == std::end(kComparisons) ? nullptr : found;
}

// Requires that CheckArguments returned OK.
ConditionNode MakeNode(const std::string& attribute, LegacyOperator op, std::span<const model::ValueView> arguments) {
  if (const OperatorComparison* const comparison = FindComparison(op); comparison != nullptr) {
    return Compared(attribute, comparison->comparator, arguments[0]);
  }
  switch (op) {
    case LegacyOperator::kBetween:
      return ConditionNode{Between{AttributeOperand(attribute), Literal(arguments[0]), Literal(arguments[1])}};
    case LegacyOperator::kIn: {
      Membership membership{AttributeOperand(attribute), {}};
      for (const model::ValueView& argument : arguments) membership.choices.push_back(Literal(argument));
      return ConditionNode{std::move(membership)};
    }
    case LegacyOperator::kBeginsWith:
      return Called(Function::kBeginsWith, "begins_with", attribute, arguments);
    case LegacyOperator::kContains:
      return Called(Function::kContains, "contains", attribute, arguments);
    case LegacyOperator::kNotContains:
      return Called(Function::kNotContains, LegacyOperatorName(op), attribute, arguments);
    default:
      return Existence(attribute, op == LegacyOperator::kNotNull);
  }
}

// A condition is evaluated for each item that is read, and under the lock of a row, hence the limit, which expressions
// have, too.
absl::Status CheckCount(size_t conditions) {
  if (conditions <= model::kExpressionOperatorsMax) return absl::OkStatus();
  return InvalidParameterError(
      Cat("Too many conditions: ", conditions, ". Maximum number of conditions: ", model::kExpressionOperatorsMax));
}

Condition Join(std::vector<ConditionNode> terms, Junction::Kind kind) {
  if (terms.size() == 1) return Condition{std::move(terms.front())};
  return Condition{ConditionNode{Junction{kind, std::move(terms)}}};
}

absl::Status ForAttribute(std::string_view problem, const std::string& attribute) {
  return InvalidParameterError(Cat(problem, " for Attribute: ", model::Shown(attribute)));
}

// An expectation with an operator.
absl::StatusOr<ConditionNode> CompareExpected(const LegacyExpectation& expected) {
  const LegacyOperator op = *expected.op;
  if (expected.exists.has_value()) {
    return ForAttribute("Exists and ComparisonOperator cannot be used together", expected.attribute);
  }
  std::span<const model::ValueView> arguments;
  if (expected.value.has_value()) {
    arguments = std::span<const model::ValueView>(&*expected.value, 1);
  } else if (expected.arguments.has_value()) {
    arguments = *expected.arguments;
  } else if (!TakesNoArgument(op)) {
    return ForAttribute(
        Cat("Value or AttributeValueList must be used with ComparisonOperator: ", LegacyOperatorName(op)),
        expected.attribute);
  }
  ARM_RETURN_IF_ERROR(CheckArguments(op, arguments));
  return MakeNode(expected.attribute, op, arguments);
}

absl::StatusOr<ConditionNode> MakeExpected(const LegacyExpectation& expected) {
  if (expected.value.has_value() && expected.arguments.has_value()) {
    return ForAttribute("Value and AttributeValueList cannot be used together", expected.attribute);
  }
  if (expected.op.has_value()) return CompareExpected(expected);
  if (expected.arguments.has_value()) {
    return ForAttribute("AttributeValueList can only be used with a ComparisonOperator", expected.attribute);
  }
  if (expected.exists.value_or(true)) {
    if (!expected.value.has_value()) {
      return ForAttribute(Cat("Value must be provided when Exists is ", expected.exists.has_value() ? "true" : "null"),
                          expected.attribute);
    }
    return Compared(expected.attribute, Comparator::kEqual, *expected.value);
  }
  if (expected.value.has_value()) {
    return ForAttribute("Value cannot be used when Exists is false", expected.attribute);
  }
  return Existence(expected.attribute, false);
}

std::optional<KeyOperator> ToKeyOperator(LegacyOperator op) {
  if (op == LegacyOperator::kBetween) return KeyOperator::kBetween;
  if (op == LegacyOperator::kBeginsWith) return KeyOperator::kBeginsWith;
  const OperatorComparison* const comparison = FindComparison(op);
  return comparison == nullptr ? std::nullopt : comparison->key_operator;
}

}  // namespace

std::optional<LegacyOperator> LegacyOperatorByName(std::string_view name) {
  return ByName<LegacyOperator>(kLegacyOperatorNames, name);
}

std::optional<LegacyAction> LegacyActionByName(std::string_view name) {
  return ByName<LegacyAction>(kLegacyActionNames, name);
}

absl::Status CheckLegacyConditions(std::span<const LegacyCondition> conditions) {
  for (const LegacyCondition& condition : conditions) {
    ARM_RETURN_IF_ERROR(CheckArguments(condition.op, condition.arguments));
  }
  return absl::OkStatus();
}

absl::StatusOr<Condition> BindLegacyFilter(std::span<const LegacyCondition> conditions, Junction::Kind kind) {
  ARM_RETURN_IF_ERROR(CheckLegacyConditions(conditions));
  ARM_RETURN_IF_ERROR(CheckCount(conditions.size()));
  std::vector<ConditionNode> terms;
  for (const LegacyCondition& condition : conditions) {
    terms.push_back(MakeNode(condition.attribute, condition.op, condition.arguments));
  }
  return Join(std::move(terms), kind);
}

absl::StatusOr<Condition> BindExpected(std::span<const LegacyExpectation> expectations, Junction::Kind kind) {
  ARM_RETURN_IF_ERROR(CheckCount(expectations.size()));
  std::vector<ConditionNode> terms;
  for (const LegacyExpectation& expected : expectations) {
    ARM_ASSIGN_OR_RETURN(ConditionNode term, MakeExpected(expected));
    terms.push_back(std::move(term));
  }
  return Join(std::move(terms), kind);
}

absl::StatusOr<KeyCondition> BindKeyConditions(std::span<const LegacyCondition> conditions) {
  KeyCondition result;
  for (const LegacyCondition& condition : conditions) {
    const std::optional<KeyOperator> op = ToKeyOperator(condition.op);
    if (!op.has_value()) {
      return ValidationError("Attempted conditional constraint is not an indexable operation");
    }
    KeyConditionTerm term{condition.attribute, *op, condition.arguments[0], std::nullopt};
    if (condition.arguments.size() > 1) term.second = condition.arguments[1];
    result.terms.push_back(std::move(term));
  }
  return result;
}

absl::StatusOr<Projection> BindAttributesToGet(std::span<const std::string> names) {
  absl::flat_hash_set<std::string_view, StringHash, std::equal_to<>> seen;
  std::vector<DocumentPath> paths;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) {
      return InvalidParameterError(Cat("Duplicate value in attribute name: ", model::Shown(name)));
    }
    paths.push_back(LegacyPath(name, paths.size()));
  }
  return MakeProjection(std::move(paths));
}

absl::StatusOr<Update> BindAttributeUpdates(std::span<const LegacyUpdate> updates) {
  Update result;
  result.style = UpdateStyle::kAttributeUpdates;
  size_t position = 0;
  for (const LegacyUpdate& update : updates) {
    ARM_RETURN_IF_ERROR(CheckUpdate(update));
    AddAction(update, LegacyPath(update.attribute, position++), &result);
  }
  return result;
}

}  // namespace armature::expr
