#ifndef ARMATURE_DAEMON_JSON_ERROR_JSON_H_
#define ARMATURE_DAEMON_JSON_ERROR_JSON_H_

// Errors in the form of the JSON protocol.

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "daemon/json/json_api.h"

namespace armature::daemon {

// The answer to a failed request: {"__type":"namespace#Exception","message":"text"}. An empty text is left out. An
// error that is not meant for users becomes an internal error; its text is logged with `request_id`.
JsonAnswer ErrorAnswer(const absl::Status& error, std::string_view request_id);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_ERROR_JSON_H_
