#include "daemon/admin/index_operations.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "armature/admin/v1/admin.pb.h"
#include "daemon/message_json/given_fields.h"
#include "daemon/message_json/json_writer.h"
#include "daemon/message_json/message_documents.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

namespace v1 = ::armature::admin::v1;

void Fill(const store::BuildState& from, int64_t table_items, v1::IndexBuild* to) {
  to->set_phase(static_cast<v1::IndexBuildPhase>(static_cast<int>(from.phase) + 1));
  to->set_items_read(from.scanned);
  to->set_items_total(std::max(table_items, from.scanned));
  to->set_items_indexed(from.written);
  to->set_items_skipped(from.skipped);
  to->set_started_time_ms(from.started_ms);
  const int64_t elapsed_ms = absl::ToUnixMillis(absl::Now()) - from.started_ms;
  if (from.started_ms == 0 || elapsed_ms <= 0 || from.scanned == 0) return;
  to->set_items_per_second(from.scanned * 1000 / elapsed_ms);
  to->set_seconds_left((to->items_total() - from.scanned) * elapsed_ms / from.scanned / 1000);
}

void Fill(const engine::IndexStatus& from, v1::IndexStatus* to) {
  to->set_table_name(from.table_name);
  to->set_index_name(from.descriptor.name);
  to->set_kind(from.descriptor.kind == model::IndexKind::kLocal ? v1::INDEX_KIND_LOCAL : v1::INDEX_KIND_GLOBAL);
  to->set_state(static_cast<v1::IndexState>(from.descriptor.state));
  to->set_applied_sequence(from.applied_sequence);
  to->set_log_sequence(from.log_sequence);
  to->set_backlog_records(from.backlog.records);
  to->set_backlog_bytes(from.backlog.bytes);
  to->set_backlog_age_ms(from.backlog.age_ms);
  to->set_stalled(from.is_stalled);
  to->set_item_count(from.totals.item_count);
  to->set_size_bytes(from.totals.size_bytes);
  if (from.build.has_value()) Fill(*from.build, from.table_item_count, to->mutable_build());
}

constexpr std::string_view kFaultNames[] = {"TYPE", "EMPTY", "TOO_LONG"};

void Fill(const engine::ListIndexViolationsResult& from, v1::ListIndexViolationsResponse* to) {
  for (const engine::IndexViolation& violation : from.violations) {
    v1::IndexViolation* const out = to->add_violations();
    if (!out->mutable_key()->ParseFromString(violation.key_bytes)) out->mutable_key()->Clear();
    out->set_attribute_name(violation.fault.attribute);
    out->set_reason(std::string(kFaultNames[static_cast<size_t>(violation.fault.kind)]));
  }
  to->set_items_read(from.items_read);
  to->set_next_position(from.next_position);
}

void Fill(const std::vector<engine::IndexStatus>& from, v1::ListIndexStatusResponse* to) {
  for (const engine::IndexStatus& each : from) Fill(each, to->add_indexes());
}

void ListIndexStatus(const OperationContext& context, const v1::ListIndexStatusRequest& request,
                     v1::ListIndexStatusResponse* response, Finished done) {
  context.engine->ListIndexStatus(GivenText(request, request.kTableNameFieldNumber),
                                  AnswerIn<std::vector<engine::IndexStatus>>(response, std::move(done), Fill));
}

void GetIndexStatus(const OperationContext& context, const v1::GetIndexStatusRequest& request,
                    v1::GetIndexStatusResponse* response, Finished done) {
  auto find = [&request, response,
               done = std::move(done)](const absl::StatusOr<std::vector<engine::IndexStatus>>& result) mutable {
    if (!result.ok()) return std::move(done)(result.status());
    for (const engine::IndexStatus& status : *result) {
      if (status.descriptor.name != request.index_name()) continue;
      Fill(status, response->mutable_index());
      return std::move(done)(absl::OkStatus());
    }
    std::move(done)(ValidationError(Cat("The table does not have the specified index: ", request.index_name())));
  };
  context.engine->ListIndexStatus(request.table_name(), std::move(find));
}

void ListIndexViolations(const OperationContext& context, const v1::ListIndexViolationsRequest& request,
                         v1::ListIndexViolationsResponse* response, Finished done) {
  context.engine->ListIndexViolations({request.table_name(), request.index_name(), request.start_position()},
                                      AnswerIn<engine::ListIndexViolationsResult>(response, std::move(done), Fill));
}

// Answers with the message as JSON.
template <class Response, class Result>
engine::Callback<Result> JsonIn(JsonReply done, void (*fill)(const Result&, Response*)) {
  return [fill, done = std::move(done)](absl::StatusOr<Result> result) mutable {
    if (!result.ok()) return std::move(done)(result.status());
    Response response;
    fill(*result, &response);
    JsonWriter writer;
    WriteForTools(response, &writer);
    std::move(done)(writer.Take());
  };
}

}  // namespace

UnaryOperation ListIndexStatusOperation() { return UnaryOperation(ListIndexStatus); }
UnaryOperation GetIndexStatusOperation() { return UnaryOperation(GetIndexStatus); }
UnaryOperation ListIndexViolationsOperation() { return UnaryOperation(ListIndexViolations); }

void IndexStatusJson(engine::Engine* engine, std::string table, JsonReply done) {
  engine->ListIndexStatus(std::move(table),
                          JsonIn<v1::ListIndexStatusResponse, std::vector<engine::IndexStatus>>(std::move(done), Fill));
}

void IndexViolationsJson(engine::Engine* engine, engine::ListIndexViolationsRequest request, JsonReply done) {
  engine->ListIndexViolations(
      std::move(request),
      JsonIn<v1::ListIndexViolationsResponse, engine::ListIndexViolationsResult>(std::move(done), Fill));
}

}  // namespace armature::daemon
