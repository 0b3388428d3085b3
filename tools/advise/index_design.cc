#include "tools/advise/index_design.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>

#include "storage/model/limits.h"
#include "tools/advise/arithmetic.h"

namespace armature::advise {
namespace {

// The order of preference of partition keys. Smaller is better.
std::tuple<bool, int, size_t, double> Badness(const Table& table, const IndexDesign& design) {
  return {design.reads_stay_hot, design.shards, design.key.partition.size(), -Distinct(table, design.key.partition)};
}

// The same order without regard to heat.
std::tuple<size_t, double> Length(const Table& table, const IndexDesign& design) {
  return {design.key.partition.size(), -Distinct(table, design.key.partition)};
}

AttributeList Chosen(const AttributeList& list, uint32_t mask) {
  AttributeList chosen;
  for (size_t i = 0; i < list.size(); ++i) {
    if ((mask >> i & 1u) != 0) chosen.push_back(list[i]);
  }
  return chosen;
}

// The attribute with the most values. The first one if several have equally many.
AttributeId MostDistinct(const Table& table, const AttributeList& list) {
  return *std::max_element(list.begin(), list.end(), [&table](AttributeId a, AttributeId b) {
    return Distinct(table.attributes[a]) < Distinct(table.attributes[b]);
  });
}

}  // namespace

bool Heat::TooHot() const { return write_units > kPartitionWriteUnits || read_units > kPartitionReadUnits; }

double RowsRead(const Table& table, const Pattern& pattern, const KeyNeed& need) {
  double rows = Rows(table, pattern);
  for (const AttributeId id : need.filters) rows *= Distinct(table.attributes[id]);
  return table.items ? std::min(rows, std::max(1.0, *table.items)) : rows;
}

IndexDesigner::IndexDesigner(const Workload& workload, Key table_key, std::vector<KeyNeed> needs)
    : workload_(workload), table_key_(std::move(table_key)), needs_(std::move(needs)) {}

std::optional<IndexDesign> IndexDesigner::Design(const std::vector<size_t>& patterns) const {
  const AttributeList common = CommonEquality(patterns);
  if (common.empty()) return patterns.size() == 1 ? Scanned(patterns.front()) : std::nullopt;
  const AttributeId first = MostDistinct(workload_.table, common);
  const bool local = std::any_of(patterns.begin(), patterns.end(), [&](size_t i) { return needs_[i].local; });
  std::optional<IndexDesign> best;
  std::optional<IndexDesign> shortest;
  for (uint32_t mask = 1; mask < 1u << common.size(); ++mask) {
    AttributeList partition = Chosen(common, mask);
    if (partition.size() > model::kGlobalKeyAttributesMax || !(local || Contains(partition, first))) continue;
    const std::optional<IndexDesign> design = WithPartition(patterns, std::move(partition));
    if (!design) continue;
    if (!best || Badness(workload_.table, *design) < Badness(workload_.table, *best)) best = design;
    if (!shortest || Length(workload_.table, *design) < Length(workload_.table, *shortest)) shortest = design;
  }
  if (best && shortest->key.partition.size() < best->key.partition.size()) {
    best->hot_partition = shortest->key.partition;
    best->heat = shortest->heat;
  }
  return best;
}

AttributeList IndexDesigner::CommonEquality(const std::vector<size_t>& patterns) const {
  AttributeList common = needs_[patterns.front()].equality;
  for (const size_t pattern : patterns) {
    std::erase_if(common, [&](AttributeId id) { return !Contains(needs_[pattern].equality, id); });
  }
  return common;
}

std::optional<IndexDesign> IndexDesigner::WithPartition(const std::vector<size_t>& patterns,
                                                        AttributeList partition) const {
  const Table& table = workload_.table;
  IndexDesign design;
  design.patterns = patterns;
  std::vector<const KeyNeed*> needs;
  for (const size_t pattern : patterns) {
    needs.push_back(&needs_[pattern]);
    design.local = design.local || needs_[pattern].local;
  }
  if (design.local && partition != table_key_.partition) return std::nullopt;
  std::stable_sort(partition.begin(), partition.end(), [&table](AttributeId a, AttributeId b) {
    return Distinct(table.attributes[a]) > Distinct(table.attributes[b]);
  });
  std::optional<AttributeList> sort = MergedSort(table, needs, partition);
  if (!sort || (design.local && sort->size() != 1)) return std::nullopt;
  design.key = {std::move(partition), *std::move(sort)};
  const AttributeList all = design.key.All();
  if (!std::all_of(needs.begin(), needs.end(), [&](const KeyNeed* need) { return HoldsAllItems(table, all, *need); })) {
    return std::nullopt;
  }
  Complete(&design);
  return design;
}

// An index that is scanned as a whole, because the pattern gives nothing by equality. Cheap if it has few entries.
std::optional<IndexDesign> IndexDesigner::Scanned(size_t pattern) const {
  const KeyNeed& need = needs_[pattern];
  if (need.has.empty()) return std::nullopt;
  IndexDesign design;
  design.patterns = {pattern};
  design.scanned = true;
  // One partition attribute is enough; an attribute with many values distributes the entries well.
  design.key.partition = {MostDistinct(workload_.table, need.has)};
  for (const AttributeId id : need.has) {
    if (!Contains(design.key.partition, id)) design.key.sort.push_back(id);
  }
  if (design.key.sort.size() > model::kGlobalKeyAttributesMax) return std::nullopt;
  Complete(&design);
  return design;
}

void IndexDesigner::Complete(IndexDesign* design) const {
  const Table& table = workload_.table;
  design->projection = ProjectionFor(design->patterns, design->key);
  design->share = Share(table, design->key.All());
  design->entry_bytes = EntryBytes(table, table_key_, design->key, design->projection);
  design->write_units = IndexWriteUnits(table, table_key_, design->key, design->projection);
  if (!design->scanned) {
    design->heat.write_units = design->write_units * HotShare(table, design->key.partition);
    design->heat.read_units = HotReadUnits(*design, 1);
    if (!design->local && design->heat.TooHot()) AddShards(design);
  }
  for (const size_t pattern : design->patterns) {
    design->read_units += workload_.patterns[pattern].per_second * UnitsPerRead(*design, pattern);
  }
}

void IndexDesigner::AddShards(IndexDesign* design) const {
  const double writes = std::ceil(design->heat.write_units / (kPartitionWriteUnits * kShardUse));
  const int for_writes =
      design->heat.write_units > kPartitionWriteUnits ? static_cast<int>(std::min<double>(writes, kShardsMax)) : 1;
  int shards = for_writes;
  const double reads_max = kPartitionReadUnits * (design->heat.read_units > kPartitionReadUnits ? kShardUse : 1);
  while (shards < kShardsMax && HotReadUnits(*design, shards) > reads_max) ++shards;
  design->reads_stay_hot = HotReadUnits(*design, shards) > reads_max;
  design->shards = design->reads_stay_hot ? for_writes : shards;
}

Projection IndexDesigner::ProjectionFor(const std::vector<size_t>& patterns, const Key& key) const {
  Projection projection;
  AttributeList keys = table_key_.All();
  for (const AttributeId id : key.All()) AddOnce(&keys, id);
  const auto add = [&](const AttributeList& list) {
    for (const AttributeId id : list) {
      if (!Contains(keys, id)) AddOnce(&projection.non_key, id);
    }
  };
  for (const size_t i : patterns) {
    const Pattern& pattern = workload_.patterns[i];
    if (pattern.returns_all) return {ProjectionKind::kAll, {}};
    add(pattern.returns);
    add(needs_[i].filters);
    add(needs_[i].other_filters);
    if (needs_[i].sorted_by_client) add(pattern.order);
  }
  if (projection.non_key.empty()) return projection;
  projection.kind = ProjectionKind::kInclude;
  const double bytes = EntryBytes(workload_.table, table_key_, key, projection);
  const bool nearly_all = bytes >= kWholeItemShare * ItemBytes(workload_.table);
  if (nearly_all || projection.non_key.size() > model::kNonKeyAttributesPerIndexMax) return {ProjectionKind::kAll, {}};
  return projection;
}

double IndexDesigner::BytesPerRead(const IndexDesign& design, size_t pattern) const {
  const Table& table = workload_.table;
  const double rows = design.scanned ? table.items.value_or(0) * design.share
                                     : RowsRead(table, workload_.patterns[pattern], needs_[pattern]);
  return rows * design.entry_bytes;
}

double IndexDesigner::UnitsPerRead(const IndexDesign& design, size_t pattern) const {
  const bool strong = design.local && workload_.patterns[pattern].strong;
  return design.shards * ReadUnits(BytesPerRead(design, pattern) / design.shards, strong);
}

double IndexDesigner::HotReadUnits(const IndexDesign& design, int shards) const {
  double units = 0;
  for (const size_t pattern : design.patterns) {
    units += workload_.patterns[pattern].per_second * ReadUnits(BytesPerRead(design, pattern) / shards, false);
  }
  return units * HotShare(workload_.table, design.key.partition);
}

}  // namespace armature::advise
