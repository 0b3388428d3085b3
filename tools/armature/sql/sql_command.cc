// The command sql: PartiQL statements.

#include <signal.h>

#include <cstdint>
#include <iostream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/command.h"
#include "tools/armature/message_json.h"
#include "tools/armature/sql/console.h"
#include "tools/armature/sql/error_place.h"
#include "tools/armature/sql/interrupt.h"
#include "tools/armature/sql/shell.h"
#include "tools/armature/sql/statement_reader.h"

namespace armature::cli {
namespace {

struct SqlOptions {
  std::string statement;           // empty or "-": from standard input
  std::vector<std::string> files;  // instead of a statement
  std::string parameters;          // JSON array, or @file
  std::string format;              // empty: table, or a document
  bool consistent_read = false;
  bool explain = false;
  bool keep_going = false;
  int64_t limit = 0;  // 0: none
  int64_t computed_max = kComputedItemsMax;
};

constexpr char kInputName[] = "stdin";
constexpr char kStatementName[] = "statement";

absl::StatusOr<std::vector<api::v1::AttributeValue>> ParseParameters(const std::string& text) {
  std::vector<api::v1::AttributeValue> values;
  if (text.empty()) return values;
  absl::StatusOr<Json> json = ParseJsonArgument(text);
  if (!json.ok()) return UsageError(Cat("--parameters: ", Sv(json.status().message())));
  if (!json->is_array()) return UsageError("--parameters: must be an array of values");
  for (const Json& value : *json) {
    absl::StatusOr<api::v1::AttributeValue> parsed = AttributeValueFromJson(value, "--parameters");
    if (!parsed.ok()) return UsageError(Sv(parsed.status().message()));
    values.push_back(*std::move(parsed));
  }
  return values;
}

absl::StatusOr<Console::Options> ConsoleOptionsOf(const Session& session, const SqlOptions& options) {
  Console::Options made;
  made.settings = {.consistent_read = options.consistent_read,
                   .explain = options.explain,
                   .limit = options.limit,
                   .computed_max = options.computed_max};
  ARM_ASSIGN_OR_RETURN(made.parameters, ParseParameters(options.parameters));
  made.format = session.format() == OutputFormat::kTable ? SqlFormat::kTable : SqlFormat::kDocument;
  if (!options.format.empty()) made.format = *ParseSqlFormat(options.format);
  made.keep_going = options.keep_going;
  made.limit_hint = "there are more; --limit is reached";
  return made;
}

// The statements of a text. --parameters belong to one statement.
absl::StatusOr<std::vector<SqlPiece>> PiecesOf(const std::string& text, const SqlOptions& options) {
  StatementReader reader;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) reader.AddLine(line);
  std::vector<SqlPiece> pieces;
  while (std::optional<SqlPiece> piece = reader.Next()) pieces.push_back(*std::move(piece));
  if (std::optional<SqlPiece> rest = reader.TakeBuffer()) pieces.push_back(*std::move(rest));
  if (pieces.empty()) return UsageError("there is no statement");
  if (pieces.size() > 1 && !options.parameters.empty()) return UsageError("--parameters needs one statement");
  return pieces;
}

// Executes the statement of the command line, the files, or the standard input.
absl::Status RunTexts(const Session& session, const SqlOptions& options, Interrupt* interrupt) {
  ARM_ASSIGN_OR_RETURN(Console::Options made, ConsoleOptionsOf(session, options));
  if (!options.files.empty()) {
    if (!options.parameters.empty()) return UsageError("--parameters needs one statement");
    ARM_ASSIGN_OR_RETURN(client::Client client, session.Connect());
    Console console(session, std::move(client), std::move(made), interrupt);
    absl::Status first = absl::OkStatus();
    for (const std::string& file : options.files) {
      const absl::Status status = file == "-" ? console.ExecuteText(std::cin, kInputName) : console.ExecuteFile(file);
      if (first.ok()) first = status;
      if (console.is_over() || (!status.ok() && !options.keep_going)) break;
    }
    return first;
  }
  const bool is_input = options.statement.empty() || options.statement == "-";
  const std::string text = is_input
                               ? std::string(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>())
                               : options.statement;
  ARM_ASSIGN_OR_RETURN(const std::vector<SqlPiece> pieces, PiecesOf(text, options));
  ARM_ASSIGN_OR_RETURN(client::Client client, session.Connect());
  Console console(session, std::move(client), std::move(made), interrupt);
  if (!is_input && pieces.size() == 1) {
    StatementReader reader;
    const SqlPiece& piece = pieces.front();
    absl::Status status = console.Execute(piece, &reader);
    if (status.ok()) status = console.CheckEnd();
    return WithSource(status, "", PlaceLinesOf(status, piece.text));
  }
  std::istringstream lines(text);
  return console.ExecuteText(lines, is_input ? kInputName : kStatementName);
}

absl::Status Sql(const Session& session, const SqlOptions& options) {
  if (!options.files.empty() && !options.statement.empty()) {
    return UsageError("name either a statement or files (-f), not both");
  }
  Interrupt interrupt(kInterruptNotice);
  if (options.statement.empty() && options.files.empty() && session.is_interactive()) {
    if (!options.parameters.empty()) return UsageError("--parameters needs one statement");
    ARM_ASSIGN_OR_RETURN(Console::Options made, ConsoleOptionsOf(session, options));
    if (made.settings.limit == 0) made.settings.limit = kShellLimit;
    made.limit_hint = "there are more (\\limit 0 prints all)";
    ARM_ASSIGN_OR_RETURN(client::Client client, session.Connect());
    RunShell(session, std::move(client), std::move(made), &interrupt);
    return absl::OkStatus();
  }
  const absl::Status status = RunTexts(session, options, &interrupt);
  return status.ok() && interrupt.is_pending() ? absl::CancelledError("interrupted") : status;
}

// A program that a SIGINT has ended ends by this signal, so that the shell that started it learns it.
absl::Status SqlOrInterrupt(const Session& session, const SqlOptions& options) {
  absl::Status status = Sql(session, options);
  if (!absl::IsCancelled(status)) return status;
  session.progress() << ErrorLine(status, session.endpoint()) << "\n" << std::flush;
  session.Flush();
  raise(SIGINT);
  return status;
}

}  // namespace

void AddSqlCommand(CLI::App& app, Action* action) {
  CLI::App& command = *app.add_subcommand("sql", "Execute PartiQL statements");
  SqlOptions& options = SetAction(command, action, SqlOrInterrupt);
  command.add_option("statement", options.statement,
                     "Statements, separated by ;. Without any, on a terminal: interactive. Else, or with -: statements "
                     "from standard input");
  command.add_option("-f,--file", options.files, "Execute the statements of this file; - is standard input")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command.add_flag("--keep-going", options.keep_going, "Go on after an error");
  command.add_option("--format", options.format, "Output: table, json, jsonl, csv or document (typed JSON)")
      ->check(CLI::IsMember({"table", "json", "jsonl", "csv", "document"}))
      ->type_name("FORMAT");
  command.add_option("--parameters", options.parameters, "The values of the ? of the statement: [{\"S\": \"x\"}]")
      ->type_name("JSON|@FILE");
  command.add_flag("--consistent-read", options.consistent_read, "Strongly consistent: see all acknowledged writes");
  command.add_flag("--explain", options.explain, "Print the operations that would execute the statement");
  command.add_option("--limit", options.limit, "Print at most this many items")
      ->check(CLI::Range(int64_t{1}, INT64_MAX))
      ->type_name("NUMBER");
  command.add_option("--max-items", options.computed_max, "Items read for groups, sums and orders")
      ->check(CLI::Range(int64_t{1}, INT64_MAX))
      ->capture_default_str()
      ->type_name("NUMBER");
  command.footer(
      R"(Statements end at the first error, unless --keep-going; those before it are done. Errors in files name
the file and the line. On a terminal, without a statement, this is a shell with history and completion, as is
armature without any argument; \? lists its commands. The statements are those of PartiQL and of docs/reference/shell.md.

Exit codes: 1 the daemon refused a statement, 2 the client did, 3 no answer, 5 a file cannot be used.

Examples:
  armature sql 'SELECT * FROM Orders WHERE Id = 17'
  armature sql --parameters '[{"S": "open"}]' 'SELECT * FROM "Orders"."ByStatus" WHERE Status = ?'
  armature sql --explain "SELECT * FROM Orders WHERE Status = 'open'"
  armature sql -f schema.sql -f data.sql
  armature sql --format csv 'SELECT * FROM Orders' > orders.csv
)");
}

}  // namespace armature::cli
