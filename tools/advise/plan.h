#ifndef ARMATURE_TOOLS_ADVISE_PLAN_H_
#define ARMATURE_TOOLS_ADVISE_PLAN_H_

// Chooses the table, an existing index or a new index for each pattern, with as few new indexes as possible.

#include <cstddef>
#include <optional>
#include <vector>

#include "tools/advise/index_design.h"
#include "tools/advise/workload.h"

namespace armature::advise {

enum class Service {
  kItem,           // GetItem
  kTable,          // Query of the table
  kExistingIndex,  // Query of an existing index
  kNewIndex,       // Query of a proposed index
  kIndexScan,      // Scan of a proposed sparse index
  kScan,           // Scan of the table
};

// How a pattern with strongly consistent answers is served, or the reason why its answers are only eventually
// consistent.
enum class StrongRead {
  kNotAsked,
  kGiven,
  kFilteredTable,     // reads and filters the whole partition of the table, because a local index cannot be added
  kOtherPartition,    // not served: the pattern gives another partition key than the table and its local indexes
  kTableIsCreated,    // not served: the table exists, and its partitions are too large to filter
  kCollectionTooBig,  // not served: with a local index a partition would exceed its limit
};

struct PatternPlan {
  Service service = Service::kScan;
  size_t index = 0;  // position in Plan::indexes or Table::indexes
  KeyNeed need;
  StrongRead strong = StrongRead::kNotAsked;
  double units_per_read = 0;
  int queries = 1;  // number of queries for one answer

  // True if the table itself answers, by its key.
  bool IsOfTable() const { return service == Service::kItem || service == Service::kTable; }
};

struct Plan {
  Key table_key;
  std::vector<IndexDesign> indexes;
  std::vector<PatternPlan> patterns;  // one for each pattern of the workload
};

// The possible keys of the table: the given key; or else each order of the identity, and, for a single attribute, this
// attribute as sort key after any constant attribute that patterns give by equality. The first key is the identity as
// written.
std::vector<Key> PossibleTableKeys(const Table& table, const std::vector<Pattern>& patterns);

// The plan for the best possible key: all strongly consistent patterns served, then the fewest scans, the fewest new
// indexes, the least cost. The first one of equal plans. Precondition: CheckWorkload.
Plan BestPlan(const Workload& workload);

// Size in bytes of the items and local index entries of the largest partition. Absent if the number of items is
// unknown.
std::optional<double> LargestCollectionBytes(const Table& table, const Key& table_key, double entries_bytes);

}  // namespace armature::advise

#endif  // ARMATURE_TOOLS_ADVISE_PLAN_H_
