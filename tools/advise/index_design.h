#ifndef ARMATURE_TOOLS_ADVISE_INDEX_DESIGN_H_
#define ARMATURE_TOOLS_ADVISE_INDEX_DESIGN_H_

// One index for a set of patterns: its key, its projection, its shards, its cost.

#include <cstddef>
#include <optional>
#include <vector>

#include "tools/advise/key_need.h"
#include "tools/advise/workload.h"

namespace armature::advise {

// Fewer values than this, and the partition key is called one of low cardinality.
inline constexpr double kLowCardinality = 100;

// An INCLUDE of this share of the item is an ALL.
inline constexpr double kWholeItemShare = 0.8;

// Shards are as many as it takes for each to be used by no more than half: room for bursts, chance and growth.
inline constexpr double kShardUse = 0.5;
inline constexpr int kShardsMax = 200;

// A write unit costs about five read units, in the service's price list as in the work that it stands for.
inline constexpr double kWriteUnitWeight = 5;

// What the busiest partition key value gets, in units a second, before sharding.
struct Heat {
  double write_units = 0;
  double read_units = 0;

  bool TooHot() const;
};

struct IndexDesign {
  std::vector<size_t> patterns;  // Positions in Workload::patterns, ascending.
  bool local = false;
  bool scanned = false;  // A sparse index that is read as a whole.
  Key key;
  Projection projection;
  double share = 1;             // Of the items that have an entry.
  int shards = 1;               // Partitions that one partition key value is spread over.
  bool reads_stay_hot = false;  // More shards would not help: each query asks them all.
  Heat heat;
  AttributeList hot_partition;  // The shorter partition key that would have got too much: `heat`. Empty if none.
  double entry_bytes = 0;
  double write_units = 0;  // A second.
  double read_units = 0;   // A second, of all patterns.
};

// Makes designs for one workload and one key of the table. `workload` must outlive it.
class IndexDesigner {
 public:
  // One need for each pattern of the workload.
  IndexDesigner(const Workload& workload, Key table_key, std::vector<KeyNeed> needs);

  // The best index that answers all these patterns, or nothing if none does. Its partition key begins with the
  // attribute of the most values among those that all patterns give by equality, and takes further ones as long as
  // that saves shards: a short one leaves more to the sort key, where other patterns can join.
  std::optional<IndexDesign> Design(const std::vector<size_t>& patterns) const;

  // Units of one read by this pattern.
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

// Rows that a pattern reads for its answer: those that a filter drops count too.
double RowsRead(const Table& table, const Pattern& pattern, const KeyNeed& need);

}  // namespace armature::advise

#endif  // ARMATURE_TOOLS_ADVISE_INDEX_DESIGN_H_
