#include "tools/advise/advice.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/limits.h"
#include "tools/advise/explain.h"

namespace armature::advise {
namespace {

// The names of indexes follow the rules of table names.
constexpr size_t kIndexNameMaxChars = model::kTableNameMaxChars;

std::vector<KeyAttribute> KeyAttributes(const Table& table, const AttributeList& list) {
  std::vector<KeyAttribute> attributes;
  for (const AttributeId id : list) attributes.push_back({table.attributes[id].name, table.attributes[id].type});
  return attributes;
}

KeyAdvice KeyAdviceOf(const Table& table, const Key& key) {
  return {KeyAttributes(table, key.partition), KeyAttributes(table, key.sort)};
}

// A name such as "CustomerId-Status-index". `taken`: the names of indexes and shard attributes so far.
std::string IndexName(const Table& table, const Key& key, std::set<std::string>* taken) {
  constexpr std::string_view kSuffix = "index";
  std::string stem;
  for (const AttributeId id : key.All()) {
    for (const char c : table.attributes[id].name) {
      const bool allowed = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
      stem += allowed ? c : '_';
    }
    stem += '-';
  }
  constexpr size_t kRoom = 12;  // for the suffix and a number
  if (stem.size() > kIndexNameMaxChars - kRoom) stem = stem.substr(0, kIndexNameMaxChars - kRoom) + "-";
  std::string name = Cat(stem, kSuffix);
  for (int n = 2; !taken->insert(name).second; ++n) name = Cat(stem, kSuffix, n);
  return name;
}

// The name of the shard attribute. Each index has its own, because the numbers of shards differ.
std::string ShardAttribute(const Table& table, const Key& key, std::set<std::string>* taken) {
  const std::string stem = Cat(table.attributes[key.partition.front()].name, "Shard");
  std::string name = stem;
  for (int n = 2; FindAttribute(table, name) || !taken->insert(name).second; ++n) name = Cat(stem, n);
  return name;
}

// Adds the shard attribute to the partition key. If the key has four attributes already, the shard attribute replaces
// the last one, and its value is the value of that attribute with the shard as suffix.
void AddShardAttribute(const Table& table, const IndexDesign& design, std::set<std::string>* taken,
                       IndexAdvice* advice) {
  advice->shards = design.shards;
  if (design.shards == 1) return;
  advice->shard_attribute = ShardAttribute(table, design.key, taken);
  std::vector<KeyAttribute>& partition = advice->key.partition;
  if (partition.size() == model::kGlobalKeyAttributesMax) {
    partition.back() = {advice->shard_attribute, AttributeType::kString};
  } else {
    partition.push_back({advice->shard_attribute, AttributeType::kNumber});
  }
}

TableAdvice TableAdviceOf(const Workload& workload, const Plan& plan) {
  const Table& table = workload.table;
  return {.name = table.name,
          .key = KeyAdviceOf(table, plan.table_key),
          .created = table.created,
          .item_bytes = ItemBytes(table),
          .items = table.items,
          .storage_bytes = StorageBytes(table, 1, ItemBytes(table)),
          .write_units = TableWriteUnits(table),
          .reasons = TableReasons(workload, plan)};
}

IndexAdvice IndexAdviceOf(const Workload& workload, const Plan& plan, const IndexDesign& design,
                          std::set<std::string>* taken) {
  const Table& table = workload.table;
  IndexAdvice advice;
  advice.name = IndexName(table, design.key, taken);
  advice.local = design.local;
  advice.key = KeyAdviceOf(table, design.key);
  AddShardAttribute(table, design, taken, &advice);
  advice.projection = design.projection.kind;
  for (const AttributeId id : design.projection.non_key) advice.non_key.push_back(table.attributes[id].name);
  advice.share = design.share;
  advice.entry_bytes = design.entry_bytes;
  // The entry includes the shard number.
  if (design.shards > 1) advice.entry_bytes += static_cast<double>(advice.shard_attribute.size()) + 2;
  if (table.items) advice.entries = *table.items * design.share;
  advice.storage_bytes = StorageBytes(table, design.share, advice.entry_bytes);
  advice.write_units = design.write_units;
  advice.read_units = design.read_units;
  for (const size_t pattern : design.patterns) advice.patterns.push_back(workload.patterns[pattern].name);
  advice.reasons = IndexReasons(workload, plan, design, advice);
  return advice;
}

// The key condition of one shard. `key`: the key without the shard attribute.
std::string ShardedCondition(const Table& table, Key key, const Pattern& pattern, const KeyNeed& need,
                             const IndexAdvice& index) {
  std::string value = "n";
  if (index.key.partition.back().type == AttributeType::kString) {
    value = Cat("\"<", table.attributes[key.partition.back()].name, ">.n\"");
    key.partition.pop_back();
  }
  return Cat(ConditionText(table, key, pattern, need), " AND ", index.shard_attribute, " = ", value,
             ", for n from 1 to ", index.shards);
}

PatternAdvice PatternAdviceOf(const Workload& workload, const Plan& plan, const std::vector<IndexAdvice>& indexes,
                              size_t i) {
  const Table& table = workload.table;
  const Pattern& pattern = workload.patterns[i];
  const PatternPlan& answer = plan.patterns[i];
  PatternAdvice advice;
  advice.name = pattern.name;
  advice.service = answer.service;
  Key key = plan.table_key;
  if (answer.service == Service::kExistingIndex) {
    key = table.indexes[answer.index].key;
    advice.index = table.indexes[answer.index].name;
  } else if (answer.service == Service::kNewIndex || answer.service == Service::kIndexScan) {
    key = plan.indexes[answer.index].key;
    advice.index = indexes[answer.index].name;
  }
  const bool scanned = answer.service == Service::kScan || answer.service == Service::kIndexScan;
  if (!scanned) advice.condition = ConditionText(table, key, pattern, answer.need);
  if (answer.queries > 1) advice.condition = ShardedCondition(table, key, pattern, answer.need, indexes[answer.index]);
  advice.filter = FilterText(table, pattern, answer.need);
  advice.sorted_by_client = answer.need.sorted_by_client || (answer.queries > 1 && !pattern.order.empty());
  advice.descending = pattern.descending;
  advice.strong = answer.strong == StrongRead::kGiven || answer.strong == StrongRead::kFilteredTable;
  advice.queries = answer.queries;
  advice.units_per_read = answer.units_per_read;
  advice.read_units = answer.units_per_read * pattern.per_second;
  advice.reason = PatternReason(workload, plan, i, advice);
  return advice;
}

// The new index whose patterns have the fewest reads.
std::string LeastUsed(const Workload& workload, const Plan& plan, const std::vector<IndexAdvice>& indexes, bool local) {
  std::string name;
  double least = 0;
  for (size_t i = 0; i < indexes.size(); ++i) {
    if (indexes[i].local != local) continue;
    double reads = 0;
    for (const size_t pattern : plan.indexes[i].patterns) reads += workload.patterns[pattern].per_second;
    if (!name.empty() && reads >= least) continue;
    name = indexes[i].name;
    least = reads;
  }
  return Cat(name, " (", NumberText(least), " reads a second)");
}

void WarnAboutLimits(const Workload& workload, const Plan& plan, Advice* advice) {
  size_t local = 0;
  size_t global = 0;
  size_t projected = 0;
  for (const ExistingIndex& index : workload.table.indexes) {
    ++(index.local ? local : global);
    projected += index.projection.non_key.size();
  }
  for (const IndexAdvice& index : advice->indexes) {
    ++(index.local ? local : global);
    projected += index.non_key.size();
  }
  const auto warn_about_indexes = [&](bool is_local, size_t count, size_t count_max, std::string_view remedy) {
    if (count <= count_max) return;
    advice->warnings.push_back(Cat("The table would have ", count, is_local ? " local" : " global",
                                   " indexes, and at most ", count_max,
                                   " are allowed. The least used of the new ones is ",
                                   LeastUsed(workload, plan, advice->indexes, is_local), ": ", remedy));
  };
  warn_about_indexes(false, global, model::kGlobalIndexesMax, "ask fewer questions, or answer some by a filter.");
  warn_about_indexes(true, local, model::kLocalIndexesMax,
                     "see whether its patterns can do with eventually consistent answers.");
  if (projected > model::kNonKeyAttributesPerTableMax) {
    advice->warnings.push_back(Cat("The INCLUDE projections of the table name ", projected, " attributes, and at most ",
                                   model::kNonKeyAttributesPerTableMax, " are allowed: use ALL for the widest."));
  }
}

// Warns if a partition of the table itself has too much load.
void WarnAboutTableHeat(const Workload& workload, const Plan& plan, Advice* advice) {
  const Table& table = workload.table;
  const double share = HotShare(table, plan.table_key.partition);
  double writes = TableWriteUnits(table);
  double reads = 0;
  for (size_t i = 0; i < plan.patterns.size(); ++i) {
    const PatternPlan& pattern = plan.patterns[i];
    if (pattern.IsOfTable()) reads += workload.patterns[i].per_second * pattern.units_per_read;
  }
  for (const IndexDesign& index : plan.indexes) {
    if (!index.local) continue;  // only local indexes share the partitions of the table
    writes += index.write_units;
    reads += index.read_units;
  }
  const Heat heat = {writes * share, reads * share};
  if (!heat.TooHot()) return;
  advice->warnings.push_back(Cat("The busiest partition of the table itself would get ", HeatText(heat),
                                 "; a partition takes ", PartitionLimitsText(),
                                 ". Choose a partition key with more values than ",
                                 NamesOf(table, plan.table_key.partition), " has, or add a shard to its value."));
}

void WarnAboutLocalIndexes(const Workload& workload, const Plan& plan, Advice* advice) {
  double entries_bytes = 0;
  bool any = false;
  for (const IndexDesign& index : plan.indexes) {
    if (!index.local) continue;
    any = true;
    entries_bytes += index.share * index.entry_bytes;
  }
  if (!any) return;
  const std::optional<double> largest = LargestCollectionBytes(workload.table, plan.table_key, entries_bytes);
  advice->warnings.push_back(
      Cat("Local indexes can be made only together with the table. From then on the items of one ",
          NamesOf(workload.table, plan.table_key.partition), ", with their index entries, may not pass ",
          BytesText(kCollectionBytesMax), "; ",
          largest ? Cat("the largest is estimated at ", BytesText(*largest), ".")
                  : std::string("how large they get cannot be said without table.items.")));
}

}  // namespace

std::string KeyAdvice::ToString() const {
  std::string text;
  for (size_t i = 0; i < partition.size(); ++i) text += Cat(i == 0 ? "" : ", ", partition[i].name);
  for (size_t i = 0; i < sort.size(); ++i) text += Cat(i == 0 ? " | " : ", ", sort[i].name);
  return text;
}

absl::StatusOr<Advice> Advise(Workload workload) {
  ARM_RETURN_IF_ERROR(CheckWorkload(workload));
  CompleteWorkload(&workload);
  const Plan plan = BestPlan(workload);
  Advice advice;
  advice.table = TableAdviceOf(workload, plan);
  std::set<std::string> taken;
  for (const ExistingIndex& index : workload.table.indexes) taken.insert(index.name);
  for (const IndexDesign& design : plan.indexes) {
    advice.indexes.push_back(IndexAdviceOf(workload, plan, design, &taken));
  }
  for (size_t i = 0; i < workload.patterns.size(); ++i) {
    advice.patterns.push_back(PatternAdviceOf(workload, plan, advice.indexes, i));
  }
  WarnAboutLimits(workload, plan, &advice);
  WarnAboutTableHeat(workload, plan, &advice);
  WarnAboutLocalIndexes(workload, plan, &advice);
  return advice;
}

std::string_view ServiceName(Service service) {
  constexpr std::string_view kNames[] = {"GetItem",
                                         "Query of the table",
                                         "Query of an existing index",
                                         "Query of a new index",
                                         "Scan of a sparse index",
                                         "Scan of the table"};
  return kNames[static_cast<size_t>(service)];
}

std::string_view ProjectionName(ProjectionKind kind) {
  constexpr std::string_view kNames[] = {"KEYS_ONLY", "INCLUDE", "ALL"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace armature::advise
