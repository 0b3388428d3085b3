#ifndef ARMATURE_ENGINE_PARTIQL_READ_UNION_H_
#define ARMATURE_ENGINE_PARTIQL_READ_UNION_H_

// The reads that a WHERE clause is decomposed into: the union of their items is the result of the statement.

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/partiql/key_terms.h"
#include "engine/partiql/statement.h"
#include "storage/model/key_schema.h"

namespace armature::engine::partiql {

// One read by key. Points into the statement.
struct KeyedRead {
  KeyTerms key;
  // The filter: all of `others`, or one of `branches` unless there is none.
  std::vector<const Condition*> others;
  std::vector<const Condition*> branches;
  std::optional<SortRange> range;  // the sort keys that it selects; nullopt if no range is its condition
  size_t number = 0;               // of the branch that it was made of
};

// Bound on the reads that are made of one statement. Reads of one partition may become one in the end, so more than
// kReadsMax are made at first: choices and lists of values are multiplied with each other.
//
// Thread-safety: thread-compatible.
class ReadBudget {
 public:
  static constexpr size_t kMadeMax = kReadsMax * kReadsMax;

  // Counts reads that were made, at most kReadsMax at once. When the budget is spent, no more may be made.
  void Count(size_t reads) { made_ += reads; }
  bool is_spent() const { return made_ > kMadeMax; }
  size_t made() const { return made_; }

 private:
  size_t made_ = 0;
};

// The reads of `where` in the order of its branches and values, or none if a branch does not restrict all partition
// attributes. Branches are those of OR between whole conditions, and between conditions on keys inside of AND. Each
// item is read once. Branches of one partition without a range become one read.
//
// Errors: ValidationException for two conditions that select the same keys, for more than kReadsMax reads, for more
// than `budget` has room for before reads of one partition become one, for values longer than keys, and for values that
// no key has, unless they are those of an only read, which may be a GetItem with errors of its own. Cost: proportional
// to the statement, times kReadsMax at most, and to the reads of the budget.
absl::StatusOr<std::vector<KeyedRead>> DecomposeReads(const model::KeySchema& schema, const Condition& where,
                                                      ReadBudget* budget);

bool IsSamePartition(const KeyedRead& a, const KeyedRead& b);

// Orders the reads of each partition, which follow each other, by the keys that they select: all of them with
// `has_order`, else those of one list of values.
void OrderByKey(bool has_order, bool descending, std::vector<KeyedRead>* reads);

}  // namespace armature::engine::partiql

#endif  // ARMATURE_ENGINE_PARTIQL_READ_UNION_H_
