#ifndef ARMATURE_TOOLS_ARMATURE_WATCH_RECORD_COMMAND_H_
#define ARMATURE_TOOLS_ARMATURE_WATCH_RECORD_COMMAND_H_

// A command of the user that handles records: it gets them as lines on its standard input, and acknowledges each, in
// their order, by a line on its standard output.

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace armature::cli {

// A running process of the command, `sh -c COMMAND`, with the standard error of this process.
//
// Not thread-safe. Lifetime: the destructor closes the standard input of the process and waits for its end.
class RecordCommand {
 public:
  // Errors: Internal if no process can be started. A command that the shell does not find ends with status 127.
  static absl::StatusOr<std::unique_ptr<RecordCommand>> Start(const std::string& command);
  ~RecordCommand();
  RecordCommand(const RecordCommand&) = delete;
  RecordCommand& operator=(const RecordCommand&) = delete;

  // Writes the lines from `*done` on, and returns when all are acknowledged. Calls `acknowledged` whenever `*done`, the
  // number of acknowledged lines, has grown. Blocks as long as the command takes. Errors: Aborted if the process ended
  // or closed its output; UsageError if it acknowledged more lines than it got; what `acknowledged` returned.
  absl::Status Handle(const std::vector<std::string>& lines, size_t* done,
                      const std::function<absl::Status()>& acknowledged);

  // OK if the process, which has no record now, runs and has printed nothing. Does not block. Errors: as Handle.
  absl::Status CheckIdle() const;

  // Waits for the end of the process: its exit status, or 128 and the number of the signal that ended it.
  int Wait();

 private:
  RecordCommand(pid_t process, int input, int output) : process_(process), input_(input), output_(output) {}

  // Writes what the pipe takes.
  absl::Status WriteSome(const std::string& text, size_t* written) const;
  // Returns the number of lines that were read.
  absl::StatusOr<size_t> ReadSome() const;

  pid_t process_;  // 0: it has ended
  int input_;      // -1: closed
  int output_;
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_WATCH_RECORD_COMMAND_H_
