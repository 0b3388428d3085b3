#include "storage/store/wal/committed_log.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/files/volume.h"
#include "storage/store/rocks_db.h"
#include "storage/store/wal/log_keeper.h"
#include "storage/store/wal/log_register.h"
#include "storage/store/wal/log_scan.h"

namespace armature::store {

std::string CommittedLog::owner() const { return keeper_->owner(); }
std::string CommittedLog::loss() const { return keeper_->loss(); }
uint64_t CommittedLog::last_sequence() const { return rocks_->last_sequence(); }
uint64_t CommittedLog::known_sequence() const { return std::max(rocks_->opened_sequence(), read_sequence_); }
uint64_t CommittedLog::waiting_bytes() const { return keeper_->kept_bytes(); }
void CommittedLog::Release(LogPosition position) { keeper_->Release(position.file); }

absl::StatusOr<LogPosition> CommittedLog::Begin(std::string_view owner) {
  LogPosition begin;
  const auto mark = [&]() -> absl::Status {
    ARM_RETURN_IF_ERROR(rocks_->SyncLog());
    begin = rocks_->synced_log();
    return begin.file == 0 ? UnavailableError("no log file is synced yet") : absl::OkStatus();
  };
  ARM_RETURN_IF_ERROR(keeper_->Begin(owner, mark));
  Release(begin);
  return begin;
}

absl::Status CommittedLog::Settle() {
  // While clients write, each commit syncs what is before it. The last writes of background work are synced once.
  const LogPosition synced = rocks_->synced_log();
  if (syncs_commits_ && synced != settled_ && synced.file != 0) {
    settled_ = synced;
    return absl::OkStatus();
  }
  ARM_RETURN_IF_ERROR(rocks_->SyncLog());
  settled_ = rocks_->synced_log();
  return absl::OkStatus();
}

absl::Status CommittedLog::Sync() { return rocks_->SyncLog(); }

absl::StatusOr<LogChunk> CommittedLog::Read(LogPosition from, size_t bytes_max) {
  const LogPosition durable = rocks_->synced_log();
  if (durable.file != 0 && durable < from) {
    return DataLossError(Cat("the log is behind its reader: it ends in file ", durable.file, " at offset ",
                             durable.offset, ", and was read in file ", from.file, " up to ", from.offset));
  }
  LogChunk chunk{.end = from, .is_last = true};
  size_t bytes = 0;
  const auto take = [&](LogBatch batch) {
    bytes += batch.bytes.size();
    chunk.batches.push_back(std::move(batch));
    return bytes < bytes_max;
  };
  while (chunk.end < durable) {
    const bool is_newest = chunk.end.file == durable.file;
    const uint64_t to = is_newest ? durable.offset : std::numeric_limits<uint64_t>::max();
    ARM_ASSIGN_OR_RETURN(chunk.end.offset, ReadFile(chunk.end, to, take));
    if (bytes >= bytes_max) {
      chunk.is_last = chunk.end >= durable;
      break;
    }
    if (is_newest) {
      if (chunk.end.offset >= durable.offset) break;
      return DataLossError(Cat(PathOf(chunk.end.file), " is damaged at offset ", chunk.end.offset));
    }
    ARM_RETURN_IF_ERROR(CheckEnd(chunk.end.file, chunk.end.offset));
    ARM_ASSIGN_OR_RETURN(const uint64_t next, FileBehind(chunk.end.file));
    if (next == 0 || next > durable.file) break;
    chunk.end = {next, 0};
  }
  ARM_RETURN_IF_ERROR(NameFamilies(&chunk));
  if (!chunk.batches.empty()) read_sequence_ = chunk.batches.back().sequence + chunk.batches.back().writes - 1;
  return chunk;
}

absl::StatusOr<uint64_t> CommittedLog::ReadFile(LogPosition from, uint64_t to,
                                                const std::function<bool(LogBatch)>& take) const {
  absl::Status failed;
  const auto visit = [&](std::string_view record, uint64_t) {
    absl::StatusOr<LogBatch> batch = ParseLogBatch(record);
    if (!batch.ok()) failed = WithContext(batch.status(), PathOf(from.file));
    if (!batch.ok()) return false;
    return batch->writes == 0 || take(*std::move(batch));
  };
  absl::StatusOr<uint64_t> end = ReadRecords(rocks_->volume(), PathOf(from.file), from.offset, to, visit);
  // The file may have been deleted meanwhile, and is kept then.
  if (absl::IsNotFound(end.status())) {
    end = ReadRecords(rocks_->volume(), keeper_->PathOf(from.file), from.offset, to, visit);
  }
  if (absl::IsNotFound(end.status())) return DataLossError(Cat("log file ", PathOf(from.file), " is missing"));
  ARM_RETURN_IF_ERROR(failed);
  return end;
}

absl::Status CommittedLog::CheckEnd(uint64_t number, uint64_t end) const {
  std::string path = PathOf(number);
  absl::StatusOr<uint64_t> size = rocks_->volume()->Size(path);
  if (absl::IsNotFound(size.status())) {
    path = keeper_->PathOf(number);
    size = rocks_->volume()->Size(path);
  }
  ARM_RETURN_IF_ERROR(size.status());
  if (*size == end) return absl::OkStatus();
  // The rest of a batch that a kill or a power cut has torn has nothing whole behind it.
  ARM_ASSIGN_OR_RETURN(const LogScan scan, ScanLog(rocks_->volume(), path, [](std::string_view, bool) {}));
  if (!scan.next_record.has_value()) return absl::OkStatus();
  return DataLossError(Cat(path, " is damaged at offset ", scan.whole));
}

absl::StatusOr<uint64_t> CommittedLog::FileBehind(uint64_t number) const {
  // Files move from the first place to the second, which is therefore read last.
  ARM_ASSIGN_OR_RETURN(const std::vector<std::string> entries, rocks_->volume()->List(db_path_));
  std::set<uint64_t> numbers;
  for (const std::string& entry : entries) {
    LogName name;
    if (ParseLogName(entry, &name) && name.kind == LogKind::kWriteAhead) numbers.insert(name.number);
  }
  numbers.merge(keeper_->Kept(number + 1));
  const auto behind = numbers.upper_bound(number);
  return behind == numbers.end() ? 0 : *behind;
}

absl::Status CommittedLog::NameFamilies(LogChunk* chunk) const {
  if (chunk->batches.empty()) return absl::OkStatus();
  FamilyNamesById known = rocks_->FamilyIds();
  known.merge(keeper_->dropped_families());
  for (const LogBatch& batch : chunk->batches) {
    for (const uint32_t id : batch.families) {
      const auto name = known.find(id);
      if (name == known.end()) {
        return DataLossError(
            Cat("batch ", batch.sequence, " of the log names column family ", id, ", which is unknown"));
      }
      chunk->families.insert(*name);
    }
  }
  return absl::OkStatus();
}

std::string CommittedLog::PathOf(uint64_t number) const {
  return Cat(db_path_, "/", FileName({LogKind::kWriteAhead, number}));
}

}  // namespace armature::store
