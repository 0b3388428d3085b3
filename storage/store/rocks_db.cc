#include "storage/store/rocks_db.h"

#include <utility>

#include "storage/base/status_macros.h"
#include "storage/store/meta_keys.h"
#include "storage/store/rocks_options.h"
#include "storage/store/rocks_status.h"

namespace armature::store {

absl::StatusOr<std::unique_ptr<RocksDb>> RocksDb::Open(const std::string& path, const DatabaseOptions& options,
                                                       IfMissing if_missing) {
  auto database = std::unique_ptr<RocksDb>(new RocksDb(options, rocksdb::NewLRUCache(options.cache_bytes)));
  ARM_RETURN_IF_ERROR(database->OpenFamilies(path, if_missing));
  ARM_RETURN_IF_ERROR(database->CreateFamilies({std::string(kMetaFamily), std::string(kLogFamily)}));
  database->meta_ = database->Find(kMetaFamily);
  database->log_ = database->Find(kLogFamily);
  ARM_RETURN_IF_ERROR(database->LoadStats());
  return database;
}

absl::Status RocksDb::OpenFamilies(const std::string& path, IfMissing if_missing) {
  rocksdb::DBOptions db_options = MakeDbOptions(options_);
  db_options.create_if_missing = if_missing == IfMissing::kCreate;
  std::vector<std::string> names;
  if (const rocksdb::Status listed = rocksdb::DB::ListColumnFamilies(db_options, path, &names); !listed.ok()) {
    if (if_missing == IfMissing::kFail) {
      return DataLossError(Cat("the database in ", path, " is missing or damaged (", listed.ToString(),
                               "); nothing was changed: restore it, or name another data directory"));
    }
    names = {rocksdb::kDefaultColumnFamilyName};
  }
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  descriptors.reserve(names.size());
  for (const std::string& name : names) {
    descriptors.emplace_back(
        name, name == kLogFamily ? MakeLogFamilyOptions(options_, cache_) : MakeDataFamilyOptions(options_, cache_));
  }
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* raw = nullptr;
  ARM_RETURN_IF_ERROR(FromRocks(rocksdb::DB::Open(db_options, path, descriptors, &handles, &raw), Cat("open ", path)));
  db_.reset(raw);
  const absl::MutexLock lock(&mutex_);
  for (rocksdb::ColumnFamilyHandle* handle : handles) {
    families_[handle->GetName()] = std::make_unique<ColumnFamily>(handle->GetName(), handle, StatsDelta{});
  }
  return absl::OkStatus();
}

absl::Status RocksDb::LoadStats() {
  const std::string prefix = StatsKey("");
  return ForEachWithPrefix(*meta_, prefix, [&](std::string_view key, std::string_view value) {
    ColumnFamily* const family = Find(key.substr(prefix.size()));
    if (family == nullptr) return absl::OkStatus();
    const absl::StatusOr<StatsDelta> totals = ParseStats(value);
    if (!totals.ok()) return WithContext(totals.status(), Cat("totals of ", family->name()));
    family->stats()->Add(*totals);
    return absl::OkStatus();
  });
}

RocksDb::~RocksDb() {
  if (db_ == nullptr) return;
  {
    const absl::MutexLock lock(&mutex_);
    for (const auto& [name, family] : families_) {
      static_cast<void>(db_->DestroyColumnFamilyHandle(family->handle()));
    }
    families_.clear();
  }
  static_cast<void>(db_->Close());
}

ColumnFamily* RocksDb::Find(std::string_view name) {
  const absl::MutexLock lock(&mutex_);
  const auto found = families_.find(name);
  return found == families_.end() ? nullptr : found->second.get();
}

std::vector<std::string> RocksDb::FamilyNames() {
  const absl::MutexLock lock(&mutex_);
  std::vector<std::string> names;
  for (const auto& [name, family] : families_) names.push_back(name);
  return names;
}

size_t RocksDb::family_count() {
  const absl::MutexLock lock(&mutex_);
  return families_.size();
}

absl::Status RocksDb::CreateFamilies(const std::vector<std::string>& names) {
  std::vector<rocksdb::ColumnFamilyDescriptor> missing;
  for (const std::string& name : names) {
    if (Find(name) != nullptr) continue;
    missing.emplace_back(
        name, name == kLogFamily ? MakeLogFamilyOptions(options_, cache_) : MakeDataFamilyOptions(options_, cache_));
  }
  if (missing.empty()) return absl::OkStatus();
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  const rocksdb::Status status = db_->CreateColumnFamilies(missing, &handles);
  // On a failure half-way the first ones exist and are ours.
  const absl::MutexLock lock(&mutex_);
  for (rocksdb::ColumnFamilyHandle* handle : handles) {
    families_[handle->GetName()] = std::make_unique<ColumnFamily>(handle->GetName(), handle, StatsDelta{});
  }
  return FromRocks(status, "create column families");
}

absl::Status RocksDb::DropFamilies(const std::vector<std::string>& names) {
  std::vector<std::unique_ptr<ColumnFamily>> dropped;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  {
    const absl::MutexLock lock(&mutex_);
    for (const std::string& name : names) {
      const auto found = families_.find(name);
      if (found == families_.end()) continue;
      handles.push_back(found->second->handle());
      dropped.push_back(std::move(found->second));
      families_.erase(found);
    }
  }
  if (handles.empty()) return absl::OkStatus();
  const absl::Status status = FromRocks(db_->DropColumnFamilies(handles), "drop column families");
  for (rocksdb::ColumnFamilyHandle* handle : handles) {
    static_cast<void>(db_->DestroyColumnFamilyHandle(handle));
  }
  return status;
}

absl::StatusOr<std::optional<std::string>> RocksDb::Get(const ColumnFamily& family, std::string_view key) {
  std::string value;
  const rocksdb::Status status = db_->Get(rocksdb::ReadOptions(), family.handle(), ToSlice(key), &value);
  if (status.IsNotFound()) return std::nullopt;
  ARM_RETURN_IF_ERROR(FromRocks(status, Cat("read from ", family.name())));
  return value;
}

absl::Status RocksDb::Write(rocksdb::WriteBatch* batch, bool sync, std::string_view context) {
  rocksdb::WriteOptions options;
  options.sync = sync;
  options.ignore_missing_column_families = true;
  return FromRocks(db_->Write(options, batch), context);
}

}  // namespace armature::store
