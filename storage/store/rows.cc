#include "storage/store/rows.h"

#include <optional>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/commit/unit_batch.h"
#include "storage/store/damaged_tables.h"
#include "storage/store/files/no_wait_reads.h"
#include "storage/store/log/change_log.h"
#include "storage/store/rocks_db.h"
#include "storage/store/rocks_status.h"

namespace armature::store {

absl::StatusOr<GetResult> Rows::Get(const Keyspace& keyspace, std::string_view key, ReadMode mode,
                                    std::string* value) const {
  rocksdb::ColumnFamilyHandle* const handle = keyspace.family->handle();
  if (handle == nullptr) return GetResult::kMissing;
  ARM_RETURN_IF_ERROR(damages_->CheckReadable(keyspace));
  rocksdb::PinnableSlice pinned(value);
  rocksdb::ReadOptions options;
  if (mode == ReadMode::kMemoryOnly) options.read_tier = rocksdb::kBlockCacheTier;
  std::optional<NoWaitReads> no_wait;
  if (mode == ReadMode::kNoWait) no_wait.emplace(no_wait_bytes_max_);
  const ReadHorizon::Reading reading(db_->horizon());
  const rocksdb::Status status = db_->db()->Get(options, handle, ToSlice(key), &pinned);
  no_wait.reset();
  // Afterwards: what was read before the check was current.
  if (status.ok() || status.IsNotFound()) ARM_RETURN_IF_ERROR(db_->CheckCurrent());
  if (status.ok()) {
    if (pinned.IsPinned()) value->assign(pinned.data(), pinned.size());
    return GetResult::kFound;
  }
  if (status.IsNotFound()) return GetResult::kMissing;
  if (status.IsIncomplete()) return GetResult::kWouldBlock;
  return FromRocks(status, Cat("read from ", keyspace.family->name()));
}

absl::StatusOr<GetResult> Rows::GetCounter(const Keyspace& keyspace, std::string_view key, ReadMode mode,
                                           uint64_t* value) const {
  std::string stored;
  ARM_ASSIGN_OR_RETURN(const GetResult got, Get(keyspace, key, mode, &stored));
  *value = 0;
  if (got == GetResult::kFound) {
    ARM_ASSIGN_OR_RETURN(*value, ParseCounter(stored, *keyspace.family));
  }
  return got == GetResult::kMissing ? GetResult::kFound : got;
}

std::unique_ptr<KeyspaceSnapshot> Rows::TakeSnapshot(const Keyspace& keyspace) const {
  // Read before the snapshot is taken: changes up to the watermark are visible already.
  const ChangeSequence sequence = log_->watermark();
  return KeyspaceSnapshot::Take(db_, *keyspace.family, sequence);
}

}  // namespace armature::store
