#include "tools/armature/archive_commands.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "storage/archive/archive_check.h"
#include "storage/archive/archive_directory.h"
#include "storage/archive/archive_restore.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/files/volume.h"
#include "tools/armature/data_place.h"
#include "tools/armature/display.h"
#include "tools/armature/message_json.h"

namespace armature::cli {
namespace {

using archive::ArchiveDirectory;
using archive::TimeText;

constexpr std::string_view kLatest = "latest";

struct ArchiveOptions {
  std::string directory{};
  std::string data_dir{};
  std::string at{};
  std::optional<uint64_t> at_sequence{};
  std::optional<uint64_t> chain{};
  bool is_up_to_break = false;
};

struct RestoreTableAtOptions {
  std::string table_name{};
  std::string target{};
  std::string at{};
  bool wait = false;
};

constexpr absl::Duration kPollTableEvery = absl::Milliseconds(200);

// Turns an error of an archive into a UsageError or InputError.
absl::Status OrArchiveError(const absl::Status& error) {
  if (error.ok()) return error;
  const bool is_usage = absl::IsFailedPrecondition(error) || absl::IsNotFound(error) || absl::IsAborted(error);
  return is_usage ? UsageError(Sv(error.message())) : InputError(Sv(error.message()));
}

template <class T>
absl::StatusOr<T> OrArchiveError(absl::StatusOr<T> result) {
  if (result.ok()) return result;
  return OrArchiveError(result.status());
}

archive::ArchiveObserver ShowIn(ProgressBar* bar) {
  return [bar](std::string_view what, uint64_t done, uint64_t total) {
    bar->Show({.what = std::string(what), .done = static_cast<int64_t>(done), .total = static_cast<int64_t>(total)});
    return true;
  };
}

Json ToJson(const archive::KnownChain& known) {
  Json bases = Json::array();
  for (const archive::Base& base : known.bases) {
    bases.push_back({{"Id", base.backup},
                     {"RestorableFrom", TimeText(base.from_ms)},
                     {"Sequence", base.from_sequence},
                     {"FirstSegment", base.first_segment}});
  }
  Json json = {{"Number", known.chain.number},        {"Began", TimeText(known.chain.began_ms)},
               {"Reason", known.chain.reason},        {"Segments", known.segments.size()},
               {"LastSegment", known.last_segment()}, {"Bases", bases}};
  if (known.head.has_value()) json["Until"] = TimeText(known.head->until_ms);
  return json;
}

Json ToJson(const archive::Survey& survey) {
  Json windows = Json::array();
  for (const archive::Window& window : survey.windows) {
    windows.push_back({{"Chain", window.chain},
                       {"Base", window.base.backup},
                       {"From", TimeText(window.from_ms)},
                       {"Until", TimeText(window.until_ms)},
                       {"FromSequence", window.from_sequence},
                       {"UntilSequence", window.until_sequence}});
  }
  Json chains = Json::array();
  for (const archive::KnownChain& known : survey.chains) chains.push_back(ToJson(known));
  return {{"Database", survey.database_id},
          {"Restorable", WindowsText(survey.windows)},
          {"Windows", windows},
          {"Chains", chains},
          {"Breaks", survey.breaks}};
}

std::string ToText(const archive::Survey& survey) {
  std::string text = Cat("Restorable: ", WindowsText(survey.windows), "\n\n");
  TextTable chains({"CHAIN", "BEGAN", "SEGMENTS", "BASES", "UNTIL", "WHY IT BEGAN"});
  for (const archive::KnownChain& known : survey.chains) {
    chains.AddRow({Cat(known.chain.number), TimeText(known.chain.began_ms), Cat(known.segments.size()),
                   Cat(known.bases.size()), known.head.has_value() ? TimeText(known.head->until_ms) : "",
                   known.chain.reason});
  }
  text += chains.ToString();
  if (!survey.windows.empty()) {
    TextTable bases({"BASE", "CHAIN", "FROM", "UNTIL"});
    for (const archive::Window& window : survey.windows) {
      bases.AddRow({Cat(window.base.backup), Cat(window.chain), TimeText(window.from_ms), TimeText(window.until_ms)});
    }
    text += Cat("\n", bases.ToString());
  }
  for (const std::string& broken : survey.breaks) text += Cat("\nBROKEN: ", OneLine(broken), "\n");
  return text;
}

void PrintSurvey(const Session& session, const archive::Survey& survey) {
  session.Print(ToJson(survey), [&survey] { return ToText(survey); });
}

absl::Status ListArchive(const Session& session, const ArchiveOptions& options) {
  ARM_ASSIGN_OR_RETURN(const auto directory, OrArchiveError(ArchiveDirectory::OpenToRead(options.directory)));
  ARM_ASSIGN_OR_RETURN(const archive::Survey survey, OrArchiveError(SurveyArchive(*directory)));
  PrintSurvey(session, survey);
  return absl::OkStatus();
}

absl::Status VerifyWholeArchive(const Session& session, const ArchiveOptions& options) {
  ARM_ASSIGN_OR_RETURN(const auto directory, OrArchiveError(ArchiveDirectory::OpenToRead(options.directory)));
  absl::StatusOr<archive::Survey> survey = absl::UnknownError("");
  {
    ProgressBar bar(&session.progress(), session.is_progress_live());
    survey = OrArchiveError(VerifyArchive(*directory, ShowIn(&bar)));
  }
  ARM_RETURN_IF_ERROR(survey.status());
  PrintSurvey(session, *survey);
  if (survey->breaks.empty()) return absl::OkStatus();
  return DifferencesError(Cat("the archive is broken in ", survey->breaks.size(), " places: ", survey->breaks.front()));
}

absl::StatusOr<archive::RestoreTarget> TargetOf(const ArchiveDirectory& directory, const ArchiveOptions& options) {
  archive::RestoreTarget target{
      .at_sequence = options.at_sequence, .chain = options.chain, .is_up_to_break = options.is_up_to_break};
  if (options.at.empty() == !options.at_sequence.has_value()) {
    return UsageError("give --at or --at-sequence, one of them");
  }
  if (target.at_sequence.has_value()) return target;
  if (options.at == kLatest) {
    ARM_ASSIGN_OR_RETURN(const archive::Survey survey, OrArchiveError(SurveyArchive(directory)));
    int64_t until_ms = 0;
    for (const archive::Window& window : survey.windows) {
      if (!options.chain.has_value() || window.chain == *options.chain) until_ms = std::max(until_ms, window.until_ms);
    }
    if (until_ms == 0) return UsageError("the archive can restore nothing: it has no whole base");
    target.at_ms = until_ms;
    return target;
  }
  target.at_ms = ParseMoment(options.at);
  if (target.at_ms.has_value()) return target;
  return UsageError(Cat("--at ", options.at, ": must be a time such as 2026-01-31T12:00:00.250Z, or latest"));
}

absl::Status RestoreFromArchive(const Session& session, const ArchiveOptions& options) {
  store::RestrictNewFiles();
  ARM_ASSIGN_OR_RETURN(const auto directory, OrArchiveError(ArchiveDirectory::OpenToRead(options.directory)));
  ARM_ASSIGN_OR_RETURN(const archive::RestoreTarget target, TargetOf(*directory, options));
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<place::Place> place, OpenDataPlace(options.data_dir, PlaceUse::kNew));
  absl::StatusOr<archive::RestoreReport> report = absl::UnknownError("");
  {
    ProgressBar bar(&session.progress(), session.is_progress_live());
    report = OrArchiveError(RestoreArchive(*directory, target, place->volume(), place->data_dir(), ShowIn(&bar)));
  }
  ARM_RETURN_IF_ERROR(report.status());
  Json json = {{"Chain", report->chain},
               {"Base", report->base},
               {"Segments", report->segments},
               {"Batches", report->batches},
               {"Sequence", report->last_sequence}};
  if (target.at_ms.has_value()) json["At"] = TimeText(*target.at_ms);
  if (report->last_ms != 0) json["LastWrite"] = TimeText(report->last_ms);
  if (!report->broken.empty()) json["Broken"] = report->broken;
  session.Print(json, [&json] { return DetailsTable(json); });
  return absl::OkStatus();
}

absl::Status RestoreTableToMoment(const Session& session, const RestoreTableAtOptions& options) {
  api::v1::RestoreTableToPointInTimeRequest request;
  request.set_source_table_name(options.table_name);
  request.set_target_table_name(options.target);
  if (options.at == kLatest) {
    request.set_use_latest_restorable_time(true);
  } else {
    const std::optional<int64_t> at_ms = ParseMoment(options.at);
    if (!at_ms.has_value()) {
      return UsageError(Cat("--at ", options.at, ": must be a time such as 2026-01-31T12:00:00Z, or latest"));
    }
    request.set_restore_date_time_ms(*at_ms);
  }
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_ASSIGN_OR_RETURN(const auto answer, client.RestoreTableToPointInTime(request));
  api::v1::TableDescription table = answer.table_description();
  ProgressBar bar(&session.progress(), session.is_progress_live());
  while (options.wait && table.table_status() == api::v1::TABLE_STATUS_CREATING) {
    bar.Show({.what = Cat("restore ", options.target), .done = table.item_count()});
    absl::SleepFor(kPollTableEvery);
    // A table whose restore fails is deleted. The daemon's log has the reason.
    ARM_ASSIGN_OR_RETURN(table, DescribeTable(client, options.target));
  }
  const Json json = MessageToJson(table);
  session.Print(json, [&json] { return DetailsTable(json); });
  return absl::OkStatus();
}

void AddRestoreTableAt(CLI::App& group, Action* action) {
  CLI::App& restore = *group.add_subcommand(
      "restore-table", "Restore one table as it was at a moment, as a new table of a running daemon");
  RestoreTableAtOptions& options = SetAction(restore, action, RestoreTableToMoment);
  restore.add_option("--table-name", options.table_name, "The table; its point-in-time recovery is on")
      ->type_name("NAME")
      ->required();
  restore.add_option("--target-table-name", options.target, "The new table")->type_name("NAME")->required();
  restore.add_option("--at", options.at, "The moment, such as 2026-01-31T12:00:00Z, or latest")
      ->type_name("TIME")
      ->required();
  restore.add_flag("--wait", options.wait, "Return when the table is complete");
  restore.footer(
      "Indexes and settings are those that the table has now; tags, time to live and streams are not restored.\n\n"
      "Example:\n  armature archive restore-table --table-name Orders --target-table-name Orders-then --at "
      "2026-01-31T12:00:00Z --wait\n");
}

ArchiveOptions& AddCommand(CLI::App& group, const char* name, const char* description, Action* action,
                           absl::Status (*run)(const Session&, const ArchiveOptions&), CLI::App** command) {
  *command = group.add_subcommand(name, description);
  ArchiveOptions& options = SetAction(**command, action, run);
  (*command)->add_option("--dir", options.directory, "The --archive_dir of the daemon")->type_name("DIR")->required();
  return options;
}

}  // namespace

std::optional<int64_t> ParseMoment(std::string_view text) {
  for (const char* const format : {"%Y-%m-%dT%H:%M:%E*S%Ez", "%Y-%m-%d %H:%M:%E*S", "%Y-%m-%d %H:%M:%E*S UTC"}) {
    absl::Time time;
    if (absl::ParseTime(format, Av(text), absl::UTCTimeZone(), &time, nullptr)) return absl::ToUnixMillis(time);
  }
  return std::nullopt;
}

void AddArchiveCommands(CLI::App& app, Action* action) {
  CLI::App& group = *app.add_subcommand("archive", "Archives of everything that is written (armatured --archive_dir)");
  group.require_subcommand(1);
  CLI::App* command = nullptr;
  AddCommand(group, "list", "Show which moments an archive can restore, its chains and bases", action, ListArchive,
             &command);
  command->footer(
      "Missing files are found by their names; archive verify reads all of them.\n\n"
      "Example:\n  armature archive list --dir /archive/armature\n");
  AddCommand(group, "verify", "Read an archive, and compare it with its checksums", action, VerifyWholeArchive,
             &command);
  command->footer("Exit code 4: a segment or a base is missing or damaged.\n");
  ArchiveOptions& options = AddCommand(group, "restore", "Make a data directory of the database as it was at a moment",
                                       action, RestoreFromArchive, &command);
  command->add_option("--at", options.at, "The moment, such as 2026-01-31T12:00:00.250Z, or latest")->type_name("TIME");
  command->add_option("--at-sequence", options.at_sequence, "Instead: the sequence of the last write, of archive list")
      ->type_name("N");
  command->add_option("--chain", options.chain, "The chain to restore from, of archive list")->type_name("N");
  command->add_option("--data-dir", options.data_dir, "An empty or missing directory")->type_name("DIR")->required();
  command->add_flag("--up-to-break", options.is_up_to_break,
                    "If the archive is broken or ends before the moment, restore what is before");
  command->footer(
      "Base and segments are verified before anything is written. An interrupted restore begins anew when the command\n"
      "is repeated; until it has finished, no daemon starts with the directory.\n\n"
      "Example:\n  armature archive restore --dir /archive/armature --at 2026-01-31T12:00:00Z --data-dir "
      "/var/lib/armature\n");
  AddRestoreTableAt(group, action);
}

}  // namespace armature::cli
