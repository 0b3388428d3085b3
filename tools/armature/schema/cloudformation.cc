#include "tools/armature/schema/cloudformation.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

// Properties with the names and forms of CreateTable's members.
constexpr std::array<std::string_view, 12> kSame = {"AttributeDefinitions",
                                                    "BillingMode",
                                                    "DeletionProtectionEnabled",
                                                    "GlobalSecondaryIndexes",
                                                    "KeySchema",
                                                    "LocalSecondaryIndexes",
                                                    "OnDemandThroughput",
                                                    "ProvisionedThroughput",
                                                    "TableClass",
                                                    "TableName",
                                                    "Tags",
                                                    "WarmThroughput"};

// Properties that are left out, and why.
struct LeftOut {
  std::string_view name;
  std::string_view reason;
};
constexpr std::array<LeftOut, 5> kLeftOut = {{
    {"ContributorInsightsSpecification", "switch insights on by UpdateContributorInsights"},
    {"ImportSourceSpecification", "import the items by ImportTable"},
    {"KinesisStreamSpecification", "there is no Kinesis"},
    {"PointInTimeRecoverySpecification",
     "it needs an archive of the daemon, and is turned on by UpdateContinuousBackups"},
    {"ResourcePolicy", "its principals are those of AWS; use PutResourcePolicy"},
}};

const LeftOut* FindLeftOut(std::string_view name) {
  const auto* const found =
      std::find_if(kLeftOut.begin(), kLeftOut.end(), [&](const auto& o) { return o.name == name; });
  return found == kLeftOut.end() ? nullptr : found;
}

// The name that CreateTable has for a member of SSESpecification.
Json EncryptionOf(const Json& property) {
  Json made = Json::object();
  if (!property.is_object()) return property;
  for (const auto& [name, value] : property.items()) made[name == "SSEEnabled" ? "Enabled" : name] = value;
  return made;
}

// Units of a setting that is fixed or scales by itself: the number, else where the scaling begins.
Json UnitsOf(const Json& settings, const char* fixed, const char* scaling) {
  if (const Json units = MemberOf(settings, fixed); !units.is_null()) return units;
  const Json range = MemberOf(settings, scaling);
  const Json seed = MemberOf(range, "SeedCapacity");
  return seed.is_null() ? MemberOf(range, "MinCapacity") : seed;
}

// Takes the settings of a global table or of one of its indexes, and those of its replica, into the members of a table.
void MergeThroughput(const Json& replica, Json* to) {
  const Json read = UnitsOf(MemberOf(replica, "ReadProvisionedThroughputSettings"), "ReadCapacityUnits",
                            "ReadCapacityAutoScalingSettings");
  const Json write = UnitsOf(MemberOf(*to, "WriteProvisionedThroughputSettings"), "WriteCapacityUnits",
                             "WriteCapacityAutoScalingSettings");
  if (!read.is_null() || !write.is_null()) {
    Json& made = (*to)["ProvisionedThroughput"] = Json::object();
    if (!read.is_null()) made["ReadCapacityUnits"] = read;
    if (!write.is_null()) made["WriteCapacityUnits"] = write;
  }
  const Json read_max = MemberOf(MemberOf(replica, "ReadOnDemandThroughputSettings"), "MaxReadRequestUnits");
  const Json write_max = MemberOf(MemberOf(*to, "WriteOnDemandThroughputSettings"), "MaxWriteRequestUnits");
  if (!read_max.is_null() || !write_max.is_null()) {
    Json& made = (*to)["OnDemandThroughput"] = Json::object();
    if (!read_max.is_null()) made["MaxReadRequestUnits"] = read_max;
    if (!write_max.is_null()) made["MaxWriteRequestUnits"] = write_max;
  }
  to->erase("WriteProvisionedThroughputSettings");
  to->erase("WriteOnDemandThroughputSettings");
}

// The settings of an index in a replica; null if it has none.
Json ReplicaIndex(const Json& replica, const Json& name) {
  for (const Json& index : MemberOf(replica, "GlobalSecondaryIndexes")) {
    if (MemberOf(index, "IndexName") == name) return index;
  }
  return nullptr;
}

class TemplateReader {
 public:
  TemplateReader(const Json& root, const TemplateParameters& parameters) : root_(root), values_(root, parameters) {}

  absl::StatusOr<Schema> Read() {
    for (const auto& [name, resource] : root_.at("Resources").items()) {
      const std::string type = ScalarText(MemberOf(resource, "Type")).value_or("");
      if (TemplateValues::IsTableType(type)) ARM_RETURN_IF_ERROR(ReadResource(name, resource, type));
    }
    return std::move(schema_);
  }

 private:
  absl::Status ReadResource(const std::string& name, const Json& resource, std::string_view type) {
    const std::string path = Cat("Resources.", name);
    if (const Json condition = MemberOf(resource, "Condition"); condition.is_string()) {
      ARM_ASSIGN_OR_RETURN(const bool exists, values_.IsTrue(condition.get<std::string>(), path));
      if (!exists) return absl::OkStatus();
    }
    const std::string inner = Cat(path, ".Properties");
    const Json given = MemberOf(resource, "Properties");
    if (!given.is_null() && !given.is_object()) return SchemaFault(inner, "not an object");
    table_ = &schema_.tables.emplace_back();
    ARM_ASSIGN_OR_RETURN(table_name_, values_.TableNameOf(name, inner));
    Json properties = Json::object();
    for (const auto& [property, value] : given.items()) {
      // Its functions may name what only AWS has.
      if (const LeftOut* const out = FindLeftOut(property)) {
        Note(property, out->reason);
        continue;
      }
      const Json taken = property == "Replicas" ? FirstReplica(value) : value;
      ARM_ASSIGN_OR_RETURN(TemplateValue resolved, values_.Resolve(taken, Cat(inner, ".", property)));
      if (!resolved.is_absent) properties[property] = std::move(resolved.json);
    }
    if (type == "AWS::DynamoDB::GlobalTable") MergeReplica(&properties);
    if (type == "AWS::Serverless::SimpleTable") ARM_RETURN_IF_ERROR(TakeSimple(inner, &properties));
    properties["TableName"] = table_name_;
    return TakeProperties(inner, properties);
  }

  absl::Status TakeProperties(const std::string& path, const Json& properties) {
    Json definition = Json::object();
    for (const auto& [name, value] : properties.items()) {
      if (std::find(kSame.begin(), kSame.end(), name) != kSame.end()) {
        definition[name] = value;
      } else if (name == "SSESpecification") {
        definition[name] = EncryptionOf(value);
      } else if (name == "StreamSpecification") {
        definition[name] = {{"StreamEnabled", true}, {"StreamViewType", MemberOf(value, "StreamViewType")}};
      } else if (name == "TimeToLiveSpecification") {
        const std::string enabled = ScalarText(MemberOf(value, "Enabled")).value_or("");
        if (enabled == "true") table_->expiry_attribute = ScalarText(MemberOf(value, "AttributeName")).value_or("");
      } else {
        return SchemaFault(Cat(path, ".", name), "this property is not known");
      }
    }
    if (definition.contains("GlobalSecondaryIndexes") && definition["GlobalSecondaryIndexes"].is_array()) {
      for (Json& index : definition["GlobalSecondaryIndexes"]) {
        if (index.is_object() && index.erase("ContributorInsightsSpecification") != 0) {
          Note("ContributorInsightsSpecification", FindLeftOut("ContributorInsightsSpecification")->reason);
        }
      }
    }
    ARM_ASSIGN_OR_RETURN(table_->definition, DefinitionFromJson(std::move(definition), path));
    return absl::OkStatus();
  }

  // The list with only the first replica of a global table, without what is left out.
  Json FirstReplica(const Json& replicas) {
    if (!replicas.is_array() || replicas.empty() || !replicas[0].is_object()) return replicas;
    if (replicas.size() > 1) {
      schema_.notes.push_back(Cat(table_name_, ": the settings of the first replica count, the others are left out"));
    }
    Json first = replicas[0];
    for (const LeftOut& out : kLeftOut) {
      if (first.erase(std::string(out.name)) != 0) Note(out.name, out.reason);
    }
    Json list = Json::array();
    list.push_back(std::move(first));
    return list;
  }

  // Turns the properties of a global table into those of a table.
  void MergeReplica(Json* properties) {
    const Json replicas = MemberOf(*properties, "Replicas");
    const Json replica = replicas.is_array() && !replicas.empty() ? replicas[0] : Json(nullptr);
    properties->erase("Replicas");
    for (const char* const name : {"MultiRegionConsistency", "GlobalTableWitnesses", "GlobalTableSourceArn"}) {
      if (properties->erase(name) != 0) Note(name, "there is one daemon");
    }
    for (const char* const name : {"DeletionProtectionEnabled", "TableClass", "Tags"}) {
      if (const Json value = MemberOf(replica, name); !value.is_null()) (*properties)[name] = value;
    }
    MergeThroughput(replica, properties);
    if (!properties->contains("GlobalSecondaryIndexes")) return;
    for (Json& index : (*properties)["GlobalSecondaryIndexes"]) {
      if (index.is_object()) MergeThroughput(ReplicaIndex(replica, MemberOf(index, "IndexName")), &index);
    }
  }

  // Turns the properties of SAM's table into those of a table. Its key is the string id unless it names another.
  static absl::Status TakeSimple(const std::string& path, Json* properties) {
    const Json key = MemberOf(*properties, "PrimaryKey");
    const std::string name = ScalarText(MemberOf(key, "Name")).value_or("id");
    const std::string word = ScalarText(MemberOf(key, "Type")).value_or("String");
    if (word != "String" && word != "Number" && word != "Binary") {
      return SchemaFault(Cat(path, ".PrimaryKey.Type"), "not String, Number or Binary");
    }
    properties->erase("PrimaryKey");
    properties->erase("PointInTimeRecoverySpecification");
    for (const char* const list : {"AttributeDefinitions", "KeySchema"}) (*properties)[list] = Json::array();
    (*properties)["AttributeDefinitions"].push_back({{"AttributeName", name}, {"AttributeType", word.substr(0, 1)}});
    (*properties)["KeySchema"].push_back({{"AttributeName", name}, {"KeyType", "HASH"}});
    if (!properties->contains("ProvisionedThroughput")) (*properties)["BillingMode"] = "PAY_PER_REQUEST";
    if (const Json tags = MemberOf(*properties, "Tags"); tags.is_object()) {
      Json& list = (*properties)["Tags"] = Json::array();
      for (const auto& [tag, value] : tags.items()) list.push_back({{"Key", tag}, {"Value", value}});
    }
    return absl::OkStatus();
  }

  void Note(std::string_view property, std::string_view reason) {
    schema_.notes.push_back(Cat(table_name_, ": ", property, " is left out: ", reason));
  }

  const Json& root_;
  TemplateValues values_;
  Schema schema_;
  SchemaTable* table_ = nullptr;  // the one that is read
  std::string table_name_;
};

}  // namespace

bool IsTemplate(const Json& json) {
  return json.is_object() && json.contains("Resources") && json["Resources"].is_object();
}

absl::StatusOr<Schema> TablesOfTemplate(const Json& root, const TemplateParameters& parameters) {
  return TemplateReader(root, parameters).Read();
}

}  // namespace armature::cli
