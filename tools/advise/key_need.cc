#include "tools/advise/key_need.h"

#include <algorithm>
#include <utility>

#include "storage/model/limits.h"
#include "tools/advise/arithmetic.h"

namespace armature::advise {
namespace {

// A sequence of sets of attributes. The order within a set is open, so that it stands for several keys.
using Blocks = std::vector<AttributeList>;

AttributeList Without(const AttributeList& list, const AttributeList& removed) {
  AttributeList rest;
  for (const AttributeId id : list) {
    if (!Contains(removed, id)) rest.push_back(id);
  }
  return rest;
}

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
    const auto least =
        std::min_element(need->equality.begin(), need->equality.end(), [&table](AttributeId a, AttributeId b) {
          return Distinct(table.attributes[a]) < Distinct(table.attributes[b]);
        });
    need->filters.push_back(*least);
    need->equality.erase(least);
  }
}

void AddOrder(const Table& table, const Pattern& pattern, KeyNeed* need) {
  AttributeList order;
  for (const AttributeId id : pattern.order) {
    if (!Contains(pattern.equality, id)) AddOnce(&order, id);
  }
  const bool against_range = need->range && !order.empty() && order.front() != *need->range;
  const bool unordered =
      std::any_of(order.begin(), order.end(), [&table](AttributeId id) { return !table.attributes[id].CanBeKey(); });
  if (against_range || unordered || order.size() > model::kGlobalKeyAttributesMax) {
    need->sorted_by_client = true;
    return;
  }
  need->order = std::move(order);
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
  KeyNeed local = need;
  local.local = true;
  const AttributeList rest = Without(need.equality, {partition});
  const bool fits = rest.size() + need.Tail().size() + need.has.size() <= 1;
  if (fits) return local;
  local.equality = {partition};
  local.filters.insert(local.filters.end(), rest.begin(), rest.end());
  local.other_filters.insert(local.other_filters.end(), need.has.begin(), need.has.end());
  local.has.clear();
  if (!need.order.empty()) {
    local.order = {need.order.front()};
    local.sorted_by_client = local.sorted_by_client || need.order.size() > 1;
  } else if (!rest.empty()) {
    const AttributeId best = *std::max_element(rest.begin(), rest.end(), [&table](AttributeId a, AttributeId b) {
      return Distinct(table.attributes[a]) < Distinct(table.attributes[b]);
    });
    local.equality.push_back(best);
    local.filters = Without(local.filters, {best});
    if (need.range) local.other_filters.push_back(*need.range);
    local.range.reset();
  }
  return local;
}

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
    std::stable_sort(block.begin(), block.end(), [&table](AttributeId a, AttributeId b) {
      return Distinct(table.attributes[a]) < Distinct(table.attributes[b]);
    });
    sort.insert(sort.end(), block.begin(), block.end());
  }
  // An attribute may be in different positions for different patterns. The key would have it twice.
  AttributeList once;
  for (const AttributeId id : sort) AddOnce(&once, id);
  if (once.size() != sort.size() || sort.size() > model::kGlobalKeyAttributesMax) return std::nullopt;
  return sort;
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

bool HoldsAllItems(const Table& table, const AttributeList& key, const KeyNeed& need) {
  return std::all_of(key.begin(), key.end(),
                     [&](AttributeId id) { return !table.attributes[id].IsSparse() || need.Demands(id); });
}

}  // namespace armature::advise
