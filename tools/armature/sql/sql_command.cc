// The command sql: PartiQL statements.

#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/command.h"
#include "tools/armature/display.h"
#include "tools/armature/message_json.h"
#include "tools/armature/sql/run_statement.h"
#include "tools/armature/sql/shell.h"
#include "tools/armature/sql/sql_text.h"

namespace armature::cli {
namespace {

struct SqlOptions {
  std::string statement;   // empty or "-": from standard input
  std::string parameters;  // JSON array, or @file
  bool consistent_read = false;
  bool explain = false;
  int64_t limit = 0;  // 0: none
};

absl::Status AddParameters(const std::string& text, api::v1::ExecuteStatementRequest* request) {
  if (text.empty()) return absl::OkStatus();
  absl::StatusOr<Json> json = ParseJsonArgument(text);
  if (!json.ok()) return UsageError(Cat("--parameters: ", Sv(json.status().message())));
  if (!json->is_array()) return UsageError("--parameters: must be an array of values");
  for (const Json& value : *json) {
    absl::StatusOr<api::v1::AttributeValue> parsed = AttributeValueFromJson(value, "--parameters");
    if (!parsed.ok()) return UsageError(Sv(parsed.status().message()));
    *request->add_parameters() = *std::move(parsed);
  }
  return absl::OkStatus();
}

// Executes one statement and prints its items.
absl::Status Execute(const Session& session, const client::Client& client,
                     const api::v1::ExecuteStatementRequest& request, int64_t limit) {
  ARM_ASSIGN_OR_RETURN(const StatementResult result, RunStatement(client, request, limit));
  if (!result.plan.empty()) {
    session.Print({{"Plan", result.plan}}, [&result] { return result.plan + "\n"; });
    return absl::OkStatus();
  }
  session.Print({{"Items", result.items}},
                [&result] { return result.items.empty() ? "ok\n" : ItemsTable(result.items); });
  return absl::OkStatus();
}

absl::Status Sql(const Session& session, const SqlOptions& options) {
  api::v1::ExecuteStatementRequest request;
  ARM_RETURN_IF_ERROR(AddParameters(options.parameters, &request));
  if (options.consistent_read) request.set_consistent_read(true);
  if (options.explain) request.set_explain_only(true);
  if (options.statement.empty() && session.is_interactive()) {
    if (!options.parameters.empty()) return UsageError("--parameters needs one statement");
    ARM_ASSIGN_OR_RETURN(client::Client client, session.Connect());
    return RunShell(session, std::move(client), request, options.limit);
  }
  std::vector<std::string> statements = {options.statement};
  if (options.statement.empty() || options.statement == "-") {
    const std::string text((std::istreambuf_iterator<char>(std::cin)), std::istreambuf_iterator<char>());
    statements = SplitStatements(text);
  }
  if (statements.empty()) return UsageError("there is no statement");
  if (statements.size() > 1 && !options.parameters.empty()) {
    return UsageError("--parameters needs one statement");
  }
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  for (const std::string& statement : statements) {
    request.set_statement(statement);
    ARM_RETURN_IF_ERROR(Execute(session, client, request, options.limit));
  }
  return absl::OkStatus();
}

}  // namespace

void AddSqlCommand(CLI::App& app, Action* action) {
  CLI::App& command = *app.add_subcommand("sql", "Execute PartiQL statements");
  SqlOptions& options = SetAction(command, action, Sql);
  command.add_option(
      "statement", options.statement,
      "The statement. Without it, on a terminal: interactive. Else, or with -: statements from standard input, "
      "each ended by ;");
  command.add_option("--parameters", options.parameters, "The values of the ? of the statement: [{\"S\": \"x\"}]")
      ->type_name("JSON|@FILE");
  command.add_flag("--consistent-read", options.consistent_read, "Strongly consistent: see all acknowledged writes");
  command.add_flag("--explain", options.explain, "Print the operations that would execute the statement");
  command.add_option("--limit", options.limit, "Print at most this many items")
      ->check(CLI::Range(int64_t{1}, INT64_MAX))
      ->type_name("NUMBER");
  command.footer(
      R"(Statements end at the first error; those before it are done. On a terminal, without a statement, they are read line by
line with history and completion; \? lists the commands of the shell.

Examples:
  armature sql 'SELECT * FROM Orders WHERE Id = 17'
  armature sql --parameters '[{"S": "open"}]' 'SELECT * FROM "Orders"."ByStatus" WHERE Status = ?'
  armature sql --explain "SELECT * FROM Orders WHERE Status = 'open'"
  armature sql < statements.sql
)");
}

}  // namespace armature::cli
