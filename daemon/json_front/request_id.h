#ifndef ARMATURE_DAEMON_JSON_FRONT_REQUEST_ID_H_
#define ARMATURE_DAEMON_JSON_FRONT_REQUEST_ID_H_

// Ids of requests.

#include <string>

namespace armature::daemon {

// 52 upper-case letters and digits, like the API's request ids. Unique for all practical purposes, not a secret.
// Thread-safety: thread-safe.
std::string NewRequestId();

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_FRONT_REQUEST_ID_H_
