// Automatic compactions of single families, and their files.

#include <limits>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "rocksdb/db.h"
#include "rocksdb/metadata.h"
#include "storage/base/strings.h"
#include "storage/store/rocks_db.h"
#include "storage/store/rocks_status.h"

namespace armature::store {

// The handle of a family, which is not destroyed before the use ends.
class RocksDb::HandleUse {
 public:
  HandleUse(RocksDb* db, std::string_view name) : db_(db) {
    const absl::MutexLock lock(&db_->mutex_);
    const auto found = db_->families_.find(name);
    if (found == db_->families_.end() || !found->second->is_made()) return;
    handle_ = found->second->handle();
    ++db_->handle_uses_[handle_];
  }
  ~HandleUse() {
    if (handle_ == nullptr) return;
    const absl::MutexLock lock(&db_->mutex_);
    const auto uses = db_->handle_uses_.find(handle_);
    if (--uses->second == 0) db_->handle_uses_.erase(uses);
  }
  HandleUse(const HandleUse&) = delete;
  HandleUse& operator=(const HandleUse&) = delete;

  // Null if the family is not made.
  rocksdb::ColumnFamilyHandle* get() const { return handle_; }

 private:
  RocksDb* const db_;
  rocksdb::ColumnFamilyHandle* handle_ = nullptr;
};

absl::Status RocksDb::StopCompactions(std::string_view name) {
  const HandleUse family(this, name);
  if (family.get() == nullptr || db_->GetOptions(family.get()).disable_auto_compactions) return absl::OkStatus();
  return FromRocks(db_->SetOptions(family.get(), {{"disable_auto_compactions", "true"}}),
                   Cat("end compactions of ", name));
}

absl::Status RocksDb::StartCompactions(std::string_view name) {
  const HandleUse family(this, name);
  if (family.get() == nullptr) return absl::OkStatus();
  // If the next compaction fails again, no write waits for the family meanwhile, and so no change of its options.
  const std::string never = Cat(std::numeric_limits<int>::max());
  return FromRocks(db_->SetOptions(family.get(), {{"disable_auto_compactions", "false"},
                                                  {"level0_slowdown_writes_trigger", never},
                                                  {"level0_stop_writes_trigger", never},
                                                  {"soft_pending_compaction_bytes_limit", "0"},
                                                  {"hard_pending_compaction_bytes_limit", "0"}}),
                   Cat("begin compactions of ", name));
}

bool RocksDb::AreCompactionsStopped(std::string_view name) {
  const HandleUse family(this, name);
  return family.get() == nullptr || db_->GetOptions(family.get()).disable_auto_compactions;
}

// Writes that are held back wait for the end of any background work. The call that ends manual compactions, of which
// there are none, wakes them as well.
void RocksDb::WakeWrites() {
  db_->DisableManualCompaction();
  db_->EnableManualCompaction();
}

std::string RocksDb::PathOf(std::string_view family, std::string_view file) {
  const HandleUse use(this, family);
  if (use.get() == nullptr) return "";
  rocksdb::ColumnFamilyMetaData facts;
  db_->GetColumnFamilyMetaData(use.get(), &facts);
  for (const rocksdb::LevelMetaData& level : facts.levels) {
    for (const rocksdb::SstFileMetaData& sst : level.files) {
      if (NameIn(sst.name) == file) return Cat(sst.db_path, "/", file);
    }
  }
  return "";
}

}  // namespace armature::store
