#ifndef ARMATURE_DAEMON_AUTH_AUDIT_LOG_H_
#define ARMATURE_DAEMON_AUTH_AUDIT_LOG_H_

// Who did what to tables and to the daemon, as lines of JSON in a file.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "storage/base/thread_pool.h"

namespace armature::daemon {

struct AuditRecord {
  std::string_view principal;  // empty: there are no credentials, or nobody was recognised
  std::string_view peer;
  std::string_view operation;  // "CreateTable", "admin:GetServerInfo"
  std::string_view table;      // empty: about no table
  absl::Status result;
};

// {"time":"2025-11-04T12:00:00.123456Z","principal":"AKOPS","peer":"ipv4:127.0.0.1:4711","operation":"CreateTable",
//  "table":"orders","result":"OK"}; `result` is otherwise the name of the exception. Lines are appended in the order of
// Record, each by one write.
//
// Record does not block: a thread of the log's own writes, behind a queue of kWaitingMax lines. Lines that find it
// full, or that cannot be written, are lost, and the daemon's log says how many.
//
// Thread-safety: thread-safe. Lifetime: the destructor writes what waits.
class AuditLog {
 public:
  static constexpr size_t kWaitingMax = 4096;
  static constexpr size_t kTextBytesMax = 1024;  // of each member; beyond, it is cut

  // Makes the file if it does not exist, readable by its owner only. Errors: Unavailable that names the file.
  static absl::StatusOr<std::unique_ptr<AuditLog>> Open(const std::string& path);
  ~AuditLog();
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  void Record(const AuditRecord& record);

  // Opens the path again, so that a file that was moved away can be compressed. Lines recorded before go to the old
  // file. If it cannot be opened, the log goes on with the old file and says so in the daemon's log.
  void Reopen();

  uint64_t lost_lines() const { return lost_lines_.load(); }

 private:
  AuditLog(std::string path, int fd) : path_(std::move(path)), fd_(fd), writer_("audit", 1, kWaitingMax) {}
  void Write(const std::string& line);
  void CountLost();

  const std::string path_;
  int fd_;  // the writer's
  std::atomic<uint64_t> lost_lines_ = 0;
  ThreadPool writer_;
};

// The line of a record, with its line break.
std::string AuditLine(const AuditRecord& record, absl::Time time);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_AUTH_AUDIT_LOG_H_
