#ifndef ARMATURE_DAEMON_AUTH_AUDIT_LOG_H_
#define ARMATURE_DAEMON_AUTH_AUDIT_LOG_H_

// The audit log: requests on tables and on the daemon, as lines of JSON in a file.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/auth/failures.h"
#include "storage/base/thread_pool.h"

namespace armature::daemon {

struct AuditRecord {
  std::string_view principal;  // empty: no authentication, or it failed
  std::string_view peer;
  std::string_view operation;  // "CreateTable", "admin:GetServerInfo"
  std::string_view table;      // empty: the operation concerns no table
  absl::Status result;
};

// {"time":"2025-11-04T12:00:00.123456Z","principal":"AKOPS","peer":"127.0.0.1:4711","operation":"CreateTable",
//  "table":"orders","result":"OK"}; after an error `result` is the name of the exception. Lines are appended in the
// order of Record calls, each by one write.
//
// Record does not block: the log's own thread writes, behind a queue of kWaitingMax lines. A line is lost if the queue
// is full or the write fails. Lost lines are counted in the daemon's log.
//
// Refusals of callers without a principal are written at the rate kStrangers, so that strangers can fill neither the
// disk nor the queue. A line {"time":...,"left_out":"7"} counts those that were left out before it.
//
// Thread-safety: thread-safe. Lifetime: the destructor writes the queued lines.
class AuditLog {
 public:
  static constexpr size_t kWaitingMax = 4096;
  static constexpr size_t kTextBytesMax = 1024;  // of each member; longer texts are cut

  // Creates the file, if it does not exist, with mode 0600. Errors: Unavailable that names the file.
  static absl::StatusOr<std::unique_ptr<AuditLog>> Open(const std::string& path);
  ~AuditLog();
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  void Record(const AuditRecord& record);

  // Opens the path again, so that log rotation can move the file away. Lines recorded before go to the old file. If the
  // path cannot be opened, the old file stays in use and the daemon's log says so.
  void Reopen();

  uint64_t lost_lines() const { return lost_lines_.load(); }

 private:
  AuditLog(std::string path, int fd) : path_(std::move(path)), fd_(fd), writer_("audit", 1, kWaitingMax) {}
  void Write(const std::string& line);
  void CountLost();

  static constexpr TokenBucket::Rate kStrangers = {.burst = 1000, .per_second = 10};

  // Number of refusals that were left out, if there is room for the next one; nullopt if it is left out, too.
  std::optional<uint64_t> AdmitStranger(absl::Time now);

  const std::string path_;
  absl::Mutex mutex_;
  TokenBucket strangers_ ABSL_GUARDED_BY(mutex_){kStrangers};
  uint64_t left_out_ ABSL_GUARDED_BY(mutex_) = 0;
  int fd_;  // used by the writer's thread only
  std::atomic<uint64_t> lost_lines_ = 0;
  ThreadPool writer_;
};

// The line of a record, with its line feed.
std::string AuditLine(const AuditRecord& record, absl::Time time);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_AUTH_AUDIT_LOG_H_
