#include "daemon/auth/audit_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "glog/logging.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

// Without O_NONBLOCK a FIFO would be opened when somebody reads it, and not before. Lines that its reader does not take
// are lost.
int OpenForAppending(const std::string& path) {
  return open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
}

// The line is pure ASCII, so that it is valid whatever name a client sends: other bytes become `?`.
void AppendJsonText(std::string_view name, std::string_view text, std::string* line) {
  line->append(line->size() == 1 ? "\"" : ",\"").append(name).append("\":\"");
  for (const char c : text.substr(0, AuditLog::kTextBytesMax)) {
    if (c == '"' || c == '\\') {
      line->append({'\\', c});
    } else {
      line->push_back(c >= ' ' && c <= '~' ? c : '?');
    }
  }
  line->push_back('"');
}

std::string_view ResultName(const absl::Status& result) {
  if (result.ok()) return "OK";
  const auto error = GetApiError(result);
  return error.has_value() ? ApiErrorName(error->type) : "InternalServerError";
}

std::string TimeText(absl::Time time) { return absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", time, absl::UTCTimeZone()); }

}  // namespace

std::string AuditLine(const AuditRecord& record, absl::Time time) {
  std::string line = "{";
  AppendJsonText("time", TimeText(time), &line);
  AppendJsonText("principal", record.principal, &line);
  AppendJsonText("peer", record.peer, &line);
  AppendJsonText("operation", record.operation, &line);
  AppendJsonText("table", record.table, &line);
  AppendJsonText("result", ResultName(record.result), &line);
  line += "}\n";
  return line;
}

absl::StatusOr<std::unique_ptr<AuditLog>> AuditLog::Open(const std::string& path) {
  const int fd = OpenForAppending(path);
  if (fd < 0) return UnavailableError(Cat("cannot write the audit log ", path, ": ", std::strerror(errno)));
  return std::unique_ptr<AuditLog>(new AuditLog(path, fd));
}

AuditLog::~AuditLog() {
  writer_.Stop();
  close(fd_);
}

void AuditLog::CountLost() {
  const uint64_t lost = lost_lines_.fetch_add(1) + 1;
  LOG_EVERY_N(ERROR, 1000) << "audit: line lost path=" << path_ << " lost_lines=" << lost;
}

std::optional<uint64_t> AuditLog::AdmitStranger(absl::Time now) {
  const absl::MutexLock lock(&mutex_);
  if (strangers_.Take(kStrangers, absl::ToUnixNanos(now))) return std::exchange(left_out_, 0);
  ++left_out_;
  return std::nullopt;
}

void AuditLog::Record(const AuditRecord& record) {
  const absl::Time now = absl::Now();
  std::string line;
  if (record.principal.empty() && !record.result.ok()) {
    const std::optional<uint64_t> left_out = AdmitStranger(now);
    if (!left_out.has_value()) return;
    if (*left_out > 0) line = Cat(R"({"time":")", TimeText(now), R"(","left_out":")", *left_out, "\"}\n");
  }
  line += AuditLine(record, now);
  Task task = [this, line = std::move(line)] { Write(line); };
  if (!writer_.TryRun(task)) CountLost();
}

void AuditLog::Write(const std::string& line) {
  while (true) {
    const ssize_t written = write(fd_, line.data(), line.size());
    if (written == static_cast<ssize_t>(line.size())) return;
    if (written < 0 && errno == EINTR) continue;
    PLOG_EVERY_N(ERROR, 1000) << "audit: cannot write path=" << path_;
    // Ends a partly written line, so that the next one starts on a line of its own.
    if (written > 0 && write(fd_, "\n", 1) != 1) LOG(ERROR) << "audit: cannot end a partial line path=" << path_;
    return CountLost();
  }
}

void AuditLog::Reopen() {
  // The task queues behind the lines recorded before. RunAdmitted never refuses it.
  writer_.RunAdmitted([this] {
    const int fd = OpenForAppending(path_);
    if (fd < 0) {
      PLOG(ERROR) << "audit: cannot reopen path=" << path_;
      return;
    }
    close(fd_);
    fd_ = fd;
    LOG(INFO) << "audit: reopened path=" << path_;
  });
}

}  // namespace armature::daemon
