#include <memory>
#include <string>
#include <utility>

#include "armature/client/wait.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/command.h"
#include "tools/armature/display.h"

namespace armature::cli {
namespace {

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

std::string DescriptionTable(const Json& table) {
  std::string text = DetailsTable(table);
  if (table.contains("KeySchema")) text += Cat("\nKey: ", KeyText(table["KeySchema"]), "\n");
  if (!table.contains("LocalSecondaryIndexes") && !table.contains("GlobalSecondaryIndexes")) return text;
  TextTable rows({"Index", "Kind", "Key", "Projection", "Status", "ItemCount"});
  AddIndexRows(table, "LocalSecondaryIndexes", "LOCAL", rows);
  AddIndexRows(table, "GlobalSecondaryIndexes", "GLOBAL", rows);
  return text + "\n" + rows.ToString();
}

void PrintDescription(const Session& session, const char* member, const api::v1::TableDescription& description) {
  const Json table = MessageToJson(description);
  session.Print({{member, table}}, [&table] { return DescriptionTable(table); });
}

absl::Status CreateTable(const Session& session, const client::Client& client,
                         const api::v1::CreateTableRequest& request, bool wait) {
  ARM_ASSIGN_OR_RETURN(auto response, client.CreateTable(request));
  if (wait) {
    ARM_RETURN_IF_ERROR(client::WaitForTable(client, request.table_name(), session.Deadline()));
    ARM_ASSIGN_OR_RETURN(*response.mutable_table_description(), DescribeTable(client, request.table_name()));
  }
  PrintDescription(session, "TableDescription", response.table_description());
  return absl::OkStatus();
}

absl::Status DeleteTable(const Session& session, const client::Client& client,
                         const api::v1::DeleteTableRequest& request, bool wait) {
  ARM_RETURN_IF_ERROR(
      session.Confirm(Cat("Table ", request.table_name(), " and all its items and indexes will be deleted")));
  ARM_ASSIGN_OR_RETURN(const auto response, client.DeleteTable(request));
  if (wait) {
    ARM_RETURN_IF_ERROR(client::WaitForTableGone(client, request.table_name(), session.Deadline()));
  }
  PrintDescription(session, "TableDescription", response.table_description());
  return absl::OkStatus();
}

// Prints the names of all pages, or of one page if the request has a limit.
absl::Status ListTables(const Session& session, const client::Client& client, api::v1::ListTablesRequest request) {
  Json names = Json::array();
  std::string last;  // of the page; empty: there are no more
  do {
    ARM_ASSIGN_OR_RETURN(const auto page, client.ListTables(request));
    for (const std::string& name : page.table_names()) names.push_back(name);
    last = page.last_evaluated_table_name();
    request.set_exclusive_start_table_name(last);
  } while (!last.empty() && !request.has_limit());
  Json result = {{"TableNames", names}};
  if (!last.empty()) result["LastEvaluatedTableName"] = last;
  session.Print(result, [&names] {
    TextTable table({"TableName"});
    for (const Json& name : names) table.AddRow({name.get<std::string>()});
    return table.ToString();
  });
  return absl::OkStatus();
}

// Prints the tags of all pages.
absl::Status ListTags(const Session& session, const client::Client& client,
                      api::v1::ListTagsOfResourceRequest request) {
  Json tags = Json::array();
  while (true) {
    ARM_ASSIGN_OR_RETURN(const auto page, client.ListTagsOfResource(request));
    for (const api::v1::Tag& tag : page.tags()) tags.push_back(MessageToJson(tag));
    if (!page.has_next_token()) break;
    request.set_next_token(page.next_token());
  }
  session.PrintAsTable({{"Tags", tags}}, [&tags] { return RecordsTable(tags, {"Key", "Value"}); });
  return absl::OkStatus();
}

// Updates the time to live if the request has a specification. Otherwise shows it.
// The options of the command that are not members of the request.
struct ExpiryOptions {
  std::string enable;  // the attribute
  bool disable = false;
};

absl::Status TimeToLive(const Session& session, const client::Client& client, api::v1::UpdateTimeToLiveRequest request,
                        const ExpiryOptions& options) {
  if (options.disable && !options.enable.empty()) return UsageError("name either --enable or --disable");
  if (!options.enable.empty()) {
    request.mutable_time_to_live_specification()->set_enabled(true);
    request.mutable_time_to_live_specification()->set_attribute_name(options.enable);
  } else if (options.disable) {
    api::v1::DescribeTimeToLiveRequest present;
    present.set_table_name(request.table_name());
    ARM_ASSIGN_OR_RETURN(const auto described, client.DescribeTimeToLive(present));
    const std::string& attribute = described.time_to_live_description().attribute_name();
    request.mutable_time_to_live_specification()->set_enabled(false);
    // Without one, any name gives the daemon's error that it is off.
    request.mutable_time_to_live_specification()->set_attribute_name(attribute.empty() ? "none" : attribute);
  }
  if (request.has_time_to_live_specification()) {
    ARM_ASSIGN_OR_RETURN(const auto response, client.UpdateTimeToLive(request));
    session.Print(MessageToJson(response));
    return absl::OkStatus();
  }
  api::v1::DescribeTimeToLiveRequest describe;
  describe.set_table_name(request.table_name());
  ARM_ASSIGN_OR_RETURN(const auto response, client.DescribeTimeToLive(describe));
  session.Print(MessageToJson(response));
  return absl::OkStatus();
}

constexpr OptionSpec kResourceArn{"--resource-arn", "ARN of the table, as table describe shows it",
                                  Presence::kRequired};
constexpr OptionSpec kBillingMode{"--billing-mode", "PROVISIONED or PAY_PER_REQUEST"};
constexpr OptionSpec kThroughput{"--provisioned-throughput", "ReadCapacityUnits=N,WriteCapacityUnits=N"};
constexpr OptionSpec kStream{"--stream-specification", "StreamEnabled=true,StreamViewType=..."};
constexpr OptionSpec kProtection{"--deletion-protection-enabled", "Refuse to delete the table"};

const RequestCommand& CreateCommand() {
  static const RequestCommand kCommand{
      "create",
      "Create a table with its indexes",
      {{"--table-name", "3 to 255 characters of [a-zA-Z0-9_.-]", Presence::kRequired},
       {"--attribute-definitions", "Types (S, N, B) of the key attributes of the table and of all indexes"},
       {"--key-schema", "The HASH attribute of the key, and its RANGE attribute if it has one"},
       {"--local-secondary-indexes", "Array of indexes"},
       {"--global-secondary-indexes", "Array of indexes"},
       kBillingMode,
       kThroughput,
       kStream,
       {"--tags", "Key=...,Value=..."},
       kProtection},
      R"(Examples:
  armature table create --table-name GameScores \
      --attribute-definitions AttributeName=UserId,AttributeType=S AttributeName=GameTitle,AttributeType=S \
      --key-schema AttributeName=UserId,KeyType=HASH AttributeName=GameTitle,KeyType=RANGE \
      --billing-mode PAY_PER_REQUEST --wait
  armature table create --cli-input-json @GameScores.json --wait
)"};
  return kCommand;
}

const RequestCommand& UpdateCommand() {
  static const RequestCommand kCommand{"update",
                                       "Change settings of a table",
                                       {kTableNameOption,
                                        kBillingMode,
                                        kThroughput,
                                        {"--attribute-definitions", "Types of the key attributes of a new index"},
                                        {"--global-secondary-index-updates", "Array of Create, Update and Delete"},
                                        kStream,
                                        {"--sse-specification", "Enabled=true"},
                                        {"--table-class", "STANDARD or STANDARD_INFREQUENT_ACCESS"},
                                        kProtection,
                                        {"--on-demand-throughput", "MaxReadRequestUnits=N,MaxWriteRequestUnits=N"},
                                        {"--warm-throughput", "ReadUnitsPerSecond=N,WriteUnitsPerSecond=N"}},
                                       R"(Examples:
  armature table update --table-name Thread --deletion-protection-enabled
  armature table update --table-name Thread --billing-mode PROVISIONED \
      --provisioned-throughput ReadCapacityUnits=5,WriteCapacityUnits=5
)"};
  return kCommand;
}

void AddTagCommands(CLI::App& group, Action* action) {
  const auto print_nothing = [](const Session& session, const auto&) { session.Print(Json::object()); };
  AddRequestCommand(group, action,
                    {"tag",
                     "Add tags to a table, or replace their values",
                     {kResourceArn, {"--tags", "Key=...,Value=...", Presence::kRequired}},
                     R"(Examples:
  armature table tag --resource-arn arn:aws:dynamodb:local:000000000000:table/Thread \
      --tags Key=team,Value=blue Key=stage,Value=test
)"},
                    &client::Client::TagResource, print_nothing);
  AddRequestCommand(group, action,
                    {"untag",
                     "Remove tags from a table",
                     {kResourceArn, {"--tag-keys", "Keys of the tags", Presence::kRequired}},
                     R"(Examples:
  armature table untag --resource-arn arn:aws:dynamodb:local:000000000000:table/Thread --tag-keys team stage
)"},
                    &client::Client::UntagResource, print_nothing);
  AddRequestCommand<api::v1::ListTagsOfResourceRequest>(group, action,
                                                        {"tags",
                                                         "List the tags of a table",
                                                         {kResourceArn},
                                                         R"(Examples:
  armature table tags --resource-arn arn:aws:dynamodb:local:000000000000:table/Thread
)"},
                                                        ListTags);
}

void AddTimeToLiveCommand(CLI::App& group, Action* action) {
  const auto options = std::make_shared<ExpiryOptions>();
  CLI::App& command = AddRequestCommand<api::v1::UpdateTimeToLiveRequest>(
      group, action,
      {"ttl",
       "Show or set the attribute with the expiry time of the items",
       {kTableNameOption, {"--time-to-live-specification", "Enabled=true,AttributeName=..."}},
       R"(Items whose attribute is a number of seconds since 1970 that is past are deleted.

Examples:
  armature ttl --table-name Thread
  armature ttl --table-name Thread --enable ExpiresAt
  armature ttl --table-name Thread --disable
)"},
      [options](const Session& session, const client::Client& client, const api::v1::UpdateTimeToLiveRequest& request) {
        return TimeToLive(session, client, request, *options);
      });
  command.add_option("--enable", options->enable, "Delete items by this attribute")->type_name("ATTRIBUTE");
  command.add_flag("--disable", options->disable, "Delete no items any more");
}

}  // namespace

void AddTableCommands(CLI::App& app, Action* action) {
  CLI::App& group = *app.add_subcommand("table", "Create, change, describe, list and delete tables");
  group.require_subcommand(1);
  const auto wait = std::make_shared<bool>(false);
  AddRequestCommand<api::v1::CreateTableRequest>(
      group, action, CreateCommand(),
      [wait](const Session& session, const client::Client& client, const api::v1::CreateTableRequest& request) {
        return CreateTable(session, client, request, *wait);
      })
      .add_flag("--wait", *wait, "Return when the table and its indexes can be used");
  AddRequestCommand(group, action, UpdateCommand(), &client::Client::UpdateTable,
                    [](const Session& session, const api::v1::UpdateTableResponse& response) {
                      PrintDescription(session, "TableDescription", response.table_description());
                    });
  AddRequestCommand<api::v1::DeleteTableRequest>(
      group, action,
      {"delete",
       "Delete a table with all its items and indexes",
       {kTableNameOption},
       "Examples:\n  armature table delete --table-name GameScores --wait\n"
       "  armature table delete --table-name GameScores --yes\n"},
      [wait](const Session& session, const client::Client& client, const api::v1::DeleteTableRequest& request) {
        return DeleteTable(session, client, request, *wait);
      })
      .add_flag("--wait", *wait, "Return when the table is gone");
  AddTagCommands(group, action);
  AddTimeToLiveCommand(group, action);
  AddTimeToLiveCommand(app, action);
  AddRequestCommand(group, action,
                    {"describe",
                     "Show a table with its indexes",
                     {kTableNameOption},
                     "Examples:\n  armature table describe --table-name Thread\n"
                     "  armature --output table table describe --table-name Thread\n"},
                    &client::Client::DescribeTable,
                    [](const Session& session, const api::v1::DescribeTableResponse& response) {
                      PrintDescription(session, "Table", response.table());
                    });
  AddRequestCommand<api::v1::ListTablesRequest>(
      group, action,
      {"list",
       "List the names of all tables",
       {{"--limit", "At most this many names"}, {"--exclusive-start-table-name", "Only names after this one"}},
       "Examples:\n  armature table list\n  armature table list --limit 10\n"},
      ListTables);
}

}  // namespace armature::cli
