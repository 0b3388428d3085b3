#ifndef ARMATURE_STORAGE_STORE_ROCKS_DB_H_
#define ARMATURE_STORAGE_STORE_ROCKS_DB_H_

// Owns the storage engine and its column families. Inside the store only.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "rocksdb/db.h"
#include "rocksdb/write_batch.h"
#include "storage/store/column_family.h"
#include "storage/store/options.h"

namespace armature::store {

// Thread-safety: thread-safe; families are created and dropped by one DDL thread only.
// Lifetime: outlives every ColumnFamily pointer it gives out. A dropped family's object goes with DropFamilies.
class RocksDb {
 public:
  // `if_missing`: what to do when there is no database at `path`. With kFail that is DataLoss, and nothing is written.
  enum class IfMissing { kCreate, kFail };
  static absl::StatusOr<std::unique_ptr<RocksDb>> Open(const std::string& path, const DatabaseOptions& options,
                                                       IfMissing if_missing = IfMissing::kCreate);
  ~RocksDb();
  RocksDb(const RocksDb&) = delete;
  RocksDb& operator=(const RocksDb&) = delete;

  rocksdb::DB* db() { return db_.get(); }
  ColumnFamily* meta() { return meta_; }
  ColumnFamily* log() { return log_; }

  // The family called `name`, or null.
  ColumnFamily* Find(std::string_view name);
  std::vector<std::string> FamilyNames();
  size_t family_count();
  // How many families tables and indexes may have together.
  size_t table_families_max() const { return options_.column_families_max; }

  // Creates those of `names` that do not exist, in one call: each call costs a rewrite of the options file.
  absl::Status CreateFamilies(const std::vector<std::string>& names);
  // Drops those of `names` that exist. The caller made sure that nobody uses them.
  absl::Status DropFamilies(const std::vector<std::string>& names);

  // Point read; nullopt if there is no such key.
  absl::StatusOr<std::optional<std::string>> Get(const ColumnFamily& family, std::string_view key);
  // Calls fn(key, value) for every key that begins with `prefix`.
  template <class Fn>
  absl::Status ForEachWithPrefix(const ColumnFamily& family, std::string_view prefix, Fn fn);

  // Every write of the database goes through here. A batch that names a dropped family is applied without that part:
  // refusing it would stop all later writes of the engine.
  absl::Status Write(rocksdb::WriteBatch* batch, bool sync, std::string_view context);

 private:
  RocksDb(const DatabaseOptions& options, std::shared_ptr<rocksdb::Cache> cache)
      : options_(options), cache_(std::move(cache)) {}
  absl::Status OpenFamilies(const std::string& path, IfMissing if_missing);
  absl::Status LoadStats();

  const DatabaseOptions options_;
  const std::shared_ptr<rocksdb::Cache> cache_;
  std::unique_ptr<rocksdb::DB> db_;
  absl::Mutex mutex_;
  std::map<std::string, std::unique_ptr<ColumnFamily>, std::less<>> families_ ABSL_GUARDED_BY(mutex_);
  ColumnFamily* meta_ = nullptr;
  ColumnFamily* log_ = nullptr;
};

template <class Fn>
absl::Status RocksDb::ForEachWithPrefix(const ColumnFamily& family, std::string_view prefix, Fn fn) {
  rocksdb::ReadOptions read;
  read.total_order_seek = true;
  const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(read, family.handle()));
  const rocksdb::Slice start(prefix.data(), prefix.size());
  for (it->Seek(start); it->Valid() && it->key().starts_with(start); it->Next()) {
    const absl::Status status = fn(std::string_view(it->key().data(), it->key().size()),
                                   std::string_view(it->value().data(), it->value().size()));
    if (!status.ok()) return status;
  }
  return it->status().ok() ? absl::OkStatus() : absl::DataLossError(family.name() + ": " + it->status().ToString());
}

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_ROCKS_DB_H_
