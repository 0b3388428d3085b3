// The command demo: sample tables for a daemon that runs.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "armature/client/wait.h"
#include "google/protobuf/util/message_differencer.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/command.h"
#include "tools/armature/tables/samples.h"

namespace armature::cli {
namespace {

struct SampleTable {
  api::v1::CreateTableRequest definition;
  std::vector<api::v1::Item> items;
  bool exists = false;
};

absl::StatusOr<std::vector<SampleTable>> ReadSamples() {
  std::vector<SampleTable> tables;
  for (const Sample& sample : Samples()) {
    SampleTable& table = tables.emplace_back();
    ARM_ASSIGN_OR_RETURN(const Json definition, ParseJson(sample.definition));
    ARM_RETURN_IF_ERROR(MessageFromJson(definition, "", &table.definition));
    for (const absl::string_view line : absl::StrSplit(Av(sample.items), '\n', absl::SkipEmpty())) {
      ARM_ASSIGN_OR_RETURN(const Json json, ParseJson(Sv(line)));
      ARM_ASSIGN_OR_RETURN(table.items.emplace_back(), ItemFromJson(json, ""));
    }
  }
  return tables;
}

// True if the items of the sample have the key of the table.
bool HasKeyOf(const api::v1::CreateTableRequest& sample, const api::v1::TableDescription& table) {
  using google::protobuf::util::MessageDifferencer;
  return std::equal(sample.key_schema().begin(), sample.key_schema().end(), table.key_schema().begin(),
                    table.key_schema().end(),
                    [](const auto& a, const auto& b) { return MessageDifferencer::Equals(a, b); });
}

// Notes which tables exist. Asks before their items are overwritten. Errors: UsageError if a table of the same name
// has another key.
absl::Status CheckExisting(const Session& session, const client::Client& client, std::vector<SampleTable>* tables) {
  std::vector<std::string> existing;
  for (SampleTable& table : *tables) {
    const std::string& name = table.definition.table_name();
    const absl::StatusOr<api::v1::TableDescription> found = DescribeTable(client, name);
    if (absl::IsNotFound(found.status())) continue;
    ARM_RETURN_IF_ERROR(found.status());
    if (!HasKeyOf(table.definition, *found)) {
      return UsageError(Cat("there is a table ", name, " with another key, which is not the sample; nothing was done"));
    }
    table.exists = true;
    existing.push_back(name);
  }
  if (existing.empty()) return absl::OkStatus();
  return session.Confirm(Cat("There are tables ", Sv(absl::StrJoin(existing, ", ")),
                             ". The sample items will be written into them, over items with the same keys"));
}

absl::Status Load(const Session& session, const client::Client& client, const SampleTable& table) {
  const std::string& name = table.definition.table_name();
  if (!table.exists) {
    ARM_RETURN_IF_ERROR(client.CreateTable(table.definition).status());
    ARM_RETURN_IF_ERROR(client::WaitForTable(client, name, session.Deadline()));
  }
  for (const api::v1::Item& item : table.items) {
    api::v1::PutItemRequest put;
    put.set_table_name(name);
    *put.mutable_item() = item;
    ARM_RETURN_IF_ERROR(client.PutItem(put).status());
  }
  return absl::OkStatus();
}

std::string SummaryText(const Json& summary, const std::string& endpoint) {
  std::string text;
  for (const Json& table : summary["Tables"]) {
    text += Cat(TextAt(table, "TableName"), ": ", table["Created"].get<bool>() ? "created" : "exists", ", ",
                CompactJson(table["Items"]), " items\n");
  }
  const std::string program = endpoint == kDefaultEndpoint ? "armature" : Cat("armature --endpoint ", endpoint);
  text += "\nCommands to try:\n";
  for (const std::string_view command :
       {"ls", "describe orders-table", "scan --table-name Thread",
        R"(sql "SELECT * FROM Thread WHERE ForumName = 'EC2'")",
        R"(sql "SELECT * FROM GameScores.GameTitleIndex WHERE GameTitle = 'Meteor Blasters'")", "status"}) {
    text += Cat("  ", program, " ", command, "\n");
  }
  return text;
}

absl::Status Demo(const Session& session) {
  ARM_ASSIGN_OR_RETURN(std::vector<SampleTable> tables, ReadSamples());
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_RETURN_IF_ERROR(CheckExisting(session, client, &tables));
  Json summary = {{"Tables", Json::array()}};
  for (const SampleTable& table : tables) {
    ARM_RETURN_IF_ERROR(Load(session, client, table));
    summary["Tables"].push_back(
        {{"TableName", table.definition.table_name()}, {"Created", !table.exists}, {"Items", table.items.size()}});
  }
  session.Print(summary, [&] { return SummaryText(summary, session.endpoint()); });
  return absl::OkStatus();
}

}  // namespace

void AddDemoCommand(CLI::App& app, Action* action) {
  CLI::App& demo = *app.add_subcommand("demo", "Make sample tables with items in the daemon");
  demo.footer(
      "The tables are those of tools/run --demo: Business, CustomerOrders, GameScores, Thread and orders-table. If "
      "some\n"
      "exist, the command asks before it writes the sample items into them.\n\n"
      "Examples:\n  armature demo\n  armature demo --yes\n");
  SetAction(demo, action, Demo);
}

}  // namespace armature::cli
