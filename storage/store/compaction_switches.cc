#include "storage/store/compaction_switches.h"

#include <utility>

#include "absl/status/status.h"
#include "glog/logging.h"
#include "storage/base/thread_pool.h"
#include "storage/store/rocks_db.h"

namespace armature::store {

CompactionSwitches::CompactionSwitches(RocksDb* db, std::function<void()> ended) : db_(db), ended_(std::move(ended)) {}

CompactionSwitches::~CompactionSwitches() {
  const auto is_quiet = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return in_progress_.empty(); };
  std::vector<std::thread> done;
  {
    const absl::MutexLock lock(&mutex_, absl::Condition(&is_quiet));
    done.swap(done_);
  }
  for (std::thread& thread : done) thread.join();
}

bool CompactionSwitches::Stop(const std::string& family) {
  if (IsInProgress(family)) return false;
  if (db_->AreCompactionsStopped(family)) return true;
  Begin(family, Change::kStop);
  return false;
}

void CompactionSwitches::Start(const std::string& family) { Begin(family, Change::kStart); }

bool CompactionSwitches::is_any_in_progress() const {
  const absl::MutexLock lock(&mutex_);
  return !in_progress_.empty();
}

bool CompactionSwitches::IsInProgress(const std::string& family) const {
  const absl::MutexLock lock(&mutex_);
  return in_progress_.contains(family);
}

void CompactionSwitches::Begin(const std::string& family, Change change) {
  std::vector<std::thread> done;
  {
    const absl::MutexLock lock(&mutex_);
    done.swap(done_);
    const auto [entry, is_new] = in_progress_.try_emplace(family);
    CHECK(is_new) << family << " is being changed";
    entry->second = std::thread([this, family, change] { Run(family, change); });
  }
  for (std::thread& thread : done) thread.join();
}

void CompactionSwitches::Run(const std::string& family, Change change) {
  SetThreadName("arm-compactions");
  const absl::Status changed = change == Change::kStop ? db_->StopCompactions(family) : db_->StartCompactions(family);
  if (!changed.ok()) {
    LOG_EVERY_N(WARNING, 60) << "store: cannot change a damaged family status=" << changed;
  }
  {
    const absl::MutexLock lock(&mutex_);
    const auto own = in_progress_.find(family);
    done_.push_back(std::move(own->second));
    in_progress_.erase(own);
  }
  if (ended_ != nullptr) ended_();
}

}  // namespace armature::store
