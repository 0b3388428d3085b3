#include <memory>
#include <utility>

#include "storage/base/strings.h"
#include "tools/armature/attribute_json.h"
#include "tools/armature/commands.h"
#include "tools/armature/request_options.h"
#include "tools/armature/text_table.h"

namespace armature::cli {
namespace {

const OptionSpec kTableName{"--table-name", OptionKind::kText, "The table", Presence::kRequired};
const OptionSpec kKey{"--key", OptionKind::kJson, "The key attributes of the item", Presence::kRequired};
const OptionSpec kNames{"--expression-attribute-names", OptionKind::kJson,
                        R"(What #names stand for: {"#s": "status"})"};
const OptionSpec kValues{"--expression-attribute-values", OptionKind::kJson,
                         R"(What :values stand for: {":v": {"S": "x"}})"};
const OptionSpec kCapacity{"--return-consumed-capacity", OptionKind::kText, "NONE, TOTAL or INDEXES"};

// `result` in the documented form; as a table, the item in its member `member` alone.
void PrintResult(const Session& session, const Json& result, const char* member) {
  if (session.format() == OutputFormat::kJson) {
    session.Print(result);
  } else if (result.contains(member)) {
    session.PrintText(ItemsTable(Json::array({result[member]})));
  }
}

// The sequence 0 says nothing, and the documented answer has no such member.
Json WriteResult(const google::protobuf::Message& response) {
  Json result = MessageToJson(response);
  if (result["ChangeSequence"] == 0) result.erase("ChangeSequence");
  return result;
}

absl::Status Put(const Session& session, const RequestOptions& options) {
  ARM_ASSIGN_OR_RETURN(const auto request, options.Build<api::v1::PutItemRequest>());
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_ASSIGN_OR_RETURN(const auto response, client.PutItem(request));
  PrintResult(session, WriteResult(response), "Attributes");
  return absl::OkStatus();
}

absl::Status Get(const Session& session, const RequestOptions& options) {
  ARM_ASSIGN_OR_RETURN(const auto request, options.Build<api::v1::GetItemRequest>());
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_ASSIGN_OR_RETURN(const auto response, client.GetItem(request));
  PrintResult(session, MessageToJson(response), "Item");
  return absl::OkStatus();
}

absl::Status Delete(const Session& session, const RequestOptions& options) {
  ARM_ASSIGN_OR_RETURN(const auto request, options.Build<api::v1::DeleteItemRequest>());
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_ASSIGN_OR_RETURN(const auto response, client.DeleteItem(request));
  PrintResult(session, WriteResult(response), "Attributes");
  return absl::OkStatus();
}

std::vector<OptionSpec> WriteOptions(OptionSpec subject) {
  return {
      kTableName,
      std::move(subject),
      {"--condition-expression", OptionKind::kText, "Write only if this holds for the item as it is"},
      {"--return-values", OptionKind::kText, "NONE, or ALL_OLD for the item before the write"},
      {"--return-item-collection-metrics", OptionKind::kText, "NONE or SIZE"},
      kNames,
      kValues,
      kCapacity,
  };
}

using Run = absl::Status (*)(const Session&, const RequestOptions&);

void AddCommand(CLI::App& command, std::vector<OptionSpec> specs, const char* examples, Run run, Action* action) {
  auto options = std::make_shared<RequestOptions>(command, std::move(specs));
  command.footer(examples);
  command.callback(
      [options, run, action] { *action = [options, run](const Session& session) { return run(session, *options); }; });
}

}  // namespace

void AddItemCommands(CLI::App& app, Action* action) {
  CLI::App& group = *app.add_subcommand("item", "Put, get and delete single items");
  group.require_subcommand(1);
  AddCommand(*group.add_subcommand("put", "Create an item, or replace the whole of it"),
             WriteOptions({"--item", OptionKind::kJson, "The whole item", Presence::kRequired}),
             R"(Examples:
  armature item put --table-name GameScores \
      --item '{"UserId": {"S": "101"}, "GameTitle": {"S": "Galaxy Invaders"}, "TopScore": {"N": "5842"}}'
  armature item put --table-name GameScores --item @score.json \
      --condition-expression 'attribute_not_exists(UserId)'
)",
             Put, action);
  AddCommand(*group.add_subcommand("get", "Read an item by its key; {} if there is none"),
             {kTableName,
              kKey,
              {"--consistent-read", OptionKind::kFlag, "See all writes acknowledged before"},
              {"--projection-expression", OptionKind::kText, "Only these attributes"},
              kNames,
              kCapacity},
             R"(Examples:
  armature item get --table-name GameScores \
      --key '{"UserId": {"S": "101"}, "GameTitle": {"S": "Galaxy Invaders"}}' --consistent-read
)",
             Get, action);
  AddCommand(*group.add_subcommand("delete", "Delete an item by its key"), WriteOptions(kKey),
             R"(Examples:
  armature item delete --table-name GameScores --return-values ALL_OLD \
      --key '{"UserId": {"S": "101"}, "GameTitle": {"S": "Galaxy Invaders"}}'
)",
             Delete, action);
}

}  // namespace armature::cli
