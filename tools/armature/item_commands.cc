#include <string>
#include <utility>
#include <vector>

#include "tools/armature/attribute_json.h"
#include "tools/armature/command.h"
#include "tools/armature/commands.h"
#include "tools/armature/text_table.h"

namespace armature::cli {
namespace {

constexpr OptionSpec kKey{"--key", "The key attributes of the item", Presence::kRequired};
constexpr OptionSpec kNames{"--expression-attribute-names",
                            R"(The attribute names that #names stand for: {"#s": "status"})"};
constexpr OptionSpec kValues{"--expression-attribute-values",
                             R"(The values that :names stand for: {":v": {"S": "x"}})"};
constexpr OptionSpec kCapacity{"--return-consumed-capacity", "NONE, TOTAL or INDEXES"};

constexpr char kReturnOld[] = "NONE, or ALL_OLD for the item before the write";
constexpr char kReturnAny[] =
    "NONE; ALL_OLD, ALL_NEW: the item before or after the update; UPDATED_OLD, UPDATED_NEW: its updated attributes";

// Prints the whole response, or, as a table, the item in its member `member`.
void PrintItem(const Session& session, const Json& response, const char* member) {
  session.Print(response, [&response, member] {
    return response.contains(member) ? ItemsTable(Json::array({response[member]})) : "";
  });
}

// ChangeSequence is left out if it is 0, which means that the write has no change sequence: the documented response has
// no such member.
void PrintWrite(const Session& session, const google::protobuf::Message& message) {
  Json response = MessageToJson(message);
  if (response["ChangeSequence"] == 0) response.erase("ChangeSequence");
  PrintItem(session, response, "Attributes");
}

void PrintRead(const Session& session, const api::v1::GetItemResponse& response) {
  PrintItem(session, MessageToJson(response), "Item");
}

// The options of a write. `more` follows the table name.
std::vector<OptionSpec> WriteOptions(const char* return_values, const std::vector<OptionSpec>& more) {
  std::vector<OptionSpec> options{kTableNameOption};
  options.insert(options.end(), more.begin(), more.end());
  options.insert(options.end(), {{"--condition-expression", "Write only if the stored item meets this condition"},
                                 {"--return-values", return_values},
                                 {"--return-item-collection-metrics", "NONE or SIZE"},
                                 kNames,
                                 kValues,
                                 kCapacity});
  return options;
}

constexpr char kPutExamples[] = R"(Examples:
  armature item put --table-name GameScores \
      --item '{"UserId": {"S": "101"}, "GameTitle": {"S": "Galaxy Invaders"}, "TopScore": {"N": "5842"}}'
  armature item put --table-name GameScores --item @score.json \
      --condition-expression 'attribute_not_exists(UserId)'
)";

constexpr char kGetExamples[] = R"(Examples:
  armature item get --table-name GameScores \
      --key '{"UserId": {"S": "101"}, "GameTitle": {"S": "Galaxy Invaders"}}' --consistent-read
)";

constexpr char kUpdateExamples[] = R"(Examples:
  armature item update --table-name GameScores --return-values UPDATED_NEW \
      --key '{"UserId": {"S": "101"}, "GameTitle": {"S": "Galaxy Invaders"}}' \
      --update-expression 'SET TopScore = TopScore + :more REMOVE Pending ADD Plays :one' \
      --expression-attribute-values '{":more": {"N": "100"}, ":one": {"N": "1"}}'
  armature item update --table-name GameScores \
      --key '{"UserId": {"S": "101"}, "GameTitle": {"S": "Galaxy Invaders"}}' \
      --update-expression 'SET TopScore = :score' --condition-expression 'TopScore < :score' \
      --expression-attribute-values '{":score": {"N": "6000"}}'
)";

constexpr char kDeleteExamples[] = R"(Examples:
  armature item delete --table-name GameScores --return-values ALL_OLD \
      --key '{"UserId": {"S": "101"}, "GameTitle": {"S": "Galaxy Invaders"}}'
)";

}  // namespace

void AddItemCommands(CLI::App& app, Action* action) {
  CLI::App& group = *app.add_subcommand("item", "Put, get, update and delete single items");
  group.require_subcommand(1);
  AddRequestCommand(group, action,
                    {"put", "Create an item, or replace it as a whole",
                     WriteOptions(kReturnOld, {{"--item", "The whole item", Presence::kRequired}}), kPutExamples},
                    &client::Client::PutItem, PrintWrite);
  AddRequestCommand(group, action,
                    {"get",
                     "Read an item by its key; prints {} if it does not exist",
                     {kTableNameOption,
                      kKey,
                      {"--consistent-read", "Strongly consistent: see all acknowledged writes"},
                      {"--projection-expression", "Return only these attributes"},
                      kNames,
                      kCapacity},
                     kGetExamples},
                    &client::Client::GetItem, PrintRead);
  AddRequestCommand(
      group, action,
      {"update", "Change some attributes of an item, or create it",
       WriteOptions(kReturnAny,
                    {kKey,
                     {"--update-expression",
                      "SET, REMOVE, ADD and DELETE clauses; without it, only create the item if it is missing"}}),
       kUpdateExamples},
      &client::Client::UpdateItem, PrintWrite);
  AddRequestCommand(group, action,
                    {"delete", "Delete an item by its key", WriteOptions(kReturnOld, {kKey}), kDeleteExamples},
                    &client::Client::DeleteItem, PrintWrite);
}

}  // namespace armature::cli
