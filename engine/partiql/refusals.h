#ifndef ARMATURE_ENGINE_PARTIQL_REFUSALS_H_
#define ARMATURE_ENGINE_PARTIQL_REFUSALS_H_

// Faults of a statement that is of the grammar, which the service refuses.
//
// Faults of the grammar end the parse. Other faults are noted while the statement is read, and one of them is reported
// once it has been read to its end: of the clause that the service reads first, the first one; without any of these,
// the first operand that its operator cannot take.

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"

namespace armature::engine::partiql {

// Thread-safety: owned by one thread.
class Refusals {
 public:
  // In the order in which the service reads them.
  enum class Clause : uint8_t { kWhere, kSet, kValue, kCount };

  // The next refusals are in `clause`.
  void Enter(Clause clause) { clause_ = clause; }
  // A term or literal that no statement may have.
  void Note(absl::Status refusal) { Keep(std::move(refusal), &by_clause_[static_cast<size_t>(clause_)]); }
  // An operand of a type, or a number of operands, that an operator or function does not take.
  void NoteOperand(absl::Status refusal) { Keep(std::move(refusal), &operand_); }

  // The refusal to report, or OK.
  absl::Status First() const {
    for (const absl::Status& refusal : by_clause_) {
      if (!refusal.ok()) return refusal;
    }
    return operand_;
  }

 private:
  static void Keep(absl::Status refusal, absl::Status* first) {
    if (first->ok()) *first = std::move(refusal);
  }

  Clause clause_ = Clause::kWhere;
  std::array<absl::Status, static_cast<size_t>(Clause::kCount)> by_clause_;
  absl::Status operand_;
};

}  // namespace armature::engine::partiql

#endif  // ARMATURE_ENGINE_PARTIQL_REFUSALS_H_
