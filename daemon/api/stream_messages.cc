#include "daemon/api/stream_messages.h"

#include <string_view>
#include <utility>

#include "daemon/api/message_parts.h"
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

absl::Status TakeStart(const v1::WatchRequest& message, engine::WatchRequest* request) {
  if (!v1::WatchStart_IsValid(message.start())) return ValidationError("The start of the watch is unknown");
  if (!message.has_after_sequence_number()) {
    const bool is_oldest = message.start() == v1::WATCH_START_OLDEST;
    request->start = is_oldest ? engine::WatchStart::kOldest : engine::WatchStart::kNow;
    return absl::OkStatus();
  }
  if (message.start() != v1::WATCH_START_UNSPECIFIED) {
    return ValidationError("A watch begins at a start or behind a sequence number, not at both");
  }
  request->start = engine::WatchStart::kAfterSequence;
  request->after_sequence = message.after_sequence_number();
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
  v1::WatchRequest message;
  ARM_ASSIGN_OR_RETURN(SplitRequest split, ParseSplit(bytes, "Watch", kNoLegacyFields, &message));
  engine::WatchRequest request;
  if (!message.table_name().empty()) request.table_name = message.table_name();
  ARM_RETURN_IF_ERROR(TakeStart(message, &request));
  request.key_wire = std::move(split.item);
  request.view = Text(message.stream_view_type());
  if (message.has_heartbeat_ms()) request.heartbeat_ms = message.heartbeat_ms();
  if (message.has_filter_expression()) request.expressions.filter = message.filter_expression();
  TakeNames(message, &request.expressions);
  request.expressions.values_wire = std::move(split.values);
  return request;
}

v1::WatchResponse ToMessage(const engine::WatchPage& page) {
  v1::WatchResponse response;
  for (const engine::ChangeOfItem& change : page.changes) Fill(change, page.view, response.add_records());
  response.set_position(engine::SequenceText(page.position));
  return response;
}

}  // namespace armature::daemon
