#ifndef ARMATURE_DAEMON_PROCESS_END_H_
#define ARMATURE_DAEMON_PROCESS_END_H_

// Ends of the process, and the signals that ask for one. A database in RADOS whose cluster does not answer must not
// hold up an end for ever.

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/config.h"
#include "daemon/server.h"

namespace armature::daemon {

// Ends the process at once, with exit status 75 and `reason` on standard error: another daemon has the database, or can
// write again. Answers of this one could be out of date, and everything that it would write is refused. A service
// manager may start it again: it then waits as the standby. For any thread.
void EndLost(std::string_view reason);

// Ends the daemon as SIGTERM does, but with exit status 75. For any thread.
void EndHandingOver();

// Exit status of an orderly end: 0, or 75 after EndHandingOver.
int EndStatus();

// Writes to standard error that the database was handed over, if EndHandingOver was called. For the last moment of an
// orderly end.
void TellHandover();

// True if a signal waits that ends the daemon. The signals must be blocked.
bool IsToldToEnd();

// Takes a SIGHUP that waits. True if there was one. The signal must be blocked.
bool TakesHangup();

// Starts the server. With a database in RADOS, a start that a signal ends before it owns the database, and which does
// not return within 5 s then, ends the process with EndStatus: its lease, if it took one just now, runs out.
absl::StatusOr<std::unique_ptr<Server>> StartEndable(const Config& config, const Server::OnStandby& on_standby,
                                                     bool is_rados);

// Stops the server. With a database in RADOS, 20 s after `drain_time` at the latest: then by EndLost.
void StopWithin(Server* server, absl::Duration drain_time, bool is_rados);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_PROCESS_END_H_
