#ifndef ARMATURE_ENGINE_EXPR_FAULT_LOG_H_
#define ARMATURE_ENGINE_EXPR_FAULT_LOG_H_

// Errors of expressions, and the static faults of a syntactically valid expression.
//
// The service reports static faults by category, not by position: a reserved word at the end precedes an undefined
// placeholder at the start. So parser and binder process the whole expression, the log keeps the first fault of each
// category, and one of them is reported at the end.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "engine/expr/ast.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"

namespace armature::expr {

// ValidationException "Invalid <kind>: <detail>".
inline absl::Status InvalidExpressionError(ExpressionKind kind, std::string_view detail) {
  return ValidationError(Cat("Invalid ", KindName(kind), ": ", detail));
}

enum class Fault : uint8_t {
  kOperatorCount,
  kParentheses,
  kUnknownFunction,
  kMisusedFunction,
  kReservedWord,
  kPathLimit,
  kSection,  // a section of an update occurs twice
  kUndefinedName,
  kUndefinedValue,
  kOperandCount,
  kSameOperand,
  kOperandType,
  kOverlap,
  kConflict,
  kSectionOperand,  // operand of ADD or DELETE
  kCondition,       // the first fault of the first faulty comparison or function
  kCount,
};

// Thread-safety: owned by one thread.
class FaultLog {
 public:
  // Records `message` if it is the first of its category. `message` is not empty.
  void Add(Fault fault, std::string message) {
    std::string& slot = first_[static_cast<size_t>(fault)];
    if (slot.empty()) slot = std::move(message);
  }

  bool empty() const {
    return std::all_of(first_.begin(), first_.end(), [](const std::string& message) { return message.empty(); });
  }

  // The message of the first category in `order` with a fault, or null.
  const std::string* First(std::span<const Fault> order) const {
    for (const Fault fault : order) {
      const std::string& slot = first_[static_cast<size_t>(fault)];
      if (!slot.empty()) return &slot;
    }
    return nullptr;
  }

 private:
  std::array<std::string, static_cast<size_t>(Fault::kCount)> first_;
};

}  // namespace armature::expr

#endif  // ARMATURE_ENGINE_EXPR_FAULT_LOG_H_
