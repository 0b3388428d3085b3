#include "storage/store/wal/log_check.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "glog/logging.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/durable_file.h"
#include "storage/store/wal/log_scan.h"
#include "storage/store/wal/sync_mark.h"

namespace armature::store {
namespace {

namespace fs = std::filesystem;

std::string PathOf(const std::string& database_path, LogName name) { return Cat(database_path, "/", FileName(name)); }

struct ScannedLog {
  LogName name;
  LogScan scan;
};

absl::StatusOr<ScannedLog> Scan(const std::string& path, LogName name) {
  ARM_ASSIGN_OR_RETURN(const LogScan scan, ScanLog(path, [](std::string_view, bool) {}));
  return ScannedLog{name, scan};
}

// The marks of records behind a damage.
struct MarksBehind {
  LogPosition synced;            // the highest
  bool is_acknowledged = false;  // a record was acknowledged without a sync
};

// Adds the marks in `path`: those of all records, or of the records behind the first damage.
absl::Status AddMarks(const std::string& path, bool all, MarksBehind* marks) {
  return ScanLog(path,
                 [all, marks](std::string_view record, bool is_behind_damage) {
                   if (!all && !is_behind_damage) return;
                   const std::optional<SyncMark> mark = FindSyncMark(record);
                   if (!mark.has_value()) return;
                   marks->synced = std::max(marks->synced, mark->synced);
                   marks->is_acknowledged = marks->is_acknowledged || mark->is_unsynced_acknowledged;
                 })
      .status();
}

// Names of the files of the write-ahead log, in order.
absl::StatusOr<std::vector<LogName>> ListLogs(const std::string& database_path) {
  std::vector<LogName> names;
  std::error_code error;
  for (fs::directory_iterator it(database_path, error), end; !error && it != end; it.increment(error)) {
    LogName name;
    if (ParseLogName(it->path().filename().string(), &name) && name.kind == LogKind::kWriteAhead) names.push_back(name);
  }
  if (error) return UnavailableError(Cat("cannot read directory ", database_path, ": ", error.message()));
  std::sort(names.begin(), names.end());
  return names;
}

// The manifest that CURRENT names. nullopt if CURRENT is missing or damaged, which RocksDB reports.
std::optional<LogName> CurrentManifest(const std::string& database_path) {
  const absl::StatusOr<std::string> current = ReadWholeFile(database_path + "/CURRENT");
  LogName name;
  if (!current.ok() || !ParseLogName(current->substr(0, current->find('\n')), &name)) return std::nullopt;
  return name.kind == LogKind::kManifest ? std::optional(name) : std::nullopt;
}

class Checker {
 public:
  Checker(const std::string& database_path, const std::map<LogName, LogEntry>& entries)
      : path_(database_path), entries_(entries) {}

  absl::Status CheckManifest() {
    const std::optional<LogName> name = CurrentManifest(path_);
    if (!name.has_value() || !PathExists(PathOf(path_, *name))) return absl::OkStatus();
    ARM_ASSIGN_OR_RETURN(const ScannedLog log, Scan(PathOf(path_, *name), *name));
    const uint64_t synced = EntryOf(*name).synced;
    if (log.scan.whole < synced || (!log.scan.is_whole() && log.scan.next_record.has_value())) {
      AddFault(log, synced);
    } else if (!log.scan.is_whole()) {
      AddTail(log);
    }
    return absl::OkStatus();
  }

  absl::Status CheckWriteAheadLog() {
    ARM_ASSIGN_OR_RETURN(const std::vector<LogName> names, ListLogs(path_));
    CheckMissing(names);
    std::vector<ScannedLog> logs;
    for (const LogName name : names) {
      ARM_ASSIGN_OR_RETURN(logs.emplace_back(), Scan(PathOf(path_, name), name));
    }
    for (size_t i = 0; i < logs.size(); ++i) {
      const ScannedLog& log = logs[i];
      const LogEntry entry = EntryOf(log.name);
      if (log.scan.is_whole() && log.scan.size >= entry.synced) continue;
      bool is_unfinished = log.scan.whole >= entry.synced;
      if (is_unfinished && !entry.is_abandoned) {
        ARM_ASSIGN_OR_RETURN(is_unfinished, IsUnfinished(logs, i));
      }
      if (!is_unfinished) {
        AddFault(log, entry.synced);
        continue;
      }
      AddTail(log);
      if (!entry.is_abandoned) return AddTailsAfter(logs, i);
    }
    return absl::OkStatus();
  }

  LogFindings TakeFindings() { return std::move(findings_); }

 private:
  LogEntry EntryOf(LogName name) const {
    const auto found = entries_.find(name);
    return found == entries_.end() ? LogEntry{} : found->second;
  }

  void CheckMissing(const std::vector<LogName>& names) {
    for (const auto& [name, entry] : entries_) {
      if (name.kind != LogKind::kWriteAhead || std::binary_search(names.begin(), names.end(), name)) continue;
      findings_.faults.push_back({name, Cat("the file of the write-ahead log ", PathOf(path_, name), " is missing"), 0,
                                  0, entry.synced, /*is_missing=*/true});
    }
  }

  absl::StatusOr<bool> IsUnfinished(const std::vector<ScannedLog>& logs, size_t i) {
    const ScannedLog& log = logs[i];
    const LogPosition damage = {log.name.number, log.scan.whole};
    MarksBehind marks;
    ARM_RETURN_IF_ERROR(AddMarks(PathOf(path_, log.name), /*all=*/false, &marks));
    for (size_t later = i + 1; later < logs.size(); ++later) {
      ARM_RETURN_IF_ERROR(AddMarks(PathOf(path_, logs[later].name), /*all=*/true, &marks));
      // A later file is synced after all files before it.
      const uint64_t synced = EntryOf(logs[later].name).synced;
      if (synced > 0) marks.synced = std::max(marks.synced, LogPosition{logs[later].name.number, synced});
    }
    return marks.synced <= damage && !marks.is_acknowledged;
  }

  // Nothing behind an unfinished record was acknowledged.
  absl::Status AddTailsAfter(const std::vector<ScannedLog>& logs, size_t i) {
    for (size_t later = i + 1; later < logs.size(); ++later) {
      if (logs[later].scan.size > 0) AddTail({logs[later].name, {logs[later].scan.size, 0, std::nullopt}});
    }
    return absl::OkStatus();
  }

  void AddFault(const ScannedLog& log, uint64_t synced) {
    std::string text = Cat(PathOf(path_, log.name), " is damaged at offset ", log.scan.whole, " of ", log.scan.size);
    if (log.scan.is_whole()) text = Cat(PathOf(path_, log.name), " ends at offset ", log.scan.size);
    if (synced > log.scan.whole) text += Cat("; it was synced up to offset ", synced);
    if (log.scan.next_record) text += Cat("; the next good record is at offset ", *log.scan.next_record);
    findings_.faults.push_back({log.name, std::move(text), log.scan.size, log.scan.whole, synced});
  }

  void AddTail(const ScannedLog& log) { findings_.tails.push_back({log.name, log.scan.size, log.scan.whole}); }

  const std::string& path_;
  const std::map<LogName, LogEntry>& entries_;
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

}  // namespace

absl::StatusOr<LogFindings> FindLogFaults(const std::string& database_path,
                                          const std::map<LogName, LogEntry>& entries) {
  Checker checker(database_path, entries);
  ARM_RETURN_IF_ERROR(checker.CheckManifest());
  ARM_RETURN_IF_ERROR(checker.CheckWriteAheadLog());
  return checker.TakeFindings();
}

absl::Status CutTails(const std::string& database_path, const std::vector<LogTail>& tails) {
  // The last file first: if this is interrupted, the next start finds the same.
  for (auto tail = tails.rbegin(); tail != tails.rend(); ++tail) {
    const std::string path = PathOf(database_path, tail->name);
    const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return ErrnoError("cannot open", path, errno);
    const bool cut = ftruncate(fd, static_cast<off_t>(tail->whole)) == 0 && fsync(fd) == 0;
    const int error = errno;
    close(fd);
    if (!cut) return ErrnoError("cannot truncate", path, error);
    LOG(WARNING)
        << "store: cut off the end of a log file, which was being written when the machine or the daemon stopped"
        << " and holds no acknowledged write path=" << path << " offset=" << tail->whole
        << " bytes=" << tail->size - tail->whole;
  }
  return absl::OkStatus();
}

absl::StatusOr<CheckedLogs> CheckLogs(const std::string& database_path, bool may_create, bool accept_losses) {
  CheckedLogs checked;
  const bool exists = PathExists(database_path + "/CURRENT");
  if (!exists && !may_create) return checked;  // damaged, which RocksDB reports
  ARM_RETURN_IF_ERROR(MakeDirectories(database_path));
  ARM_ASSIGN_OR_RETURN(checked.log_register,
                       LogRegister::Open(Cat(database_path, "/", kLogRegisterFile), /*may_create=*/true));
  if (!exists) return checked;
  const std::map<LogName, LogEntry> entries = checked.log_register->entries();
  // Every program that opens a database makes a new manifest. If it is not registered, a program without this register
  // made it, and may have deleted files.
  const std::optional<LogName> manifest = CurrentManifest(database_path);
  checked.are_whole = manifest.has_value() && entries.contains(*manifest);
  if (!checked.are_whole) {
    for (const auto& [name, entry] : entries) ARM_RETURN_IF_ERROR(checked.log_register->Remove(name));
    return checked;
  }
  ARM_ASSIGN_OR_RETURN(const LogFindings findings, FindLogFaults(database_path, entries));
  if (!findings.faults.empty() && !accept_losses) return ToError(database_path, findings.faults);
  for (const LogFault& fault : findings.faults) {
    LOG(WARNING) << "store: accepted a loss: " << fault.text;
    if (fault.is_missing) ARM_RETURN_IF_ERROR(checked.log_register->Remove(fault.name));
  }
  checked.are_whole = findings.faults.empty();
  ARM_RETURN_IF_ERROR(CutTails(database_path, findings.tails));
  return checked;
}

}  // namespace armature::store
