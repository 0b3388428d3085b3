#ifndef ARMATURE_TOOLS_ARMATURE_SESSION_H_
#define ARMATURE_TOOLS_ARMATURE_SESSION_H_

// What a command runs in: where to call, where to print, and how to fail.

#include <functional>
#include <istream>
#include <ostream>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "armature/client/client.h"
#include "tools/armature/json_text.h"

namespace armature::cli {

enum class OutputFormat { kJson, kTable };

// Not thread-safe; one command at a time.
class Session {
 public:
  struct Options {
    std::string endpoint;
    OutputFormat format = OutputFormat::kJson;
    double timeout_seconds = 30;
    bool yes = false;  // agree to everything
    bool tls = false;  // also without files
    client::TlsOptions tls_files;
    std::string access_key_id;  // empty: none
    // Where the secret is: a file, or else the environment. Never an argument, which everybody on the machine can see.
    std::string secret_file;
  };

  // `progress`: where bars are drawn, if it is a terminal, and questions asked. `answers`: where these are answered;
  // null if nobody is there.
  Session(Options options, std::ostream& out, std::ostream& progress, bool is_progress_live,
          std::istream* answers = nullptr);

  // A client of the endpoint. Connects with its first call. Errors: usage errors about files and secrets.
  absl::StatusOr<client::Client> Connect() const;

  // When a command that waits gives up.
  absl::Time Deadline() const;

  // How long a command goes on that makes no headway.
  absl::Duration patience() const { return absl::Seconds(options_.timeout_seconds); }

  // OK if the user agrees that `what` happens: by --yes, or by an answer on the terminal. Errors: a usage error, also
  // where nobody can be asked.
  absl::Status Confirm(std::string_view what) const;

  OutputFormat format() const { return options_.format; }

  std::ostream& progress() const { return progress_; }
  bool is_progress_live() const { return is_progress_live_; }

  void Print(const Json& json) const;
  void PrintText(std::string_view text) const;

 private:
  Options options_;
  std::ostream& out_;
  std::ostream& progress_;
  const bool is_progress_live_;
  std::istream* const answers_;
};

// What a parsed command line asks for.
using Action = std::function<absl::Status(const Session&)>;

// The numbers are part of the tool's interface.
enum class ExitCode : int {
  kOk = 0,
  kApiError = 1,     // The daemon refused.
  kUsageError = 2,   // The command line is wrong; nothing was sent.
  kUnreachable = 3,  // No answer from the daemon.
  kDifferences = 4,  // What was compared differs.
  kInputError = 5,   // A file is not what it must be; what stands before the fault may have been sent.
};

// A status for what the user typed wrong.
absl::Status UsageError(std::string_view message);

// A status for a file of items, or one about it, that cannot be used.
absl::Status InputError(std::string_view message);

// A status for a comparison that found differences.
absl::Status DifferencesError(std::string_view message);

ExitCode ExitCodeOf(const absl::Status& status);

// The one line that tells of a failure, such as "ValidationException: <message>". Without its line
// break.
std::string ErrorLine(const absl::Status& status, std::string_view endpoint);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SESSION_H_
