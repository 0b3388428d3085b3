#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "tools/advise/advice.h"

namespace armature::advise {
namespace {

Json KeySchema(const KeyAdvice& key) {
  Json schema = Json::array();
  const auto add = [&schema](const std::vector<KeyAttribute>& attributes, const char* key_type) {
    for (const KeyAttribute& attribute : attributes) {
      schema.push_back({{"AttributeName", attribute.name}, {"KeyType", key_type}});
    }
  };
  add(key.partition, "HASH");
  add(key.sort, "RANGE");
  return schema;
}

Json IndexRequest(const IndexAdvice& index) {
  Json projection = {{"ProjectionType", std::string(ProjectionName(index.projection))}};
  if (index.projection == ProjectionKind::kInclude) projection["NonKeyAttributes"] = index.non_key;
  return {{"IndexName", index.name}, {"KeySchema", KeySchema(index.key)}, {"Projection", std::move(projection)}};
}

void CollectTypes(const KeyAdvice& key, std::map<std::string, AttributeType>* types) {
  for (const KeyAttribute& attribute : key.partition) types->emplace(attribute.name, attribute.type);
  for (const KeyAttribute& attribute : key.sort) types->emplace(attribute.name, attribute.type);
}

Json AttributeDefinitions(const std::map<std::string, AttributeType>& types) {
  constexpr const char* kTypes[] = {"S", "N", "B"};  // in the order of AttributeType, without the types of no key
  Json definitions = Json::array();
  for (const auto& [name, type] : types) {
    definitions.push_back({{"AttributeName", name}, {"AttributeType", kTypes[static_cast<size_t>(type)]}});
  }
  return definitions;
}

Json CreateTable(const Advice& advice) {
  std::map<std::string, AttributeType> types;
  CollectTypes(advice.table.key, &types);
  Json local = Json::array();
  Json global = Json::array();
  for (const IndexAdvice& index : advice.indexes) {
    CollectTypes(index.key, &types);
    (index.local ? local : global).push_back(IndexRequest(index));
  }
  Json request = {{"TableName", advice.table.name},
                  {"AttributeDefinitions", AttributeDefinitions(types)},
                  {"KeySchema", KeySchema(advice.table.key)}};
  if (!local.empty()) request["LocalSecondaryIndexes"] = std::move(local);
  if (!global.empty()) request["GlobalSecondaryIndexes"] = std::move(global);
  request["BillingMode"] = "PAY_PER_REQUEST";
  return request;
}

// One request for each index, because an UpdateTable adds one index.
Json UpdateTables(const Advice& advice) {
  Json requests = Json::array();
  for (const IndexAdvice& index : advice.indexes) {
    std::map<std::string, AttributeType> types;
    CollectTypes(index.key, &types);
    const Json update = {{"Create", IndexRequest(index)}};
    requests.push_back({{"TableName", advice.table.name},
                        {"AttributeDefinitions", AttributeDefinitions(types)},
                        {"GlobalSecondaryIndexUpdates", Json::array({update})}});
  }
  return requests;
}

Json Reasons(const std::vector<Reason>& reasons) {
  Json json = Json::object();
  for (const Reason& reason : reasons) json[reason.topic] = reason.text;
  return json;
}

Json Names(const std::vector<KeyAttribute>& attributes) {
  Json names = Json::array();
  for (const KeyAttribute& attribute : attributes) names.push_back(attribute.name);
  return names;
}

Json KeyJson(const KeyAdvice& key) { return {{"Partition", Names(key.partition)}, {"Sort", Names(key.sort)}}; }

Json OrNull(const std::optional<double>& number) { return number ? Json(*number) : Json(); }

Json TableJson(const TableAdvice& table) {
  return {{"Name", table.name},
          {"Key", KeyJson(table.key)},
          {"Created", table.created},
          {"ItemBytes", table.item_bytes},
          {"Items", OrNull(table.items)},
          {"StorageBytes", OrNull(table.storage_bytes)},
          {"WriteUnitsPerSecond", table.write_units},
          {"Reasons", Reasons(table.reasons)}};
}

Json IndexJson(const IndexAdvice& index) {
  Json json = {{"Name", index.name},
               {"Kind", index.local ? "LOCAL" : "GLOBAL"},
               {"Key", KeyJson(index.key)},
               {"Projection", std::string(ProjectionName(index.projection))},
               {"NonKeyAttributes", index.non_key},
               {"Sparse", index.share < 1},
               {"ShareOfItems", index.share},
               {"Shards", index.shards}};
  if (index.shards > 1) json["ShardAttribute"] = index.shard_attribute;
  json.update({{"EntryBytes", index.entry_bytes},
               {"Entries", OrNull(index.entries)},
               {"StorageBytes", OrNull(index.storage_bytes)},
               {"WriteUnitsPerSecond", index.write_units},
               {"ReadUnitsPerSecond", index.read_units},
               {"Patterns", index.patterns},
               {"Reasons", Reasons(index.reasons)}});
  return json;
}

Json PatternJson(const PatternAdvice& pattern) {
  Json json = {{"Name", pattern.name}, {"Service", std::string(ServiceName(pattern.service))}};
  if (!pattern.index.empty()) json["IndexName"] = pattern.index;
  json.update({{"KeyCondition", pattern.condition},
               {"Filter", pattern.filter},
               {"SortedByClient", pattern.sorted_by_client},
               {"ScanIndexForward", !pattern.descending},
               {"StronglyConsistent", pattern.strong},
               {"Queries", pattern.queries},
               {"ReadUnits", pattern.units_per_read},
               {"ReadUnitsPerSecond", pattern.read_units},
               {"Reason", pattern.reason}});
  return json;
}

}  // namespace

Json AdviceToJson(const Advice& advice) {
  Json indexes = Json::array();
  for (const IndexAdvice& index : advice.indexes) indexes.push_back(IndexJson(index));
  Json patterns = Json::array();
  for (const PatternAdvice& pattern : advice.patterns) patterns.push_back(PatternJson(pattern));
  Json json = {{"Table", TableJson(advice.table)},
               {"Indexes", std::move(indexes)},
               {"Patterns", std::move(patterns)},
               {"Warnings", advice.warnings}};
  if (advice.table.created) {
    json["UpdateTable"] = UpdateTables(advice);
  } else {
    json["CreateTable"] = CreateTable(advice);
  }
  return json;
}

}  // namespace armature::advise
