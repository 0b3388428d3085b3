#include "storage/store/wal/log_check.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "glog/logging.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/wal/log_scan.h"
#include "storage/store/wal/sync_mark.h"

namespace armature::store {
namespace {

std::string PathOf(const std::string& database_path, LogName name) { return Cat(database_path, "/", FileName(name)); }

struct ScannedLog {
  LogName name;
  LogScan scan;
};

absl::StatusOr<ScannedLog> Scan(Volume* volume, const std::string& path, LogName name) {
  ARM_ASSIGN_OR_RETURN(const LogScan scan, ScanLog(volume, path, [](std::string_view, bool) {}));
  return ScannedLog{name, scan};
}

// The marks of records behind a damage.
struct MarksBehind {
  LogPosition synced;         // the highest
  uint64_t acknowledged = 0;  // batches that were acknowledged without a sync
};

// Adds the marks in `path`: those of all records, or of the records behind the first damage.
absl::Status AddMarks(Volume* volume, const std::string& path, bool all, MarksBehind* marks) {
  return ScanLog(volume, path,
                 [all, marks](std::string_view record, bool is_behind_damage) {
                   if (!all && !is_behind_damage) return;
                   const std::optional<SyncMark> mark = FindSyncMark(record);
                   if (!mark.has_value()) return;
                   marks->synced = std::max(marks->synced, mark->synced);
                   if (mark->is_unsynced_acknowledged) ++marks->acknowledged;
                 })
      .status();
}

// Names of the files of the write-ahead log, in order.
absl::StatusOr<std::vector<LogName>> ListLogs(Volume* volume, const std::string& database_path) {
  ARM_ASSIGN_OR_RETURN(const std::vector<std::string> entries, volume->List(database_path));
  std::vector<LogName> names;
  for (const std::string& entry : entries) {
    LogName name;
    if (ParseLogName(entry, &name) && name.kind == LogKind::kWriteAhead) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// The manifest that CURRENT names. Errors as FindLogFaults.
absl::StatusOr<LogName> CurrentManifest(Volume* volume, const std::string& database_path) {
  const std::string path = database_path + "/CURRENT";
  ARM_ASSIGN_OR_RETURN(const std::string current, volume->Read(path));
  LogName name;
  const std::string_view line = std::string_view(current).substr(0, current.find('\n'));
  if (line.size() == current.size() || !ParseLogName(line, &name) || name.kind != LogKind::kManifest) {
    return DataLossError(Cat(path, " is damaged: it does not name a manifest"));
  }
  ARM_ASSIGN_OR_RETURN(const bool is_there, volume->Exists(PathOf(database_path, name)));
  if (!is_there) {
    return DataLossError(Cat(PathOf(database_path, name), ", which ", path, " names, is missing"));
  }
  return name;
}

class Checker {
 public:
  Checker(Volume* volume, const std::string& database_path, const LogRegister& logs)
      : volume_(volume), path_(database_path), entries_(logs.entries()) {
    const uint64_t now = volume->boot();
    findings_.has_machine_stopped = logs.boot() != 0 && now != 0 && logs.boot() != now;
  }

  absl::Status Check(LogName manifest) {
    findings_.are_registered = entries_.contains(manifest);
    if (!findings_.are_registered) return absl::OkStatus();
    ARM_RETURN_IF_ERROR(CheckManifest(manifest));
    return CheckWriteAheadLog();
  }

  LogFindings TakeFindings() { return std::move(findings_); }

 private:
  absl::Status CheckManifest(LogName name) {
    ARM_ASSIGN_OR_RETURN(const ScannedLog log, Scan(volume_, PathOf(path_, name), name));
    const uint64_t synced = EntryOf(name).synced;
    if (log.scan.whole < synced || (!log.scan.is_whole() && log.scan.next_record.has_value())) {
      AddFault(log, synced);
    } else if (!log.scan.is_whole()) {
      AddTail(log, 0);
    }
    return absl::OkStatus();
  }

  absl::Status CheckWriteAheadLog() {
    ARM_ASSIGN_OR_RETURN(const std::vector<LogName> names, ListLogs(volume_, path_));
    CheckMissing(names);
    std::vector<ScannedLog> logs;
    for (const LogName name : names) {
      ARM_ASSIGN_OR_RETURN(logs.emplace_back(), Scan(volume_, PathOf(path_, name), name));
    }
    for (size_t i = 0; i < logs.size(); ++i) {
      const ScannedLog& log = logs[i];
      const LogEntry entry = EntryOf(log.name);
      if (log.scan.is_whole() && log.scan.size >= entry.synced) continue;
      // Not needed any more: its entry was removed, and a power cut undid the removal of the file.
      const LogName first = entries_.begin()->first;
      if (first.kind == LogKind::kWriteAhead && log.name < first) {
        AddTail(log, 0);
        continue;
      }
      MarksBehind marks;
      ARM_RETURN_IF_ERROR(FindMarks(logs, i, entry.is_abandoned, &marks));
      const bool is_synced =
          log.scan.whole < entry.synced || marks.synced > LogPosition{log.name.number, log.scan.whole};
      // Acknowledged writes that were not synced survive a kill, but no power cut.
      if (is_synced || (marks.acknowledged > 0 && !findings_.has_machine_stopped)) {
        AddFault(log, entry.synced);
        continue;
      }
      AddTail(log, marks.acknowledged);
      if (entry.is_abandoned) continue;
      // Nothing behind an unfinished record was acknowledged, or synced.
      for (size_t later = i + 1; later < logs.size(); ++later) {
        if (logs[later].scan.size > 0) AddTail({logs[later].name, {logs[later].scan.size, 0, std::nullopt}}, 0);
      }
      break;
    }
    return absl::OkStatus();
  }

  LogEntry EntryOf(LogName name) const {
    const auto found = entries_.find(name);
    return found == entries_.end() ? LogEntry{} : found->second;
  }

  void CheckMissing(const std::vector<LogName>& names) {
    for (const auto& [name, entry] : entries_) {
      if (name.kind != LogKind::kWriteAhead || std::binary_search(names.begin(), names.end(), name)) continue;
      findings_.faults.push_back({name, Cat("the file of the write-ahead log ", PathOf(path_, name), " is missing"),
                                  LogScan{}, entry.synced, /*is_missing=*/true});
    }
  }

  // The marks behind the damage of a file. Later files do not continue an abandoned one.
  absl::Status FindMarks(const std::vector<ScannedLog>& logs, size_t i, bool is_abandoned, MarksBehind* marks) {
    ARM_RETURN_IF_ERROR(AddMarks(volume_, PathOf(path_, logs[i].name), /*all=*/false, marks));
    for (size_t later = i + 1; later < logs.size() && !is_abandoned; ++later) {
      ARM_RETURN_IF_ERROR(AddMarks(volume_, PathOf(path_, logs[later].name), /*all=*/true, marks));
      // A later file is synced after all files before it.
      const uint64_t synced = EntryOf(logs[later].name).synced;
      if (synced > 0) marks->synced = std::max(marks->synced, LogPosition{logs[later].name.number, synced});
    }
    return absl::OkStatus();
  }

  void AddFault(const ScannedLog& log, uint64_t synced) {
    std::string text = Cat(PathOf(path_, log.name), " is damaged at offset ", log.scan.whole, " of ", log.scan.size);
    if (log.scan.is_whole()) text = Cat(PathOf(path_, log.name), " ends at offset ", log.scan.size);
    if (synced > log.scan.whole) text += Cat("; it was synced up to offset ", synced);
    if (log.scan.next_record) text += Cat("; the next good record is at offset ", *log.scan.next_record);
    findings_.faults.push_back({log.name, std::move(text), log.scan, synced});
  }

  void AddTail(const ScannedLog& log, uint64_t lost) {
    findings_.tails.push_back({log.name, log.scan.size, log.scan.whole, lost});
  }

  Volume* const volume_;
  const std::string& path_;
  const std::map<LogName, LogEntry> entries_;
  LogFindings findings_;
};

constexpr size_t kFaultsShownMax = 3;

absl::Status ToError(const std::string& database_path, const std::vector<LogFault>& faults) {
  std::string text = Cat("the database in ", database_path, " has lost acknowledged writes: ");
  for (size_t i = 0; i < std::min(faults.size(), kFaultsShownMax); ++i) text += Cat(i == 0 ? "" : "; ", faults[i].text);
  if (faults.size() > kFaultsShownMax) text += Cat("; and ", faults.size() - kFaultsShownMax, " more files");
  return DataLossError(
      Cat(text, "; nothing was changed: put the files back, restore a backup, or see armature recover"));
}

// Cuts the tails off, with a warning for each.
absl::Status CutTails(Volume* volume, const std::string& database_path, const LogFindings& findings) {
  const std::string_view cause = findings.has_machine_stopped
                                     ? "when the machine stopped, and holds no synced write"
                                     : "when the daemon stopped, and holds no acknowledged write";
  // The last file first: if this is interrupted, the next start finds the same.
  for (auto tail = findings.tails.rbegin(); tail != findings.tails.rend(); ++tail) {
    const std::string path = PathOf(database_path, tail->name);
    ARM_ASSIGN_OR_RETURN(const std::unique_ptr<VolumeFile> file, volume->Open(path, Volume::Access::kChange));
    ARM_RETURN_IF_ERROR(file->Truncate(tail->whole));
    LOG(WARNING) << "store: cut off the end of a log file, which was being written " << cause << " path=" << path
                 << " offset=" << tail->whole << " bytes=" << tail->size - tail->whole
                 << " unsynced_acknowledged_batches=" << tail->lost;
  }
  return absl::OkStatus();
}

// Makes the log files durable, which a killed process left in the page cache. A start may keep their rows in memory
// instead of writing them to tables, and RocksDB never syncs files of earlier runs: a power cut could then lose them
// while later writes, which were decided on them, survive.
absl::Status SyncLogs(Volume* volume, const std::string& database_path, LogRegister* logs) {
  ARM_ASSIGN_OR_RETURN(const std::vector<LogName> names, ListLogs(volume, database_path));
  for (const LogName name : names) {
    ARM_ASSIGN_OR_RETURN(const std::unique_ptr<VolumeFile> file,
                         volume->Open(PathOf(database_path, name), Volume::Access::kRead));
    ARM_RETURN_IF_ERROR(file->Sync());
    ARM_ASSIGN_OR_RETURN(const uint64_t size, file->Size());
    logs->SetSynced(name, size);
  }
  return absl::OkStatus();
}

absl::Status CheckFiles(Volume* volume, const std::string& database_path, bool accept_losses, CheckedLogs* checked) {
  LogRegister& logs = *checked->log_register;
  ARM_ASSIGN_OR_RETURN(const LogFindings findings, FindLogFaults(volume, database_path, logs));
  if (!findings.are_registered) {
    // Every program that opens a database makes a new manifest. A program without this register made this one, and may
    // have deleted files.
    for (const auto& [name, entry] : logs.entries()) ARM_RETURN_IF_ERROR(logs.Remove(name));
    return absl::OkStatus();
  }
  if (!findings.faults.empty() && !accept_losses) return ToError(database_path, findings.faults);
  for (const LogFault& fault : findings.faults) {
    LOG(WARNING) << "store: accepted a loss: " << fault.text;
    if (fault.is_missing) checked->missing.push_back(fault.name);
  }
  checked->are_whole = findings.faults.empty();
  ARM_RETURN_IF_ERROR(CutTails(volume, database_path, findings));
  return checked->are_whole ? SyncLogs(volume, database_path, &logs) : absl::OkStatus();
}

}  // namespace

absl::StatusOr<LogFindings> FindLogFaults(Volume* volume, const std::string& database_path, const LogRegister& logs) {
  ARM_ASSIGN_OR_RETURN(const LogName manifest, CurrentManifest(volume, database_path));
  Checker checker(volume, database_path, logs);
  ARM_RETURN_IF_ERROR(checker.Check(manifest));
  return checker.TakeFindings();
}

absl::StatusOr<LogName> FindLostManifest(Volume* volume, const std::string& database_path) {
  const absl::Status current = CurrentManifest(volume, database_path).status();
  const absl::Status unknown = absl::NotFoundError("no lost manifest");
  if (!absl::IsNotFound(current) && !absl::IsDataLoss(current)) return current.ok() ? unknown : current;
  ARM_ASSIGN_OR_RETURN(
      const std::unique_ptr<LogRegister> logs,
      LogRegister::Open(volume, Cat(database_path, "/", kLogRegisterFile), LogRegister::Access::kRead));
  const std::map<LogName, LogEntry> entries = logs->entries();
  // While a manifest replaces another, both are registered, and either may be the good one.
  const auto found = entries.upper_bound({LogKind::kWriteAhead, UINT64_MAX});
  if (found == entries.end() || std::next(found) != entries.end()) return unknown;
  ARM_ASSIGN_OR_RETURN(const bool is_there, volume->Exists(PathOf(database_path, found->first)));
  if (!is_there) return unknown;
  return found->first;
}

std::string CurrentText(LogName manifest) { return FileName(manifest) + "\n"; }

absl::StatusOr<CheckedLogs> CheckLogs(Volume* volume, const std::string& database_path, bool may_create,
                                      bool accept_losses) {
  CheckedLogs checked;
  const absl::Status manifest = CurrentManifest(volume, database_path).status();
  const bool is_new = absl::IsNotFound(manifest) && may_create;
  // RocksDB reports the damage.
  if (!is_new && (absl::IsNotFound(manifest) || absl::IsDataLoss(manifest))) return checked;
  if (!is_new) ARM_RETURN_IF_ERROR(manifest);
  ARM_RETURN_IF_ERROR(volume->MakeDirectories(database_path));
  const std::string path = Cat(database_path, "/", kLogRegisterFile);
  absl::StatusOr<std::unique_ptr<LogRegister>> opened = LogRegister::Open(volume, path, LogRegister::Access::kCreate);
  if (absl::IsDataLoss(opened.status()) && accept_losses) {
    opened = LogRegister::Open(volume, path, LogRegister::Access::kReplace);
  }
  ARM_ASSIGN_OR_RETURN(checked.log_register, std::move(opened));
  if (!is_new) ARM_RETURN_IF_ERROR(CheckFiles(volume, database_path, accept_losses, &checked));
  ARM_RETURN_IF_ERROR(checked.log_register->SetBoot(volume->boot()));
  return checked;
}

}  // namespace armature::store
