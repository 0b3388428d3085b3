#include "tools/advise/plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

namespace armature::advise {
namespace {

double PartitionBytes(const Table& table, const Key& table_key) {
  const double items = table.items.value_or(0) / std::max(1.0, Distinct(table, table_key.partition));
  return items * ItemBytes(table);
}

// Makes one plan.
class Planner {
 public:
  Planner(const Workload& workload, const Key& table_key) : workload_(workload), table_(workload.table) {
    plan_.table_key = table_key;
  }

  Plan Make() {
    std::vector<size_t> open;
    std::vector<KeyNeed> needs;
    for (size_t i = 0; i < workload_.patterns.size(); ++i) {
      plan_.patterns.push_back(WithoutNewIndex(workload_.patterns[i]));
      if (plan_.patterns.back().service == Service::kNewIndex) open.push_back(i);
      needs.push_back(plan_.patterns.back().need);
    }
    AddIndexes(IndexDesigner(workload_, plan_.table_key, std::move(needs)), std::move(open));
    return std::move(plan_);
  }

 private:
  // The service of the pattern without new indexes. kNewIndex if there is none.
  PatternPlan WithoutNewIndex(const Pattern& pattern) const {
    PatternPlan answer;
    answer.need = NeedOf(table_, pattern);
    answer.strong = pattern.strong ? StrongRead::kGiven : StrongRead::kNotAsked;
    if (IsSubset(plan_.table_key.All(), pattern.equality)) {
      answer.service = Service::kItem;
      answer.units_per_read = ReadUnits(ItemBytes(table_), pattern.strong);
      return answer;
    }
    if (UseTable(pattern, &answer) || UseExistingIndex(pattern, &answer)) return answer;
    answer.service = Service::kNewIndex;
    if (pattern.strong) PlanStrongRead(pattern, &answer);
    return answer;
  }

  bool UseTable(const Pattern& pattern, PatternPlan* answer) const {
    if (!Answers(table_, plan_.table_key, answer->need)) return false;
    answer->service = Service::kTable;
    answer->units_per_read = ReadUnits(RowsRead(table_, pattern, answer->need) * ItemBytes(table_), pattern.strong);
    return true;
  }

  bool UseExistingIndex(const Pattern& pattern, PatternPlan* answer) const {
    double best_units = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < table_.indexes.size(); ++i) {
      const ExistingIndex& index = table_.indexes[i];
      if (pattern.strong && !index.local) continue;
      if (!Answers(table_, index.key, answer->need) || !Projects(index, pattern, answer->need)) continue;
      const double rows = RowsRead(table_, pattern, answer->need);
      const double bytes = rows * EntryBytes(table_, plan_.table_key, index.key, index.projection);
      const double units = ReadUnits(bytes, pattern.strong);
      if (units >= best_units) continue;
      best_units = units;
      answer->service = Service::kExistingIndex;
      answer->index = i;
      answer->units_per_read = units;
    }
    return answer->service == Service::kExistingIndex;
  }

  bool Projects(const ExistingIndex& index, const Pattern& pattern, const KeyNeed& need) const {
    if (index.projection.kind == ProjectionKind::kAll) return true;
    if (pattern.returns_all) return false;
    AttributeList held = plan_.table_key.All();
    AddOnce(&held, index.key.All());
    AddOnce(&held, index.projection.non_key);
    return IsSubset(pattern.returns, held) && IsSubset(need.filters, held) && IsSubset(need.other_filters, held) &&
           (!need.sorted_by_client || IsSubset(pattern.order, held));
  }

  // Only the table and its local indexes have strongly consistent answers.
  void PlanStrongRead(const Pattern& pattern, PatternPlan* answer) const {
    if (plan_.table_key.sort.empty() || !Contains(pattern.equality, plan_.table_key.partition.front())) {
      answer->strong = StrongRead::kOtherPartition;
      return;
    }
    if (table_.created) {
      FilterTable(pattern, answer);
      return;
    }
    const std::optional<double> largest = LargestCollectionBytes(table_, plan_.table_key, ItemBytes(table_));
    if (largest && *largest > kCollectionBytesMax) {
      answer->strong = StrongRead::kCollectionTooBig;
      return;
    }
    answer->need = LocalNeed(table_, answer->need, plan_.table_key.partition.front());
    UseTable(pattern, answer);  // the sort key of the table may meet the remaining demands
  }

  void FilterTable(const Pattern& pattern, PatternPlan* answer) const {
    const double bytes = PartitionBytes(table_, plan_.table_key);
    if (bytes > kPageBytes) {
      answer->strong = StrongRead::kTableIsCreated;
      return;
    }
    KeyNeed& need = answer->need;
    const AttributeId partition = plan_.table_key.partition.front();
    std::erase(need.equality, partition);
    need.filters.insert(need.filters.end(), need.equality.begin(), need.equality.end());
    need.equality = {partition};
    if (need.range) need.other_filters.push_back(*need.range);
    need.other_filters.insert(need.other_filters.end(), need.has.begin(), need.has.end());
    need.has.clear();
    need.range.reset();
    need.sorted_by_client = !pattern.order.empty();
    need.order.clear();
    answer->strong = StrongRead::kFilteredTable;
    answer->service = Service::kTable;
    answer->units_per_read = ReadUnits(bytes, true);
  }

  void AddIndexes(const IndexDesigner& designer, std::vector<size_t> open) {
    // Patterns with long keys come first. Patterns with shorter keys then find an index that begins with their key.
    std::stable_sort(open.begin(), open.end(), [this](size_t a, size_t b) { return Length(a) > Length(b); });
    for (const size_t pattern : open) Place(designer, pattern);
    while (JoinTwo(designer)) {
    }
    // Sorts the indexes by the position of their first pattern in the file.
    std::sort(plan_.indexes.begin(), plan_.indexes.end(),
              [](const IndexDesign& a, const IndexDesign& b) { return a.patterns.front() < b.patterns.front(); });
    for (size_t i = 0; i < plan_.indexes.size(); ++i) {
      for (const size_t pattern : plan_.indexes[i].patterns) {
        PatternPlan& answer = plan_.patterns[pattern];
        answer.service = plan_.indexes[i].scanned ? Service::kIndexScan : Service::kNewIndex;
        answer.index = i;
        answer.queries = plan_.indexes[i].shards;
        answer.units_per_read = designer.UnitsPerRead(plan_.indexes[i], pattern);
      }
    }
  }

  size_t Length(size_t pattern) const {
    const KeyNeed& need = plan_.patterns[pattern].need;
    return need.equality.size() + need.Tail().size() + need.has.size();
  }

  // Adds the pattern to the index where it costs least, or to a new index.
  void Place(const IndexDesigner& designer, size_t pattern) {
    const std::optional<IndexDesign> alone = designer.Design({pattern});
    if (!alone) {
      PatternPlan& answer = plan_.patterns[pattern];
      answer.service = Service::kScan;
      answer.units_per_read =
          ReadUnits(table_.items.value_or(0) * ItemBytes(table_), workload_.patterns[pattern].strong);
      return;
    }
    std::optional<IndexDesign> best;
    IndexDesign* place = nullptr;
    for (IndexDesign& index : plan_.indexes) {
      std::optional<IndexDesign> joined = Joined(designer, index, *alone);
      if (!joined) continue;
      if (best && AddedCost(*joined, index) >= AddedCost(*best, *place)) continue;
      best = std::move(joined);
      place = &index;
    }
    if (best) {
      *place = *std::move(best);
    } else {
      plan_.indexes.push_back(*alone);
    }
  }

  // The added cost, then the length of the key, because entries with shorter keys move less often.
  static std::tuple<double, size_t> AddedCost(const IndexDesign& after, const IndexDesign& before) {
    // Rounded: sums in different order differ in their last digits.
    return {std::round((Cost(after) - Cost(before)) * 1000), after.key.All().size()};
  }

  static double Cost(const IndexDesign& index) { return index.write_units * kWriteUnitWeight + index.read_units; }

  // One index for the patterns of both. Nothing if its load is distributed worse than that of the two indexes.
  std::optional<IndexDesign> Joined(const IndexDesigner& designer, const IndexDesign& a, const IndexDesign& b) const {
    std::vector<size_t> patterns = a.patterns;
    patterns.insert(patterns.end(), b.patterns.begin(), b.patterns.end());
    std::sort(patterns.begin(), patterns.end());
    std::optional<IndexDesign> joined = designer.Design(patterns);
    if (!joined) return std::nullopt;
    // A query of an unsharded index must not become a query of several shards, or of a partition with too much load.
    const bool spread = std::min(a.shards, b.shards) == 1;
    if (spread && joined->shards > 1) return std::nullopt;
    if (joined->reads_stay_hot && !a.reads_stay_hot && !b.reads_stay_hot) return std::nullopt;
    const double values = std::max(Distinct(table_, a.key.partition), Distinct(table_, b.key.partition));
    if (values >= kLowCardinality && Distinct(table_, joined->key.partition) < kLowCardinality) return std::nullopt;
    return joined;
  }

  // Replaces two indexes by one. False if there is no such pair.
  bool JoinTwo(const IndexDesigner& designer) {
    for (size_t i = 0; i < plan_.indexes.size(); ++i) {
      for (size_t j = i + 1; j < plan_.indexes.size(); ++j) {
        std::optional<IndexDesign> joined = Joined(designer, plan_.indexes[i], plan_.indexes[j]);
        if (!joined) continue;
        plan_.indexes[i] = *std::move(joined);
        plan_.indexes.erase(plan_.indexes.begin() + static_cast<std::ptrdiff_t>(j));
        return true;
      }
    }
    return false;
  }

  const Workload& workload_;
  const Table& table_;
  Plan plan_;
};

// The order of preference of plans. Smaller is better.
std::tuple<size_t, size_t, size_t, double> Badness(const Workload& workload, const Plan& plan) {
  size_t strong_lost = 0;
  size_t scans = 0;
  double cost = 0;
  for (size_t i = 0; i < plan.patterns.size(); ++i) {
    const PatternPlan& pattern = plan.patterns[i];
    const bool given = pattern.strong == StrongRead::kNotAsked || pattern.strong == StrongRead::kGiven;
    if (!given) ++strong_lost;
    if (pattern.service == Service::kScan) ++scans;
    cost += workload.patterns[i].per_second * pattern.units_per_read;
  }
  for (const IndexDesign& index : plan.indexes) cost += index.write_units * kWriteUnitWeight;
  return {strong_lost, scans, plan.indexes.size(), cost};
}

bool Changes(const Table& table, AttributeId id) {
  return std::ranges::any_of(table.updates, [id](const Update& update) { return Contains(update.attributes, id); });
}

}  // namespace

std::vector<Key> PossibleTableKeys(const Table& table, const std::vector<Pattern>& patterns) {
  if (table.key) return {*table.key};
  if (table.identity.size() == 2) {
    const AttributeId first = table.identity[0];
    const AttributeId second = table.identity[1];
    return {{{first}, {second}}, {{second}, {first}}};
  }
  const AttributeId identity = table.identity.front();
  std::vector<Key> keys = {{{identity}, {}}};
  for (const Pattern& pattern : patterns) {
    for (const AttributeId id : pattern.equality) {
      const Attribute& attribute = table.attributes[id];
      const Key key = {{id}, {identity}};
      if (id == identity || !attribute.CanBeKey() || attribute.IsSparse() || Changes(table, id)) continue;
      if (Distinct(table, {id}) < kLowCardinality) continue;
      if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    }
  }
  return keys;
}

Plan BestPlan(const Workload& workload) {
  std::optional<Plan> best;
  for (const Key& key : PossibleTableKeys(workload.table, workload.patterns)) {
    Plan plan = Planner(workload, key).Make();
    if (!best || Badness(workload, plan) < Badness(workload, *best)) best = std::move(plan);
  }
  return *std::move(best);
}

std::optional<double> LargestCollectionBytes(const Table& table, const Key& table_key, double entries_bytes) {
  if (!table.items) return std::nullopt;
  const AttributeId partition = table_key.partition.front();
  const double share = std::max(HotShare(table, {partition}), 1 / std::max(1.0, *table.items));
  return *table.items * share * (ItemBytes(table) + entries_bytes);
}

}  // namespace armature::advise
