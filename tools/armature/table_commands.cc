#include <memory>
#include <utility>

#include "armature/client/wait.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/commands.h"
#include "tools/armature/request_options.h"
#include "tools/armature/text_table.h"

namespace armature::cli {
namespace {

constexpr char kCreateExamples[] = R"(Examples:
  armature table create --table-name GameScores \
      --attribute-definitions AttributeName=UserId,AttributeType=S AttributeName=GameTitle,AttributeType=S \
      --key-schema AttributeName=UserId,KeyType=HASH AttributeName=GameTitle,KeyType=RANGE \
      --billing-mode PAY_PER_REQUEST --wait
  armature table create --cli-input-json @GameScores.json --wait
)";

Json Wrapped(const char* name, const google::protobuf::Message& message) {
  Json json = Json::object();
  json[name] = MessageToJson(message);
  return json;
}

std::string KeyText(const Json& schema) {
  std::string text;
  for (const Json& element : schema) {
    text += Cat(text.empty() ? "" : ", ", element.value("AttributeName", ""), " ", element.value("KeyType", ""));
  }
  return text;
}

void AddIndexRows(const Json& table, const char* member, const char* kind, TextTable& rows) {
  if (!table.contains(member)) return;
  for (const Json& index : table[member]) {
    const Json projection = index.value("Projection", Json::object());
    std::string projected = projection.value("ProjectionType", "");
    if (projection.contains("NonKeyAttributes")) {
      projected += Cat(" ", CompactJson(projection["NonKeyAttributes"]));
    }
    rows.AddRow({index.value("IndexName", ""), kind, KeyText(index.value("KeySchema", Json::array())), projected,
                 index.value("IndexStatus", "ACTIVE"), CompactJson(index.value("ItemCount", Json(0)))});
  }
}

std::string DescriptionTable(const api::v1::TableDescription& description) {
  const Json table = MessageToJson(description);
  std::string text = DetailsTable(table);
  if (table.contains("KeySchema")) text += Cat("\nKey: ", KeyText(table["KeySchema"]), "\n");
  if (description.local_secondary_indexes_size() + description.global_secondary_indexes_size() == 0) {
    return text;
  }
  TextTable rows({"Index", "Kind", "Key", "Projection", "Status", "ItemCount"});
  AddIndexRows(table, "LocalSecondaryIndexes", "LOCAL", rows);
  AddIndexRows(table, "GlobalSecondaryIndexes", "GLOBAL", rows);
  return text + "\n" + rows.ToString();
}

void PrintDescription(const Session& session, const char* member, const api::v1::TableDescription& description) {
  if (session.format() == OutputFormat::kTable) {
    session.PrintText(DescriptionTable(description));
  } else {
    session.Print(Wrapped(member, description));
  }
}

absl::Status Create(const Session& session, const RequestOptions& options, bool wait) {
  ARM_ASSIGN_OR_RETURN(const auto request, options.Build<api::v1::CreateTableRequest>());
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_ASSIGN_OR_RETURN(const auto response, client.CreateTable(request));
  if (!wait) {
    PrintDescription(session, "TableDescription", response.table_description());
    return absl::OkStatus();
  }
  ARM_RETURN_IF_ERROR(client::WaitForTable(client, request.table_name(), session.Deadline()));
  api::v1::DescribeTableRequest describe;
  describe.set_table_name(request.table_name());
  ARM_ASSIGN_OR_RETURN(const auto described, client.DescribeTable(describe));
  PrintDescription(session, "TableDescription", described.table());
  return absl::OkStatus();
}

absl::Status Update(const Session& session, const RequestOptions& options) {
  ARM_ASSIGN_OR_RETURN(const auto request, options.Build<api::v1::UpdateTableRequest>());
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_ASSIGN_OR_RETURN(const auto response, client.UpdateTable(request));
  PrintDescription(session, "TableDescription", response.table_description());
  return absl::OkStatus();
}

absl::Status Describe(const Session& session, const RequestOptions& options) {
  ARM_ASSIGN_OR_RETURN(const auto request, options.Build<api::v1::DescribeTableRequest>());
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_ASSIGN_OR_RETURN(const auto response, client.DescribeTable(request));
  PrintDescription(session, "Table", response.table());
  return absl::OkStatus();
}

absl::Status Delete(const Session& session, const RequestOptions& options, bool wait) {
  ARM_ASSIGN_OR_RETURN(const auto request, options.Build<api::v1::DeleteTableRequest>());
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_RETURN_IF_ERROR(
      session.Confirm(Cat("Table ", request.table_name(), " and all its items and indexes will be deleted")));
  ARM_ASSIGN_OR_RETURN(const auto response, client.DeleteTable(request));
  if (wait) {
    ARM_RETURN_IF_ERROR(client::WaitForTableGone(client, request.table_name(), session.Deadline()));
  }
  PrintDescription(session, "TableDescription", response.table_description());
  return absl::OkStatus();
}

// All pages, unless the user limits them.
absl::Status List(const Session& session, const RequestOptions& options) {
  ARM_ASSIGN_OR_RETURN(auto request, options.Build<api::v1::ListTablesRequest>());
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  Json result = Json::object();
  result["TableNames"] = Json::array();
  while (true) {
    ARM_ASSIGN_OR_RETURN(const auto page, client.ListTables(request));
    for (const std::string& name : page.table_names()) result["TableNames"].push_back(name);
    if (!page.has_last_evaluated_table_name()) break;
    if (request.has_limit()) {
      result["LastEvaluatedTableName"] = page.last_evaluated_table_name();
      break;
    }
    request.set_exclusive_start_table_name(page.last_evaluated_table_name());
  }
  if (session.format() == OutputFormat::kJson) {
    session.Print(result);
    return absl::OkStatus();
  }
  TextTable table({"TableName"});
  for (const Json& name : result["TableNames"]) table.AddRow({name.get<std::string>()});
  session.PrintText(table.ToString());
  return absl::OkStatus();
}

std::vector<OptionSpec> CreateOptions() {
  return {
      {"--table-name", OptionKind::kText, "3 to 255 characters of [a-zA-Z0-9_.-]", Presence::kRequired},
      {"--attribute-definitions", OptionKind::kShorthandList,
       "Types (S, N, B) of the key attributes of the table and all indexes"},
      {"--key-schema", OptionKind::kShorthandList, "HASH, and perhaps RANGE attribute of the key"},
      {"--local-secondary-indexes", OptionKind::kJson, "Array of indexes"},
      {"--global-secondary-indexes", OptionKind::kJson, "Array of indexes"},
      {"--billing-mode", OptionKind::kText, "PROVISIONED or PAY_PER_REQUEST"},
      {"--provisioned-throughput", OptionKind::kShorthand, "ReadCapacityUnits=N,WriteCapacityUnits=N"},
      {"--stream-specification", OptionKind::kShorthand, "StreamEnabled=true,StreamViewType=..."},
      {"--tags", OptionKind::kShorthandList, "Key=...,Value=..."},
      {"--deletion-protection-enabled", OptionKind::kFlag, "Refuse to delete the table"},
  };
}

void AddCreate(CLI::App& group, Action* action) {
  CLI::App& command = *group.add_subcommand("create", "Create a table with its indexes");
  auto options = std::make_shared<RequestOptions>(command, CreateOptions());
  auto wait = std::make_shared<bool>(false);
  command.add_flag("--wait", *wait, "Return when the table and its indexes can be used");
  command.footer(kCreateExamples);
  command.callback([options, wait, action] {
    *action = [options, wait](const Session& session) { return Create(session, *options, *wait); };
  });
}

void AddUpdate(CLI::App& group, Action* action) {
  CLI::App& command = *group.add_subcommand("update", "Change settings of a table");
  auto options = std::make_shared<RequestOptions>(
      command,
      std::vector<OptionSpec>{
          {"--table-name", OptionKind::kText, "The table", Presence::kRequired},
          {"--billing-mode", OptionKind::kText, "PROVISIONED or PAY_PER_REQUEST"},
          {"--provisioned-throughput", OptionKind::kShorthand, "ReadCapacityUnits=N,WriteCapacityUnits=N"},
          {"--attribute-definitions", OptionKind::kShorthandList, "Types of the key attributes of a new index"},
          {"--global-secondary-index-updates", OptionKind::kJson, "Array of Create, Update and Delete"},
          {"--stream-specification", OptionKind::kShorthand, "StreamEnabled=true,StreamViewType=..."},
          {"--sse-specification", OptionKind::kShorthand, "Enabled=true"},
          {"--table-class", OptionKind::kText, "STANDARD or STANDARD_INFREQUENT_ACCESS"},
          {"--deletion-protection-enabled", OptionKind::kFlag, "Refuse to delete the table"},
          {"--on-demand-throughput", OptionKind::kShorthand, "MaxReadRequestUnits=N,MaxWriteRequestUnits=N"},
          {"--warm-throughput", OptionKind::kShorthand, "ReadUnitsPerSecond=N,WriteUnitsPerSecond=N"},
      });
  command.footer(
      "Examples:\n  armature table update --table-name Thread --deletion-protection-enabled\n"
      "  armature table update --table-name Thread --billing-mode PROVISIONED \\\n"
      "      --provisioned-throughput ReadCapacityUnits=5,WriteCapacityUnits=5\n");
  command.callback(
      [options, action] { *action = [options](const Session& session) { return Update(session, *options); }; });
}

void AddDelete(CLI::App& group, Action* action) {
  CLI::App& command = *group.add_subcommand("delete", "Delete a table with all items and indexes");
  auto options = std::make_shared<RequestOptions>(
      command, std::vector<OptionSpec>{{"--table-name", OptionKind::kText, "The table", Presence::kRequired}});
  auto wait = std::make_shared<bool>(false);
  command.add_flag("--wait", *wait, "Return when the table is gone");
  command.footer(
      "Examples:\n  armature table delete --table-name GameScores --wait\n  armature table delete --table-name "
      "GameScores --yes\n");
  command.callback([options, wait, action] {
    *action = [options, wait](const Session& session) { return Delete(session, *options, *wait); };
  });
}

}  // namespace

void AddTableCommands(CLI::App& app, Action* action) {
  CLI::App& group = *app.add_subcommand("table", "Create, change, describe, list and delete tables");
  group.require_subcommand(1);
  AddCreate(group, action);
  AddUpdate(group, action);
  AddDelete(group, action);
  AddTableSettingCommands(group, action);

  CLI::App& describe = *group.add_subcommand("describe", "Show a table with its indexes");
  auto describe_options = std::make_shared<RequestOptions>(
      describe, std::vector<OptionSpec>{{"--table-name", OptionKind::kText, "The table", Presence::kRequired}});
  describe.footer(
      "Examples:\n  armature table describe --table-name Thread\n"
      "  armature --output table table describe --table-name Thread\n");
  describe.callback([options = describe_options, action] {
    *action = [options](const Session& session) { return Describe(session, *options); };
  });

  CLI::App& list = *group.add_subcommand("list", "List the names of all tables");
  auto list_options = std::make_shared<RequestOptions>(
      list, std::vector<OptionSpec>{{"--limit", OptionKind::kInteger, "At most this many names"},
                                    {"--exclusive-start-table-name", OptionKind::kText, "Names behind this one only"}});
  list.footer("Examples:\n  armature table list\n  armature table list --limit 10\n");
  list.callback([options = list_options, action] {
    *action = [options](const Session& session) { return List(session, *options); };
  });
}

}  // namespace armature::cli
