#include "tools/armature/schema/schema_command.h"

#include <string>
#include <utility>
#include <vector>

#include "armature/client/wait.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/command.h"
#include "tools/armature/display.h"
#include "tools/armature/load/put_stream.h"
#include "tools/armature/schema/schema_files.h"
#include "tools/armature/schema/table_difference.h"

namespace armature::cli {
namespace {

struct ApplyOptions {
  std::vector<std::string> paths;
  std::vector<std::string> parameters;  // NAME=VALUE
  bool dry_run = false;
};

absl::StatusOr<TemplateParameters> ParametersOf(const std::vector<std::string>& texts) {
  TemplateParameters parameters;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) return UsageError(Cat("--parameter ", text, ": write NAME=VALUE"));
    parameters[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return parameters;
}

// The attribute by which items of a table expire; empty if they do not.
absl::StatusOr<std::string> ExpiryOf(const client::Client& client, const std::string& table) {
  api::v1::DescribeTimeToLiveRequest request;
  request.set_table_name(table);
  ARM_ASSIGN_OR_RETURN(const auto response, client.DescribeTimeToLive(request));
  return response.time_to_live_description().attribute_name();
}

// True if the table exists as it is defined. Errors: DifferencesError.
absl::StatusOr<bool> Exists(const client::Client& client, const SchemaTable& table) {
  const std::string& name = table.definition.table_name();
  const absl::StatusOr<api::v1::TableDescription> present = DescribeTable(client, name);
  if (absl::IsNotFound(present.status())) return false;
  ARM_RETURN_IF_ERROR(present.status());
  std::string difference = DifferenceOf(table.definition, *present);
  if (difference.empty()) {
    ARM_ASSIGN_OR_RETURN(const std::string expiry, ExpiryOf(client, name));
    if (expiry != table.expiry_attribute) {
      difference =
          Cat("items expire by \"", table.expiry_attribute, "\" in the schema and by \"", expiry, "\" in the table");
    }
  }
  if (difference.empty()) return true;
  return DifferencesError(
      Cat(table.source, ": the table ", name, " exists with another definition: ", difference, "; no table was made"));
}

absl::Status LoadItems(const Session& session, const client::Client& client, const SchemaTable& table) {
  ProgressBar bar(&session.progress(), session.is_progress_live());
  int64_t done = 0;
  const auto settled = [&](const PendingPut&, const absl::Status& status) {
    ++done;
    bar.Show({.what = Cat(table.definition.table_name(), " items"),
              .done = done,
              .total = static_cast<int64_t>(table.items.size())});
    return status;
  };
  PutStream puts(client, table.definition.table_name(), session.patience(),
                 {.settled = settled, .tick = [] { return absl::OkStatus(); }});
  for (const api::v1::Item& item : table.items) {
    ARM_RETURN_IF_ERROR(puts.Put({.item = item, .bytes = item.ByteSizeLong()}));
  }
  return puts.Finish();
}

// Completes a table that was just made.
absl::Status Complete(const Session& session, const client::Client& client, const SchemaTable& table) {
  const std::string& name = table.definition.table_name();
  ARM_RETURN_IF_ERROR(client::WaitForTable(client, name, session.Deadline()));
  if (!table.expiry_attribute.empty()) {
    api::v1::UpdateTimeToLiveRequest request;
    request.set_table_name(name);
    request.mutable_time_to_live_specification()->set_enabled(true);
    request.mutable_time_to_live_specification()->set_attribute_name(table.expiry_attribute);
    ARM_RETURN_IF_ERROR(client.UpdateTimeToLive(request).status());
  }
  return LoadItems(session, client, table);
}

absl::Status Create(const Session& session, const client::Client& client, const SchemaTable& table) {
  ARM_RETURN_IF_ERROR(client.CreateTable(table.definition).status());
  const absl::Status completed = Complete(session, client, table);
  if (!completed.ok() && !table.items.empty()) {
    // The next run would find the table and leave it as it is.
    session.progress() << Cat("The table ", table.definition.table_name(), " was made, but it may not have all of its ",
                              table.items.size(), " items. Delete it before you repeat the command.\n");
  }
  return completed;
}

constexpr char kMade[] = "CREATED";
constexpr char kWouldMake[] = "WOULD_BE_CREATED";
constexpr char kUnchanged[] = "UNCHANGED";

std::string ResultText(const Json& result) {
  std::string text;
  for (const Json& table : result["Tables"]) {
    const std::string& state = TextAt(table, "State");
    if (state == kUnchanged) {
      text += Cat(TextAt(table, "TableName"), ": is there already, nothing was done\n");
    } else {
      text += Cat(TextAt(table, "TableName"), state == kMade ? ": created, " : ": would be created, ",
                  CompactJson(table["Items"]), " items\n");
    }
  }
  return text;
}

absl::Status Apply(const Session& session, const ApplyOptions& options) {
  ARM_ASSIGN_OR_RETURN(const TemplateParameters parameters, ParametersOf(options.parameters));
  ARM_ASSIGN_OR_RETURN(const Schema schema, ReadSchema(options.paths, parameters));
  for (const std::string& note : schema.notes) session.progress() << "note: " << note << "\n";
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  std::vector<bool> exists;  // all are compared before any is made
  for (const SchemaTable& table : schema.tables) {
    ARM_ASSIGN_OR_RETURN(const bool is_there, Exists(client, table));
    exists.push_back(is_there);
  }
  Json result = {{"Tables", Json::array()}};
  for (size_t i = 0; i < schema.tables.size(); ++i) {
    const SchemaTable& table = schema.tables[i];
    if (!exists[i] && !options.dry_run) ARM_RETURN_IF_ERROR(Create(session, client, table));
    const char* const made = options.dry_run ? kWouldMake : kMade;
    result["Tables"].push_back({{"TableName", table.definition.table_name()},
                                {"Source", table.source},
                                {"State", exists[i] ? kUnchanged : made},
                                {"Items", exists[i] ? 0 : table.items.size()}});
  }
  session.Print(result, [&result] { return ResultText(result); });
  return absl::OkStatus();
}

constexpr char kFooter[] =
    R"(A file is a model of NoSQL Workbench with its sample data (JSON), a template of CloudFormation, SAM or CDK (JSON or
YAML), a CreateTable request, an answer of DescribeTable or a list of these, dynein's description of a table, a
BatchWriteItem request with items, CREATE TABLE statements (.sql), or items of a table (TABLE.items.jsonl). A
directory gives all its files with the endings .json, .yaml, .yml, .template, .sql and .items.jsonl.

A missing table is created and gets its items. A table that is there with the same definition is left as it is, and
so are its items: the command may run at every start. A table with another definition is an error that names the
first difference, before anything is done. docs/reference/cli.md describes the forms.

Exit codes: 1 the daemon refused, 4 a table has another definition, 5 a file cannot be used.

Examples:
  armature schema apply music.json --dry-run
  armature schema apply template.yaml --parameter Stage=dev --parameter AWS::StackName=shop
  armature schema apply schema/
)";

}  // namespace

void AddSchemaCommands(CLI::App& app, Action* action) {
  CLI::App& schema = *app.add_subcommand("schema", "Tables from files of other tools");
  schema.require_subcommand(1);
  CLI::App& apply = *schema.add_subcommand("apply", "Create the tables that files define, with their items");
  ApplyOptions& options = SetAction(apply, action, Apply);
  apply.add_option("paths", options.paths, "Files and directories")->required()->type_name("FILE|DIR");
  apply.add_option("--parameter", options.parameters, "Value of a template's parameter; may be given again")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  apply.add_flag("--dry-run", options.dry_run, "Only compare and say what would be created");
  apply.footer(kFooter);
}

}  // namespace armature::cli
