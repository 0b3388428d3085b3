#ifndef ARMATURE_TOOLS_ARMATURE_SQL_CONSOLE_H_
#define ARMATURE_TOOLS_ARMATURE_SQL_CONSOLE_H_

// Execution of the pieces of a terminal's or a file's text, and their output.

#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "armature/client/client.h"
#include "tools/armature/session.h"
#include "tools/armature/sql/interrupt.h"
#include "tools/armature/sql/sql_context.h"
#include "tools/armature/sql/sql_output.h"
#include "tools/armature/sql/sql_runner.h"
#include "tools/armature/sql/statement_reader.h"

namespace armature::cli {

// Executes statements and the commands that begin with a backslash, and keeps their settings.
//
// Lifetime: `session` and `interrupt` outlive it. Not thread-safe.
class Console {
 public:
  struct Options {
    SqlSettings settings;
    std::vector<api::v1::AttributeValue> parameters;  // of every statement
    SqlFormat format = SqlFormat::kTable;
    bool keep_going = false;      // texts go on after an error
    std::string_view limit_hint;  // how to see more items than the limit
  };

  Console(const Session& session, client::Client client, Options options, Interrupt* interrupt);

  // Executes a piece that `reader` has returned, and prints its result. Errors: the statement's; PlaceLinesOf finds
  // their place in the piece.
  absl::Status Execute(const SqlPiece& piece, StatementReader* reader);

  // Executes all pieces of a text. Errors: the first one, with `name` and the line in front (WithSource). With
  // keep_going errors are printed, and the last one is returned at the end. A transaction that is still open at the
  // end of the outermost text is an error.
  absl::Status ExecuteText(std::istream& text, const std::string& name);
  absl::Status ExecuteFile(const std::string& path);

  // The error of a transaction that was not committed, or OK.
  absl::Status CheckEnd() const;

  // Behind the name in the prompt: "=", or "*=" in a transaction.
  std::string_view prompt_mark() const { return runner_.is_in_transaction() ? "*=" : "="; }
  // True after \q.
  bool is_over() const { return is_over_; }
  const std::string& last_statement() const { return last_statement_; }

  // Prints an error, with its place if `piece` has one.
  void PrintError(const absl::Status& status, std::string_view piece) const;
  const SqlOutput& output() const { return output_; }

 private:
  absl::Status Statement(const std::string& text);
  absl::Status Command(std::string_view line, StatementReader* reader);
  absl::Status SwitchCommand(std::string_view word, const std::string& argument, bool* is_command);
  absl::Status Switch(std::string_view what, std::string_view argument, bool* is_on) const;
  absl::Status SetNumber(std::string_view word, const std::string& argument, int64_t* number) const;
  absl::Status SetFormat(const std::string& argument);
  absl::Status SetPager(const std::string& argument);
  absl::Status DescribeCommand(std::string name) const;
  absl::Status DescribeAll() const;
  absl::Status CopyCommand(const std::string& arguments) const;
  absl::Status EditCommand(const std::string& path, StatementReader* reader) const;
  absl::Status WatchCommand(const std::string& argument, StatementReader* reader);
  absl::Status RunBuffer(StatementReader* reader);
  absl::Status Repeat();
  SqlContext MakeContext() const;

  const Session& session_;
  const client::Client client_;
  Options options_;
  Interrupt* const interrupt_;
  SqlOutput output_;
  SqlRunner runner_;
  std::string last_statement_;
  int depth_ = 0;  // of texts inside of texts
  bool has_timing_ = false;
  bool is_over_ = false;
};

// The help of \?.
std::string_view ConsoleHelp();

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SQL_CONSOLE_H_
