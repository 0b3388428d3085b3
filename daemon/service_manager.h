#ifndef ARMATURE_DAEMON_SERVICE_MANAGER_H_
#define ARMATURE_DAEMON_SERVICE_MANAGER_H_

// Tells systemd how the daemon does: the protocol of sd_notify(3), which is one datagram.

#include <string_view>

namespace armature::daemon {

// Sends `state` ("READY=1", "STOPPING=1") to the socket that the environment names in NOTIFY_SOCKET. Does nothing
// without one; a failure is logged, and nothing depends on it.
void NotifyServiceManager(std::string_view state);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_SERVICE_MANAGER_H_
