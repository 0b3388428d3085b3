#include "engine/expr/condition_binder.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/escaping.h"
#include "engine/expr/compare.h"
#include "engine/expr/paths.h"
#include "storage/base/strings.h"
#include "storage/model/limits.h"

namespace armature::expr {
namespace {

using model::ValueType;

constexpr Fault kReportOrder[] = {Fault::kOperatorCount,   Fault::kParentheses,  Fault::kUnknownFunction,
                                  Fault::kMisusedFunction, Fault::kReservedWord, Fault::kPathLimit,
                                  Fault::kCondition};
constexpr Fault kOrderInCondition[] = {Fault::kUndefinedName, Fault::kOperandCount, Fault::kSameOperand,
                                       Fault::kOperandType};

constexpr std::string_view kTypeNames[] = {"B", "NULL", "SS", "BOOL", "L", "BS", "N", "NS", "S", "M"};

std::string_view ComparatorText(Comparator comparator) {
  constexpr std::string_view kTexts[] = {"=", "<>", "<", "<=", ">", ">="};
  return kTexts[static_cast<uint8_t>(comparator)];
}

// "AttributeValue: {S:text}", with binaries in base64.
std::string LiteralText(const model::ValueView& value) {
  const std::string body =
      value.type() == ValueType::kBinary ? absl::Base64Escape(Av(value.scalar())) : std::string(value.scalar());
  return Cat("AttributeValue: {", model::ValueTypeName(value.type()), ":", body, "}");
}

class Binder {
 public:
  Binder(PlaceholderTable* table, FaultLog* faults) : table_(table), faults_(faults) {}

  // Recursion is bounded by the depth of the tree, which the parser limits.
  void Bind(ConditionNode* condition) {
    std::visit([this](auto& node) { BindNode(&node); }, condition->node);
  }

 private:
  void BindNode(Comparison* comparison);
  void BindNode(Between* between);
  void BindNode(Membership* membership);
  void BindNode(FunctionCall* call);
  void BindNode(Negation* negation) { Bind(negation->inner.get()); }
  void BindNode(Junction* junction) {
    for (ConditionNode& term : junction->terms) Bind(&term);
  }

  void BindOperand(Operand* operand);
  void BindCall(FunctionCall* call);
  void CheckCall(const FunctionCall& call);
  void CheckCallTypes(const FunctionCall& call);
  void CheckAttributeType(const Operand& type);
  void CheckOrdered(std::string_view name, const Operand& operand);
  void CheckBounds(const Between& between);
  void CheckDistinct(std::string_view name, const Operand& first, const Operand& other);
  void EndCondition();

  PlaceholderTable* const table_;
  FaultLog* const faults_;
  FaultLog here_;  // faults of the current comparison or function
};

// The only function allowed as an operand is size().
void Binder::BindOperand(Operand* operand) {
  if (auto* path = std::get_if<DocumentPath>(&operand->node)) {
    BindPath(table_, faults_, &here_, path);
  } else if (auto* value = std::get_if<ValueOperand>(&operand->node)) {
    // Same category as undefined names, so the first of both in the text is reported.
    BindValue(table_, Fault::kUndefinedName, &here_, value);
  } else {
    auto& call = std::get<FunctionCall>(operand->node);
    BindCall(&call);
    if (call.function != Function::kSize && call.function != Function::kUnknown) {
      faults_->Add(Fault::kMisusedFunction, MisusedFunctionText(call.name));
    }
  }
}

void Binder::BindCall(FunctionCall* call) {
  for (Operand& argument : call->arguments) BindOperand(&argument);
  if (call->function == Function::kUnknown) {
    faults_->Add(Fault::kUnknownFunction, UnknownFunctionText(call->name));
    return;
  }
  CheckCall(*call);
}

void Binder::CheckCall(const FunctionCall& call) {
  size_t count = 1;
  switch (call.function) {
    case Function::kAttributeType:
    case Function::kBeginsWith:
    case Function::kContains:
      count = 2;
      break;
    case Function::kIfNotExists:
    case Function::kListAppend:
      return;  // not allowed in any condition
    default:
      break;
  }
  if (call.arguments.size() != count) {
    here_.Add(Fault::kOperandCount, OperandCountText(call.name, call.arguments.size()));
    return;
  }
  if (count == 2) CheckDistinct(call.name, call.arguments[0], call.arguments[1]);
  CheckCallTypes(call);
}

void Binder::CheckCallTypes(const FunctionCall& call) {
  const Operand& first = call.arguments[0];
  switch (call.function) {
    case Function::kAttributeExists:
    case Function::kAttributeNotExists:
      if (first.path() == nullptr) here_.Add(Fault::kOperandType, PathRequiredText(call.name));
      break;
    case Function::kAttributeType:
      CheckAttributeType(call.arguments[1]);
      break;
    case Function::kBeginsWith:
      for (const Operand& argument : call.arguments) {
        const std::optional<ValueType> type = StaticType(argument);
        if (type.has_value() && type != ValueType::kString && type != ValueType::kBinary) {
          here_.Add(Fault::kOperandType, OperandTypeText(call.name, model::ValueTypeName(*type)));
        }
      }
      break;
    case Function::kSize: {
      const std::optional<ValueType> type = StaticType(first);
      if (type == ValueType::kNumber || type == ValueType::kBool || type == ValueType::kNull) {
        here_.Add(Fault::kOperandType, OperandTypeText(call.name, model::ValueTypeName(*type)));
      }
      break;
    }
    default:
      break;
  }
}

// The operand is a constant, so an unknown type name is an error rather than a false condition.
void Binder::CheckAttributeType(const Operand& operand) {
  const std::optional<ValueType> type = StaticType(operand);
  if (type != ValueType::kString) {
    if (operand.value() != nullptr && !type.has_value()) return;  // undefined placeholder
    here_.Add(Fault::kOperandType,
              OperandTypeText("attribute_type",
                              type.has_value() ? model::ValueTypeName(*type) : "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}"));
    return;
  }
  const std::string_view name = operand.value()->value->scalar();
  if (std::find(std::begin(kTypeNames), std::end(kTypeNames), name) == std::end(kTypeNames)) {
    here_.Add(Fault::kOperandType,
              Cat("Invalid attribute type name found; type: ", name, ", valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}"));
  }
}

void Binder::CheckOrdered(std::string_view name, const Operand& operand) {
  const std::optional<ValueType> type = StaticType(operand);
  if (type.has_value() && !IsOrdered(*type)) {
    here_.Add(Fault::kOperandType, OperandTypeText(name, model::ValueTypeName(*type)));
  }
}

void Binder::CheckBounds(const Between& between) {
  if (between.lower.value() == nullptr || between.upper.value() == nullptr) return;
  const auto& lower = between.lower.value()->value;
  const auto& upper = between.upper.value()->value;
  if (!lower.has_value() || !upper.has_value()) return;
  std::string_view rule;
  if (lower->type() != upper->type()) {
    rule = "same data type for lower and upper bounds";
  } else if (CompareScalars(lower->type(), lower->scalar(), upper->scalar()) == std::strong_ordering::greater) {
    rule = "upper bound to be greater than or equal to lower bound";
  } else {
    return;
  }
  here_.Add(Fault::kOperandType, Cat("The BETWEEN operator requires ", rule, "; lower bound operand: ",
                                     LiteralText(*lower), ", upper bound operand: ", LiteralText(*upper)));
}

void Binder::CheckDistinct(std::string_view name, const Operand& first, const Operand& other) {
  if (first.path() == nullptr || other.path() == nullptr) return;
  if (first.path()->elements != other.path()->elements) return;
  here_.Add(Fault::kSameOperand, Cat("The first operand must be distinct from the remaining operands for this operator "
                                     "or function; operator: ",
                                     name, ", first operand: ", PathText(*first.path())));
}

void Binder::BindNode(Comparison* comparison) {
  BindOperand(&comparison->left);
  BindOperand(&comparison->right);
  const std::string_view name = ComparatorText(comparison->comparator);
  CheckDistinct(name, comparison->left, comparison->right);
  if (comparison->comparator != Comparator::kEqual && comparison->comparator != Comparator::kNotEqual) {
    CheckOrdered(name, comparison->left);
    CheckOrdered(name, comparison->right);
  }
  EndCondition();
}

void Binder::BindNode(Between* between) {
  for (Operand* operand : {&between->tested, &between->lower, &between->upper}) {
    BindOperand(operand);
    CheckOrdered("BETWEEN", *operand);
  }
  CheckDistinct("BETWEEN", between->tested, between->lower);
  CheckDistinct("BETWEEN", between->tested, between->upper);
  CheckBounds(*between);
  EndCondition();
}

void Binder::BindNode(Membership* membership) {
  BindOperand(&membership->tested);
  for (Operand& choice : membership->choices) {
    BindOperand(&choice);
    CheckDistinct("IN", membership->tested, choice);
  }
  if (const size_t count = membership->choices.size() + 1; count > model::kInOperandsMax) {
    here_.Add(Fault::kOperandCount,
              Cat("The IN operator is provided with too many operands; number of operands: ", count));
  }
  EndCondition();
}

// A function as a condition must return a boolean.
void Binder::BindNode(FunctionCall* call) {
  BindCall(call);
  if (call->function == Function::kSize || call->function == Function::kIfNotExists ||
      call->function == Function::kListAppend) {
    faults_->Add(Fault::kMisusedFunction, MisusedFunctionText(call->name));
  }
  EndCondition();
}

void Binder::EndCondition() {
  if (const std::string* message = here_.First(kOrderInCondition)) {
    faults_->Add(Fault::kCondition, *message);
  }
  here_ = FaultLog();
}

}  // namespace

absl::Status BindCondition(ExpressionKind kind, PlaceholderTable* table, FaultLog* faults, Condition* condition) {
  Binder(table, faults).Bind(&condition->root);
  if (const std::string* message = faults->First(kReportOrder)) {
    return InvalidExpressionError(kind, *message);
  }
  return absl::OkStatus();
}

}  // namespace armature::expr
