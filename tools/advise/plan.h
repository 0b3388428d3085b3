#ifndef ARMATURE_TOOLS_ADVISE_PLAN_H_
#define ARMATURE_TOOLS_ADVISE_PLAN_H_

// Which of table, existing indexes and new indexes answers each pattern, with as few new indexes as possible.

#include <cstddef>
#include <optional>
#include <vector>

#include "tools/advise/index_design.h"
#include "tools/advise/key_need.h"
#include "tools/advise/workload.h"

namespace armature::advise {

enum class Service {
  kItem,           // GetItem.
  kTable,          // Query of the table.
  kExistingIndex,  // Query of an index that is there.
  kNewIndex,       // Query of an index that is proposed.
  kIndexScan,      // Scan of a sparse index that is proposed.
  kScan,           // Scan of the table.
};

// Why a pattern that needs strongly consistent answers does not get them, or how it gets them all the same.
enum class StrongRead {
  kNotAsked,
  kGiven,
  kFilteredTable,     // By reading the whole partition of the table, since local indexes cannot be added.
  kOtherPartition,    // Only the table and its local indexes can, and the pattern names another partition.
  kTableIsCreated,    // A local index would do, but the table exists, and its partitions are too large to filter.
  kCollectionTooBig,  // A local index would do, but a partition would pass its limit.
};

struct PatternPlan {
  Service service = Service::kScan;
  size_t index = 0;  // Of Plan::indexes or of Table::indexes.
  KeyNeed need;
  StrongRead strong = StrongRead::kNotAsked;
  double units_per_read = 0;
  int queries = 1;  // Sent for one answer.
};

struct Plan {
  Key table_key;
  std::vector<IndexDesign> indexes;
  std::vector<PatternPlan> patterns;  // One for each of the workload.
};

// The plan for a table with this key. Precondition: CheckWorkload.
Plan MakePlan(const Workload& workload, const Key& table_key);

// Keys that the table may have: the given one; or else for each order of the identity, and for a single attribute also
// as the sort key behind any attribute that patterns name by equality and that never changes. The first one is what the
// identity says as it is written.
std::vector<Key> PossibleTableKeys(const Table& table, const std::vector<Pattern>& patterns);

// The plan for the best of the possible keys: all strongly consistent patterns served, then fewest scans, fewest new
// indexes, least cost; the first one if equal. Precondition: CheckWorkload.
Plan BestPlan(const Workload& workload);

// Bytes of the items and local index entries of the largest partition, if the number of items is known.
std::optional<double> LargestCollectionBytes(const Table& table, const Key& table_key, double entries_bytes);

}  // namespace armature::advise

#endif  // ARMATURE_TOOLS_ADVISE_PLAN_H_
