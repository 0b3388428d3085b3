#ifndef ARMATURE_TOOLS_ARMATURE_SESSION_H_
#define ARMATURE_TOOLS_ARMATURE_SESSION_H_

// The surroundings of a command: the daemon's address, the output, and the errors with their exit codes.

#include <functional>
#include <istream>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "armature/client/client.h"
#include "google/protobuf/message.h"
#include "tools/armature/json_text.h"

namespace armature::cli {

// The address of the daemon unless something else is said.
inline constexpr char kDefaultEndpoint[] = "127.0.0.1:7700";

// The variable of the environment with the secret of the access key.
inline constexpr char kSecretVariable[] = "ARMATURE_SECRET_KEY";

enum class OutputFormat { kJson, kTable };

struct FailedCall;  // the last call that failed

// Not thread-safe; one command at a time.
class Session {
 public:
  struct Options {
    std::string endpoint;
    OutputFormat format = OutputFormat::kJson;
    std::string output{};          // the format as the user named it; empty: none was named
    bool writes_terminal = false;  // a terminal shows the output
    bool has_colors = false;       // the output is in colours
    bool may_page = true;          // a pager may show it
    double timeout_seconds = 30;
    bool yes = false;  // confirm everything without asking
    bool tls = false;  // use TLS even if tls_files names no file
    client::TlsOptions tls_files;
    std::string access_key_id;  // empty: none
    // File with the secret of the access key. Empty: the secret is in the environment. The secret is never an argument,
    // because every user of the machine can read the arguments of a process.
    std::string secret_file;
  };

  // `progress`: the stream for progress bars (drawn only if `is_progress_live`, that is, on a terminal) and for
  // questions. `answers`: the stream with the answers to these questions, or null if there is no terminal.
  Session(Options options, std::ostream& out, std::ostream& progress, bool is_progress_live,
          std::istream* answers = nullptr);

  // A client of the endpoint. The first call connects. Errors: UsageError for unusable files and secrets.
  absl::StatusOr<client::Client> Connect() const;

  // The moment at which a command that waits gives up.
  absl::Time Deadline() const;

  // The longest time that a command continues without progress.
  absl::Duration patience() const { return absl::Seconds(options_.timeout_seconds); }

  // OK if the user confirms `what`, by --yes or by an answer on the terminal. Errors: UsageError if the user declines
  // or if there is no terminal.
  absl::Status Confirm(std::string_view what) const;

  // True if a person reads the output and gives the input: both are a terminal.
  bool is_interactive() const { return answers_ != nullptr && options_.format == OutputFormat::kTable; }

  // True if everything is confirmed in advance.
  bool is_confirmed() const { return options_.yes; }

  OutputFormat format() const { return options_.format; }
  const std::string& output() const { return options_.output; }
  bool writes_terminal() const { return options_.writes_terminal; }
  bool has_colors() const { return options_.has_colors; }
  bool may_page() const { return options_.may_page; }
  const std::string& endpoint() const { return options_.endpoint; }
  // True if the command has asked for a client of the daemon.
  bool has_connected() const { return has_connected_; }

  // The request of the last call that failed, if it has failed with `error`; else null.
  std::shared_ptr<const google::protobuf::Message> FailedRequest(const absl::Status& error) const;

  std::ostream& progress() const { return progress_; }
  bool is_progress_live() const { return is_progress_live_; }

  void Print(const Json& json) const;
  void PrintText(std::string_view text) const;
  // Prints JSON that is text already, in colours if they are wanted.
  void PrintJsonText(std::string_view json) const;
  // Prints a table whose first line is its header.
  void PrintTable(std::string_view table) const;
  // Shows what was printed, though the command goes on.
  void Flush() const;
  // False once nobody reads the output any more, or it cannot be written. Commands that print page by page end then.
  bool is_output_open() const { return out_.good(); }
  // InputError if the output cannot be written, for example to a full disk.
  absl::Status CheckOutput() const;
  std::ostream& out() const { return out_; }

  // Prints `json`, or, with the format kTable, the text that `to_text` returns.
  void Print(const Json& json, const std::function<std::string()>& to_text) const;
  // Print for a text that is a table with its header on the first line.
  void PrintAsTable(const Json& json, const std::function<std::string()>& to_table) const;

 private:
  Options options_;
  std::ostream& out_;
  std::ostream& progress_;
  const bool is_progress_live_;
  std::istream* const answers_;
  mutable bool has_connected_ = false;
  // Written by the clients of Connect, which may outlive the session.
  const std::shared_ptr<FailedCall> failed_call_;
};

// The work of a parsed command line.
using Action = std::function<absl::Status(const Session&)>;

// The numbers are part of the tool's interface.
enum class ExitCode : int {
  kOk = 0,
  kApiError = 1,     // the daemon refused the request
  kUsageError = 2,   // the command line is wrong; nothing was sent
  kUnreachable = 3,  // the daemon, or the cluster, did not answer
  kDifferences = 4,  // a comparison found differences, or an item that was named does not exist
  kInputError = 5,   // a file is unusable; the part before the fault may have been sent
};

// Errors that end the program with kUsageError, kUnreachable, kInputError, and with kDifferences the last two.
// UnreachableError: something else than the daemon did not answer, which `message` names.
absl::Status UsageError(std::string_view message);
absl::Status UnreachableError(std::string_view message);
absl::Status InputError(std::string_view message);
absl::Status DifferencesError(std::string_view message);
absl::Status MissingItemError(std::string_view message);

// The error of a file (storage/files) as an InputError. OK stays OK.
absl::Status AsInputError(const absl::Status& status);

ExitCode ExitCodeOf(const absl::Status& status);

// `status` with a place "FILE:LINE" in front of its error line, and lines that follow it. A place and lines that it has
// already stay. Both may be empty.
absl::Status WithSource(absl::Status status, std::string_view source, std::string_view detail);

// `status`, marked as printed already: its error line is empty.
absl::Status Reported(absl::Status status);

// The lines that follow the error line, each with a line break. May be empty.
std::string ErrorDetail(const absl::Status& status);

// The error message on one line, such as "ValidationException: <message>", without a line break at its end. A message
// that ends with a place in a text (PlaceIn) keeps these two lines. `endpoint`: the daemon that was asked; empty: none
// was.
std::string ErrorLine(const absl::Status& status, std::string_view endpoint);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SESSION_H_
