// Tags, time to live, continuous backups, limits and endpoints over the JSON protocol.

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/json/operations.h"
#include "daemon/json/table_requests.h"
#include "engine/engine.h"
#include "engine/tables/account_limits.h"
#include "storage/base/status_macros.h"

namespace armature::daemon {
namespace {

absl::StatusOr<engine::TagResourceRequest> ParseTagResource(const std::string& json) {
  engine::TagResourceRequest request;
  ARM_RETURN_IF_ERROR(ReadRequest(json, "TagResourceInput", [&](std::string_view name, JsonValue value) {
    if (name == "ResourceArn") return ReadString(value, &request.resource_arn);
    if (name == "Tags") return ReadTags(value, &request.tags.emplace());
    return absl::OkStatus();
  }));
  return request;
}

absl::StatusOr<engine::UntagResourceRequest> ParseUntagResource(const std::string& json) {
  engine::UntagResourceRequest request;
  ARM_RETURN_IF_ERROR(ReadRequest(json, "UntagResourceInput", [&](std::string_view name, JsonValue value) {
    if (name == "ResourceArn") return ReadString(value, &request.resource_arn);
    if (name == "TagKeys") return ReadStringList(value, &request.tag_keys);
    return absl::OkStatus();
  }));
  return request;
}

absl::StatusOr<engine::ListTagsOfResourceRequest> ParseListTags(const std::string& json) {
  engine::ListTagsOfResourceRequest request;
  ARM_RETURN_IF_ERROR(ReadRequest(json, "ListTagsOfResourceInput", [&](std::string_view name, JsonValue value) {
    if (name == "ResourceArn") return ReadString(value, &request.resource_arn);
    if (name == "NextToken") return ReadString(value, &request.next_token);
    return absl::OkStatus();
  }));
  return request;
}

absl::StatusOr<engine::UpdateTimeToLiveRequest> ParseUpdateTimeToLive(const std::string& json) {
  engine::UpdateTimeToLiveRequest request;
  const auto read_specification = [](JsonValue value, engine::TimeToLiveSpecification* to) {
    return ReadStructure(value, "TimeToLiveSpecification", [to](std::string_view name, JsonValue member) {
      if (name == "Enabled") return ReadBoolean(member, &to->enabled);
      if (name == "AttributeName") return ReadString(member, &to->attribute_name);
      return absl::OkStatus();
    });
  };
  ARM_RETURN_IF_ERROR(ReadRequest(json, "UpdateTimeToLiveInput", [&](std::string_view name, JsonValue value) {
    if (name == "TableName") return ReadString(value, &request.table_name);
    if (name == "TimeToLiveSpecification") return read_specification(value, &request.specification.emplace());
    return absl::OkStatus();
  }));
  return request;
}

absl::StatusOr<engine::UpdateContinuousBackupsRequest> ParseUpdateContinuousBackups(const std::string& json) {
  engine::UpdateContinuousBackupsRequest request;
  const auto read_specification = [](JsonValue value, engine::PointInTimeRecoverySpecification* to) {
    return ReadStructure(value, "PointInTimeRecoverySpecification", [to](std::string_view name, JsonValue member) {
      if (name == "PointInTimeRecoveryEnabled") return ReadBoolean(member, &to->enabled);
      if (name == "RecoveryPeriodInDays") return ReadInteger(member, &to->period_days);
      return absl::OkStatus();
    });
  };
  ARM_RETURN_IF_ERROR(ReadRequest(json, "UpdateContinuousBackupsInput", [&](std::string_view name, JsonValue value) {
    if (name == "TableName") return ReadString(value, &request.table_name);
    if (name == "PointInTimeRecoverySpecification") return read_specification(value, &request.specification.emplace());
    return absl::OkStatus();
  }));
  return request;
}

void WriteTags(const engine::ListTagsOfResourceResult& result, JsonWriter* writer) {
  writer->BeginObject();
  if (result.next_token.has_value()) writer->Member("NextToken", *result.next_token);
  writer->Key("Tags").BeginArray();
  for (const auto& [key, value] : result.tags) {
    writer->BeginObject().Member("Key", key).Member("Value", value).EndObject();
  }
  writer->EndArray().EndObject();
}

void WriteTimeToLive(const engine::TimeToLiveSpecification& specification, JsonWriter* writer) {
  writer->BeginObject().Key("TimeToLiveSpecification").BeginObject();
  writer->Member("AttributeName", specification.attribute_name.value_or(""));
  writer->Key("Enabled").Boolean(specification.enabled.value_or(false)).EndObject().EndObject();
}

void WriteTimeToLiveDescription(const engine::TimeToLiveDescription& description, JsonWriter* writer) {
  const bool on = !description.attribute_name.empty();
  writer->BeginObject().Key("TimeToLiveDescription").BeginObject();
  if (on) writer->Member("AttributeName", description.attribute_name);
  writer->Member("TimeToLiveStatus", on ? "ENABLED" : "DISABLED").EndObject().EndObject();
}

std::string_view StatusWord(bool enabled) { return enabled ? "ENABLED" : "DISABLED"; }

void WriteContinuousBackups(const engine::ContinuousBackupsDescription& description, JsonWriter* writer) {
  writer->BeginObject().Key("ContinuousBackupsDescription").BeginObject();
  writer->Member("ContinuousBackupsStatus", StatusWord(description.enabled));
  writer->Key("PointInTimeRecoveryDescription").BeginObject();
  if (description.recovery_enabled) {
    writer->Key("EarliestRestorableDateTime").Timestamp(description.earliest_ms);
    writer->Key("LatestRestorableDateTime").Timestamp(description.latest_ms);
    writer->Key("RecoveryPeriodInDays").Integer(description.period_days);
  }
  writer->Member("PointInTimeRecoveryStatus", StatusWord(description.recovery_enabled));
  writer->EndObject().EndObject().EndObject();
}

// The answer of what answers nothing, not even an empty object.
engine::Callback<engine::Nothing> AnswerEmpty(const JsonCall& call, JsonApi::Done done) {
  return [request_id = call.request_id, done = std::move(done)](const absl::StatusOr<engine::Nothing>& result) mutable {
    std::move(done)(result.ok() ? JsonAnswer() : ErrorAnswer(result.status(), request_id));
  };
}

// What keeps a parsed request about a resource from being carried out.
template <class Request>
absl::Status AdmitResource(const JsonCall& call, const absl::StatusOr<Request>& request) {
  return request.ok() ? CheckAccess(call, TableOf(request->resource_arn)) : request.status();
}

void TagResource(engine::Engine* engine, const JsonCall& call, JsonApi::Done done) {
  absl::StatusOr<engine::TagResourceRequest> request = ParseTagResource(call.body);
  if (const absl::Status status = AdmitResource(call, request); !status.ok()) {
    return Fail(call, status, std::move(done));
  }
  engine->TagResource(*std::move(request), AnswerEmpty(call, std::move(done)));
}

void UntagResource(engine::Engine* engine, const JsonCall& call, JsonApi::Done done) {
  absl::StatusOr<engine::UntagResourceRequest> request = ParseUntagResource(call.body);
  if (const absl::Status status = AdmitResource(call, request); !status.ok()) {
    return Fail(call, status, std::move(done));
  }
  engine->UntagResource(*std::move(request), AnswerEmpty(call, std::move(done)));
}

void ListTagsOfResource(engine::Engine* engine, const JsonCall& call, JsonApi::Done done) {
  const absl::StatusOr<engine::ListTagsOfResourceRequest> request = ParseListTags(call.body);
  if (const absl::Status status = AdmitResource(call, request); !status.ok()) {
    return Fail(call, status, std::move(done));
  }
  engine->ListTagsOfResource(*request, AnswerWith<engine::ListTagsOfResourceResult>(call, std::move(done), WriteTags));
}

void UpdateTimeToLive(engine::Engine* engine, const JsonCall& call, JsonApi::Done done) {
  absl::StatusOr<engine::UpdateTimeToLiveRequest> request = ParseUpdateTimeToLive(call.body);
  if (const absl::Status status = Admit(call, request); !status.ok()) return Fail(call, status, std::move(done));
  engine->UpdateTimeToLive(*std::move(request),
                           AnswerWith<engine::TimeToLiveSpecification>(call, std::move(done), WriteTimeToLive));
}

void DescribeTimeToLive(engine::Engine* engine, const JsonCall& call, JsonApi::Done done) {
  const absl::StatusOr<TableNameRequest> request = ParseTableName(call.body);
  if (const absl::Status status = Admit(call, request); !status.ok()) return Fail(call, status, std::move(done));
  engine->DescribeTimeToLive(request->table_name, AnswerWith<engine::TimeToLiveDescription>(
                                                      call, std::move(done), WriteTimeToLiveDescription));
}

void UpdateContinuousBackups(engine::Engine* engine, const JsonCall& call, JsonApi::Done done) {
  absl::StatusOr<engine::UpdateContinuousBackupsRequest> request = ParseUpdateContinuousBackups(call.body);
  if (const absl::Status status = Admit(call, request); !status.ok()) return Fail(call, status, std::move(done));
  engine->UpdateContinuousBackups(*std::move(request), AnswerWith<engine::ContinuousBackupsDescription>(
                                                           call, std::move(done), WriteContinuousBackups));
}

void DescribeContinuousBackups(engine::Engine* engine, const JsonCall& call, JsonApi::Done done) {
  const absl::StatusOr<TableNameRequest> request = ParseTableName(call.body);
  if (const absl::Status status = Admit(call, request); !status.ok()) return Fail(call, status, std::move(done));
  engine->DescribeContinuousBackups(request->table_name, AnswerWith<engine::ContinuousBackupsDescription>(
                                                             call, std::move(done), WriteContinuousBackups));
}

// The caller may, and the document is one; it may have members, which mean nothing.
absl::Status AdmitBare(const JsonCall& call) {
  const absl::StatusOr<TableNameRequest> request = ParseTableName(call.body);
  return request.ok() ? CheckAccess(call, "") : request.status();
}

void DescribeLimits(engine::Engine* /*engine*/, const JsonCall& call, JsonApi::Done done) {
  if (const absl::Status status = AdmitBare(call); !status.ok()) return Fail(call, status, std::move(done));
  const engine::AccountLimits limits;
  JsonWriter writer;
  writer.BeginObject().Key("AccountMaxReadCapacityUnits").Integer(limits.account_read_units_max);
  writer.Key("AccountMaxWriteCapacityUnits").Integer(limits.account_write_units_max);
  writer.Key("TableMaxReadCapacityUnits").Integer(limits.table_read_units_max);
  writer.Key("TableMaxWriteCapacityUnits").Integer(limits.table_write_units_max).EndObject();
  std::move(done)({.body = writer.Take()});
}

void DescribeEndpoints(engine::Engine* /*engine*/, const JsonCall& call, JsonApi::Done done) {
  if (const absl::Status status = AdmitBare(call); !status.ok()) return Fail(call, status, std::move(done));
  JsonWriter writer;
  writer.BeginObject().Key("Endpoints").BeginArray().BeginObject();
  writer.Member("Address", call.host.empty() ? "localhost" : call.host);
  writer.Key("CachePeriodInMinutes").Integer(engine::kEndpointCacheMinutes).EndObject().EndArray().EndObject();
  std::move(done)({.body = writer.Take()});
}

constexpr JsonOperation kOperations[] = {
    {"DescribeContinuousBackups", DescribeContinuousBackups},
    {"DescribeEndpoints", DescribeEndpoints},
    {"DescribeLimits", DescribeLimits},
    {"DescribeTimeToLive", DescribeTimeToLive},
    {"ListTagsOfResource", ListTagsOfResource},
    {"TagResource", TagResource},
    {"UntagResource", UntagResource},
    {"UpdateContinuousBackups", UpdateContinuousBackups},
    {"UpdateTimeToLive", UpdateTimeToLive},
};

}  // namespace

std::span<const JsonOperation> SettingOperations() { return kOperations; }

}  // namespace armature::daemon
