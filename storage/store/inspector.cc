#include "storage/store/inspector.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "rocksdb/db.h"
#include "storage/base/status_macros.h"
#include "storage/store/meta_keys.h"
#include "storage/store/options.h"
#include "storage/store/read_only_env.h"
#include "storage/store/rocks_logging.h"
#include "storage/store/rocks_options.h"
#include "storage/store/rocks_status.h"
#include "storage/store/salvage.h"

namespace armature::store {
namespace {

namespace fs = std::filesystem;

constexpr size_t kCacheBytes = size_t{32} << 20;

// Leaves room below a shell's usual limit of open files.
constexpr int kOpenFilesMax = 512;

// Ways to open the database, each more tolerant than the one before.
struct Attempt {
  bool is_strict;
  rocksdb::WALRecoveryMode mode;
  std::string_view what;  // consequence, shown if all earlier attempts failed
};
constexpr Attempt kAttempts[] = {
    {true, rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords, ""},
    {true, rocksdb::WALRecoveryMode::kPointInTimeRecovery,
     "what follows is the state before the damage in RocksDB's log; later writes are left out"},
    {false, rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords,
     "what follows is all that can be read, which need not be the state of one moment"}};

bool Exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

}  // namespace

// The directory's lock, held shared. A directory without the lock file, such as a copy, needs no lock.
class Inspector::SharedLock {
 public:
  SharedLock() = default;
  ~SharedLock() {
    if (fd_ >= 0) close(fd_);
  }
  SharedLock(const SharedLock&) = delete;
  SharedLock& operator=(const SharedLock&) = delete;

  absl::Status Take(const std::string& directory) {
    const std::string file = Cat(directory, kDataLockFile);
    fd_ = open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ < 0 && errno == ENOENT) return absl::OkStatus();
    if (fd_ < 0) return UnavailableError(Cat("cannot open ", file, ": ", std::strerror(errno)));
    if (flock(fd_, LOCK_SH | LOCK_NB) == 0) return absl::OkStatus();
    if (errno == EWOULDBLOCK) {
      return FailedPreconditionError(Cat("data directory ", directory, " is in use by another process (", file,
                                         " is locked): stop the daemon first, or inspect a copy"));
    }
    return UnavailableError(Cat("cannot lock ", file, ": ", std::strerror(errno)));
  }

 private:
  int fd_ = -1;
};

struct Inspector::Rocks {
  ~Rocks() {
    for (const auto& [name, handle] : families) static_cast<void>(db->DestroyColumnFamilyHandle(handle));
  }

  std::unique_ptr<rocksdb::Env> env = MakeReadOnlyEnv();  // outlives the database
  std::unique_ptr<rocksdb::DB> db;
  std::map<std::string, rocksdb::ColumnFamilyHandle*, std::less<>> families;
};

namespace {

rocksdb::DBOptions ReadOnlyOptions(const DatabaseOptions& options, const Attempt& attempt, rocksdb::Env* env) {
  rocksdb::DBOptions db_options = MakeDbOptions(options);
  db_options.env = env;
  db_options.create_if_missing = false;
  db_options.max_open_files = kOpenFilesMax;
  db_options.paranoid_checks = attempt.is_strict;
  db_options.wal_recovery_mode = attempt.mode;
  return db_options;
}

}  // namespace

Inspector::Inspector(std::string path, std::unique_ptr<SharedLock> lock)
    : path_(std::move(path)), lock_(std::move(lock)) {}

Inspector::~Inspector() = default;

absl::StatusOr<std::unique_ptr<Inspector>> Inspector::Open(const std::string& path) {
  std::error_code error;
  const bool is_there = fs::exists(Cat(path, kDataFormatFile), error) || fs::exists(path + "/db/CURRENT", error);
  // Missing permission must not be reported as a missing database.
  if (error) return UnavailableError(Cat("cannot read ", path, ": ", error.message()));
  if (!is_there) {
    return FailedPreconditionError(Cat(path, " holds no database of Armature"));
  }
  auto lock = std::make_unique<SharedLock>();
  ARM_RETURN_IF_ERROR(lock->Take(path));
  auto inspector = std::unique_ptr<Inspector>(new Inspector(path, std::move(lock)));
  ARM_RETURN_IF_ERROR(inspector->ReadFormat());
  inspector->OpenRocks();
  return inspector;
}

absl::Status Inspector::ReadFormat() {
  is_new_ = Exists(Cat(path_, kDataNewFile));
  absl::StatusOr<DirectoryFormat> format = ReadDirectoryFormat(path_);
  if (!format.ok()) {
    problems_.push_back(Cat(Sv(format.status().message()), "; its data is taken for format ", kFormatVersion));
    return absl::OkStatus();
  }
  if (format->version > kFormatVersion) {
    return FailedPreconditionError(Cat("data directory ", path_, " has format ", format->version,
                                       "; this build reads formats up to ", kFormatVersion, ": use a newer armature"));
  }
  format_ = *std::move(format);
  return absl::OkStatus();
}

void Inspector::OpenRocks() {
  const std::string path = path_ + "/db";
  DatabaseOptions options;
  options.cache_bytes = kCacheBytes;
  const std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(options.cache_bytes);
  std::string failure;
  for (const Attempt& attempt : kAttempts) {
    auto rocks = std::make_unique<Rocks>();
    const rocksdb::DBOptions db_options = ReadOnlyOptions(options, attempt, rocks->env.get());
    std::vector<std::string> names;
    rocksdb::Status status = rocksdb::DB::ListColumnFamilies(db_options, path, &names);
    std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
    descriptors.reserve(names.size());
    for (const std::string& name : names) descriptors.emplace_back(name, MakeDataFamilyOptions(options, cache));
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    rocksdb::DB* raw = nullptr;
    if (status.ok()) status = rocksdb::DB::OpenForReadOnly(db_options, path, descriptors, &handles, &raw);
    if (!status.ok()) {
      if (failure.empty()) failure = Cat("the database in ", path, " is damaged: ", status.ToString());
      continue;
    }
    rocks->db.reset(raw);
    for (rocksdb::ColumnFamilyHandle* handle : handles) rocks->families.emplace(handle->GetName(), handle);
    rocks_ = std::move(rocks);
    if (!failure.empty()) problems_.push_back(Cat(failure, "; ", attempt.what));
    return;
  }
  problems_.push_back(Cat(failure, "; nothing of it can be read"));
}

std::vector<FamilyFiles> Inspector::Families() const {
  std::vector<FamilyFiles> families;
  if (rocks_ == nullptr) return families;
  for (const auto& [name, handle] : rocks_->families) {
    const auto number = [&, family = handle](const std::string& property) {
      uint64_t value = 0;
      return rocks_->db->GetIntProperty(family, property, &value) ? value : 0;
    };
    FamilyFiles family;
    family.name = name;
    family.rows_estimate = number(rocksdb::DB::Properties::kEstimateNumKeys);
    family.memory_rows = number(rocksdb::DB::Properties::kNumEntriesActiveMemTable) +
                         number(rocksdb::DB::Properties::kNumEntriesImmMemTables);
    rocksdb::ColumnFamilyMetaData files;
    rocks_->db->GetColumnFamilyMetaData(handle, &files);
    family.file_bytes = files.size;
    family.files = files.file_count;
    for (const rocksdb::LevelMetaData& level : files.levels) family.levels += level.files.empty() ? 0 : 1;
    families.push_back(std::move(family));
  }
  return families;
}

bool Inspector::HasFamily(std::string_view name) const {
  return rocks_ != nullptr && rocks_->families.find(name) != rocks_->families.end();
}

absl::StatusOr<RangeEnd> Inspector::ForEachRow(
    std::string_view family, const KeyRange& range,
    absl::FunctionRef<RowVerdict(std::string_view key, std::string_view value)> visit,
    absl::FunctionRef<void(const ReadGap&)> on_gap) const {
  if (!HasFamily(family)) return absl::NotFoundError(Cat("the database has no family ", family));
  rocksdb::ReadOptions read;
  read.total_order_seek = true;
  read.fill_cache = false;
  const rocksdb::Slice end = ToSlice(range.end);
  if (!range.end.empty()) read.iterate_upper_bound = &end;
  rocksdb::ColumnFamilyHandle* const handle = rocks_->families.find(family)->second;
  const auto make = [&] { return std::unique_ptr<rocksdb::Iterator>(rocks_->db->NewIterator(read, handle)); };
  return WalkPastDamage(make, family, range, visit, on_gap);
}

}  // namespace armature::store
