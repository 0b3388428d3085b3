#include "tools/advise/explain.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "storage/base/strings.h"
#include "storage/model/limits.h"

namespace armature::advise {
namespace {

// The names in quotes, because names of patterns may have several words.
std::string QuotedNames(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  quoted.reserve(names.size());
  for (const std::string& name : names) quoted.push_back(Cat("\"", name, "\""));
  return Listed(quoted);
}

std::string ValuesText(const Table& table, const AttributeList& list) {
  const bool known =
      std::ranges::all_of(list, [&table](AttributeId id) { return table.attributes[id].distinct.has_value(); });
  return known ? Cat(NumberText(Distinct(table, list)), " values") : std::string("an unknown number of values");
}

std::string PartitionReason(const Workload& workload, const Plan& plan, const IndexDesign& design) {
  const Table& table = workload.table;
  if (design.scanned) {
    return Cat("No attribute is given by equality, so the index is read as a whole by Scan. It is keyed by ",
               NamesOf(table, design.key.All()),
               " because only items that have all attributes of an index's key have an entry.");
  }
  AttributeList common = plan.patterns[design.patterns.front()].need.equality;
  for (const size_t i : design.patterns) common = Common(common, plan.patterns[i].need.equality);
  const std::string partition = NamesOf(table, design.key.partition);
  std::string text =
      Cat("A Query needs every partition attribute by equality, and ",
          design.patterns.size() == 1 ? "the pattern gives " : "all patterns give ", NamesOf(table, common), " so. ");
  if (design.local) return Cat(text, "A local index has the partition key of its table, ", partition, ". ");
  if (!design.hot_partition.empty()) {
    return Cat(text, NamesOf(table, design.hot_partition),
               " alone would be the shortest partition key, but its busiest value would get ", HeatText(design.heat),
               ", and one partition takes ", PartitionLimitsText(), ". ", partition, " together spread the load. ");
  }
  if (common.size() > 1) {
    return Cat(text, partition, design.key.partition.size() == 1 ? " has" : " have", " the most values among these (",
               ValuesText(table, design.key.partition),
               "); the rest go to the sort key, where further patterns can share the index from the left. ");
  }
  return Cat(text, "It has ", ValuesText(table, design.key.partition), ". ");
}

std::string SortReason(const Workload& workload, const Plan& plan, const IndexDesign& design) {
  if (design.key.sort.empty() || design.scanned) return "";
  AttributeList equal;
  AttributeList ordered;
  AttributeList demanded;
  for (const AttributeId id : design.key.sort) {
    const auto any = [&](auto&& asks) {
      return std::ranges::any_of(design.patterns, [&](size_t i) { return asks(plan.patterns[i].need); });
    };
    if (any([id](const KeyNeed& need) { return Contains(need.Tail(), id); })) {
      ordered.push_back(id);
    } else if (any([id](const KeyNeed& need) { return Contains(need.equality, id); })) {
      equal.push_back(id);
    } else {
      demanded.push_back(id);
    }
  }
  const Table& table = workload.table;
  std::string text = "Sort attributes: ";
  if (!equal.empty()) text += Cat(NamesOf(table, equal), " by equality, usable from the left; ");
  if (!ordered.empty()) text += Cat(NamesOf(table, ordered), " for the range or the order, which must come last; ");
  if (!demanded.empty()) text += Cat(NamesOf(table, demanded), " to leave out items without it; ");
  text.resize(text.size() - 2);
  return text + ".";
}

Reason KindReason(const Workload& workload, const Plan& plan, const IndexDesign& design) {
  if (design.local) {
    return {
        "kind",
        "Local: a pattern needs strongly consistent answers within one partition of the table, and a global index is "
        "only eventually consistent. A local index has one sort attribute, exists from the creation of the table on or "
        "never, shares the table's throughput, and limits the items of a partition key value to 10 GB."};
  }
  const bool same_partition = design.key.partition == plan.table_key.partition;
  std::string text = "Global: no pattern that uses it needs strongly consistent answers from it. ";
  text += same_partition
              ? "A local index would have the right partition key too, but can neither be added later nor hold "
                "more than 10 GB for a partition key value."
              : "Its partition key differs from the table's, which a local index cannot offer.";
  if (workload.table.created) text += " It can be added to the table with UpdateTable.";
  return {"kind", text};
}

Reason ProjectionReason(const Workload& workload, const Plan& plan, const IndexDesign& design) {
  const Table& table = workload.table;
  std::string text;
  switch (design.projection.kind) {
    case ProjectionKind::kKeysOnly:
      return {
          "projection",
          "KEYS_ONLY: the keys of the index and of the table, which every entry holds, are all that is returned. No "
          "smaller entry is possible, and no other attribute costs an index write."};
    case ProjectionKind::kInclude:
      text =
          Cat("INCLUDE ", NamesOf(table, design.projection.non_key),
              ": what the patterns return or filter by beyond the keys. An entry has ", NumberText(design.entry_bytes),
              " of the item's ", NumberText(ItemBytes(table)), " bytes; what is not projected costs nothing.");
      break;
    case ProjectionKind::kAll: {
      const bool asked =
          std::ranges::any_of(design.patterns, [&](size_t i) { return workload.patterns[i].returns_all; });
      text = asked ? "ALL: a pattern returns whole items, and a query of a global index cannot fetch what is not "
                     "projected."
                   : Cat("ALL: the patterns return nearly the whole item or more attributes than INCLUDE can name (",
                         model::kNonKeyAttributesPerIndexMax, "), so leaving out the rest would save little.");
      break;
    }
  }
  // Units per second of the changes of projected attributes, and of reading the rows from the table instead.
  const double changed =
      design.write_units - IndexWriteUnits(table, plan.table_key, design.key, {ProjectionKind::kKeysOnly, {}});
  double fetched = 0;
  for (const size_t i : design.patterns) {
    const Pattern& pattern = workload.patterns[i];
    fetched += pattern.per_second * RowsRead(table, pattern, plan.patterns[i].need) *
               ReadUnits(ItemBytes(table), pattern.strong);
  }
  if (changed * kWriteUnitWeight > fetched) {
    text += Cat(" Consider KEYS_ONLY with BatchGetItem for the rest: changes of projected attributes cost ",
                NumberText(changed), " write units a second, fetching the rows would cost ", NumberText(fetched),
                " read units, and a write unit is worth about five of those.");
  }
  return {"projection", text};
}

Reason SparseReason(const Workload& workload, const IndexDesign& design) {
  AttributeList sparse;
  for (const AttributeId id : design.key.All()) {
    if (workload.table.attributes[id].IsSparse()) AddOnce(&sparse, id);
  }
  const std::string names = NamesOf(workload.table, sparse);
  return {"sparse",
          Cat("Only items with ", names, " have an entry, at most ", absl::StrFormat("%.3g%%", design.share * 100),
              " of all, and every pattern of this index wants just those. Keep it so: leave ", names,
              " out of an item rather than storing an empty value, and remove it when it no longer applies.")};
}

Reason ShardingReason(const Workload& workload, const IndexDesign& design, const IndexAdvice& advice) {
  const std::string partition = NamesOf(workload.table, design.key.partition);
  std::string text = Cat("One value of ", partition, " would get up to ", HeatText(design.heat),
                         "; one partition takes ", PartitionLimitsText(), ". ");
  if (design.shards > 1) {
    const bool glued = advice.key.partition.back().type == AttributeType::kString;
    const std::string& last = workload.table.attributes[design.key.partition.back()].name;
    text +=
        Cat("Spread each value over ", design.shards, " shards, so that none is used by more than half: store ",
            glued ? Cat("the value of ", last, " with a suffix of ") : std::string(), "a random number from 1 to ",
            design.shards, " as ", advice.shard_attribute, " in each new item, and query the ", design.shards,
            " shards in parallel and merge the answers. (Without multi-attribute keys the number is a suffix of the "
            "partition value: \"value.1\" to \"value.",
            design.shards, "\".)");
  }
  if (design.reads_stay_hot) {
    text +=
        "More shards do not help the reads, since each query asks every shard: cache the answers, or read less often.";
  }
  return {"sharding", text};
}

// The reason against sharding an index with few partition key values, and the rate at which it needs sharding.
Reason LowCardinalityReason(const Workload& workload, const IndexDesign& design) {
  const double share = std::max(HotShare(workload.table, design.key.partition), 1e-9);
  return {"sharding", Cat("No sharding: ", NamesOf(workload.table, design.key.partition), " has few values (",
                          ValuesText(workload.table, design.key.partition), "), but the busiest gets only ",
                          HeatText({design.write_units * share, design.heat.read_units}),
                          ". Shard it, by a random number from 1 to N in the key, before the index gets ",
                          NumberText(kPartitionWriteUnits / share), " write units a second.")};
}

// In the order of UpdateKind.
constexpr std::string_view kUpdateTexts[] = {"changes of ", "new values of ", "removals of "};

Reason CostReason(const Workload& workload, const Plan& plan, const IndexDesign& design, const IndexAdvice& advice) {
  const Table& table = workload.table;
  std::string text =
      Cat("An entry has ", NumberText(advice.entry_bytes), " bytes and ", model::kStorageOverheadBytes, " of overhead");
  text += advice.storage_bytes
              ? Cat("; ", NumberText(*advice.entries), " entries take ", BytesText(*advice.storage_bytes), ". ")
              : std::string("; give table.items for the total. ");
  Table only = table;  // has one kind of write at a time
  only.updates.clear();
  std::string writes =
      Cat("new and deleted items ", NumberText(IndexWriteUnits(only, plan.table_key, design.key, design.projection)));
  only.puts_per_second = 0;
  only.deletes_per_second = 0;
  for (const Update& update : table.updates) {
    only.updates = {update};
    const bool moves = !Common(update.attributes, design.key.All()).empty();
    writes += Cat(", ", kUpdateTexts[static_cast<size_t>(update.kind)], NamesOf(table, update.attributes), " ",
                  NumberText(IndexWriteUnits(only, plan.table_key, design.key, design.projection)),
                  moves && update.kind == UpdateKind::kChange ? " (two writes each: the entry moves)" : "");
  }
  text += Cat("Write units a second: ", writes, "; together ", NumberText(design.write_units), ". ",
              "Read units a second: ", NumberText(design.read_units), ".");
  return {"cost", text};
}

std::string EqualityText(const Table& table, AttributeId id) { return Cat(table.attributes[id].name, " = ?"); }

std::string RangeText(const Table& table, const RangeCondition& range) {
  const std::string& name = table.attributes[range.attribute].name;
  return range.kind == RangeKind::kBeginsWith ? Cat("begins_with(", name, ", ?)") : Cat(name, " BETWEEN ? AND ?");
}

std::string StrongText(const Workload& workload, const Plan& plan, StrongRead strong) {
  const std::string partition = NamesOf(workload.table, plan.table_key.partition);
  std::string why_not;
  switch (strong) {
    case StrongRead::kNotAsked:
      return "";
    case StrongRead::kGiven:
      return " Strongly consistent.";
    case StrongRead::kFilteredTable:
      return Cat(" Strongly consistent: local indexes cannot be added to a table that exists, so all items of one ",
                 partition, " are read from the table and filtered, which is affordable as they fit into one page.");
    case StrongRead::kOtherPartition:
      why_not = Cat("strongly consistent reads need the table or a local index, thus ", partition, " by equality",
                    plan.table_key.sort.empty() ? " and a sort key of the table." : ".");
      break;
    case StrongRead::kTableIsCreated:
      why_not =
          "that takes a local index, and those can be made only together with the table. A new table with it, and a "
          "copy of the items, would serve.";
      break;
    case StrongRead::kCollectionTooBig:
      why_not = Cat("with a local index the items of one ", partition, " may not pass ", BytesText(kCollectionBytesMax),
                    ", and they are expected to.");
      break;
  }
  return Cat(" Only eventually consistent, although strong is asked for: ", why_not,
             " To read one's own writes, send the change sequence of the write as at_least_sequence with the query.");
}

std::string ServiceText(const Workload& workload, const PatternPlan& answer, const PatternAdvice& advice) {
  const Table& table = workload.table;
  switch (answer.service) {
    case Service::kItem:
      return "The pattern names the whole key of the table: it reads one item, without an index.";
    case Service::kTable:
      return "The key of the table answers it, without an index.";
    case Service::kExistingIndex:
      return Cat("The index ", advice.index, " that the table has answers it.");
    case Service::kNewIndex:
      return Cat("Answered by the new index ", advice.index,
                 answer.queries > 1 ? Cat(", with ", answer.queries, " queries in parallel whose answers are merged")
                                    : std::string(),
                 ".");
    case Service::kIndexScan:
      return Cat("No attribute is given by equality, so no Query can answer it; a Scan of the sparse index ",
                 advice.index, " reads little.");
    case Service::kScan:
      break;
  }
  std::string text = "Not served: ";
  text += answer.need.equality.empty() && answer.need.filters.empty()
              ? "no attribute is given by equality, and no index can be queried without. The whole table is scanned"
              : "what it gives by equality cannot be a key. The whole table is scanned and filtered";
  text += table.items ? Cat(", ", NumberText(*table.items), " items each time. ") : std::string(". ");
  return text +
         "If that is too much, store an attribute that such questions can name, for example the day of a time, or a "
         "number from 1 to N over which the items are spread.";
}

}  // namespace

std::string NumberText(double number) {
  if (std::abs(number) < 1000) return absl::StrFormat("%.4g", number);
  std::string digits = absl::StrFormat("%.0f", number);
  const size_t first = digits.front() == '-' ? 1 : 0;
  for (size_t i = digits.size(); i > first + 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return digits;
}

std::string BytesText(double bytes) {
  constexpr std::string_view kUnits[] = {"bytes", "KB", "MB", "GB", "TB", "PB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  return absl::StrFormat("%.3g %s", bytes, Av(kUnits[unit]));
}

std::string HeatText(const Heat& heat) {
  return Cat(NumberText(heat.write_units), " write units and ", NumberText(heat.read_units), " read units a second");
}

std::string PartitionLimitsText() {
  return Cat(NumberText(kPartitionWriteUnits), " and ", NumberText(kPartitionReadUnits));
}

std::string ConditionText(const Table& table, const Key& key, const Pattern& pattern, const KeyNeed& need) {
  std::vector<std::string> conditions;
  for (const AttributeId id : key.partition) conditions.push_back(EqualityText(table, id));
  for (const AttributeId id : key.sort) {
    if (Contains(need.equality, id)) {
      conditions.push_back(EqualityText(table, id));
      continue;
    }
    if (need.range == id) conditions.push_back(RangeText(table, *pattern.range));
    break;
  }
  return absl::StrJoin(conditions, " AND ");
}

std::string FilterText(const Table& table, const Pattern& pattern, const KeyNeed& need) {
  std::vector<std::string> conditions;
  for (const AttributeId id : need.filters) conditions.push_back(EqualityText(table, id));
  for (const AttributeId id : need.other_filters) {
    const bool is_ranged = pattern.range && pattern.range->attribute == id;
    conditions.push_back(is_ranged ? RangeText(table, *pattern.range)
                                   : Cat("attribute_exists(", table.attributes[id].name, ")"));
  }
  return absl::StrJoin(conditions, " AND ");
}

std::vector<Reason> TableReasons(const Workload& workload, const Plan& plan) {
  const Table& table = workload.table;
  const std::string key = NamesOf(table, plan.table_key.All());
  if (table.key) {
    return {{"key", Cat("The key of the table, ", key, ", is given", table.created ? " and cannot change." : ".")}};
  }
  const auto served = std::ranges::count_if(plan.patterns, &PatternPlan::IsOfTable);
  const bool one = plan.table_key.sort.empty();
  std::string text =
      Cat(key, one ? " identifies an item and never changes" : " together identify an item and never change",
          "; the key answers ", served, served == 1 ? " pattern" : " patterns", " without an index. ");
  const size_t possible = PossibleTableKeys(table, workload.patterns).size();
  if (possible > 1) {
    text += Cat("Of ", possible,
                " possible keys it leaves the fewest patterns without the consistency they ask for, then "
                "the fewest to a Scan, then to further indexes (",
                plan.indexes.size(), "), then it costs least.");
  }
  return {{"key", text}};
}

std::vector<Reason> IndexReasons(const Workload& workload, const Plan& plan, const IndexDesign& design,
                                 const IndexAdvice& advice) {
  std::vector<Reason> reasons;
  reasons.push_back({"key", PartitionReason(workload, plan, design) + SortReason(workload, plan, design)});
  if (design.patterns.size() > 1) {
    reasons.push_back(
        {"sharing", Cat("One index for ", QuotedNames(advice.patterns),
                        ": each names the partition key and then sort attributes from the left without a gap. "
                        "Every index that is not made saves its storage and its writes.")});
  }
  reasons.push_back(KindReason(workload, plan, design));
  reasons.push_back(ProjectionReason(workload, plan, design));
  if (design.share < 1) reasons.push_back(SparseReason(workload, design));
  if (design.shards > 1 || design.reads_stay_hot) {
    reasons.push_back(ShardingReason(workload, design, advice));
  } else if (!design.local && Distinct(workload.table, design.key.partition) < kLowCardinality) {
    reasons.push_back(LowCardinalityReason(workload, design));
  }
  reasons.push_back(CostReason(workload, plan, design, advice));
  return reasons;
}

std::string PatternReason(const Workload& workload, const Plan& plan, size_t pattern, const PatternAdvice& advice) {
  const PatternPlan& answer = plan.patterns[pattern];
  std::string text = ServiceText(workload, answer, advice);
  text += Cat(" One answer costs ", NumberText(advice.units_per_read),
              advice.units_per_read == 1 ? " read unit, which makes " : " read units, which makes ",
              NumberText(advice.read_units), " a second.");
  text += StrongText(workload, plan, answer.strong);
  const bool filtered = !advice.filter.empty() && answer.service != Service::kScan;
  if (filtered) {
    text += Cat(" The key does not hold all conditions: rows that it finds are filtered by ", advice.filter,
                ", and those that drop out are paid for.");
  }
  const Pattern& asked = workload.patterns[pattern];
  if (answer.need.sorted_by_client && answer.service != Service::kScan && answer.service != Service::kItem) {
    text += Cat(" The order by ", NamesOf(workload.table, asked.order),
                " cannot come from the key next to the other conditions: the client sorts.");
  } else if (asked.descending && !asked.order.empty() && advice.queries == 1) {
    text += " Descending: with ScanIndexForward false.";
  }
  return text;
}

}  // namespace armature::advise
