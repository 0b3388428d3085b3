#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/commands.h"
#include "tools/armature/message_json.h"
#include "tools/armature/progress_bar.h"
#include "tools/armature/request_options.h"
#include "tools/armature/text_table.h"

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

// Also one that still waits for its space.
bool IsBuilding(const admin::v1::IndexStatus& index) { return index.state() == admin::v1::INDEX_STATE_CREATING; }

// Shows the first index that is being filled until there is none.
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

absl::Status IndexStatus(const Session& session, const RequestOptions& options, bool follow) {
  ARM_ASSIGN_OR_RETURN(const auto request, options.Build<admin::v1::ListIndexStatusRequest>());
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_ASSIGN_OR_RETURN(auto response, client.ListIndexStatus(request));
  if (follow) ARM_RETURN_IF_ERROR(Follow(session, client, request, &response));
  Json result = MessageToJson(response);
  if (!result.contains("Indexes")) result["Indexes"] = Json::array();
  if (session.format() == OutputFormat::kJson) {
    session.Print(result);
  } else {
    session.PrintText(
        RecordsTable(result["Indexes"], {"TableName", "IndexName", "Kind", "State", "AppliedSequence", "LogSequence",
                                         "BacklogRecords", "BacklogBytes", "BacklogAgeMs", "ItemCount", "SizeBytes"}));
    for (const admin::v1::IndexStatus& index : response.indexes()) {
      if (IsBuilding(index)) session.PrintText(Cat(ProgressLine(ProgressOf(index)), "\n"));
    }
  }
  return absl::OkStatus();
}

// All pages.
absl::Status IndexViolations(const Session& session, const RequestOptions& options) {
  ARM_ASSIGN_OR_RETURN(auto request, options.Build<admin::v1::ListIndexViolationsRequest>());
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  Json violations = Json::array();
  int64_t items_read = 0;
  do {
    ARM_ASSIGN_OR_RETURN(const auto page, client.ListIndexViolations(request));
    for (const admin::v1::IndexViolation& violation : page.violations()) {
      violations.push_back(MessageToJson(violation));
      if (session.format() == OutputFormat::kTable) {
        violations.back()["Key"] = CompactJson(violations.back()["Key"]);
      }
    }
    items_read += page.items_read();
    request.set_start_position(page.next_position());
  } while (!request.start_position().empty());
  if (session.format() == OutputFormat::kTable) {
    session.PrintText(RecordsTable(violations, {"Key", "AttributeName", "Reason"}));
    return absl::OkStatus();
  }
  Json result = Json::object();
  result["Violations"] = std::move(violations);
  result["ItemsRead"] = items_read;
  session.Print(result);
  return absl::OkStatus();
}

absl::Status ServerInfo(const Session& session) {
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_ASSIGN_OR_RETURN(const auto response, client.GetServerInfo(admin::v1::GetServerInfoRequest()));
  const Json result = MessageToJson(response);
  if (session.format() == OutputFormat::kJson) {
    session.Print(result);
  } else {
    session.PrintText(DetailsTable(result));
  }
  return absl::OkStatus();
}

}  // namespace

void AddStatusCommands(CLI::App& app, Action* action) {
  CLI::App& index = *app.add_subcommand("index", "How far the indexes are");
  index.require_subcommand(1);
  CLI::App& status = *index.add_subcommand("status", "State and backlog of the indexes");
  auto options = std::make_shared<RequestOptions>(
      status, std::vector<OptionSpec>{{"--table-name", OptionKind::kText, "Of this table; else of all tables"}});
  const auto follow = std::make_shared<bool>(false);
  status.add_flag("--follow", *follow, "Wait until no index is being filled, and show how far it is");
  status.footer(
      "Examples:\n  armature --output table index status\n"
      "  armature index status --table-name GameScores --follow\n");
  status.callback([options, follow, action] {
    *action = [options, follow](const Session& session) { return IndexStatus(session, *options, *follow); };
  });

  CLI::App& violations = *index.add_subcommand("violations", "Items that a global index leaves out for their values");
  auto violation_options = std::make_shared<RequestOptions>(
      violations,
      std::vector<OptionSpec>{{"--table-name", OptionKind::kText, "The table", Presence::kRequired},
                              {"--index-name", OptionKind::kText, "The global index", Presence::kRequired}});
  violations.footer(
      "Such items are older than the index: an attribute of its key has another type (TYPE), is empty\n"
      "(EMPTY) or too long (TOO_LONG). Reads the whole table.\n\n"
      "Example:\n  armature index violations --table-name GameScores --index-name ByScore\n");
  violations.callback([violation_options, action] {
    *action = [violation_options](const Session& session) { return IndexViolations(session, *violation_options); };
  });

  CLI::App& server = *app.add_subcommand("server", "What the daemon is");
  server.require_subcommand(1);
  CLI::App& info = *server.add_subcommand("info", "Version, process and memory of the daemon");
  info.footer("Examples:\n  armature --output table server info\n");
  info.callback([action] { *action = ServerInfo; });
}

}  // namespace armature::cli
