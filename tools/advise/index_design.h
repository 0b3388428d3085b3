#ifndef ARMATURE_TOOLS_ADVISE_INDEX_DESIGN_H_
#define ARMATURE_TOOLS_ADVISE_INDEX_DESIGN_H_

// The demands of an access pattern on a key, the keys that meet the demands of several patterns at once, and the design
// of one index for a set of patterns: key, projection, shards and cost.
//
// A Query gives all partition attributes by equality, then sort attributes from the left by equality, and possibly the
// next one by a range. The answer is ordered by the sort attributes. A pattern therefore determines which attributes
// are the first sort attributes, but not the order of those that it gives by equality. This freedom lets one index
// answer many patterns.

#include <cstddef>
#include <optional>
#include <vector>

#include "tools/advise/workload.h"

namespace armature::advise {

// A partition key with fewer values has low cardinality.
inline constexpr double kLowCardinality = 100;

// Cost of a write unit in read units, according to the price list of the service.
inline constexpr double kWriteUnitWeight = 5;

// The demands of a pattern that keys can meet.
struct KeyNeed {
  AttributeList equality;
  std::optional<AttributeId> range;
  AttributeList order;  // without attributes that are constant in an answer; begins with `range`
  AttributeList has;    // sparse attributes that the key must have in any position

  // Work that remains for the rows that the key finds.
  AttributeList filters;          // equality conditions checked for each row
  AttributeList other_filters;    // range and existence conditions checked for each row
  bool sorted_by_client = false;  // the key does not give the whole order
  bool local = false;             // needs a local index

  // The sort attributes after those given by equality, in order.
  AttributeList Tail() const;

  // True if the pattern wants only items with `id`.
  bool Demands(AttributeId id) const;
};

KeyNeed NeedOf(const Table& table, const Pattern& pattern);

// The need for a local index, which has one sort attribute: the order if there is one, or else the most selective
// equality. The remaining conditions become filters. `partition`: the partition attribute of the table.
KeyNeed LocalNeed(const Table& table, const KeyNeed& need, AttributeId partition);

// True if a Query with this key finds all rows of the need, in order.
bool Answers(const Table& table, const Key& key, const KeyNeed& need);

// Units per second of the busiest partition key value, before sharding.
struct Heat {
  double write_units = 0;
  double read_units = 0;

  bool TooHot() const { return write_units > kPartitionWriteUnits || read_units > kPartitionReadUnits; }
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

 private:
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
