#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/data_directory.h"
#include "storage/store/readable_rows.h"
#include "storage/store/recovery.h"
#include "storage/store/salvage.h"
#include "tools/armature/command.h"
#include "tools/armature/data_place.h"
#include "tools/armature/display.h"
#include "tools/armature/offline_engine.h"

namespace armature::cli {
namespace {

struct RecoverOptions {
  std::string data_dir;
  std::string salvage_to;  // empty: the directory itself is made to start
};

std::string FaultOf(const store::DamagedFile& file) { return Cat(file.name, ": ", file.text); }

// The damaged files but those that `damage` has, because they stop a start.
Json ToJson(const std::vector<store::DamagedFile>& files, const std::vector<store::Damage>& damage) {
  Json records = Json::array();
  for (const store::DamagedFile& file : files) {
    const bool is_known = std::any_of(damage.begin(), damage.end(),
                                      [&](const store::Damage& each) { return each.fault == FaultOf(file); });
    if (is_known) continue;
    records.push_back({{"Fault", FaultOf(file)},
                       {"Loss", file.loss.empty() ? Cat("what cannot be read; ", file.advice) : file.loss}});
  }
  return records;
}

// Prints the damage and, unless it is accepted already, the numbers of rows that can be read. Counting reads all data.
absl::Status PrintDamage(const Session& session, const place::Place& place, const std::vector<store::Damage>& damage,
                         const std::vector<store::DamagedFile>& files) {
  Json records = ToJson(files, damage);
  for (const store::Damage& each : damage) {
    records.push_back({{"Fault", each.fault}, {"Loss", each.loss.empty() ? "not recoverable" : each.loss}});
  }
  Json document = {{"Damage", records}};
  Json tables = Json::array();
  if (!records.empty() && !session.is_confirmed()) {
    ARM_ASSIGN_OR_RETURN(const store::ReadableRows rows, store::CountReadableRows(place.volume(), place.data_dir()));
    for (const store::ReadableTable& table : rows.tables) {
      tables.push_back({{"TableName", table.name},
                        {"Rows", table.rows},
                        {"ReadableRows", table.readable},
                        {"UnreadablePlaces", table.gaps},
                        {"DamagedIndexes", table.damaged_indexes}});
    }
    document["Tables"] = tables;
    document["ChangeSequence"] = rows.change_sequence;
  }
  session.Print(document, [&] {
    if (records.empty()) return std::string("nothing stops a start, and no table file is damaged\n");
    std::string text = RecordsTable(records, {"Fault", "Loss"});
    if (!tables.empty()) {
      text += "\n" + RecordsTable(tables, {"TableName", "Rows", "ReadableRows", "UnreadablePlaces", "DamagedIndexes"});
    }
    return text;
  });
  return absl::OkStatus();
}

// Repairs the entries of local indexes, which were copied one by one. Returns the number of repairs.
absl::StatusOr<int64_t> RepairIndexes(const std::string& data_dir, const std::vector<store::SalvagedTable>& tables) {
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<OfflineEngine> engine, OfflineEngine::Open(data_dir));
  int64_t repaired = 0;
  for (const store::SalvagedTable& table : tables) {
    engine::VerifyTableRequest request{table.name, "", /*repair=*/true};
    do {
      absl::StatusOr<engine::VerifyTableResult> page = engine->Verify(request);
      if (absl::IsNotFound(page.status())) break;  // being created or deleted
      ARM_RETURN_IF_ERROR(page.status());
      for (const engine::IndexDifference& difference : page->differences) repaired += difference.repaired ? 1 : 0;
      request.start_position = page->next_position;
    } while (!request.start_position.empty());
  }
  return repaired;
}

void PrintSalvaged(const Session& session, const store::SalvageReport& report, int64_t repaired) {
  Json tables = Json::array();
  for (const store::SalvagedTable& table : report.tables) {
    tables.push_back({{"TableName", table.name},
                      {"Rows", table.rows},
                      {"UnreadablePlaces", table.gaps},
                      {"IndexesToBuild", table.indexes}});
  }
  Json lost = Json::array();
  for (const store::LostFamily& family : report.lost) {
    lost.push_back({{"Family", family.family}, {"Rows", family.rows}});
  }
  const Json result = {{"Tables", tables},
                       {"LostFamilies", lost},
                       {"Problems", report.problems},
                       {"WritesFromLog", report.log_writes},
                       {"WritesLeftOut", report.log_writes_left_out},
                       {"EntriesRepaired", repaired}};
  session.Print(result, [&] {
    std::string text = RecordsTable(tables, {"TableName", "Rows", "UnreadablePlaces", "IndexesToBuild"});
    for (const store::LostFamily& family : report.lost) {
      text += Cat("lost: ", family.rows, " rows of ", family.family, ", whose table is not in the catalog\n");
    }
    for (const std::string& problem : report.problems) text += Cat("problem: ", problem, "\n");
    if (report.log_writes_left_out > 0) {
      text += Cat("lost: ", report.log_writes_left_out, " writes of the log to families whose names are lost\n");
    }
    return text + Cat(repaired, " entries of local indexes repaired\n");
  });
}

absl::Status SalvageTo(const Session& session, const RecoverOptions& options) {
  if (place::IsRados(options.data_dir) || place::IsRados(options.salvage_to)) {
    return UsageError("--salvage reads and writes local directories only");
  }
  ARM_RETURN_IF_ERROR(session.Confirm(
      Cat("copy what can be read of ", options.data_dir, " to the new directory ", options.salvage_to)));
  store::RestrictNewFiles();
  absl::StatusOr<store::SalvageReport> report =
      store::Salvage(store::LocalVolume(), options.data_dir, options.salvage_to);
  if (absl::IsDataLoss(report.status()) || absl::IsFailedPrecondition(report.status())) {
    return InputError(Sv(report.status().message()));
  }
  ARM_RETURN_IF_ERROR(report.status());
  ARM_ASSIGN_OR_RETURN(const int64_t repaired, RepairIndexes(options.salvage_to, report->tables));
  PrintSalvaged(session, *report, repaired);
  int64_t rows = 0;
  for (const store::SalvagedTable& table : report->tables) rows += table.rows;
  const bool is_lossy = !report->problems.empty() || !report->lost.empty() ||
                        std::any_of(report->tables.begin(), report->tables.end(),
                                    [](const store::SalvagedTable& table) { return table.gaps > 0; });
  if (report->tables.empty() || (rows == 0 && is_lossy)) {
    return InputError(Cat("nothing was salvaged of ", options.data_dir, ": ",
                          report->tables.empty() ? "it has no table that can be read" : "no row can be read"));
  }
  return absl::OkStatus();
}

bool IsUnmendable(const store::DamagedFile& file) { return file.loss.empty(); }

// Nothing is gained with a column family that is made anew and cannot be filled again.
void WithholdLosses(const std::vector<store::DamagedFile>& files, std::vector<store::Damage>* damage) {
  for (store::Damage& each : *damage) {
    const bool is_withheld = std::any_of(files.begin(), files.end(), [&each](const store::DamagedFile& file) {
      return IsUnmendable(file) && file.family == each.family;
    });
    if (is_withheld) each.loss.clear();
  }
}

// OK if `files` has none that is left as it is.
absl::Status UnmendableError(const RecoverOptions& options, const std::vector<store::DamagedFile>& files) {
  const auto file = std::find_if(files.begin(), files.end(), IsUnmendable);
  if (file == files.end()) return absl::OkStatus();
  const std::string salvage =
      place::IsRados(options.data_dir)
          ? ""
          : Cat(", or copy what can be read with armature recover ", options.data_dir, " --salvage NEWDIR");
  return InputError(Cat(FaultOf(*file), ": nothing stops a start, but rows cannot be read: ", file->advice, salvage));
}

absl::Status Recover(const Session& session, const RecoverOptions& options) {
  RaiseDescriptorLimit();
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<place::Place> place, OpenDataPlace(options.data_dir));
  ARM_ASSIGN_OR_RETURN(std::vector<store::Damage> damage, store::FindDamage(place->volume(), place->data_dir()));
  ARM_ASSIGN_OR_RETURN(const std::vector<store::DamagedFile> files,
                       store::FindDamagedFiles(place->volume(), place->data_dir()));
  WithholdLosses(files, &damage);
  if (!options.salvage_to.empty()) {
    for (const store::Damage& each : damage) session.progress() << "damage: " << each.fault << '\n';
    for (const store::DamagedFile& file : files)
      session.progress() << "damage: " << file.name << ": " << file.text << '\n';
    return SalvageTo(session, options);
  }
  ARM_RETURN_IF_ERROR(PrintDamage(session, *place, damage, files));
  if (damage.empty() && files.empty()) return absl::OkStatus();
  std::vector<store::Damage> accepted = damage;
  for (const store::DamagedFile& file : files) {
    if (!IsUnmendable(file)) accepted.push_back({FaultOf(file), file.loss, file.family});
  }
  if (accepted.empty()) return UnmendableError(options, files);
  for (const store::Damage& each : damage) {
    if (each.loss.empty()) {
      if (place::IsRados(options.data_dir)) return InputError(Cat(each.fault, ": restore a backup"));
      return InputError(Cat(each.fault, ": restore a backup, or copy what can be read with armature recover ",
                            options.data_dir, " --salvage NEWDIR"));
    }
  }
  ARM_RETURN_IF_ERROR(session.Confirm(Cat("give up what is lost, and make ", options.data_dir, " start again")));
  store::RestrictNewFiles();
  ARM_RETURN_IF_ERROR(store::AcceptLosses(place->volume(), place->data_dir(), accepted));
  // Without the lost writes, more tables may be unknown.
  ARM_ASSIGN_OR_RETURN(const std::vector<store::Damage> left, store::FindDamage(place->volume(), place->data_dir()));
  if (left.empty()) return UnmendableError(options, files);
  return InputError(
      Cat("this was accepted, but a start is still refused: ", left.front().fault, ": run the command again"));
}

}  // namespace

void AddRecoverCommand(CLI::App& app, Action* action) {
  CLI::App& recover = *app.add_subcommand("recover", "Make a damaged data directory start again, without what is lost");
  RecoverOptions& options = SetAction(recover, action, Recover);
  recover
      .add_option("data-dir,--data-dir", options.data_dir,
                  "Data directory of a daemon that does not start, or rados://POOL/NAMESPACE")
      ->type_name("DIR")
      ->required();
  recover
      .add_option("--salvage", options.salvage_to, "Copy what can be read to this new directory; change nothing else")
      ->type_name("NEWDIR");
  recover.footer(
      "Shows the damage that stops a start, what accepting it loses, damaged files of tables, for which it reads all\n"
      "files, and how many rows of each table can be read and salvaged; Rows is the number that the table should "
      "have.\n"
      "With --yes, or after a question, accepts it:\n"
      "missing log files are forgotten, damaged records of the log are skipped, column families without a table are\n"
      "dropped, and damaged files of streams, of the change log of indexes or of the expiry end with all that is in "
      "the\n"
      "same column family, which is made anew. Copy the directory before. Rows and indexes may differ afterwards: run\n"
      "armature verify --repair.\n\n"
      "With --salvage, copies the rows that can be read, also past damaged files, a damaged manifest and damage in "
      "the\n"
      "log, to a new data directory. The first start there builds the global indexes again.\n\n"
      "Examples:\n  armature --output table recover /var/lib/armature\n"
      "  armature --yes recover /var/lib/armature\n"
      "  armature --yes recover /var/lib/armature --salvage /var/lib/armature-new\n");
}

}  // namespace armature::cli
