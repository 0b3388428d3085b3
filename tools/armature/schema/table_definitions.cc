#include "tools/armature/schema/table_definitions.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_split.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/message_json.h"
#include "tools/armature/sql/sql_token.h"
#include "tools/armature/sql/statement_reader.h"
#include "tools/armature/sql/table_statement.h"

namespace armature::cli {
namespace {

// The description in an answer of DescribeTable, CreateTable or DeleteTable; null in anything else.
const Json* DescriptionIn(const Json& json) {
  for (const char* const name : {"Table", "TableDescription"}) {
    if (json.is_object() && json.contains(name) && json[name].is_object()) return &json[name];
  }
  return nullptr;
}

bool IsRequest(const Json& json) {
  return json.is_object() && json.contains("TableName") && json.contains("KeySchema");
}

// As `dy admin desc` of dynein prints a table.
bool IsDynein(const Json& json) {
  return json.is_object() && json.contains("name") && json.contains("schema") && json["schema"].is_object();
}

// A description as a request: what a request has by another name gets it, and the rest is pruned.
Json RequestOf(Json description) {
  const Json mode = MemberOf(MemberOf(description, "BillingModeSummary"), "BillingMode");
  if (mode.is_string()) description["BillingMode"] = mode;
  const Json table_class = MemberOf(MemberOf(description, "TableClassSummary"), "TableClass");
  if (table_class.is_string()) description["TableClass"] = table_class;
  if (MemberOf(MemberOf(description, "SSEDescription"), "Status") == "ENABLED") {
    description["SSESpecification"] = {{"Enabled", true}};
  }
  const bool is_on_demand = mode == "PAY_PER_REQUEST";
  const auto trim = [is_on_demand](Json* one) {
    one->erase("WarmThroughput");  // a report, not a wish
    if (is_on_demand) one->erase("ProvisionedThroughput");
  };
  trim(&description);
  if (description.contains("GlobalSecondaryIndexes")) {
    for (Json& index : description["GlobalSecondaryIndexes"]) {
      if (index.is_object()) trim(&index);
    }
  }
  return description;
}

// Reads the form of dynein, whose attributes are texts such as "user_id (S)".
class DyneinTable {
 public:
  absl::StatusOr<Json> Read(const Json& json) {
    made_["TableName"] = json["name"];
    ARM_RETURN_IF_ERROR(TakeKey(json["schema"], "schema", &made_));
    const bool is_on_demand = json.value("mode", Json("OnDemand")) == "OnDemand";
    made_["BillingMode"] = is_on_demand ? "PAY_PER_REQUEST" : "PROVISIONED";
    TakeCapacity(json, is_on_demand, &made_);
    for (const auto& [list, member] :
         {std::pair("gsi", "GlobalSecondaryIndexes"), std::pair("lsi", "LocalSecondaryIndexes")}) {
      const Json indexes = json.value(list, Json(nullptr));
      if (!indexes.is_array()) continue;
      for (size_t i = 0; i < indexes.size(); ++i) {
        const std::string path = Cat(list, "[", i, "]");
        if (!IsDynein(indexes[i])) return SchemaFault(path, "an index needs name and schema");
        Json index = {{"IndexName", indexes[i]["name"]}, {"Projection", {{"ProjectionType", "ALL"}}}};
        ARM_RETURN_IF_ERROR(TakeKey(indexes[i]["schema"], Cat(path, ".schema"), &index));
        if (std::string_view(list) == "gsi") TakeCapacity(indexes[i], is_on_demand, &index);
        made_[member].push_back(std::move(index));
      }
    }
    for (const auto& [name, type] : types_) {
      made_["AttributeDefinitions"].push_back({{"AttributeName", name}, {"AttributeType", type}});
    }
    return std::move(made_);
  }

 private:
  absl::Status TakeKey(const Json& schema, const std::string& path, Json* to) {
    for (const auto& [member, role] : {std::pair("pk", "HASH"), std::pair("sk", "RANGE")}) {
      const Json part = schema.value(member, Json(nullptr));
      if (part.is_null()) continue;
      const std::string text = part.is_string() ? part.get<std::string>() : "";
      const size_t size = text.size();
      if (size < 5 || text.compare(size - 4, 2, " (") != 0 || text.back() != ')') {
        return SchemaFault(Cat(path, ".", member), "write the attribute as 'NAME (TYPE)'");
      }
      const std::string name = text.substr(0, size - 4);
      types_[name] = text.substr(size - 2, 1);
      (*to)["KeySchema"].push_back({{"AttributeName", name}, {"KeyType", role}});
    }
    return absl::OkStatus();
  }

  static void TakeCapacity(const Json& from, bool is_on_demand, Json* to) {
    const Json capacity = from.value("capacity", Json(nullptr));
    if (is_on_demand || !capacity.is_object()) return;
    (*to)["ProvisionedThroughput"] = {{"ReadCapacityUnits", capacity.value("rcu", Json(1))},
                                      {"WriteCapacityUnits", capacity.value("wcu", Json(1))}};
  }

  Json made_ = Json::object();
  std::map<std::string, std::string> types_;
};

absl::StatusOr<SchemaTable> TableOfDefinition(const Json& json, const std::string& path) {
  SchemaTable table;
  if (const Json* const description = DescriptionIn(json)) {
    ARM_ASSIGN_OR_RETURN(table.definition, DefinitionFromJson(RequestOf(*description), path, /*prune=*/true));
  } else if (IsRequest(json)) {
    ARM_ASSIGN_OR_RETURN(table.definition, DefinitionFromJson(json, path));
  } else if (IsDynein(json)) {
    ARM_ASSIGN_OR_RETURN(Json request, DyneinTable().Read(json));
    ARM_ASSIGN_OR_RETURN(table.definition, DefinitionFromJson(std::move(request), path));
  } else {
    return SchemaFault(path, "not a definition of a table");
  }
  return table;
}

absl::StatusOr<SchemaTable> TableOfStatement(const std::string& text) {
  ARM_ASSIGN_OR_RETURN(std::vector<SqlToken> tokens, TokenizeSql(text));
  if (!IsTableStatement(SqlTokenReader(tokens))) return SchemaFault("", "only CREATE TABLE may stand in a schema");
  ARM_ASSIGN_OR_RETURN(const TableStatement statement, ParseTableStatement(tokens));
  if (statement.kind != TableStatement::Kind::kCreate)
    return SchemaFault("", "only CREATE TABLE may stand in a schema");
  SchemaTable table;
  ARM_ASSIGN_OR_RETURN(table.definition, CreateRequestOf(statement));
  table.expiry_attribute = statement.settings.ttl.value_or("");
  return table;
}

}  // namespace

bool IsDefinition(const Json& json) {
  return json.is_array() || DescriptionIn(json) != nullptr || IsRequest(json) || IsDynein(json);
}

absl::StatusOr<Schema> TablesOfDefinitions(const Json& json) {
  Schema schema;
  if (!json.is_array()) {
    ARM_ASSIGN_OR_RETURN(schema.tables.emplace_back(), TableOfDefinition(json, ""));
    return schema;
  }
  for (size_t i = 0; i < json.size(); ++i) {
    ARM_ASSIGN_OR_RETURN(schema.tables.emplace_back(), TableOfDefinition(json[i], Cat("[", i, "]")));
  }
  return schema;
}

bool IsBatch(const Json& json) {
  if (!json.is_object() || json.empty()) return false;
  if (json.size() == 1 && json.contains("RequestItems")) return IsBatch(json["RequestItems"]);
  for (const Json& requests : json) {
    if (!requests.is_array()) return false;
    for (const Json& request : requests) {
      if (!request.is_object() || !(request.contains("PutRequest") || request.contains("DeleteRequest"))) return false;
    }
  }
  return true;
}

absl::StatusOr<Schema> ItemsOfBatch(const Json& json) {
  if (json.size() == 1 && json.contains("RequestItems")) return ItemsOfBatch(json["RequestItems"]);
  Schema schema;
  for (const auto& [table, requests] : json.items()) {
    auto& items = schema.items.emplace_back(table, std::vector<api::v1::Item>()).second;
    for (size_t i = 0; i < requests.size(); ++i) {
      const std::string path = Cat(table, "[", i, "].PutRequest");
      const auto put = requests[i].find("PutRequest");
      if (put == requests[i].end() || !put->is_object() || !put->contains("Item")) {
        return SchemaFault(path, "only puts with an Item may stand in a schema");
      }
      ARM_ASSIGN_OR_RETURN(items.emplace_back(), ItemFromJson((*put)["Item"], Cat(path, ".Item")));
    }
  }
  return schema;
}

absl::StatusOr<Schema> TablesOfScript(std::string_view text) {
  StatementReader reader;
  for (const absl::string_view line : absl::StrSplit(Av(text), '\n')) reader.AddLine(Sv(line));
  std::vector<SqlPiece> pieces;
  while (std::optional<SqlPiece> piece = reader.Next()) pieces.push_back(*std::move(piece));
  if (std::optional<SqlPiece> rest = reader.TakeBuffer()) pieces.push_back(*std::move(rest));
  Schema schema;
  for (const SqlPiece& piece : pieces) {
    absl::StatusOr<SchemaTable> table = piece.kind == SqlPiece::Kind::kCommand
                                            ? SchemaFault("", "a command of the shell may not stand in a schema")
                                            : TableOfStatement(piece.text);
    if (!table.ok()) return SchemaFault(Cat("line ", piece.line), Sv(table.status().message()));
    schema.tables.push_back(*std::move(table));
  }
  return schema;
}

}  // namespace armature::cli
