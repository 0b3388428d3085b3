#include "daemon/log_lines.h"

#include <simdjson.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "daemon/message_json/json_writer.h"
#include "glog/logging.h"

#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

struct LevelName {
  std::string_view name;
  std::string_view priority;  // that of syslog(3)
};
constexpr std::array<LevelName, 4> kLevelNames = {
    {{"info", "<6>"}, {"warning", "<4>"}, {"error", "<3>"}, {"fatal", "<2>"}}};

const LevelName& LevelNameOf(LogLevel level) { return kLevelNames[static_cast<size_t>(level)]; }

// Set before there are other threads.
LogFormat log_format = LogFormat::kText;

bool IsStderrJournal() {
  static const bool kIsJournal = IsJournal(std::getenv("JOURNAL_STREAM"), STDERR_FILENO);
  return kIsJournal;
}

// One call of the system for a line, so that lines of several processes stay whole.
void WriteLogLine(LogLevel level, std::string_view text) {
  const std::string lines = IsStderrJournal() ? WithPriorities(level, text) : Cat(text, "\n");
  for (std::string_view rest = lines; !rest.empty();) {
    const ssize_t written = write(STDERR_FILENO, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    rest.remove_prefix(static_cast<size_t>(written));
  }
}

class StderrSink final : public google::LogSink {
 public:
  using google::LogSink::send;

  void send(google::LogSeverity severity, const char* /*full_filename*/, const char* base_filename, int line,
            const google::LogMessageTime& time, const char* message, size_t size) override {
    const auto level = static_cast<LogLevel>(severity);
    if (log_format == LogFormat::kText) {
      WriteLogLine(level, ToString(severity, base_filename, line, time, message, size));
      return;
    }
    const absl::Time at = absl::FromTimeT(time.timestamp()) + absl::Microseconds(time.usec());
    WriteLogLine(level, LogLineJson(level, at, Cat(base_filename, ":", line), gettid(), {message, size}));
  }
};

}  // namespace

bool IsJournal(const char* journal_stream, int descriptor) {
  struct stat file {};
  if (journal_stream == nullptr || fstat(descriptor, &file) != 0) return false;
  return journal_stream == Cat(file.st_dev, ":", file.st_ino);
}

std::string WithPriorities(LogLevel level, std::string_view text) {
  std::string lines;
  for (const absl::string_view line : absl::StrSplit(Av(text), '\n')) {
    lines += Cat(LevelNameOf(level).priority, Sv(line), "\n");
  }
  return lines;
}

std::string LogLineJson(LogLevel level, absl::Time time, std::string_view source, int64_t thread,
                        std::string_view message) {
  std::string text(message);
  if (!simdjson::validate_utf8(text)) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  }
  JsonWriter json;
  json.BeginObject();
  json.Member("time", Sv(absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", time, absl::UTCTimeZone())));
  json.Member("level", LevelNameOf(level).name);
  if (thread != 0) json.Key("thread").Integer(thread);
  if (!source.empty()) json.Member("source", source);
  json.Member("message", text);
  json.EndObject();
  return json.Take();
}

void StartLog(const char* program, const LogOptions& options) {
  log_format = options.format;
  IsStderrJournal();  // now: the library of Ceph is kept off standard error for moments, by another file in its place
  SetLogLevel(options.level);
  // No lines of glog's own on standard error, and no files.
  FLAGS_logtostderr = false;
  FLAGS_alsologtostderr = false;
  FLAGS_stderrthreshold = google::NUM_SEVERITIES;
  for (google::LogSeverity severity = 0; severity < google::NUM_SEVERITIES; ++severity) {
    google::SetLogDestination(severity, "");
  }
  google::InitGoogleLogging(program);
  static auto* const kSink = new StderrSink;  // never deleted: threads may log until the process is gone
  google::AddLogSink(kSink);
}

void SetLogLevel(LogLevel level) { FLAGS_minloglevel = static_cast<int>(level); }

void TellOperator(LogLevel level, std::string_view text) {
  const std::string line = Cat("armatured: ", text);
  WriteLogLine(level, log_format == LogFormat::kText ? line : LogLineJson(level, absl::Now(), "", 0, line));
}

}  // namespace armature::daemon
