#include "engine/expr/update_binder.h"

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/expr/kind.h"
#include "engine/expr/paths.h"
#include "engine/expr/update_eval.h"
#include "storage/base/strings.h"
#include "storage/model/item_view.h"

namespace armature::expr {
namespace {

using model::ValueType;

constexpr Fault kUpdateReportOrder[] = {Fault::kOperatorCount, Fault::kParentheses,     Fault::kReservedWord,
                                        Fault::kPathLimit,     Fault::kUnknownFunction, Fault::kMisusedFunction,
                                        Fault::kSection,       Fault::kUndefinedName,   Fault::kUndefinedValue,
                                        Fault::kOverlap,       Fault::kConflict,        Fault::kSectionOperand,
                                        Fault::kOperandCount,  Fault::kOperandType};

bool IsSetType(ValueType type) {
  return type == ValueType::kStringSet || type == ValueType::kNumberSet || type == ValueType::kBinarySet;
}

// Long type names, used only in errors about ADD and DELETE.
std::string_view LongTypeName(ValueType type) {
  switch (type) {
    case ValueType::kString:
      return "STRING";
    case ValueType::kNumber:
      return "NUMBER";
    case ValueType::kBinary:
      return "BINARY";
    case ValueType::kBool:
      return "BOOLEAN";
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

  void Bind(Update* update);

 private:
  void BindTarget(DocumentPath* path) { BindPath(table_, faults_, faults_, path); }
  void BindActions(std::string_view section, std::vector<OperandAction>* actions);
  void BindValueOf(UpdateValue* value);
  void BindOperand(Operand* operand);
  void BindCall(FunctionCall* call);
  void CheckCall(const FunctionCall& call);
  void RequireType(std::string_view name, const Operand& operand, ValueType wanted);

  PlaceholderTable* const table_;
  FaultLog* const faults_;
};

void UpdateBinder::Bind(Update* update) {
  for (SetAction& action : update->sets) {
    BindTarget(&action.target);
    BindValueOf(&action.value);
  }
  for (DocumentPath& path : update->removes) BindTarget(&path);
  BindActions("ADD", &update->adds);
  BindActions("DELETE", &update->deletes);
  CheckOverlaps(TargetsOf(*update), faults_);
}

void UpdateBinder::BindActions(std::string_view section, std::vector<OperandAction>* actions) {
  for (OperandAction& action : *actions) {
    BindTarget(&action.target);
    BindValue(table_, Fault::kUndefinedValue, faults_, &action.operand);
    if (!action.operand.value.has_value()) continue;
    const ValueType type = action.operand.value->type();
    if (IsSetType(type) || (type == ValueType::kNumber && section == "ADD")) continue;
    faults_->Add(Fault::kSectionOperand, Cat("Incorrect operand type for operator or function; operator: ", section,
                                             ", operand type: ", LongTypeName(type)));
  }
}

void UpdateBinder::BindValueOf(UpdateValue* value) {
  BindOperand(&value->left);
  if (!value->right.has_value()) return;
  BindOperand(&*value->right);
  const std::string_view name = value->operation == UpdateValue::Operation::kPlus ? std::string_view("+") : "-";
  RequireType(name, value->left, ValueType::kNumber);
  RequireType(name, *value->right, ValueType::kNumber);
}

// Recursion is bounded by the nesting of function calls, which the parser limits.
void UpdateBinder::BindOperand(Operand* operand) {
  if (auto* path = std::get_if<DocumentPath>(&operand->node)) {
    BindTarget(path);
  } else if (auto* value = std::get_if<ValueOperand>(&operand->node)) {
    BindValue(table_, Fault::kUndefinedValue, faults_, value);
  } else {
    BindCall(&std::get<FunctionCall>(operand->node));
  }
}

void UpdateBinder::BindCall(FunctionCall* call) {
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

void UpdateBinder::CheckCall(const FunctionCall& call) {
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

void UpdateBinder::RequireType(std::string_view name, const Operand& operand, ValueType wanted) {
  const std::optional<ValueType> type = StaticType(operand);
  if (type.has_value() && *type != wanted) {
    faults_->Add(Fault::kOperandType, OperandTypeText(name, model::ValueTypeName(*type)));
  }
}

}  // namespace

absl::Status BindUpdate(PlaceholderTable* table, FaultLog* faults, Update* update) {
  UpdateBinder(table, faults).Bind(update);
  if (const std::string* message = faults->First(kUpdateReportOrder)) {
    return InvalidExpressionError(ExpressionKind::kUpdate, *message);
  }
  return absl::OkStatus();
}

}  // namespace armature::expr
