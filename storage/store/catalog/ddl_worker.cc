#include "storage/store/catalog/ddl_worker.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "absl/time/time.h"
#include "glog/logging.h"
#include "storage/base/api_error.h"
#include "storage/base/monotonic_wait.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/base/time_histogram.h"
#include "storage/store/catalog/catalog.h"
#include "storage/store/meta_keys.h"
#include "storage/store/rocks_db.h"

namespace armature::store {
namespace {

// Delay of a retry after a failure, such as a full disk.
constexpr absl::Duration kRetryAfter = absl::Seconds(1);
// Pauses for clients that write at the same time. The first bounds the time that a deletion waits for the next round.
constexpr absl::Duration kRoundPause = absl::Milliseconds(20);
constexpr absl::Duration kPauseMax = absl::Milliseconds(200);
constexpr size_t kFamiliesPerDrop = 8;
constexpr int kDropPauseFactor = 4;

void Report(bool created, std::string_view kind, size_t count, const absl::Status& status) {
  const std::string_view change = created ? "created" : "deleted";
  if (status.ok()) {
    LOG(INFO) << "ddl: " << change << " " << kind << "=" << count;
  } else {
    LOG(ERROR) << "ddl: not " << change << " " << kind << "=" << count << " status=" << status;
  }
}

}  // namespace

DdlWorker::DdlWorker(Catalog* catalog, RocksDb* db) : catalog_(catalog), db_(db) {
  catalog_->SetWorkListener([this] { Wake(); });
  worker_.Start(Worker::Next::WhenWoken(kRetryAfter));
}

DdlWorker::~DdlWorker() { catalog_->SetWorkListener(nullptr); }

Worker::Next DdlWorker::Work() {
  RunOnce();
  CallListeners();
  // Deletions that are asked for meanwhile are made in one round.
  GiveWay(kRoundPause);
  return Worker::Next::WhenWoken(kRetryAfter);
}

void DdlWorker::SetListener(const void* owner, std::function<void()> listener) {
  const absl::MutexLock lock(&listener_mutex_);
  if (listener) {
    listeners_[owner] = std::move(listener);
  } else {
    listeners_.erase(owner);
  }
}

void DdlWorker::CallListeners() {
  const absl::MutexLock lock(&listener_mutex_);
  for (const auto& [owner, listener] : listeners_) listener();
}

void DdlWorker::RunOnce() {
  const absl::MutexLock lock(&run_mutex_);
  ChangeTables(model::TableState::kCreating);
  ChangeTables(model::TableState::kDeleting);
  ChangeIndexes(model::IndexState::kCreating);
  ChangeIndexes(model::IndexState::kDeleting);
}

// RocksDB keeps writers waiting while it drops a family.
absl::Status DdlWorker::Drop(const std::vector<std::string>& families) {
  for (size_t begin = 0; begin < families.size(); begin += kFamiliesPerDrop) {
    const size_t end = std::min(families.size(), begin + kFamiliesPerDrop);
    const int64_t begin_ns = MonotonicNs();
    const absl::Status dropped = db_->DropFamilies(
        {families.begin() + static_cast<ptrdiff_t>(begin), families.begin() + static_cast<ptrdiff_t>(end)});
    if (!dropped.ok()) return dropped;
    if (end < families.size()) GiveWay(kDropPauseFactor * absl::Nanoseconds(MonotonicNs() - begin_ns));
  }
  return absl::OkStatus();
}

void DdlWorker::GiveWay(absl::Duration pause) {
  const uint64_t writes = db_->client_writes();
  if (writes_seen_.exchange(writes) == writes) return;
  const int64_t until_ns = MonotonicAfter(std::min(pause, kPauseMax));
  bool was_woken = false;
  while (worker_.WaitForWake(until_ns)) {
    was_woken = true;
    ChangeTables(model::TableState::kCreating);
  }
  // The rest of what there is to do.
  if (was_woken) Wake();
}

void DdlWorker::ChangeTables(model::TableState state) {
  const bool creates = state == model::TableState::kCreating;
  std::vector<model::TableDescriptor> tables;
  std::vector<TableId> ids;
  std::vector<std::string> families;
  const std::shared_ptr<const CatalogSnapshot> snapshot = catalog_->snapshot();
  for (const auto& [id, table] : snapshot->unsettled()) {
    if (table->descriptor.state != state || (!creates && !catalog_->IsReleased(id))) continue;
    tables.push_back(table->descriptor);
    ids.push_back(id);
    for (std::string& family : Catalog::FamilyNames(table->descriptor)) families.push_back(std::move(family));
  }
  if (tables.empty()) return;
  absl::Status status;
  if (creates) {
    status = catalog_->Activate(ids);
  } else {
    status = Drop(families);
    if (status.ok()) status = catalog_->Remove(tables);
  }
  Report(creates, "tables", tables.size(), status);
  CallListeners();  // before other changes, which may take long
}

void DdlWorker::ChangeIndexes(model::IndexState state) {
  const bool creates = state == model::IndexState::kCreating;
  std::vector<std::pair<TableId, IndexId>> indexes;
  std::vector<std::string> families;
  const std::shared_ptr<const CatalogSnapshot> snapshot = catalog_->snapshot();
  for (const auto& [id, table] : snapshot->unsettled()) {
    // The first index whose construction begins makes the table ACTIVE, and others of it may wait then: a recovery
    // resets several at once, also beside one that is deleted.
    const model::TableState table_state = table->descriptor.state;
    if (table_state != model::TableState::kUpdating && table_state != model::TableState::kActive) continue;
    for (const model::IndexDescriptor& index : table->descriptor.global_indexes) {
      const bool is_due = index.state == state && (creates ? !index.backfilling : catalog_->IsReleased(id, index.id));
      if (!is_due) continue;
      indexes.emplace_back(id, index.id);
      families.push_back(GlobalIndexFamilyName(id, index.id));
    }
  }
  if (indexes.empty()) return;
  absl::Status status = creates ? absl::OkStatus() : Drop(families);
  for (const auto& [table, index] : indexes) {
    if (!status.ok()) break;
    status = creates ? catalog_->BeginBackfill(table, index) : catalog_->RemoveIndex(table, index);
  }
  Report(creates, "indexes", indexes.size(), status);
}

std::vector<std::string> FamiliesWithoutTable(const CatalogSnapshot& catalog, RocksDb* db) {
  std::set<std::string> known = FixedFamilyNames();
  for (const auto& [name, table] : catalog.tables()) {
    for (std::string& family : Catalog::FamilyNames(table->descriptor)) known.insert(std::move(family));
  }
  std::vector<std::string> families;
  for (std::string& name : db->FamilyNames()) {
    if (!known.contains(name)) families.push_back(std::move(name));
  }
  return families;
}

absl::Status DdlWorker::RemoveOrphans() {
  const std::vector<std::string> orphans = FamiliesWithoutTable(*catalog_->snapshot(), db_);
  std::string full;
  for (const std::string& name : orphans) {
    ARM_ASSIGN_OR_RETURN(const bool is_empty, db_->IsEmpty(*db_->Find(name)));
    if (!is_empty) full += Cat(full.empty() ? "" : ", ", name);
  }
  if (!full.empty()) {
    return DataLossError(Cat("column families with rows belong to no table of the catalog: ", full,
                             "; the catalog has lost their tables; nothing was changed: restore a backup, or see ",
                             "armature recover"));
  }
  if (orphans.empty()) return absl::OkStatus();
  const absl::Status status = db_->DropFamilies(orphans);
  LOG(WARNING) << "ddl: removed orphan families count=" << orphans.size() << " status=" << status;
  return absl::OkStatus();
}

}  // namespace armature::store
