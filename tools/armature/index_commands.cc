#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "armature/client/wait.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/command.h"
#include "tools/armature/display.h"
#include "tools/armature/message_json.h"
#include "tools/armature/tables/table_shape.h"

namespace armature::cli {
namespace {

constexpr absl::Duration kFollowEvery = absl::Milliseconds(200);

Progress ProgressOf(const admin::v1::IndexStatus& index) {
  const admin::v1::IndexBuild& build = index.build();
  Progress progress{.what = Cat(index.table_name(), "/", index.index_name()),
                    .done = build.items_read(),
                    .total = build.items_total(),
                    .per_second = build.items_per_second(),
                    .seconds_left = build.seconds_left()};
  if (build.phase() == admin::v1::INDEX_BUILD_PHASE_WAITING) progress.note = "waits for earlier requests";
  if (build.phase() == admin::v1::INDEX_BUILD_PHASE_CATCHING_UP) {
    progress.per_second = 0;
    progress.note = Cat("catches up: ", WithCommas(static_cast<int64_t>(index.backlog_records())), " changes left");
  }
  if (build.items_skipped() > 0) progress.note += Cat(" (", WithCommas(build.items_skipped()), " skipped)");
  return progress;
}

// True also for an index that waits for its column family.
bool IsBuilding(const admin::v1::IndexStatus& index) { return index.state() == admin::v1::INDEX_STATE_CREATING; }

// Shows the progress of the first index under construction until no index is under construction.
absl::Status Follow(const Session& session, const client::Client& client,
                    const admin::v1::ListIndexStatusRequest& request, admin::v1::ListIndexStatusResponse* response) {
  ProgressBar bar(&session.progress(), session.is_progress_live());
  while (true) {
    const auto& indexes = response->indexes();
    const auto building = std::find_if(indexes.begin(), indexes.end(), IsBuilding);
    if (building == indexes.end()) return absl::OkStatus();
    bar.Show(ProgressOf(*building));
    absl::SleepFor(kFollowEvery);
    ARM_ASSIGN_OR_RETURN(*response, client.ListIndexStatus(request));
  }
}

absl::Status IndexStatus(const Session& session, const client::Client& client,
                         const admin::v1::ListIndexStatusRequest& request, bool follow) {
  ARM_ASSIGN_OR_RETURN(auto response, client.ListIndexStatus(request));
  if (follow) ARM_RETURN_IF_ERROR(Follow(session, client, request, &response));
  Json result = MessageToJson(response);
  if (!result.contains("Indexes")) result["Indexes"] = Json::array();
  session.Print(result, [&result, &response] {
    std::string text =
        RecordsTable(result["Indexes"], {"TableName", "IndexName", "Kind", "State", "AppliedSequence", "LogSequence",
                                         "BacklogRecords", "BacklogBytes", "BacklogAgeMs", "ItemCount", "SizeBytes"});
    for (const admin::v1::IndexStatus& index : response.indexes()) {
      if (IsBuilding(index)) text += Cat(ProgressLine(ProgressOf(index)), "\n");
    }
    return text;
  });
  return absl::OkStatus();
}

// Prints the violations of all pages.
absl::Status IndexViolations(const Session& session, const client::Client& client,
                             admin::v1::ListIndexViolationsRequest request) {
  // Only for the bar: the errors are those of the call.
  const absl::StatusOr<api::v1::TableDescription> table = DescribeTable(client, request.table_name());
  const int64_t expected = table.ok() ? table->item_count() : 0;
  Json violations = Json::array();
  int64_t items_read = 0;
  {
    ProgressBar bar(&session.progress(), session.is_progress_live());
    do {
      ARM_ASSIGN_OR_RETURN(const auto page, client.ListIndexViolations(request));
      for (const admin::v1::IndexViolation& each : page.violations()) violations.push_back(MessageToJson(each));
      items_read += page.items_read();
      request.set_start_position(page.next_position());
      bar.Show(
          {.what = Cat(request.table_name(), " items"), .done = items_read, .total = std::max(expected, items_read)});
    } while (!request.start_position().empty());
  }
  session.PrintAsTable({{"Violations", violations}, {"ItemsRead", items_read}}, [&violations] {
    return RecordsTable(violations, {"Key", "AttributeName", "Reason"});
  });
  return absl::OkStatus();
}

// The request that adds the index `name` of `table` again.
absl::StatusOr<api::v1::UpdateTableRequest> CreationOf(const api::v1::TableDescription& table,
                                                       const std::string& name) {
  const auto& indexes = table.global_secondary_indexes();
  const auto index =
      std::find_if(indexes.begin(), indexes.end(), [&](const auto& e) { return e.index_name() == name; });
  if (index == indexes.end()) {
    return UsageError(Cat("The table ", table.table_name(), " has no global index ", name));
  }
  api::v1::UpdateTableRequest request;
  request.set_table_name(table.table_name());
  *request.mutable_attribute_definitions() = table.attribute_definitions();
  api::v1::CreateGlobalSecondaryIndexAction& create = *request.add_global_secondary_index_updates()->mutable_create();
  create.set_index_name(name);
  *create.mutable_key_schema() = index->key_schema();
  *create.mutable_projection() = index->projection();
  if (index->provisioned_throughput().read_capacity_units() > 0) {
    auto& throughput = *create.mutable_provisioned_throughput();
    throughput.set_read_capacity_units(index->provisioned_throughput().read_capacity_units());
    throughput.set_write_capacity_units(index->provisioned_throughput().write_capacity_units());
  }
  if (index->has_on_demand_throughput()) *create.mutable_on_demand_throughput() = index->on_demand_throughput();
  return request;
}

absl::Status RebuildIndex(const Session& session, const std::string& table_name, const std::string& index_name) {
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_ASSIGN_OR_RETURN(const api::v1::TableDescription before, DescribeTable(client, table_name));
  ARM_ASSIGN_OR_RETURN(const api::v1::UpdateTableRequest create, CreationOf(before, index_name));
  ARM_RETURN_IF_ERROR(
      session.Confirm(Cat("The index ", index_name, " of ", table_name,
                          " will be removed and built again from the table; until then it cannot be read")));
  session.progress() << Cat(
      "If this command is interrupted, add the index with:\n  armature table update --cli-input-json '",
      CompactJson(MessageToJson(create)), "'\n");
  api::v1::UpdateTableRequest remove;
  remove.set_table_name(table_name);
  remove.add_global_secondary_index_updates()->mutable_delete_()->set_index_name(index_name);
  ARM_RETURN_IF_ERROR(client.UpdateTable(remove).status());
  ARM_RETURN_IF_ERROR(client::WaitForTable(client, table_name, session.Deadline()));
  ARM_RETURN_IF_ERROR(client.UpdateTable(create).status());
  admin::v1::ListIndexStatusRequest request;
  request.set_table_name(table_name);
  return IndexStatus(session, client, request, /*follow=*/true);
}

struct IndexWords {
  std::string table_name;
  std::vector<std::string> words;  // the index; TableArguments takes a table that stands before it
};

absl::Status AddIndex(const Session& session, const IndexWords& options) {
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_ASSIGN_OR_RETURN(const api::v1::TableDescription table, DescribeTable(client, options.table_name));
  ARM_ASSIGN_OR_RETURN(const api::v1::UpdateTableRequest request, AdditionOfIndex(table, options.words.front()));
  ARM_RETURN_IF_ERROR(client.UpdateTable(request).status());
  admin::v1::ListIndexStatusRequest status;
  status.set_table_name(options.table_name);
  return IndexStatus(session, client, status, /*follow=*/true);
}

absl::Status DropIndex(const Session& session, const IndexWords& options) {
  const std::string& index = options.words.front();
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_RETURN_IF_ERROR(session.Confirm(Cat("The index ", index, " of ", options.table_name, " will be deleted")));
  api::v1::UpdateTableRequest request;
  request.set_table_name(options.table_name);
  request.add_global_secondary_index_updates()->mutable_delete_()->set_index_name(index);
  ARM_RETURN_IF_ERROR(client.UpdateTable(request).status());
  ARM_RETURN_IF_ERROR(client::WaitForTable(client, options.table_name, session.Deadline()));
  session.Print({{"TableName", options.table_name}, {"IndexName", index}}, [&] { return Cat(index, " is deleted\n"); });
  return absl::OkStatus();
}

void AddShapeCommands(CLI::App& group, Action* action) {
  constexpr int kWordsMax = 2;
  const auto add_words = [](CLI::App& command, IndexWords& options, const char* form) {
    command.add_option("--table-name", options.table_name, "The table")->required()->type_name("TEXT");
    command.add_option("INDEX", options.words, "The global index, and before it the table")
        ->required()
        ->expected(1, kWordsMax)
        ->type_name(form);
  };
  CLI::App& add = *group.add_subcommand("add", "Add a global index to a table, in the short form");
  add_words(add, SetAction(add, action, AddIndex), "[TABLE] 'NAME=PK,...|SK,...'");
  add.footer(
      "The form of an index is that of armature create. Types are needed only for attributes that no key has so far.\n"
      "The command waits until the index can be read, and shows the progress.\n\n"
      "Examples:\n  armature index add orders 'ByCustomer=customer_id,status | order_date,amount:N'\n"
      "  armature index add orders 'ByState=state (keys)'\n");
  CLI::App& drop = *group.add_subcommand("drop", "Delete a global index");
  add_words(drop, SetAction(drop, action, DropIndex), "[TABLE] NAME");
  drop.footer("Example:\n  armature index drop orders ByCustomer\n");
}

void AddRebuildCommand(CLI::App& group, Action* action) {
  struct Options {
    std::string table_name;
    std::string index_name;
  };
  const auto options = std::make_shared<Options>();
  CLI::App& rebuild = *group.add_subcommand("rebuild", "Build a global index again from its table");
  rebuild.add_option("--table-name", options->table_name, "The table")->required();
  rebuild.add_option("--index-name", options->index_name, "The global index")->required();
  rebuild.footer(
      "For an index that is damaged, or STALLED in armature status. It is removed and added with the same definition,\n"
      "then the command waits and shows the progress. Until the end the index cannot be read. A damaged change record\n"
      "stalls all indexes of a table that have not passed it: rebuild each of them.\n\n"
      "Example:\n  armature index rebuild --table-name GameScores --index-name ByScore\n");
  SetAction(rebuild, action, [options](const Session& session) {
    return RebuildIndex(session, options->table_name, options->index_name);
  });
}

}  // namespace

void AddIndexCommands(CLI::App& app, Action* action) {
  CLI::App& index = *app.add_subcommand("index", "State of the indexes, and how to build one again");
  index.require_subcommand(1);
  const auto follow = std::make_shared<bool>(false);
  AddRequestCommand<admin::v1::ListIndexStatusRequest>(
      index, action,
      {"status",
       "State and backlog of the indexes",
       {{"--table-name", "Only indexes of this table"}},
       "Examples:\n  armature --output table index status\n"
       "  armature index status --table-name GameScores --follow\n"},
      [follow](const Session& session, const client::Client& client, const admin::v1::ListIndexStatusRequest& request) {
        return IndexStatus(session, client, request, *follow);
      })
      .add_flag("--follow", *follow, "Wait until no index is under construction, and show the progress");
  AddRequestCommand<admin::v1::ListIndexViolationsRequest>(
      index, action,
      {"violations",
       "Items that a global index leaves out because of their key attributes",
       {kTableNameOption, {"--index-name", "The global index", Presence::kRequired}},
       "Such items are older than the index: an attribute of its key has another type (TYPE), is empty\n"
       "(EMPTY) or too long (TOO_LONG). The command reads the whole table.\n\n"
       "Example:\n  armature index violations --table-name GameScores --index-name ByScore\n"},
      IndexViolations);
  AddRebuildCommand(index, action);
  AddShapeCommands(index, action);
}

}  // namespace armature::cli
