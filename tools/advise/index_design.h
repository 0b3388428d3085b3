#ifndef ARMATURE_TOOLS_ADVISE_INDEX_DESIGN_H_
#define ARMATURE_TOOLS_ADVISE_INDEX_DESIGN_H_

// Designs one index for a set of patterns: key, projection, shards and cost.

#include <cstddef>
#include <optional>
#include <vector>

#include "tools/advise/key_need.h"
#include "tools/advise/workload.h"

namespace armature::advise {

// A partition key with fewer values has low cardinality.
inline constexpr double kLowCardinality = 100;

// A projection with at least this share of the item becomes ALL.
inline constexpr double kWholeItemShare = 0.8;

// Maximum use of a shard. The rest is room for bursts, uneven distribution and growth.
inline constexpr double kShardUse = 0.5;
inline constexpr int kShardsMax = 200;

// Cost of a write unit in read units, according to the price list of the service.
inline constexpr double kWriteUnitWeight = 5;

// Units per second of the busiest partition key value, before sharding.
struct Heat {
  double write_units = 0;
  double read_units = 0;

  bool TooHot() const;
};

struct IndexDesign {
  std::vector<size_t> patterns;  // positions in Workload::patterns, ascending
  bool local = false;
  bool scanned = false;  // a sparse index that is scanned as a whole
  Key key;
  Projection projection;
  double share = 1;             // share of the items with an entry
  int shards = 1;               // number of partitions for one partition key value
  bool reads_stay_hot = false;  // more shards would not help, because each query reads all of them
  Heat heat;
  AttributeList hot_partition;  // a shorter partition key with too much `heat`; empty if there is none
  double entry_bytes = 0;
  double write_units = 0;  // per second
  double read_units = 0;   // per second, of all patterns
};

// Designs indexes for one workload and one table key. Lifetime: `workload` must outlive it.
class IndexDesigner {
 public:
  // `needs`: one for each pattern of the workload.
  IndexDesigner(const Workload& workload, Key table_key, std::vector<KeyNeed> needs);

  // The best index that answers all these patterns, or nothing if there is none. Its partition key begins with the
  // attribute of the most values among those that all patterns give by equality. Further attributes are added only if
  // they save shards: a short partition key leaves more attributes to the sort key, where other patterns can use them.
  std::optional<IndexDesign> Design(const std::vector<size_t>& patterns) const;

  // Read units of one read of this pattern.
  double UnitsPerRead(const IndexDesign& design, size_t pattern) const;

  const KeyNeed& need(size_t pattern) const { return needs_[pattern]; }
  const Key& table_key() const { return table_key_; }

 private:
  AttributeList CommonEquality(const std::vector<size_t>& patterns) const;
  std::optional<IndexDesign> WithPartition(const std::vector<size_t>& patterns, AttributeList partition) const;
  std::optional<IndexDesign> Scanned(size_t pattern) const;
  void Complete(IndexDesign* design) const;
  void AddShards(IndexDesign* design) const;
  Projection ProjectionFor(const std::vector<size_t>& patterns, const Key& key) const;
  double HotReadUnits(const IndexDesign& design, int shards) const;
  double BytesPerRead(const IndexDesign& design, size_t pattern) const;

  const Workload& workload_;
  Key table_key_;
  std::vector<KeyNeed> needs_;
};

// Number of rows that a pattern reads for one answer, including the rows that a filter drops.
double RowsRead(const Table& table, const Pattern& pattern, const KeyNeed& need);

}  // namespace armature::advise

#endif  // ARMATURE_TOOLS_ADVISE_INDEX_DESIGN_H_
