#include "daemon/process_end.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <ctime>

#include "daemon/log_lines.h"
#include "storage/base/monotonic_wait.h"
#include "storage/base/strings.h"
#include "storage/base/thread_pool.h"

namespace armature::daemon {
namespace {

constexpr int kLostDatabase = 75;

// For the files of the database after the last call.
constexpr absl::Duration kCloseTime = absl::Seconds(20);
constexpr absl::Duration kStartEndTime = absl::Seconds(5);
constexpr absl::Duration kToldPoll = absl::Milliseconds(200);

std::atomic<bool> is_handing_over = false;

void EndWaitWhenTold(StopSignal* owned) {
  while (!owned->WaitFor(kToldPoll)) {
    if (!IsToldToEnd() || owned->WaitFor(kStartEndTime)) continue;
    TellOperator(LogLevel::kError,
                 "ended by a signal before it owned the database: the cluster did not answer in time");
    _exit(EndStatus());
  }
}

}  // namespace

void EndLost(std::string_view reason) {
  TellOperator(LogLevel::kError, Cat("lost the database: ", reason));
  _exit(kLostDatabase);
}

void EndHandingOver() {
  is_handing_over.store(true);
  kill(getpid(), SIGTERM);
}

int EndStatus() { return is_handing_over.load() ? kLostDatabase : 0; }

void TellHandover() {
  if (!is_handing_over.load()) return;
  TellOperator(LogLevel::kInfo, "handed the database over: an operator asked this daemon to end");
}

bool IsToldToEnd() {
  sigset_t pending;
  sigemptyset(&pending);
  sigpending(&pending);
  return sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGINT) == 1;
}

bool TakesHangup() {
  sigset_t hangup;
  sigemptyset(&hangup);
  sigaddset(&hangup, SIGHUP);
  constexpr timespec kNow = {};
  return sigtimedwait(&hangup, nullptr, &kNow) == SIGHUP;
}

absl::StatusOr<std::unique_ptr<Server>> StartEndable(const Config& config, const Server::OnStandby& on_standby,
                                                     bool is_rados) {
  StopSignal owned;
  ThreadPool watch("arm-start", 1, 1);
  if (is_rados) watch.RunAdmitted([&owned] { EndWaitWhenTold(&owned); });
  absl::StatusOr<std::unique_ptr<Server>> server = Server::Start(config, on_standby, [&owned] { owned.Stop(); });
  owned.Stop();
  return server;
}

void StopWithin(Server* server, absl::Duration drain_time, bool is_rados) {
  StopSignal stopped;
  ThreadPool watch("arm-end", 1, 1);
  if (is_rados) {
    watch.RunAdmitted([&stopped, limit = drain_time + kCloseTime] {
      if (!stopped.WaitFor(limit)) EndLost("its files could not be closed in time; what was acknowledged is safe");
    });
  }
  server->Stop(drain_time);
  stopped.Stop();
}

}  // namespace armature::daemon
