#include "storage/store/catalog/ddl_worker.h"

#include <memory>
#include <set>
#include <utility>

#include "absl/time/time.h"
#include "glog/logging.h"
#include "storage/base/thread_pool.h"
#include "storage/store/catalog/catalog.h"
#include "storage/store/meta_keys.h"
#include "storage/store/rocks_db.h"

namespace armature::store {
namespace {

// After a failure (a full disk, say) the work is tried again after this long.
constexpr absl::Duration kRetryAfter = absl::Seconds(1);

}  // namespace

DdlWorker::DdlWorker(Catalog* catalog, RocksDb* db) : catalog_(catalog), db_(db) {
  catalog_->SetReleaseListener([this] { Wake(); });
  thread_ = std::thread([this] { Work(); });
}

DdlWorker::~DdlWorker() {
  catalog_->SetReleaseListener(nullptr);
  {
    const absl::MutexLock lock(&mutex_);
    stopping_ = true;
    wake_.Signal();
  }
  thread_.join();
}

void DdlWorker::Wake() {
  const absl::MutexLock lock(&mutex_);
  woken_ = true;
  wake_.Signal();
}

void DdlWorker::Work() {
  SetThreadName("arm-ddl");
  while (true) {
    {
      const absl::MutexLock lock(&mutex_);
      while (!woken_ && !stopping_) {
        if (wake_.WaitWithTimeout(&mutex_, kRetryAfter)) break;
      }
      if (stopping_) return;
      woken_ = false;
    }
    RunOnce();
    const absl::MutexLock lock(&listener_mutex_);
    if (listener_) listener_();
  }
}

void DdlWorker::SetListener(std::function<void()> listener) {
  const absl::MutexLock lock(&listener_mutex_);
  listener_ = std::move(listener);
}

void DdlWorker::RunOnce() {
  const absl::MutexLock lock(&run_mutex_);
  CreateTables();
  DeleteTables();
  CreateIndexes();
  DeleteIndexes();
}

void DdlWorker::CreateTables() {
  std::vector<TableId> tables;
  std::vector<std::string> families;
  const std::shared_ptr<const CatalogSnapshot> snapshot = catalog_->snapshot();
  for (const auto& [name, table] : snapshot->tables()) {
    if (table->descriptor.state != model::TableState::kCreating) continue;
    tables.push_back(table->descriptor.id);
    for (std::string& family : Catalog::FamilyNames(table->descriptor)) {
      families.push_back(std::move(family));
    }
  }
  if (tables.empty()) return;
  absl::Status status = db_->CreateFamilies(families);
  if (status.ok()) status = catalog_->Activate(tables);
  if (status.ok()) {
    LOG(INFO) << "ddl: created tables=" << tables.size() << " families=" << families.size();
  } else {
    LOG(ERROR) << "ddl: creation failed tables=" << tables.size() << " status=" << status;
  }
}

void DdlWorker::DeleteTables() {
  std::vector<model::TableDescriptor> tables;
  std::vector<std::string> families;
  const std::shared_ptr<const CatalogSnapshot> snapshot = catalog_->snapshot();
  for (const auto& [name, table] : snapshot->tables()) {
    if (table->descriptor.state != model::TableState::kDeleting) continue;
    if (!catalog_->IsReleased(table->descriptor.id)) continue;
    tables.push_back(table->descriptor);
    for (std::string& family : Catalog::FamilyNames(table->descriptor)) {
      families.push_back(std::move(family));
    }
  }
  if (tables.empty()) return;
  absl::Status status = db_->DropFamilies(families);
  for (const model::TableDescriptor& table : tables) {
    if (status.ok()) status = catalog_->Remove(table);
  }
  if (status.ok()) {
    LOG(INFO) << "ddl: deleted tables=" << tables.size() << " families=" << families.size();
  } else {
    LOG(ERROR) << "ddl: deletion failed tables=" << tables.size() << " status=" << status;
  }
}

void DdlWorker::CreateIndexes() {
  struct Added {
    TableId table;
    IndexId index;
  };
  std::vector<Added> indexes;
  std::vector<std::string> families;
  const std::shared_ptr<const CatalogSnapshot> snapshot = catalog_->snapshot();
  for (const auto& [name, table] : snapshot->tables()) {
    if (table->descriptor.state != model::TableState::kUpdating) continue;
    for (const model::IndexDescriptor& index : table->descriptor.global_indexes) {
      if (index.state != model::IndexState::kCreating || index.backfilling) continue;
      indexes.push_back({table->descriptor.id, index.id});
      families.push_back(GlobalIndexFamilyName(table->descriptor.id, index.id));
    }
  }
  if (indexes.empty()) return;
  absl::Status status = db_->CreateFamilies(families);
  for (const auto& [table, index] : indexes) {
    if (status.ok()) status = catalog_->BeginBackfill(table, index);
  }
  if (status.ok()) {
    LOG(INFO) << "ddl: created indexes=" << indexes.size();
  } else {
    LOG(ERROR) << "ddl: creation of indexes failed indexes=" << indexes.size() << " status=" << status;
  }
}

void DdlWorker::DeleteIndexes() {
  struct Deleted {
    TableId table;
    IndexId index;
  };
  std::vector<Deleted> indexes;
  std::vector<std::string> families;
  const std::shared_ptr<const CatalogSnapshot> snapshot = catalog_->snapshot();
  for (const auto& [name, table] : snapshot->tables()) {
    for (const model::IndexDescriptor& index : table->descriptor.global_indexes) {
      const bool table_stays = table->descriptor.state == model::TableState::kUpdating;
      if (!table_stays || index.state != model::IndexState::kDeleting) continue;
      if (!catalog_->IsReleased(table->descriptor.id, index.id)) continue;
      indexes.push_back({table->descriptor.id, index.id});
      families.push_back(GlobalIndexFamilyName(table->descriptor.id, index.id));
    }
  }
  if (indexes.empty()) return;
  absl::Status status = db_->DropFamilies(families);
  for (const auto& [table, index] : indexes) {
    if (status.ok()) status = catalog_->RemoveIndex(table, index);
  }
  if (status.ok()) {
    LOG(INFO) << "ddl: deleted indexes=" << indexes.size();
  } else {
    LOG(ERROR) << "ddl: deletion of indexes failed indexes=" << indexes.size() << " status=" << status;
  }
}

void DdlWorker::RemoveOrphans() {
  std::set<std::string> known = {"default", std::string(kMetaFamily), std::string(kLogFamily)};
  const std::shared_ptr<const CatalogSnapshot> snapshot = catalog_->snapshot();
  for (const auto& [name, table] : snapshot->tables()) {
    for (std::string& family : Catalog::FamilyNames(table->descriptor)) known.insert(std::move(family));
  }
  std::vector<std::string> orphans;
  for (std::string& name : db_->FamilyNames()) {
    if (!known.contains(name)) orphans.push_back(std::move(name));
  }
  if (orphans.empty()) return;
  const absl::Status status = db_->DropFamilies(orphans);
  LOG(WARNING) << "ddl: removed orphan families count=" << orphans.size() << " status=" << status;
}

}  // namespace armature::store
