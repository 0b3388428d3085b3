#ifndef ARMATURE_DAEMON_API_STREAM_MESSAGES_H_
#define ARMATURE_DAEMON_API_STREAM_MESSAGES_H_

// Requests and answers of operations on streams, between the wire and the engine.

#include <string_view>

#include "absl/status/statusor.h"
#include "armature/api/v1/streams.pb.h"
#include "engine/streams/stream_ops.h"
#include "engine/watch/table_watch.h"
#include "storage/model/stream_descriptor.h"

namespace armature::daemon {

api::v1::StreamViewType ViewTypeOf(model::StreamView view);

// Fills the record of a change.
void Fill(const engine::ChangeOfItem& change, model::StreamView view, api::v1::ChangeRecord* to);

// Parses an armature.api.v1.WatchRequest, without its client. Errors: SerializationException; ValidationException if
// the start is unknown or given twice.
absl::StatusOr<engine::WatchRequest> ParseWatch(std::string_view bytes);
api::v1::WatchResponse ToMessage(const engine::WatchPage& page);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_API_STREAM_MESSAGES_H_
