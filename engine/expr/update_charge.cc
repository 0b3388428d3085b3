#include "engine/expr/update_charge.h"

#include "storage/model/item_view.h"

namespace armature::expr {
namespace {

constexpr size_t kUpdateBytes = 3;
constexpr size_t kWriteBytes = 19;  // a SET or ADD action
constexpr size_t kClearBytes = 1;   // a REMOVE or DELETE action
constexpr size_t kTargetStepBytes = 4;
constexpr size_t kPathBytes = 1;
constexpr size_t kPathStepBytes = 14;
constexpr size_t kPlusBytes = 34;
constexpr size_t kMinusBytes = 37;
constexpr size_t kListAppendBytes = 37;
constexpr size_t kIfNotExistsBytes = 39;

size_t ElementBytes(const PathElement& element) {
  if (element.kind != PathElement::Kind::kIndex) return element.name.size();
  size_t digits = 1;
  for (uint32_t rest = element.index; rest >= 10; rest /= 10) ++digits;
  return digits;
}

size_t TargetBytes(const DocumentPath& path) {
  size_t bytes = kTargetStepBytes * (path.elements.size() - 1);
  for (const PathElement& element : path.elements) bytes += ElementBytes(element);
  return bytes;
}

size_t PathBytes(const DocumentPath& path) {
  size_t bytes = kPathBytes + kPathStepBytes * path.elements.size();
  for (const PathElement& element : path.elements) bytes += ElementBytes(element);
  return bytes;
}

// Recursion is bounded by the nesting of function calls, which the parser limits.
size_t OperandBytes(const Operand& operand) {
  if (const DocumentPath* const path = operand.path()) return PathBytes(*path);
  if (const ValueOperand* const value = operand.value()) return model::ApiSize(*value->value);
  const FunctionCall& call = *operand.call();
  size_t bytes = call.function == Function::kIfNotExists ? kIfNotExistsBytes : kListAppendBytes;
  for (const Operand& argument : call.arguments) bytes += OperandBytes(argument);
  return bytes;
}

size_t ValueBytes(const UpdateValue& value) {
  size_t bytes = OperandBytes(value.left);
  if (!value.right.has_value()) return bytes;
  bytes += value.operation == UpdateValue::Operation::kMinus ? kMinusBytes : kPlusBytes;
  return bytes + OperandBytes(*value.right);
}

}  // namespace

size_t ChargeOf(const Update& update) {
  if (update.style == UpdateStyle::kAttributeUpdates) return 0;
  size_t bytes = kUpdateBytes;
  for (const SetAction& action : update.sets) {
    bytes += kWriteBytes + TargetBytes(action.target) + ValueBytes(action.value);
  }
  for (const OperandAction& action : update.adds) {
    bytes += kWriteBytes + TargetBytes(action.target) + model::ApiSize(*action.operand.value);
  }
  for (const DocumentPath& path : update.removes) bytes += kClearBytes + TargetBytes(path);
  for (const OperandAction& action : update.deletes) bytes += kClearBytes + TargetBytes(action.target);
  return bytes;
}

}  // namespace armature::expr
