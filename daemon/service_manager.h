#ifndef ARMATURE_DAEMON_SERVICE_MANAGER_H_
#define ARMATURE_DAEMON_SERVICE_MANAGER_H_

// Reports the daemon's state to systemd by the protocol of sd_notify(3), one datagram.

#include <string_view>

namespace armature::daemon {

// Sends `state` ("READY=1", "STOPPING=1") to the socket named by the environment variable NOTIFY_SOCKET. Does nothing
// without it. A failure is only logged.
void NotifyServiceManager(std::string_view state);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_SERVICE_MANAGER_H_
