#include "engine/expr/tree_binder.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/escaping.h"
#include "engine/expr/paths.h"
#include "engine/expr/update_eval.h"
#include "storage/base/strings.h"
#include "storage/model/constraint_list.h"
#include "storage/model/item_view.h"
#include "storage/model/limits.h"
#include "storage/model/number.h"

namespace armature::expr {
namespace {

using model::ValueType;

constexpr Fault kConditionReportOrder[] = {Fault::kOperatorCount,   Fault::kParentheses,  Fault::kUnknownFunction,
                                           Fault::kMisusedFunction, Fault::kReservedWord, Fault::kPathLimit,
                                           Fault::kCondition};
constexpr Fault kOrderInCondition[] = {Fault::kUndefinedName, Fault::kOperandCount, Fault::kSameOperand,
                                       Fault::kOperandType};

constexpr std::string_view kTypeNames[] = {"B", "NULL", "SS", "BOOL", "L", "BS", "N", "NS", "S", "M"};

std::string_view ComparatorText(Comparator comparator) {
  constexpr std::string_view kTexts[] = {"=", "<>", "<", "<=", ">", ">="};
  return kTexts[static_cast<uint8_t>(comparator)];
}

// "AttributeValue: {S:text}", with binaries in base64. Long values are truncated.
std::string LiteralText(const model::ValueView& value) {
  std::string text;
  std::string_view shown = value.scalar();
  if (value.type() == ValueType::kBinary) {
    shown = text = absl::Base64Escape(Av(shown.substr(0, model::kShownMaxBytes)));
  } else if (value.type() == ValueType::kNumber) {
    model::AppendPlainNumber(value.scalar(), &text);
    shown = text;
  }
  return Cat("AttributeValue: {", model::ValueTypeName(value.type()), ":", model::Shown(shown), "}");
}

class ConditionBinder {
 public:
  ConditionBinder(PlaceholderTable* table, FaultLog* faults) : table_(table), faults_(faults) {}

  // Recursion is bounded by the depth of the tree, which the parser limits.
  void Bind(ConditionNode* condition) {
    std::visit([this](auto& node) { BindNode(&node); }, condition->node);
  }

 private:
  void BindNode(Comparison* comparison) {
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

  void BindNode(Between* between) {
    for (Operand* operand : {&between->tested, &between->lower, &between->upper}) {
      BindOperand(operand);
      CheckOrdered("BETWEEN", *operand);
    }
    CheckDistinct("BETWEEN", between->tested, between->lower);
    CheckDistinct("BETWEEN", between->tested, between->upper);
    CheckBounds(*between);
    EndCondition();
  }

  void BindNode(Membership* membership) {
    BindOperand(&membership->tested);
    for (Operand& choice : membership->choices) {
      BindOperand(&choice);
      CheckDistinct("IN", membership->tested, choice);
    }
    if (const size_t count = membership->choices.size(); count > model::kInOperandsMax) {
      here_.Add(Fault::kOperandCount,
                Cat("The IN operator is provided with too many operands; number of operands: ", count));
    }
    EndCondition();
  }

  // A function as a condition must return a boolean.
  void BindNode(FunctionCall* call) {
    BindCall(call);
    if (call->function == Function::kSize || call->function == Function::kIfNotExists ||
        call->function == Function::kListAppend) {
      faults_->Add(Fault::kMisusedFunction, MisusedFunctionText(call->name));
    }
    EndCondition();
  }

  void BindNode(Negation* negation) { Bind(negation->inner.get()); }

  void BindNode(Junction* junction) {
    for (ConditionNode& term : junction->terms) Bind(&term);
  }

  // The only function allowed as an operand is size().
  void BindOperand(Operand* operand) {
    if (auto* path = std::get_if<DocumentPath>(&operand->node)) {
      BindPath(table_, faults_, &here_, path);
    } else if (auto* value = std::get_if<ValueOperand>(&operand->node)) {
      // Undefined values are of the category of undefined names, so the first of both in the text is reported.
      BindValue(table_, Fault::kUndefinedName, &here_, value);
    } else {
      auto& call = std::get<FunctionCall>(operand->node);
      BindCall(&call);
      if (call.function != Function::kSize && call.function != Function::kUnknown) {
        faults_->Add(Fault::kMisusedFunction, MisusedFunctionText(call.name));
      }
    }
  }

  void BindCall(FunctionCall* call) {
    for (Operand& argument : call->arguments) BindOperand(&argument);
    if (call->function == Function::kUnknown) {
      faults_->Add(Fault::kUnknownFunction, UnknownFunctionText(call->name));
      return;
    }
    CheckCall(*call);
  }

  void CheckCall(const FunctionCall& call) {
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

  void CheckCallTypes(const FunctionCall& call) {
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
  void CheckAttributeType(const Operand& operand) {
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
      here_.Add(Fault::kOperandType, Cat("Invalid attribute type name found; type: ", model::Shown(name),
                                         ", valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}"));
    }
  }

  void CheckOrdered(std::string_view name, const Operand& operand) {
    const std::optional<ValueType> type = StaticType(operand);
    if (type.has_value() && !IsOrdered(*type)) {
      here_.Add(Fault::kOperandType, OperandTypeText(name, model::ValueTypeName(*type)));
    }
  }

  void CheckBounds(const Between& between) {
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

  void CheckDistinct(std::string_view name, const Operand& first, const Operand& other) {
    if (first.path() == nullptr || other.path() == nullptr) return;
    if (first.path()->elements != other.path()->elements) return;
    here_.Add(Fault::kSameOperand,
              Cat("The first operand must be distinct from the remaining operands for this operator "
                  "or function; operator: ",
                  name, ", first operand: ", PathText(*first.path())));
  }

  void EndCondition() {
    if (const std::string* message = here_.First(kOrderInCondition)) {
      faults_->Add(Fault::kCondition, *message);
    }
    here_ = FaultLog();
  }

  PlaceholderTable* const table_;
  FaultLog* const faults_;
  FaultLog here_;  // faults of the current comparison or function
};

constexpr Fault kUpdateReportOrder[] = {Fault::kOperatorCount, Fault::kParentheses,     Fault::kReservedWord,
                                        Fault::kPathLimit,     Fault::kUnknownFunction, Fault::kMisusedFunction,
                                        Fault::kSection,       Fault::kUndefinedName,   Fault::kUndefinedValue,
                                        Fault::kOverlap,       Fault::kConflict,        Fault::kSectionOperand,
                                        Fault::kOperandCount,  Fault::kOperandType};

// Long type names, used only in errors about ADD and DELETE.
std::string_view LongTypeName(ValueType type) {
  switch (type) {
    case ValueType::kString:
      return "STRING";
    case ValueType::kNumber:
      return "NUMBER";
    case ValueType::kBinary:
      return "BINARY";
    case ValueType::kNull:
      return "NULL";
    case ValueType::kList:
      return "LIST";
    case ValueType::kMap:
      return "MAP";
    default:
      return model::ValueTypeName(type);
  }
}

class UpdateBinder {
 public:
  UpdateBinder(PlaceholderTable* table, FaultLog* faults) : table_(table), faults_(faults) {}

  void Bind(Update* update) {
    for (SetAction& action : update->sets) {
      BindTarget(&action.target);
      BindValueOf(&action.value);
    }
    for (DocumentPath& path : update->removes) BindTarget(&path);
    BindActions("ADD", &update->adds);
    BindActions("DELETE", &update->deletes);
    CheckOverlaps(TargetsOf(*update), faults_);
  }

 private:
  void BindTarget(DocumentPath* path) { BindPath(table_, faults_, faults_, path); }

  void BindActions(std::string_view section, std::vector<OperandAction>* actions) {
    for (OperandAction& action : *actions) {
      BindTarget(&action.target);
      BindValue(table_, Fault::kUndefinedValue, faults_, &action.operand);
      if (!action.operand.value.has_value()) continue;
      const ValueType type = action.operand.value->type();
      if (IsSet(type) || (type == ValueType::kNumber && section == "ADD")) continue;
      // The service names this set of types for both sections.
      faults_->Add(Fault::kSectionOperand,
                   Cat("Incorrect operand type for operator or function; operator: ", section,
                       ", operand type: ", LongTypeName(type), ", typeSet: ALLOWED_FOR_ADD_OPERAND"));
    }
  }

  void BindValueOf(UpdateValue* value) {
    BindOperand(&value->left);
    if (!value->right.has_value()) return;
    BindOperand(&*value->right);
    const std::string_view name = value->operation == UpdateValue::Operation::kPlus ? std::string_view("+") : "-";
    RequireType(name, value->left, ValueType::kNumber);
    RequireType(name, *value->right, ValueType::kNumber);
  }

  // Recursion is bounded by the nesting of function calls, which the parser limits.
  void BindOperand(Operand* operand) {
    if (auto* path = std::get_if<DocumentPath>(&operand->node)) {
      BindTarget(path);
    } else if (auto* value = std::get_if<ValueOperand>(&operand->node)) {
      BindValue(table_, Fault::kUndefinedValue, faults_, value);
    } else {
      BindCall(&std::get<FunctionCall>(operand->node));
    }
  }

  void BindCall(FunctionCall* call) {
    for (Operand& argument : call->arguments) {
      BindOperand(&argument);
      const FunctionCall* inner = argument.call();
      if (call->function == Function::kListAppend && inner != nullptr && inner->function == Function::kListAppend) {
        faults_->Add(Fault::kMisusedFunction, MisusedFunctionText(inner->name));
      }
    }
    switch (call->function) {
      case Function::kUnknown:
        faults_->Add(Fault::kUnknownFunction, UnknownFunctionText(call->name));
        break;
      case Function::kIfNotExists:
      case Function::kListAppend:
        CheckCall(*call);
        break;
      default:
        faults_->Add(Fault::kMisusedFunction, MisusedFunctionText(call->name));
    }
  }

  void CheckCall(const FunctionCall& call) {
    if (call.arguments.size() != 2) {
      faults_->Add(Fault::kOperandCount, OperandCountText(call.name, call.arguments.size()));
      return;
    }
    if (call.function == Function::kListAppend) {
      for (const Operand& argument : call.arguments) {
        RequireType(call.name, argument, ValueType::kList);
      }
    } else if (call.arguments[0].path() == nullptr) {
      faults_->Add(Fault::kOperandType, PathRequiredText(call.name));
    }
  }

  void RequireType(std::string_view name, const Operand& operand, ValueType wanted) {
    const std::optional<ValueType> type = StaticType(operand);
    if (type.has_value() && *type != wanted) {
      faults_->Add(Fault::kOperandType, OperandTypeText(name, model::ValueTypeName(*type)));
    }
  }

  PlaceholderTable* const table_;
  FaultLog* const faults_;
};

// The error for the first fault in `order`, or OK.
absl::Status ErrorOf(ExpressionKind kind, const FaultLog& faults, std::span<const Fault> order) {
  const std::string* const message = faults.First(order);
  return message == nullptr ? absl::OkStatus() : InvalidExpressionError(kind, *message);
}

}  // namespace

absl::Status BindCondition(ExpressionKind kind, PlaceholderTable* table, FaultLog* faults, Condition* condition) {
  ConditionBinder(table, faults).Bind(&condition->root);
  return ErrorOf(kind, *faults, kConditionReportOrder);
}

absl::Status BindUpdate(PlaceholderTable* table, FaultLog* faults, Update* update) {
  UpdateBinder(table, faults).Bind(update);
  return ErrorOf(ExpressionKind::kUpdate, *faults, kUpdateReportOrder);
}

}  // namespace armature::expr
