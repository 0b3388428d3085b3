#ifndef ARMATURE_DAEMON_JSON_ERROR_JSON_H_
#define ARMATURE_DAEMON_JSON_ERROR_JSON_H_

// Errors as the JSON protocol tells them.

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "daemon/json/json_api.h"

namespace armature::daemon {

// The answer to a request that failed: {"__type":"namespace#Exception","message":"text"}. A text that is empty is left
// out. An error that is not meant for users becomes an internal one; its text goes to the log under `request_id`.
JsonAnswer ErrorAnswer(const absl::Status& error, std::string_view request_id);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_ERROR_JSON_H_
