#include "daemon/api/stream_messages.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/api/wire_source.h"
#include "daemon/message_json/message_names.h"
#include "engine/streams/stream_shards.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/model/table_name.h"

namespace armature::daemon {
namespace {

namespace v1 = ::armature::api::v1;

constexpr std::string_view kEventVersion = "1.1";
constexpr std::string_view kEventSource = "aws:dynamodb";
constexpr std::string_view kServicePrincipal = "dynamodb.amazonaws.com";
constexpr std::string_view kServiceType = "Service";

v1::EventName EventNameOf(codec::StreamEvent event) {
  switch (event) {
    case codec::StreamEvent::kInsert:
      return v1::EVENT_NAME_INSERT;
    case codec::StreamEvent::kModify:
      return v1::EVENT_NAME_MODIFY;
    case codec::StreamEvent::kRemove:
      break;
  }
  return v1::EVENT_NAME_REMOVE;
}

// `start`: the name of a WatchStart; empty if it is not set.
absl::Status SetStart(const std::string& start, std::optional<std::string> after, engine::WatchRequest* request) {
  if (!start.empty() && FindEnumValue(*v1::WatchStart_descriptor(), start) == nullptr) {
    return ValidationError("The start of the watch is unknown");
  }
  if (!after.has_value()) {
    request->start = start == "OLDEST" ? engine::WatchStart::kOldest : engine::WatchStart::kNow;
    return absl::OkStatus();
  }
  if (!start.empty()) return ValidationError("A watch begins at a start or behind a sequence number, not at both");
  request->start = engine::WatchStart::kAfterSequence;
  request->after_sequence = *std::move(after);
  return absl::OkStatus();
}

}  // namespace

v1::StreamViewType ViewTypeOf(model::StreamView view) {
  switch (view) {
    case model::StreamView::kKeysOnly:
      return v1::STREAM_VIEW_TYPE_KEYS_ONLY;
    case model::StreamView::kNewImage:
      return v1::STREAM_VIEW_TYPE_NEW_IMAGE;
    case model::StreamView::kOldImage:
      return v1::STREAM_VIEW_TYPE_OLD_IMAGE;
    case model::StreamView::kNewAndOldImages:
      break;
  }
  return v1::STREAM_VIEW_TYPE_NEW_AND_OLD_IMAGES;
}

void Fill(const engine::ChangeOfItem& change, model::StreamView view, v1::ChangeRecord* to) {
  constexpr int64_t kMsPerSecond = 1000;
  to->set_event_id(engine::EventId(change.sequence));
  to->set_event_name(EventNameOf(change.event));
  to->set_event_version(std::string(kEventVersion));
  to->set_event_source(std::string(kEventSource));
  to->set_aws_region(std::string(model::kRegion));
  v1::StreamRecord* const record = to->mutable_dynamodb();
  record->set_approximate_creation_date_time_ms(change.time_ms / kMsPerSecond * kMsPerSecond);
  record->mutable_keys()->ParseFromString(change.keys);
  if (change.new_image.has_value()) record->mutable_new_image()->ParseFromString(*change.new_image);
  if (change.old_image.has_value()) record->mutable_old_image()->ParseFromString(*change.old_image);
  record->set_sequence_number(engine::SequenceText(change.sequence));
  record->set_size_bytes(change.api_size);
  record->set_stream_view_type(ViewTypeOf(view));
  if (!change.is_expiry) return;
  v1::Identity* const identity = to->mutable_user_identity();
  identity->set_principal_id(std::string(kServicePrincipal));
  identity->set_type(std::string(kServiceType));
}

absl::StatusOr<engine::WatchRequest> ParseWatch(std::string_view bytes) {
  using M = v1::WatchRequest;
  const WireSource in("Watch");
  engine::WatchRequest request;
  std::string start;
  std::optional<std::string> after;
  const auto read = [&](uint32_t number, const WireValue& value) {
    switch (number) {
      case M::kTableNameFieldNumber:
        return in.RequiredText(value, &request.table_name);
      case M::kPartitionKeyFieldNumber:
        return in.Item(value, &request.key_wire);
      case M::kStartFieldNumber:
        return in.Word<v1::WatchStart>(value, &start);
      case M::kAfterSequenceNumberFieldNumber:
        return in.Text(value, &after);
      case M::kStreamViewTypeFieldNumber:
        return in.Word<v1::StreamViewType>(value, &request.view);
      case M::kHeartbeatMsFieldNumber:
        return in.Integer(value, &request.heartbeat_ms);
      case M::kFilterExpressionFieldNumber:
        return in.Text(value, &request.expressions.filter);
      case M::kExpressionAttributeNamesFieldNumber:
        return in.Names(value, &request.expressions.names);
      default:
        return in.Values(value, &request.expressions.values_wire);
    }
  };
  ARM_RETURN_IF_ERROR(in.Fields<M>(bytes, read));
  ARM_RETURN_IF_ERROR(SetStart(start, std::move(after), &request));
  return request;
}

v1::WatchResponse ToMessage(const engine::WatchPage& page) {
  v1::WatchResponse response;
  for (const engine::ChangeOfItem& change : page.changes) Fill(change, page.view, response.add_records());
  response.set_position(engine::SequenceText(page.position));
  return response;
}

}  // namespace armature::daemon
