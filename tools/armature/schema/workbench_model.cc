#include "tools/armature/schema/workbench_model.h"

#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/message_json.h"

namespace armature::cli {
namespace {

// Reads one table of a model.
class ModelTable {
 public:
  ModelTable(const Json& table, std::string path) : table_(table), path_(std::move(path)) {}

  absl::StatusOr<SchemaTable> Read() {
    if (!table_.is_object()) return SchemaFault(path_, "not an object");
    for (const char* const name : {"TableName", "BillingMode", "TableClass"}) {
      if (table_.contains(name)) definition_[name] = table_[name];
    }
    ARM_RETURN_IF_ERROR(TakeKey(table_, path_, /*index=*/false, &definition_));
    for (const char* const list : {"GlobalSecondaryIndexes", "LocalSecondaryIndexes"}) {
      ARM_RETURN_IF_ERROR(TakeIndexes(list));
    }
    TakeCapacity(table_, &definition_);
    // A model without a billing mode is made for trials.
    if (!definition_.contains("BillingMode") && !definition_.contains("ProvisionedThroughput")) {
      definition_["BillingMode"] = "PAY_PER_REQUEST";
    }
    for (const auto& [name, type] : types_) {
      definition_["AttributeDefinitions"].push_back({{"AttributeName", name}, {"AttributeType", type}});
    }
    SchemaTable made;
    ARM_ASSIGN_OR_RETURN(made.definition, DefinitionFromJson(std::move(definition_), path_));
    ARM_RETURN_IF_ERROR(TakeItems(&made));
    return made;
  }

 private:
  absl::Status TakeKey(const Json& from, const std::string& path, bool index, Json* to) {
    const auto key = from.find("KeyAttributes");
    if (key == from.end() || !key->is_object() || !key->contains("PartitionKey")) {
      return SchemaFault(Cat(path, ".KeyAttributes"), "there is no PartitionKey");
    }
    ARM_RETURN_IF_ERROR(TakePart((*key)["PartitionKey"], Cat(path, ".KeyAttributes.PartitionKey"), "HASH", to));
    if (!key->contains("SortKey")) return absl::OkStatus();
    const Json& sort = (*key)["SortKey"];
    // An index without a sort attribute may have an empty one.
    if (index && (sort.is_null() || sort.empty())) return absl::OkStatus();
    return TakePart(sort, Cat(path, ".KeyAttributes.SortKey"), "RANGE", to);
  }

  absl::Status TakePart(const Json& part, const std::string& path, const char* role, Json* to) {
    if (!part.is_object() || !part.contains("AttributeName") || !part["AttributeName"].is_string()) {
      return SchemaFault(path, "there is no AttributeName");
    }
    const auto name = part["AttributeName"].get<std::string>();
    const Json type = part.value("AttributeType", Json("S"));
    if (const auto [known, is_new] = types_.emplace(name, type); !is_new && known->second != type) {
      return SchemaFault(path, Cat(name, " has another type elsewhere"));
    }
    (*to)["KeySchema"].push_back({{"AttributeName", name}, {"KeyType", role}});
    return absl::OkStatus();
  }

  absl::Status TakeIndexes(const char* list) {
    const auto found = table_.find(list);
    if (found == table_.end() || found->is_null() || found->empty()) return absl::OkStatus();
    if (!found->is_array()) return SchemaFault(Cat(path_, ".", list), "not a list");
    for (size_t i = 0; i < found->size(); ++i) {
      const Json& index = (*found)[i];
      const std::string path = Cat(path_, ".", list, "[", i, "]");
      if (!index.is_object()) return SchemaFault(path, "not an object");
      Json made = Json::object();
      for (const char* const name : {"IndexName", "Projection"}) {
        if (index.contains(name)) made[name] = index[name];
      }
      // Workbench keeps the list of an index that has all attributes.
      if (made.contains("Projection") && made["Projection"].is_object() &&
          made["Projection"].value("ProjectionType", Json("")) != "INCLUDE") {
        made["Projection"].erase("NonKeyAttributes");
      }
      ARM_RETURN_IF_ERROR(TakeKey(index, path, /*index=*/true, &made));
      if (std::string_view(list) == "GlobalSecondaryIndexes") TakeCapacity(index, &made);
      definition_[list].push_back(std::move(made));
    }
    return absl::OkStatus();
  }

  // The capacity of a table or an index that is not on demand. An index has that of its table if it names none.
  void TakeCapacity(const Json& from, Json* to) const {
    if (table_.value("BillingMode", Json("")) == "PAY_PER_REQUEST") return;
    for (const Json* const place : {&from, &table_}) {
      const auto settings = place->find("ProvisionedCapacitySettings");
      if (settings == place->end() || !settings->is_object() || !settings->contains("ProvisionedThroughput")) continue;
      (*to)["ProvisionedThroughput"] = (*settings)["ProvisionedThroughput"];
      return;
    }
  }

  absl::Status TakeItems(SchemaTable* made) const {
    const auto data = table_.find("TableData");
    if (data == table_.end() || data->is_null()) return absl::OkStatus();
    if (!data->is_array()) return SchemaFault(Cat(path_, ".TableData"), "not a list");
    for (size_t i = 0; i < data->size(); ++i) {
      ARM_ASSIGN_OR_RETURN(made->items.emplace_back(), ItemFromJson((*data)[i], Cat(path_, ".TableData[", i, "]")));
    }
    return absl::OkStatus();
  }

  const Json& table_;
  const std::string path_;
  Json definition_ = Json::object();
  std::map<std::string, Json> types_;  // of key attributes
};

}  // namespace

bool IsModel(const Json& json) {
  return json.is_object() && json.contains("DataModel") && json["DataModel"].is_array();
}

absl::StatusOr<Schema> TablesOfModel(const Json& json) {
  Schema schema;
  const Json& tables = json["DataModel"];
  for (size_t i = 0; i < tables.size(); ++i) {
    ARM_ASSIGN_OR_RETURN(schema.tables.emplace_back(), ModelTable(tables[i], Cat("DataModel[", i, "]")).Read());
  }
  return schema;
}

}  // namespace armature::cli
