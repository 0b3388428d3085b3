// Commands for several items: batch-get, batch-write, transact.

#include <algorithm>
#include <string>

#include "absl/time/clock.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/command.h"
#include "tools/armature/display.h"
#include "tools/armature/message_json.h"

namespace armature::cli {
namespace {

constexpr absl::Duration kRetryFirst = absl::Milliseconds(20);
constexpr absl::Duration kRetryMax = absl::Seconds(1);

// Calls `send`, which returns true if members are left, until none is left or the command's time is over.
template <class Send>
absl::Status SendUntilDone(const Session& session, Send send) {
  const absl::Time deadline = session.Deadline();
  for (absl::Duration pause = kRetryFirst;; pause = std::min(2 * pause, kRetryMax)) {
    ARM_ASSIGN_OR_RETURN(const bool has_more, send());
    if (!has_more || absl::Now() + pause > deadline) return absl::OkStatus();
    absl::SleepFor(pause);
  }
}

std::string ResponsesTable(const Json& response) {
  std::string text;
  if (!response.contains("Responses")) return text;
  for (const auto& [table, items] : response["Responses"].items()) {
    text += Cat(text.empty() ? "" : "\n", table, "\n", ItemsTable(items));
  }
  return text;
}

absl::Status BatchGet(const Session& session, const client::Client& client, api::v1::BatchGetItemRequest request) {
  api::v1::BatchGetItemResponse all;
  ARM_RETURN_IF_ERROR(SendUntilDone(session, [&]() -> absl::StatusOr<bool> {
    ARM_ASSIGN_OR_RETURN(api::v1::BatchGetItemResponse page, client.BatchGetItem(request));
    for (auto& [table, items] : *page.mutable_responses()) (*all.mutable_responses())[table].MergeFrom(items);
    all.mutable_consumed_capacity()->MergeFrom(page.consumed_capacity());
    all.mutable_unprocessed_keys()->swap(*page.mutable_unprocessed_keys());
    *request.mutable_request_items() = all.unprocessed_keys();
    return !all.unprocessed_keys().empty();
  }));
  const Json json = MessageToJson(all);
  session.Print(json, [&json] { return ResponsesTable(json); });
  return absl::OkStatus();
}

absl::Status BatchWrite(const Session& session, const client::Client& client, api::v1::BatchWriteItemRequest request) {
  api::v1::BatchWriteItemResponse all;
  ARM_RETURN_IF_ERROR(SendUntilDone(session, [&]() -> absl::StatusOr<bool> {
    ARM_ASSIGN_OR_RETURN(api::v1::BatchWriteItemResponse part, client.BatchWriteItem(request));
    *request.mutable_request_items() = part.unprocessed_items();
    all.clear_unprocessed_items();
    all.MergeFrom(part);
    return !all.unprocessed_items().empty();
  }));
  session.Print(MessageToJson(all));
  return absl::OkStatus();
}

constexpr char kBatchGetExamples[] = R"(Keys that the daemon left unprocessed are asked for again until --timeout.

Examples:
  armature batch-get --request-items '{"GameScores": {"Keys": [{"UserId": {"S": "101"}, "GameTitle": {"S": "Meteor Blasters"}}]}}'
  armature batch-get --request-items @keys.json
)";

constexpr char kBatchWriteExamples[] =
    R"(Writes that the daemon left unprocessed are sent again until --timeout. For more than 25 writes see armature load.

Examples:
  armature batch-write --request-items '{"GameScores": [
      {"PutRequest": {"Item": {"UserId": {"S": "101"}, "GameTitle": {"S": "Galaxy Invaders"}}}},
      {"DeleteRequest": {"Key": {"UserId": {"S": "102"}, "GameTitle": {"S": "Galaxy Invaders"}}}}]}'
  armature batch-write --request-items @writes.json
)";

constexpr char kTransactWriteExamples[] = R"EXAMPLES(With a token, a repeat within ten minutes changes nothing.

Examples:
  armature transact write --client-request-token order-17 --transact-items '[
      {"Update": {"TableName": "Accounts", "Key": {"Id": {"S": "a"}}, "UpdateExpression": "SET Balance = Balance - :n",
                  "ConditionExpression": "Balance >= :n", "ExpressionAttributeValues": {":n": {"N": "5"}}}},
      {"Put": {"TableName": "Orders", "Item": {"Id": {"S": "17"}}, "ConditionExpression": "attribute_not_exists(Id)"
}
}]'
  armature transact write --transact-items @transaction.json
)EXAMPLES";

constexpr char kTransactGetExamples[] = R"(Examples:
  armature transact get --transact-items '[{"Get": {"TableName": "Orders", "Key": {"Id": {"S": "17"}}}}]'
)";

constexpr OptionSpec kCapacityOfAll{"--return-consumed-capacity", "NONE, TOTAL or INDEXES"};
constexpr OptionSpec kCollectionsOfAll{"--return-item-collection-metrics", "NONE or SIZE"};

}  // namespace

void AddGroupCommands(CLI::App& app, Action* action) {
  AddRequestCommand<api::v1::BatchGetItemRequest>(
      app, action,
      {"batch-get",
       "Read items of one or more tables by their keys",
       {{"--request-items", "The keys, by table", Presence::kRequired}, kCapacityOfAll},
       kBatchGetExamples},
      BatchGet);
  AddRequestCommand<api::v1::BatchWriteItemRequest>(
      app, action,
      {"batch-write",
       "Put and delete items of one or more tables",
       {{"--request-items", "The writes, by table", Presence::kRequired}, kCapacityOfAll, kCollectionsOfAll},
       kBatchWriteExamples},
      BatchWrite);
  CLI::App& group = *app.add_subcommand("transact", "Write or read up to 100 items, all or none");
  group.require_subcommand(1);
  AddRequestCommand(
      group, action,
      {"write",
       "Put, update, delete and check items in one transaction",
       {{"--transact-items", "The actions", Presence::kRequired},
        {"--client-request-token", "1 to 36 characters that identify the transaction when it is repeated"},
        kCapacityOfAll,
        kCollectionsOfAll},
       kTransactWriteExamples},
      &client::Client::TransactWriteItems,
      [](const Session& session, const api::v1::TransactWriteItemsResponse& response) {
        session.Print(MessageToJson(response));
      });
  AddRequestCommand(group, action,
                    {"get",
                     "Read items as they are at one moment",
                     {{"--transact-items", "The keys", Presence::kRequired}, kCapacityOfAll},
                     kTransactGetExamples},
                    &client::Client::TransactGetItems,
                    [](const Session& session, const api::v1::TransactGetItemsResponse& response) {
                      session.Print(MessageToJson(response));
                    });
}

}  // namespace armature::cli
