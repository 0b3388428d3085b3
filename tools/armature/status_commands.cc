#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/command.h"
#include "tools/armature/display.h"
#include "tools/armature/message_json.h"

namespace armature::cli {
namespace {

absl::Status ServerInfo(const Session& session) {
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_ASSIGN_OR_RETURN(const auto response, client.GetServerInfo(admin::v1::GetServerInfoRequest()));
  const Json result = MessageToJson(response);
  session.Print(result, [&result] { return DetailsTable(result); });
  return absl::OkStatus();
}

struct Overview {
  admin::v1::GetServerInfoResponse server;
  std::vector<api::v1::TableDescription> tables;
  std::vector<std::string> tables_with_recovery;  // names of those whose point-in-time recovery is enabled
  admin::v1::ListIndexStatusResponse indexes;
};

absl::StatusOr<Overview> Fetch(const client::Client& client) {
  Overview overview;
  ARM_ASSIGN_OR_RETURN(overview.server, client.GetServerInfo(admin::v1::GetServerInfoRequest()));
  ARM_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListTableNames(client));
  for (const std::string& name : names) {
    absl::StatusOr<api::v1::TableDescription> described = DescribeTable(client, name);
    if (absl::IsNotFound(described.status())) continue;  // deleted since ListTables
    if (!described.ok()) return described.status();
    overview.tables.push_back(*std::move(described));
    api::v1::DescribeContinuousBackupsRequest request;
    request.set_table_name(name);
    const auto backups = client.DescribeContinuousBackups(request);
    if (absl::IsNotFound(backups.status())) continue;
    if (!backups.ok()) return backups.status();
    if (backups->continuous_backups_description()
            .point_in_time_recovery_description()
            .point_in_time_recovery_status() == api::v1::POINT_IN_TIME_RECOVERY_STATUS_ENABLED) {
      overview.tables_with_recovery.push_back(name);
    }
  }
  ARM_ASSIGN_OR_RETURN(overview.indexes, client.ListIndexStatus(admin::v1::ListIndexStatusRequest()));
  return overview;
}

// The reason why the daemon refuses or slows down writes. Empty if it does neither.
std::string Trouble(const admin::v1::GetServerInfoResponse& server) {
  if (!server.writes_refused_reason().empty()) return Cat("REFUSED: ", server.writes_refused_reason());
  if (server.writes_stopped()) return "STOPPED: compaction does not keep up";
  if (server.writes_delayed_to_bytes_per_second() > 0) {
    return Cat("SLOWED to ", ShowBytes(server.writes_delayed_to_bytes_per_second()),
               "/s: compaction does not keep up, ", ShowBytes(server.compaction_pending_bytes()), " to go");
  }
  return "";
}

std::string TimeLine(int64_t ms) {
  return std::string(Sv(absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", absl::FromUnixMillis(ms), absl::UTCTimeZone())));
}

// How far behind the archive is, and from when on tables can be restored. Empty without an archive.
std::string ArchiveLines(const admin::v1::GetServerInfoResponse& server) {
  if (!server.has_archive()) return "";
  const admin::v1::ArchiveStatus& archive = server.archive();
  std::string lines = "archive ";
  if (archive.paused_since_ms() != 0) {
    lines += Cat("PAUSED since ", TimeLine(archive.paused_since_ms()), ", ", ShowBytes(archive.waiting_bytes()),
                 " of the log wait: ", archive.paused_reason());
  } else if (archive.until_ms() == 0) {
    lines += "has nothing yet";
  } else {
    lines += Cat(Sv(absl::FormatDuration(absl::Seconds(archive.lag_ms() / 1000))), " behind");
  }
  lines += archive.restorable().empty() ? ", nothing can be restored yet"
                                        : Cat(", restores since ", TimeLine(archive.restorable(0).from_ms()));
  if (archive.restorable_size() > 1) lines += Cat(" with ", archive.restorable_size() - 1, " gaps");
  lines += "\n";
  if (archive.breaks() > 0) lines += Cat("archive BROKEN at ", archive.breaks(), " places, see the log\n");
  return lines;
}

std::string ServerLines(const admin::v1::GetServerInfoResponse& server) {
  const std::string trouble = Trouble(server);
  const auto uptime = absl::Seconds(server.uptime_ms() / 1000);
  std::string lines =
      Cat("armatured ", server.version(), ", up ", Sv(absl::FormatDuration(uptime)), ", ",
          ShowBytes(static_cast<uint64_t>(server.resident_bytes())), " of memory, pid ", server.pid(), "\n");
  lines += Cat("data    ", server.data_directory(), ", ", ShowBytes(server.file_bytes()), " in ",
               server.column_family_count(), " column families; tables and indexes may need ",
               server.column_families_needed(), ", limit ", server.column_families_max(), "\n");
  lines += Cat("disk    ", ShowBytes(server.disk_free_bytes()), " of ", ShowBytes(server.disk_total_bytes()),
               " free, writes stop below ", ShowBytes(server.disk_reserve_bytes()), "\n");
  lines += Cat("writes  ", trouble.empty() ? "ok" : trouble, ", ",
               WithCommas(static_cast<int64_t>(server.commit_queue_units())), " waiting, held back ",
               Sv(absl::FormatDuration(absl::Milliseconds(server.stall_ms_total()))), " in all\n");
  for (const std::string& damaged : server.damaged()) lines += Cat("DAMAGED ", damaged, "\n");
  lines += ArchiveLines(server);
  if (server.stream_count() > 0) {
    lines += Cat("streams ", server.stream_count(), ", ", ShowBytes(server.stream_bytes()), " of records, limit ",
                 ShowBytes(server.stream_max_bytes()),
                 server.stream_segments_trimmed_early() > 0 ? ": RECORDS WERE REMOVED BEFORE THEIR TIME" : "", "\n");
  }
  return lines;
}

// A sentence for those who believe that their tables have continuous backups.
std::string RecoveryLine(const Overview& overview) {
  const std::vector<std::string>& tables = overview.tables_with_recovery;
  if (tables.empty() || overview.server.has_archive()) return "";
  std::string names = tables[0];
  for (size_t i = 1; i < tables.size(); ++i) names += Cat(", ", tables[i]);
  return Cat("backups POINT-IN-TIME RECOVERY IS ENABLED BUT KEEPS NO HISTORY, so only backups can restore ", names,
             "\n");
}

std::string StateOf(const admin::v1::IndexStatus& index) {
  if (index.stalled()) return "STALLED";
  const std::string name = admin::v1::IndexState_Name(index.state()).substr(std::string_view("INDEX_STATE_").size());
  if (!index.has_build() || index.build().items_total() == 0) return name;
  return Cat(name, " ", 100 * index.build().items_read() / index.build().items_total(), "%");
}

std::string TableLines(const Overview& overview) {
  TextTable table({"TABLE", "INDEX", "STATE", "ITEMS", "SIZE", "WAITING", "LAG"});
  for (const api::v1::TableDescription& each : overview.tables) {
    const std::string state = api::v1::TableStatus_Name(each.table_status());
    table.AddRow({each.table_name(), "", state.substr(std::string_view("TABLE_STATUS_").size()),
                  WithCommas(each.item_count()), ShowBytes(static_cast<uint64_t>(each.table_size_bytes()))});
    for (const admin::v1::IndexStatus& index : overview.indexes.indexes()) {
      if (index.table_name() != each.table_name()) continue;
      const bool is_global = index.kind() == admin::v1::INDEX_KIND_GLOBAL;
      table.AddRow(
          {"", index.index_name(), StateOf(index), WithCommas(index.item_count()),
           ShowBytes(static_cast<uint64_t>(index.size_bytes())),
           is_global ? WithCommas(static_cast<int64_t>(index.backlog_records())) : "",
           is_global ? std::string(Sv(absl::FormatDuration(absl::Milliseconds(index.backlog_age_ms())))) : ""});
    }
  }
  return table.ToString();
}

Json ToJson(const Overview& overview) {
  Json result = Json::object();
  result["Server"] = MessageToJson(overview.server);
  result["Tables"] = Json::array();
  for (const api::v1::TableDescription& table : overview.tables) result["Tables"].push_back(MessageToJson(table));
  const Json indexes = MessageToJson(overview.indexes);
  result["Indexes"] = indexes.contains("Indexes") ? indexes["Indexes"] : Json::array();
  result["TablesWithPointInTimeRecovery"] = overview.tables_with_recovery;
  return result;
}

std::string ToText(const Overview& overview) {
  return Cat(ServerLines(overview.server), RecoveryLine(overview), "\n", TableLines(overview));
}

struct StatusOptions {
  bool follow = false;
  double interval = 2;
};

// Shows the overview again and again, on a terminal in the same place. People keep looking while the daemon is away;
// programs get its error.
absl::Status FollowStatus(const Session& session, const client::Client& client, absl::Duration interval) {
  constexpr std::string_view kClear = "\x1b[H\x1b[2J";
  const bool is_screen = session.is_interactive();
  while (true) {
    const absl::StatusOr<Overview> overview = Fetch(client);
    if (!overview.ok() && (!is_screen || ExitCodeOf(overview.status()) != ExitCode::kUnreachable)) {
      return overview.status();
    }
    if (session.format() == OutputFormat::kJson) {
      session.PrintText(Cat(CompactJson(ToJson(*overview)), "\n"));
    } else {
      const std::string text =
          overview.ok() ? ToText(*overview) : Cat(ErrorLine(overview.status(), session.endpoint()), "\n");
      session.PrintText(Cat(is_screen ? kClear : "", text));
    }
    session.Flush();
    absl::SleepFor(interval);
  }
}

absl::Status Status(const Session& session, const StatusOptions& options) {
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  if (options.follow) return FollowStatus(session, client, absl::Seconds(options.interval));
  ARM_ASSIGN_OR_RETURN(const Overview overview, Fetch(client));
  session.Print(ToJson(overview), [&overview] { return ToText(overview); });
  return absl::OkStatus();
}

}  // namespace

void AddStatusCommands(CLI::App& app, Action* action) {
  CLI::App& server = *app.add_subcommand("server", "Information about the daemon");
  server.require_subcommand(1);
  CLI::App& info = *server.add_subcommand("info", "Version, process and memory of the daemon");
  info.footer("Examples:\n  armature --output table server info\n");
  SetAction(info, action, ServerInfo);
}

void AddOverviewCommand(CLI::App& app, Action* action) {
  CLI::App& status = *app.add_subcommand("status", "Overview of the daemon, its tables and its indexes");
  status.footer(
      "WAITING is the number of changes that a global index has not applied yet, LAG the age of the oldest of them.\n\n"
      "Examples:\n  armature status\n  armature status --output json\n  armature status --follow\n");
  StatusOptions& options = SetAction(status, action, Status);
  constexpr double kFollowSecondsMin = 0.1;
  constexpr double kFollowSecondsMax = 3600;
  status.add_flag("--follow", options.follow,
                  "Show it again until Ctrl-C: on a terminal in the same place, in JSON one document on each line");
  status.add_option("--interval", options.interval, "With --follow: seconds between two overviews")
      ->check(CLI::Range(kFollowSecondsMin, kFollowSecondsMax))
      ->capture_default_str()
      ->type_name("SECONDS");
}

}  // namespace armature::cli
