#ifndef ARMATURE_DAEMON_LOG_LINES_H_
#define ARMATURE_DAEMON_LOG_LINES_H_

// The daemon's log: lines on standard error, as text or JSON, with priorities for the journal.

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace armature::daemon {

enum class LogFormat : uint8_t { kText, kJson };

// In the order of glog's severities. The last one is that of a failed CHECK.
enum class LogLevel : uint8_t { kInfo, kWarning, kError, kFatal };

struct LogOptions {
  LogLevel level = LogLevel::kInfo;  // the lowest that is logged
  LogFormat format = LogFormat::kText;
};

// Sends the lines of glog to standard error in the form of `options`, and to no file. Called once, before other threads
// log.
//
// Where systemd connects standard error with the journal (JOURNAL_STREAM, systemd.exec(5)), each line begins with its
// priority, "<4>" for a warning (sd-daemon(3)), which the journal takes off: `journalctl -p warning` has the warnings.
void StartLog(const char* program, const LogOptions& options);

// The lowest level that is logged from now on. Thread-safety: one thread calls it.
void SetLogLevel(LogLevel level);

// Writes "armatured: TEXT" for the operator: the end of the process, or a start that fails. In the form of the log, but
// without its time and place. Before StartLog, as text. Thread-safety: thread-safe.
void TellOperator(LogLevel level, std::string_view text);

// True if `journal_stream`, the value of JOURNAL_STREAM, names the file that is open as `descriptor`. May be null.
bool IsJournal(const char* journal_stream, int descriptor);

// `text` with a line end, and with the priority before each of its lines.
std::string WithPriorities(LogLevel level, std::string_view text);

// One entry of the log as an object of JSON on one line, without its end. Bytes that are not UTF-8 become "?".
// `source`: file and line; empty, like `thread` 0: left out.
std::string LogLineJson(LogLevel level, absl::Time time, std::string_view source, int64_t thread,
                        std::string_view message);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_LOG_LINES_H_
