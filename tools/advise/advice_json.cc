#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/advise/advice.h"
#include "tools/advise/workload_json.h"

namespace armature::advise {
namespace {

const char* TypeName(AttributeType type) {
  switch (type) {
    case AttributeType::kNumber:
      return "N";
    case AttributeType::kBinary:
      return "B";
    case AttributeType::kString:
    case AttributeType::kOther:  // Never a key.
      break;
  }
  return "S";
}

Json KeySchema(const KeyAdvice& key) {
  Json schema = Json::array();
  const auto add = [&schema](const std::vector<KeyAttribute>& attributes, const char* role) {
    for (const KeyAttribute& attribute : attributes) {
      Json element = Json::object();
      element["AttributeName"] = attribute.name;
      element["KeyType"] = role;
      schema.push_back(std::move(element));
    }
  };
  add(key.partition, "HASH");
  add(key.sort, "RANGE");
  return schema;
}

Json IndexRequest(const IndexAdvice& index) {
  Json request = Json::object();
  request["IndexName"] = index.name;
  request["KeySchema"] = KeySchema(index.key);
  Json projection = Json::object();
  projection["ProjectionType"] = std::string(ProjectionName(index.projection));
  if (index.projection == ProjectionKind::kInclude) projection["NonKeyAttributes"] = index.non_key;
  request["Projection"] = std::move(projection);
  return request;
}

void CollectTypes(const KeyAdvice& key, std::map<std::string, AttributeType>* types) {
  for (const KeyAttribute& attribute : key.partition) types->emplace(attribute.name, attribute.type);
  for (const KeyAttribute& attribute : key.sort) types->emplace(attribute.name, attribute.type);
}

Json AttributeDefinitions(const std::map<std::string, AttributeType>& types) {
  Json definitions = Json::array();
  for (const auto& [name, type] : types) {
    Json definition = Json::object();
    definition["AttributeName"] = name;
    definition["AttributeType"] = TypeName(type);
    definitions.push_back(std::move(definition));
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
  Json request = Json::object();
  request["TableName"] = advice.table.name;
  request["AttributeDefinitions"] = AttributeDefinitions(types);
  request["KeySchema"] = KeySchema(advice.table.key);
  if (!local.empty()) request["LocalSecondaryIndexes"] = std::move(local);
  if (!global.empty()) request["GlobalSecondaryIndexes"] = std::move(global);
  request["BillingMode"] = "PAY_PER_REQUEST";
  return request;
}

// One request for each index: UpdateTable adds one at a time.
Json UpdateTables(const Advice& advice) {
  Json requests = Json::array();
  for (const IndexAdvice& index : advice.indexes) {
    std::map<std::string, AttributeType> types;
    CollectTypes(index.key, &types);
    Json update = Json::object();
    update["Create"] = IndexRequest(index);
    Json request = Json::object();
    request["TableName"] = advice.table.name;
    request["AttributeDefinitions"] = AttributeDefinitions(types);
    request["GlobalSecondaryIndexUpdates"] = Json::array({std::move(update)});
    requests.push_back(std::move(request));
  }
  return requests;
}

Json Reasons(const std::vector<Reason>& reasons) {
  Json json = Json::object();
  for (const Reason& reason : reasons) json[reason.topic] = reason.text;
  return json;
}

Json KeyJson(const KeyAdvice& key) {
  Json json = Json::object();
  json["Partition"] = Json::array();
  json["Sort"] = Json::array();
  for (const KeyAttribute& attribute : key.partition) json["Partition"].push_back(attribute.name);
  for (const KeyAttribute& attribute : key.sort) json["Sort"].push_back(attribute.name);
  return json;
}

void AddIfKnown(const char* name, const std::optional<double>& number, Json* json) {
  (*json)[name] = number ? Json(*number) : Json(nullptr);
}

Json TableJson(const TableAdvice& table) {
  Json json = Json::object();
  json["Name"] = table.name;
  json["Key"] = KeyJson(table.key);
  json["Created"] = table.created;
  json["ItemBytes"] = table.item_bytes;
  AddIfKnown("Items", table.items, &json);
  AddIfKnown("StorageBytes", table.storage_bytes, &json);
  json["WriteUnitsPerSecond"] = table.write_units;
  json["Reasons"] = Reasons(table.reasons);
  return json;
}

Json IndexJson(const IndexAdvice& index) {
  Json json = Json::object();
  json["Name"] = index.name;
  json["Kind"] = index.local ? "LOCAL" : "GLOBAL";
  json["Key"] = KeyJson(index.key);
  json["Projection"] = std::string(ProjectionName(index.projection));
  json["NonKeyAttributes"] = index.non_key;
  json["Sparse"] = index.sparse;
  json["ShareOfItems"] = index.share;
  json["Shards"] = index.shards;
  if (index.shards > 1) json["ShardAttribute"] = index.shard_attribute;
  json["EntryBytes"] = index.entry_bytes;
  AddIfKnown("Entries", index.entries, &json);
  AddIfKnown("StorageBytes", index.storage_bytes, &json);
  json["WriteUnitsPerSecond"] = index.write_units;
  json["ReadUnitsPerSecond"] = index.read_units;
  json["Patterns"] = index.patterns;
  json["Reasons"] = Reasons(index.reasons);
  return json;
}

Json PatternJson(const PatternAdvice& pattern) {
  Json json = Json::object();
  json["Name"] = pattern.name;
  json["Service"] = std::string(ServiceName(pattern.service));
  if (!pattern.index.empty()) json["IndexName"] = pattern.index;
  json["KeyCondition"] = pattern.condition;
  json["Filter"] = pattern.filter;
  json["SortedByClient"] = pattern.sorted_by_client;
  json["ScanIndexForward"] = !pattern.descending;
  json["StronglyConsistent"] = pattern.strong;
  json["Queries"] = pattern.queries;
  json["ReadUnits"] = pattern.units_per_read;
  json["ReadUnitsPerSecond"] = pattern.read_units;
  json["Reason"] = pattern.reason;
  return json;
}

}  // namespace

Json AdviceToJson(const Advice& advice) {
  Json json = Json::object();
  json["Table"] = TableJson(advice.table);
  json["Indexes"] = Json::array();
  for (const IndexAdvice& index : advice.indexes) json["Indexes"].push_back(IndexJson(index));
  json["Patterns"] = Json::array();
  for (const PatternAdvice& pattern : advice.patterns) json["Patterns"].push_back(PatternJson(pattern));
  json["Warnings"] = advice.warnings;
  if (advice.table.created) {
    json["UpdateTable"] = UpdateTables(advice);
  } else {
    json["CreateTable"] = CreateTable(advice);
  }
  return json;
}

}  // namespace armature::advise
