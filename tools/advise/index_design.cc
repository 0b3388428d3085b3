#include "tools/advise/index_design.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <tuple>
#include <utility>

#include "storage/model/limits.h"

namespace armature::advise {
namespace {

// A projection with at least this share of the item becomes ALL.
constexpr double kWholeItemShare = 0.8;

// Maximum use of a shard. The rest is room for bursts, uneven distribution and growth.
constexpr double kShardUse = 0.5;
constexpr int kShardsMax = 200;

// The order of preference of partition keys. Smaller is better.
std::tuple<bool, int, size_t, double> Badness(const Table& table, const IndexDesign& design) {
  return {design.reads_stay_hot, design.shards, design.key.partition.size(), -Distinct(table, design.key.partition)};
}

// The order of designs without regard to heat.
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

// The number of values of an attribute, for algorithms.
auto ValuesIn(const Table& table) {
  return [&table](AttributeId id) { return Distinct(table.attributes[id]); };
}

// The attribute with the most values. The first one if several have equally many.
AttributeId MostDistinct(const Table& table, const AttributeList& list) {
  return *std::ranges::max_element(list, {}, ValuesIn(table));
}

// A sequence of sets of attributes. The order within a set is open, so that it stands for several keys.
using Blocks = std::vector<AttributeList>;

Blocks BlocksOf(const KeyNeed& need, const AttributeList& partition) {
  Blocks blocks;
  const AttributeList rest = Without(need.equality, partition);
  if (!rest.empty()) blocks.push_back(rest);
  for (const AttributeId id : need.Tail()) blocks.push_back({id});
  AttributeList used = partition;
  for (const AttributeList& block : blocks) used.insert(used.end(), block.begin(), block.end());
  const AttributeList has = Without(need.has, used);
  if (!has.empty()) blocks.push_back(has);
  return blocks;
}

// The keys that are possible for both, or nothing. The shorter one must be a prefix of the longer one.
std::optional<Blocks> Refined(Blocks a, Blocks b) {
  Blocks result;
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() && j < b.size()) {
    const bool a_first = IsSubset(a[i], b[j]);
    if (!a_first && !IsSubset(b[j], a[i])) return std::nullopt;
    const AttributeList first = a_first ? a[i] : b[j];
    a[i] = Without(a[i], first);
    b[j] = Without(b[j], first);
    result.push_back(first);
    if (a[i].empty()) ++i;
    if (b[j].empty()) ++j;
  }
  for (; i < a.size(); ++i) result.push_back(a[i]);
  for (; j < b.size(); ++j) result.push_back(b[j]);
  return result;
}

// Turns equality attributes beyond the limit of a key into filters, those with the fewest values first.
void LimitEquality(const Table& table, KeyNeed* need) {
  const size_t sort_free =
      model::kGlobalKeyAttributesMax - std::min(need->Tail().size(), model::kGlobalKeyAttributesMax);
  while (need->equality.size() > model::kGlobalKeyAttributesMax + sort_free) {
    const auto least = std::ranges::min_element(need->equality, {}, ValuesIn(table));
    need->filters.push_back(*least);
    need->equality.erase(least);
  }
}

void AddOrder(const Table& table, const Pattern& pattern, KeyNeed* need) {
  AttributeList order;
  AddOnce(&order, Without(pattern.order, pattern.equality));
  const bool against_range = need->range && !order.empty() && order.front() != *need->range;
  const bool unordered =
      std::ranges::any_of(order, [&table](AttributeId id) { return !table.attributes[id].CanBeKey(); });
  if (against_range || unordered || order.size() > model::kGlobalKeyAttributesMax) {
    need->sorted_by_client = true;
    return;
  }
  need->order = std::move(order);
}

// Sort attributes that meet all needs after the given partition attributes. Nothing if the needs contradict each other
// or need too many attributes. Where the needs leave the order open, attributes with few values come first.
std::optional<AttributeList> MergedSort(const Table& table, const std::vector<const KeyNeed*>& needs,
                                        const AttributeList& partition) {
  Blocks merged;
  for (const KeyNeed* const need : needs) {
    std::optional<Blocks> refined = Refined(std::move(merged), BlocksOf(*need, partition));
    if (!refined) return std::nullopt;
    merged = *std::move(refined);
  }
  AttributeList sort;
  for (AttributeList& block : merged) {
    std::ranges::stable_sort(block, {}, ValuesIn(table));
    sort.insert(sort.end(), block.begin(), block.end());
  }
  // An attribute may be in different positions for different patterns. The key would have it twice.
  AttributeList once;
  AddOnce(&once, sort);
  if (once.size() != sort.size() || sort.size() > model::kGlobalKeyAttributesMax) return std::nullopt;
  return sort;
}

// True if an index with this key has all items of the need: no such item lacks an attribute of the key.
bool HoldsAllItems(const Table& table, const AttributeList& key, const KeyNeed& need) {
  return std::ranges::all_of(key, [&](AttributeId id) { return !table.attributes[id].IsSparse() || need.Demands(id); });
}

}  // namespace

AttributeList KeyNeed::Tail() const {
  if (!order.empty() || !range) return order;
  return {*range};
}

bool KeyNeed::Demands(AttributeId id) const {
  return Contains(equality, id) || (range && *range == id) || Contains(order, id) || Contains(has, id);
}

KeyNeed NeedOf(const Table& table, const Pattern& pattern) {
  KeyNeed need;
  for (const AttributeId id : pattern.equality) {
    AddOnce(table.attributes[id].CanBeKey() ? &need.equality : &need.filters, id);
  }
  if (pattern.range) {
    if (table.attributes[pattern.range->attribute].CanBeKey()) {
      need.range = pattern.range->attribute;
    } else {
      need.other_filters.push_back(pattern.range->attribute);
    }
  }
  AddOrder(table, pattern, &need);
  for (const AttributeId id : pattern.has) {
    const Attribute& attribute = table.attributes[id];
    if (!attribute.CanBeKey()) {
      AddOnce(&need.other_filters, id);
    } else if (attribute.IsSparse() && !need.Demands(id)) {
      AddOnce(&need.has, id);
    }
  }
  LimitEquality(table, &need);
  return need;
}

KeyNeed LocalNeed(const Table& table, const KeyNeed& need, AttributeId partition) {
  const AttributeList rest = Without(need.equality, {partition});
  KeyNeed local = need;
  local.local = true;
  if (rest.size() + need.Tail().size() + need.has.size() <= 1) return local;
  local.equality = {partition};
  local.filters.insert(local.filters.end(), rest.begin(), rest.end());
  local.other_filters.insert(local.other_filters.end(), need.has.begin(), need.has.end());
  local.has.clear();
  if (!need.order.empty()) {
    local.order = {need.order.front()};
    local.sorted_by_client = local.sorted_by_client || need.order.size() > 1;
  } else if (!rest.empty()) {
    const AttributeId best = MostDistinct(table, rest);
    local.equality.push_back(best);
    local.filters = Without(local.filters, {best});
    if (need.range) local.other_filters.push_back(*need.range);
    local.range.reset();
  }
  return local;
}

bool Answers(const Table& table, const Key& key, const KeyNeed& need) {
  if (key.partition.empty() || !IsSubset(key.partition, need.equality)) return false;
  const AttributeList rest = Without(need.equality, key.partition);
  const AttributeList tail = need.Tail();
  if (rest.size() + tail.size() > key.sort.size()) return false;
  const auto tail_begin = key.sort.begin() + static_cast<std::ptrdiff_t>(rest.size());
  if (!IsSubset(rest, AttributeList(key.sort.begin(), tail_begin))) return false;
  if (!std::equal(tail.begin(), tail.end(), tail_begin)) return false;
  const AttributeList all = key.All();
  return IsSubset(need.has, all) && HoldsAllItems(table, all, need);
}

double RowsRead(const Table& table, const Pattern& pattern, const KeyNeed& need) {
  double rows = Rows(table, pattern);
  for (const AttributeId id : need.filters) rows *= Distinct(table.attributes[id]);
  return table.items ? std::min(rows, std::max(1.0, *table.items)) : rows;
}

IndexDesigner::IndexDesigner(const Workload& workload, Key table_key, std::vector<KeyNeed> needs)
    : workload_(workload), table_key_(std::move(table_key)), needs_(std::move(needs)) {}

std::optional<IndexDesign> IndexDesigner::Design(const std::vector<size_t>& patterns) const {
  AttributeList common = needs_[patterns.front()].equality;
  for (const size_t i : patterns) common = Common(common, needs_[i].equality);
  if (common.empty()) return patterns.size() == 1 ? Scanned(patterns.front()) : std::nullopt;
  const AttributeId first = MostDistinct(workload_.table, common);
  const bool local = std::ranges::any_of(patterns, [&](size_t i) { return needs_[i].local; });
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
  std::ranges::stable_sort(partition, std::greater(), ValuesIn(table));
  std::optional<AttributeList> sort = MergedSort(table, needs, partition);
  if (!sort || (design.local && sort->size() != 1)) return std::nullopt;
  design.key = {std::move(partition), *std::move(sort)};
  const AttributeList all = design.key.All();
  const auto holds = [&](const KeyNeed* need) { return HoldsAllItems(table, all, *need); };
  if (!std::ranges::all_of(needs, holds)) return std::nullopt;
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
  design.key.sort = Without(need.has, design.key.partition);
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
  AddOnce(&keys, key.All());
  const auto add = [&](const AttributeList& list) { AddOnce(&projection.non_key, Without(list, keys)); };
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
