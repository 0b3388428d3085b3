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

absl::Status Update(const Session& session, const RequestOptions& options) {
  ARM_ASSIGN_OR_RETURN(const auto request, options.Build<api::v1::UpdateItemRequest>());
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_ASSIGN_OR_RETURN(const auto response, client.UpdateItem(request));
  PrintResult(session, WriteResult(response), "Attributes");
  return absl::OkStatus();
}

absl::Status Delete(const Session& session, const RequestOptions& options) {
  ARM_ASSIGN_OR_RETURN(const auto request, options.Build<api::v1::DeleteItemRequest>());
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_ASSIGN_OR_RETURN(const auto response, client.DeleteItem(request));
  PrintResult(session, WriteResult(response), "Attributes");
  return absl::OkStatus();
}

const char kReturnOld[] = "NONE, or ALL_OLD for the item before the write";
const char kReturnAny[] =
    "NONE; ALL_OLD or ALL_NEW: the item before or after; UPDATED_OLD or UPDATED_NEW: what is named of it";

std::vector<OptionSpec> WriteOptions(OptionSpec subject, const char* return_values) {
  return {
      kTableName,
      std::move(subject),
      {"--condition-expression", OptionKind::kText, "Write only if this holds for the item as it is"},
      {"--return-values", OptionKind::kText, return_values},
      {"--return-item-collection-metrics", OptionKind::kText, "NONE or SIZE"},
      kNames,
      kValues,
      kCapacity,
  };
}

std::vector<OptionSpec> UpdateOptions() {
  std::vector<OptionSpec> options = WriteOptions(kKey, kReturnAny);
  options.insert(options.begin() + 2,
                 {"--update-expression", OptionKind::kText,
                  "SET, REMOVE, ADD and DELETE clauses; without, only make sure there is an item"});
  return options;
}

using ItemRun = absl::Status (*)(const Session&, const RequestOptions&);

void AddCommand(CLI::App& command, std::vector<OptionSpec> specs, const char* examples, ItemRun run, Action* action) {
  auto options = std::make_shared<RequestOptions>(command, std::move(specs));
  command.footer(examples);
  command.callback(
      [options, run, action] { *action = [options, run](const Session& session) { return run(session, *options); }; });
}

}  // namespace

void AddItemCommands(CLI::App& app, Action* action) {
  CLI::App& group = *app.add_subcommand("item", "Put, get, update and delete single items");
  group.require_subcommand(1);
  AddCommand(*group.add_subcommand("put", "Create an item, or replace the whole of it"),
             WriteOptions({"--item", OptionKind::kJson, "The whole item", Presence::kRequired}, kReturnOld),
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
  AddCommand(*group.add_subcommand("update", "Change some attributes of an item, or create it"), UpdateOptions(),
             R"(Examples:
  armature item update --table-name GameScores --return-values UPDATED_NEW \
      --key '{"UserId": {"S": "101"}, "GameTitle": {"S": "Galaxy Invaders"}}' \
      --update-expression 'SET TopScore = TopScore + :more REMOVE Pending ADD Plays :one' \
      --expression-attribute-values '{":more": {"N": "100"}, ":one": {"N": "1"}}'
  armature item update --table-name GameScores \
      --key '{"UserId": {"S": "101"}, "GameTitle": {"S": "Galaxy Invaders"}}' \
      --update-expression 'SET TopScore = :score' --condition-expression 'TopScore < :score' \
      --expression-attribute-values '{":score": {"N": "6000"}}'
)",
             Update, action);
  AddCommand(*group.add_subcommand("delete", "Delete an item by its key"), WriteOptions(kKey, kReturnOld),
             R"(Examples:
  armature item delete --table-name GameScores --return-values ALL_OLD \
      --key '{"UserId": {"S": "101"}, "GameTitle": {"S": "Galaxy Invaders"}}'
)",
             Delete, action);
}

}  // namespace armature::cli
