#include "tools/armature/copy/table_definition.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/time/clock.h"
#include "armature/client/errors.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/json_text.h"
#include "tools/armature/message_json.h"
#include "tools/armature/schema/table_definitions.h"
#include "tools/armature/schema/table_difference.h"
#include "tools/armature/session.h"

namespace armature::cli::copy {
namespace {

constexpr absl::Duration kPollEvery = absl::Milliseconds(200);
// Indexes of a new table, and streams, take minutes in the cloud.
constexpr absl::Duration kActiveAfterMax = absl::Minutes(30);
constexpr size_t kTablePagesMax = 10'000;

bool IsError(const absl::Status& status, std::string_view name) { return client::ErrorName(status) == name; }

// True for what a server answers that lacks the operation.
bool IsUnknownOperation(const absl::Status& status) {
  return IsError(status, "UnknownOperationException") || IsError(status, "UnknownOperation") ||
         IsError(status, "NotImplementedException");
}

absl::StatusOr<Wire> ReadTags(Remote* remote, const std::string& arn) {
  Wire tags = Wire::array();
  Wire request = {{"ResourceArn", arn}};
  for (size_t pages = 0; pages < kTablePagesMax; ++pages) {
    const absl::StatusOr<Wire> answer = remote->Call("ListTagsOfResource", request);
    // DynamoDB Local has no tags, and says so by an error that depends on its version.
    if (IsUnknownOperation(answer.status()) || IsError(answer.status(), "ValidationException")) return tags;
    ARM_RETURN_IF_ERROR(answer.status());
    for (const Wire& tag : ListIn(*answer, "Tags")) {
      // Tags of this prefix belong to the cloud, which refuses to set them.
      if (!TextIn(tag, "Key").starts_with("aws:")) tags.push_back(tag);
    }
    const std::string next = TextIn(*answer, "NextToken");
    if (next.empty()) break;
    request["NextToken"] = next;
  }
  std::sort(tags.begin(), tags.end());
  return tags;
}

absl::StatusOr<std::string> ReadExpiry(Remote* remote, const std::string& name) {
  const absl::StatusOr<Wire> answer = remote->Call("DescribeTimeToLive", Wire{{"TableName", name}});
  if (IsUnknownOperation(answer.status())) return std::string();
  ARM_RETURN_IF_ERROR(answer.status());
  const Wire* const expiry = Find(*answer, "TimeToLiveDescription");
  if (expiry == nullptr) return std::string();
  const std::string status = TextIn(*expiry, "TimeToLiveStatus");
  return status == "ENABLED" || status == "ENABLING" ? TextIn(*expiry, "AttributeName") : std::string();
}

// The part of a description that tells how the table is, without its definition.
void TakeState(const Wire& description, TableInfo* info) {
  info->status = TextIn(description, "TableStatus");
  info->items_estimate = NumberIn(description, "ItemCount");
  info->stream_arn = TextIn(description, "LatestStreamArn");
  if (const Wire* const stream = Find(description, "StreamSpecification"); stream != nullptr) {
    info->is_stream_enabled = FlagIn(*stream, "StreamEnabled");
    info->stream_view = TextIn(*stream, "StreamViewType");
  }
  if (const Wire* const units = Find(description, "ProvisionedThroughput"); units != nullptr) {
    info->read_units = NumberIn(*units, "ReadCapacityUnits");
  }
  for (const Wire& index : ListIn(description, "GlobalSecondaryIndexes")) {
    const std::string status = TextIn(index, "IndexStatus");
    if (info->status == "ACTIVE" && !status.empty() && status != "ACTIVE") info->status = status;
  }
}

absl::StatusOr<TableInfo> InfoOf(const Wire& description) {
  TableInfo info;
  TakeState(description, &info);
  ARM_ASSIGN_OR_RETURN(const Json json, ParseJson(WireText(Wire{{"Table", description}})));
  absl::StatusOr<Schema> schema = TablesOfDefinitions(json);
  if (!schema.ok()) return DataLossError(Cat("a description of a table: ", Sv(schema.status().message())));
  if (schema->tables.size() != 1) return DataLossError("a description of no table");
  info.definition = std::move(schema->tables.front().definition);
  info.definition.clear_sse_specification();
  info.definition.clear_resource_policy();
  for (const auto& element : info.definition.key_schema()) info.key.push_back(element.attribute_name());
  if (info.key.empty()) return DataLossError("a description of a table without a key");
  return info;
}

absl::StatusOr<std::optional<Wire>> Describe(Remote* remote, const std::string& name) {
  const absl::StatusOr<Wire> answer = remote->Call("DescribeTable", Wire{{"TableName", name}});
  if (IsError(answer.status(), "ResourceNotFoundException")) return std::optional<Wire>();
  ARM_RETURN_IF_ERROR(answer.status());
  const Wire* const description = Find(*answer, "Table");
  if (description == nullptr) return DataLossError(Cat("the ", remote->name(), " answered no description of ", name));
  return std::optional<Wire>(*description);
}

}  // namespace

absl::StatusOr<std::optional<TableInfo>> ReadTable(Remote* remote, const std::string& name) {
  ARM_ASSIGN_OR_RETURN(const std::optional<Wire> description, Describe(remote, name));
  if (!description.has_value()) return std::optional<TableInfo>();
  absl::StatusOr<TableInfo> info = InfoOf(*description);
  if (!info.ok()) return WithContext(info.status(), Cat("the ", remote->name(), ", table ", name));
  if (const std::string arn = TextIn(*description, "TableArn"); !arn.empty()) {
    ARM_ASSIGN_OR_RETURN(info->tags, ReadTags(remote, arn));
  }
  ARM_ASSIGN_OR_RETURN(info->expiry_attribute, ReadExpiry(remote, name));
  return std::optional<TableInfo>(*std::move(info));
}

absl::StatusOr<std::vector<std::string>> ListTables(Remote* remote, const std::string& prefix) {
  std::vector<std::string> names;
  Wire request = Wire::object();
  for (size_t pages = 0; pages < kTablePagesMax; ++pages) {
    ARM_ASSIGN_OR_RETURN(const Wire answer, remote->Call("ListTables", request));
    for (const Wire& name : ListIn(answer, "TableNames")) {
      if (name.is_string() && name.get<std::string>().starts_with(prefix)) names.push_back(name.get<std::string>());
    }
    const std::string last = TextIn(answer, "LastEvaluatedTableName");
    if (last.empty()) return names;
    if (last == TextIn(request, "ExclusiveStartTableName")) break;
    request["ExclusiveStartTableName"] = last;
  }
  return DataLossError(Cat("the list of tables of the ", remote->name(), " does not end"));
}

absl::StatusOr<TableInfo> WaitUntilActive(Remote* remote, const std::string& name, const StopSignal& stop) {
  const absl::Time end = absl::Now() + kActiveAfterMax;
  while (true) {
    ARM_ASSIGN_OR_RETURN(const std::optional<Wire> description, Describe(remote, name));
    std::string status = "absent";
    if (description.has_value()) {
      TableInfo state;
      TakeState(*description, &state);
      status = state.status;
      if (status == "ACTIVE") return InfoOf(*description);
    }
    if (absl::Now() > end) {
      return UnreachableError(Cat("the table ", name, " of the ", remote->name(), " is still ", status));
    }
    ARM_RETURN_IF_ERROR(stop.Wait(kPollEvery));
  }
}

absl::Status CreateTable(Remote* target, const std::string& name, const TableInfo& info, const StopSignal& stop) {
  api::v1::CreateTableRequest definition = info.definition;
  definition.set_table_name(name);
  definition.clear_stream_specification();
  if (definition.table_class() == api::v1::TABLE_CLASS_STANDARD) {
    definition.set_table_class(api::v1::TABLE_CLASS_UNSPECIFIED);
  }
  if (!definition.deletion_protection_enabled()) definition.clear_deletion_protection_enabled();
  absl::StatusOr<Wire> request = ParseWire(CompactJson(MessageToJson(definition)));
  ARM_RETURN_IF_ERROR(request.status());
  if (!info.tags.empty()) (*request)["Tags"] = info.tags;
  const absl::Status created = target->Call("CreateTable", *request).status();
  // A repeated call finds the table that the first attempt has made.
  if (!IsError(created, "ResourceInUseException")) ARM_RETURN_IF_ERROR(created);
  return WaitUntilActive(target, name, stop).status();
}

absl::Status EnableStream(Remote* remote, const std::string& name, const std::string& view, const StopSignal& stop) {
  ARM_ASSIGN_OR_RETURN(const TableInfo before, WaitUntilActive(remote, name, stop));
  if (before.is_stream_enabled) return absl::OkStatus();
  const Wire request = {{"TableName", name},
                        {"StreamSpecification", {{"StreamEnabled", true}, {"StreamViewType", view}}}};
  ARM_RETURN_IF_ERROR(remote->Call("UpdateTable", request).status());
  ARM_ASSIGN_OR_RETURN(const TableInfo after, WaitUntilActive(remote, name, stop));
  if (!after.is_stream_enabled || after.stream_arn.empty()) {
    return DataLossError(
        Cat("the stream of ", name, " of the ", remote->name(), " is not enabled, though it was asked for"));
  }
  return absl::OkStatus();
}

absl::Status ApplySettings(Remote* target, const std::string& name, const TableInfo& info, const StopSignal& stop) {
  if (info.is_stream_enabled) ARM_RETURN_IF_ERROR(EnableStream(target, name, info.stream_view, stop));
  if (info.expiry_attribute.empty()) return absl::OkStatus();
  ARM_ASSIGN_OR_RETURN(const std::string present, ReadExpiry(target, name));
  if (present == info.expiry_attribute) return absl::OkStatus();
  return target
      ->Call("UpdateTimeToLive",
             Wire{{"TableName", name},
                  {"TimeToLiveSpecification", {{"Enabled", true}, {"AttributeName", info.expiry_attribute}}}})
      .status();
}

std::vector<std::string> DifferencesOf(const TableInfo& source, const TableInfo& target) {
  api::v1::CreateTableRequest wanted = source.definition;
  api::v1::CreateTableRequest present = target.definition;
  // Servers other than ours have no such member.
  wanted.mutable_stream_specification()->clear_shard_count();
  present.mutable_stream_specification()->clear_shard_count();
  std::vector<std::string> differences =
      DefinitionDifferences(std::move(wanted), std::move(present), {.wanted = "the source", .present = "the target"});
  const auto compare = [&differences](const char* what, const std::string& one, const std::string& other) {
    if (one != other) differences.push_back(Cat(what, " is ", one, " in the source and ", other, " in the target"));
  };
  compare("Tags", WireText(source.tags), WireText(target.tags));
  compare("TimeToLive", WireText(Wire(source.expiry_attribute)), WireText(Wire(target.expiry_attribute)));
  return differences;
}

}  // namespace armature::cli::copy
