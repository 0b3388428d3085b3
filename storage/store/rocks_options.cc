#include "storage/store/rocks_options.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "glog/logging.h"
#include "rocksdb/convenience.h"
#include "rocksdb/file_system.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/table_properties_collectors.h"
#include "storage/base/strings.h"
#include "storage/store/damaged_families.h"
#include "storage/store/disk_space.h"
#include "storage/store/files/file_error.h"
#include "storage/store/files/volume.h"
#include "storage/store/identity_file.h"
#include "storage/store/log_files.h"
#include "storage/store/meta_keys.h"
#include "storage/store/rocks_status.h"

namespace armature::store {
namespace {

// A file in which this part of a run of entries is deletions is compacted soon, because readers would step over them
// one by one. An update of an index is one deletion and one entry, so it does not reach this part.
constexpr size_t kDeletionWindowEntries = 4096;
constexpr size_t kDeletionsInWindow = 3072;

// A write of a new row looks for it in all files of the first level and one of each other level. With 10 bits a row,
// one search in a hundred reads a block in vain, on another thread if the block is not in the cache; with 14 one in
// 700.
constexpr double kFilterBitsPerRow = 14;

constexpr size_t kArenaBlockBytes = size_t{64} << 10;
// Size of a memtable's filter, as a part of the memtable.
constexpr double kFilterRatio = 0.003;

rocksdb::CompressionType FirstSupported(std::initializer_list<rocksdb::CompressionType> types) {
  const std::vector<rocksdb::CompressionType> supported = rocksdb::GetSupportedCompressions();
  for (const rocksdb::CompressionType type : types) {
    if (std::find(supported.begin(), supported.end(), type) != supported.end()) return type;
  }
  return rocksdb::kNoCompression;
}

rocksdb::CompressionType FastCompression() {
  return FirstSupported({rocksdb::kLZ4Compression, rocksdb::kSnappyCompression});
}

// For the last level, which has nine tenths of the data and is written least often.
rocksdb::CompressionType DenseCompression() {
  return FirstSupported({rocksdb::kZSTD, rocksdb::kLZ4Compression, rocksdb::kSnappyCompression});
}

rocksdb::BlockBasedTableOptions MakeTableOptions(const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.block_size = 8 << 10;
  table.format_version = 5;
  // The packaged CRC32C is a software implementation; XXH3 costs a tenth of it.
  table.checksum = rocksdb::kXXH3;
  table.cache_index_and_filter_blocks = true;
  table.cache_index_and_filter_blocks_with_high_priority = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  // In parts of the size of a block: else a cache that is small beside the data reads the whole index and filter of a
  // file, some hundred KB, for one row. Only the index of the parts is kept for each file.
  table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  table.partition_filters = true;
  return table;
}

// RocksDB's own, which holds the memtable mark.
constexpr std::string_view kDefaultFamily = "default";

// In RocksDB's warning that a flush has read another number of entries than were inserted into its memtables.
constexpr std::string_view kFewerRead = " entries in memtables, but read ";

// Warnings of RocksDB about what is done on purpose: no files of options, for each family that is made or dropped
// (LogFiles refuses them), and files that are kept for a backup and at the same time for another reason.
constexpr std::string_view kOnPurpose[] = {kNoOptionsFiles, "File Deletions Disabled, but already disabled",
                                           "File Deletions Enable, but not really enabled"};

bool IsOnPurpose(std::string_view line) {
  return std::any_of(std::begin(kOnPurpose), std::end(kOnPurpose),
                     [line](std::string_view text) { return line.find(text) != std::string_view::npos; });
}

// The family in a line of a flush: "[file] [family] [JOB 3] text". Empty if there is none.
std::string_view FamilyOf(std::string_view line) {
  const size_t end = line.find("] [JOB ");
  if (end == std::string_view::npos) return {};
  const size_t begin = line.rfind('[', end);
  return begin == std::string_view::npos ? std::string_view() : line.substr(begin + 1, end - begin - 1);
}

class LogWriter final : public rocksdb::Logger {
 public:
  LogWriter() : rocksdb::Logger(rocksdb::InfoLogLevel::WARN_LEVEL) {}

  using rocksdb::Logger::Logv;
  // Messages without a level are headers or debug output.
  void Logv(const char*, va_list) override {}
  void Logv(const rocksdb::InfoLogLevel level, const char* format, va_list arguments) override {
    if (level < GetInfoLogLevel() || level >= rocksdb::InfoLogLevel::HEADER_LEVEL) return;
    char line[1024];
    std::vsnprintf(line, sizeof line, format, arguments);
    if (IsOnPurpose(line)) return;
    const bool is_count_wrong = std::string_view(line).find(kFewerRead) != std::string_view::npos;
    // For each flush of a memtable that dropped old versions. In other families it means that rows were lost.
    if (is_count_wrong && IsOverwrittenFamilyName(FamilyOf(line))) return;
    if (level == rocksdb::InfoLogLevel::WARN_LEVEL && !is_count_wrong) {
      LOG(WARNING) << "rocksdb: " << line;
    } else {
      LOG(ERROR) << "rocksdb: " << line;
    }
  }
};

class ErrorListener final : public rocksdb::EventListener {
 public:
  ErrorListener(DiskSpace* space, DamagedFamilies* damages) : space_(space), damages_(damages) {}

  // Called by the thread that reports the error of the compaction next.
  void OnCompactionCompleted(rocksdb::DB*, const rocksdb::CompactionJobInfo& job) override {
    failed.reset();
    if (!job.status.ok()) failed.emplace(FailedCompaction{job.cf_name, job.input_files});
  }
  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* status) override {
    if (reason == rocksdb::BackgroundErrorReason::kCompaction && failed.has_value()) {
      const std::optional<FamilyDamage> damage = DamageOf(*std::exchange(failed, std::nullopt), *status);
      // A compaction that failed has changed nothing.
      if (damage.has_value() && damage->family != kMetaFamily && damage->family != kDefaultFamily) {
        if (damages_->Add(*damage)) {
          LOG(ERROR) << "store: a table file is damaged, its column family is set apart family=" << damage->family
                     << " " << DamageText(*damage);
        }
        *status = rocksdb::Status::OK();
        return;
      }
      if (damage.has_value())
        return space_->SetBroken(DiskSpace::Broken::kDamage, Cat("the catalog is damaged: ", DamageText(*damage)));
    }
    LOG(ERROR) << "store: background error status=" << status->ToString();
    using Severity = rocksdb::Status::Severity;
    // A new log file could not be created for lack of space or descriptors. The old log is intact.
    if (reason == rocksdb::BackgroundErrorReason::kMemTable && status->IsNoSpace()) {
      *status = rocksdb::Status(*status, Severity::kHardError);
    }
    if (status->severity() >= Severity::kFatalError) {
      const bool is_damage = status->IsCorruption();
      space_->SetBroken(is_damage ? DiskSpace::Broken::kDamage : DiskSpace::Broken::kWrite,
                        is_damage ? TextOf(*status) : std::string());
    } else if (status->severity() == Severity::kHardError && status->IsNoSpace()) {
      // RocksDB recovers from soft errors, such as those of a compaction, by itself.
      space_->SetFailed(IsAboutDescriptors(status->ToString()) ? Shortage::kDescriptors : Shortage::kSpace);
    }
  }
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status, bool* auto_recovery) override {
    *auto_recovery = false;
  }

 private:
  struct FailedCompaction {
    std::string family;
    std::vector<std::string> inputs;  // paths
  };

  // The damage of a file that the compaction has read. Nullopt: it failed for another reason.
  static std::optional<FamilyDamage> DamageOf(const FailedCompaction& compaction, const rocksdb::Status& status) {
    const std::string reason = TextOf(status);
    FamilyDamage damage{compaction.family, "", absl::ToUnixMillis(absl::Now()), reason};
    for (const std::string& path : compaction.inputs) {
      const std::string name(NameIn(path));
      if (reason.find(name) != std::string::npos) damage.file = name;
    }
    // A block that the disk cannot read, a file that is gone.
    const bool is_unreadable =
        (status.IsIOError() || status.IsPathNotFound()) && !status.IsNoSpace() && !damage.file.empty();
    if (!status.IsCorruption() && !is_unreadable) return std::nullopt;
    if (damage.file.empty() && compaction.inputs.size() == 1)
      damage.file = std::string(NameIn(compaction.inputs.front()));
    return damage;
  }

  static thread_local std::optional<FailedCompaction> failed;
  DiskSpace* const space_;
  DamagedFamilies* const damages_;
};

thread_local std::optional<ErrorListener::FailedCompaction> ErrorListener::failed;

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

IOStatus Refuse(const std::string& name) { return IOStatus::NotSupported("opened for reading only", name); }

class TextFile final : public rocksdb::FSSequentialFile {
 public:
  explicit TextFile(std::string text) : text_(std::move(text)) {}

  IOStatus Read(size_t size, const IOOptions&, rocksdb::Slice* result, char* scratch, IODebugContext*) override {
    const size_t taken = text_.copy(scratch, size, at_);
    *result = rocksdb::Slice(scratch, taken);
    at_ += taken;
    return IOStatus::OK();
  }
  IOStatus Skip(uint64_t size) override {
    at_ = std::min<size_t>(text_.size(), at_ + size);
    return IOStatus::OK();
  }

 private:
  const std::string text_;
  size_t at_ = 0;
};

class ReadOnlyFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  ReadOnlyFileSystem(Volume* volume, std::string current)
      : FileSystemWrapper(volume->file_system()), current_(std::move(current)) {}

  IOStatus NewSequentialFile(const std::string& name, const FileOptions& options,
                             std::unique_ptr<rocksdb::FSSequentialFile>* result, IODebugContext* debug) override {
    if (IsIdentity(name)) {
      *result = std::make_unique<TextFile>(std::string(kAnyIdentity));
    } else if (!current_.empty() && name.ends_with("/CURRENT")) {
      *result = std::make_unique<TextFile>(current_);
    } else {
      return FileSystemWrapper::NewSequentialFile(name, options, result, debug);
    }
    return IOStatus::OK();
  }
  // RocksDB aborts if the identity, which it does not need, cannot be read.
  IOStatus FileExists(const std::string& name, const IOOptions& options, IODebugContext* debug) override {
    return IsIdentity(name) ? IOStatus::OK() : FileSystemWrapper::FileExists(name, options, debug);
  }
  IOStatus GetFileSize(const std::string& name, const IOOptions& options, uint64_t* size,
                       IODebugContext* debug) override {
    if (!IsIdentity(name)) return FileSystemWrapper::GetFileSize(name, options, size, debug);
    *size = kAnyIdentity.size();
    return IOStatus::OK();
  }

  const char* Name() const override { return "ArmatureReadOnlyFileSystem"; }

  IOStatus NewWritableFile(const std::string& name, const FileOptions&, std::unique_ptr<rocksdb::FSWritableFile>*,
                           IODebugContext*) override {
    return Refuse(name);
  }
  IOStatus ReopenWritableFile(const std::string& name, const FileOptions&, std::unique_ptr<rocksdb::FSWritableFile>*,
                              IODebugContext*) override {
    return Refuse(name);
  }
  IOStatus ReuseWritableFile(const std::string& name, const std::string&, const FileOptions&,
                             std::unique_ptr<rocksdb::FSWritableFile>*, IODebugContext*) override {
    return Refuse(name);
  }
  IOStatus NewRandomRWFile(const std::string& name, const FileOptions&, std::unique_ptr<rocksdb::FSRandomRWFile>*,
                           IODebugContext*) override {
    return Refuse(name);
  }
  IOStatus NewMemoryMappedFileBuffer(const std::string& name,
                                     std::unique_ptr<rocksdb::MemoryMappedFileBuffer>*) override {
    return Refuse(name);
  }
  IOStatus NewLogger(const std::string& name, const IOOptions&, std::shared_ptr<rocksdb::Logger>*,
                     IODebugContext*) override {
    return Refuse(name);
  }
  IOStatus DeleteFile(const std::string& name, const IOOptions&, IODebugContext*) override { return Refuse(name); }
  IOStatus Truncate(const std::string& name, size_t, const IOOptions&, IODebugContext*) override {
    return Refuse(name);
  }
  IOStatus CreateDir(const std::string& name, const IOOptions&, IODebugContext*) override { return Refuse(name); }
  IOStatus CreateDirIfMissing(const std::string& name, const IOOptions& options, IODebugContext* debug) override {
    bool is_there = false;
    const IOStatus status = IsDirectory(name, options, &is_there, debug);
    return status.ok() && is_there ? IOStatus::OK() : Refuse(name);
  }
  IOStatus DeleteDir(const std::string& name, const IOOptions&, IODebugContext*) override { return Refuse(name); }
  IOStatus RenameFile(const std::string& name, const std::string&, const IOOptions&, IODebugContext*) override {
    return Refuse(name);
  }
  IOStatus LinkFile(const std::string& name, const std::string&, const IOOptions&, IODebugContext*) override {
    return Refuse(name);
  }
  // RocksDB's own lock would create a file.
  IOStatus LockFile(const std::string& name, const IOOptions&, rocksdb::FileLock**, IODebugContext*) override {
    return Refuse(name);
  }

 private:
  static bool IsIdentity(std::string_view name) { return NameIn(name) == kIdentityFile; }

  const std::string current_;
};

}  // namespace

rocksdb::DBOptions MakeDbOptions(const DatabaseOptions& options) {
  rocksdb::DBOptions db;
  db.env = options.volume->env();
  // Families are made in bulk by the DDL worker, never at open.
  db.create_missing_column_families = false;
  // LogFiles refuses them.
  db.fail_if_options_file_error = false;
  db.max_total_wal_size = options.wal_max_bytes;
  // A quarter of them flush memtables, at least one.
  db.max_background_jobs = static_cast<int>(options.background_threads);
  // Threads beside those of the jobs.
  db.max_subcompactions = static_cast<uint32_t>(std::clamp<size_t>(options.background_threads / 2, 1, 4));
  db.bytes_per_sync = 1 << 20;
  db.max_open_files = -1;
  // RocksDB starts this many threads for each family that it opens, even for few files.
  db.max_file_opening_threads = 4;
  // One thread does almost all writes, so a concurrent memtable would only cost.
  db.allow_concurrent_memtable_write = false;
  db.enable_pipelined_write = false;
  // The memtables of tables and of meta drop old versions before the flush; see memtable/collapsing_memtable.h.
  db.flush_verify_memtable_count = false;
  // With fsync before every answer, only the tail of the log may be torn. A hole before it is corruption: continuing
  // from before the hole would lose acknowledged writes.
  db.wal_recovery_mode = options.durability == Durability::kSync
                             ? rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords
                             : rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  db.info_log = MakeRocksLogger();
  // Memtables with rows that are not in the log hold only RocksDb's own mark.
  db.avoid_flush_during_shutdown = true;
  db.stats_dump_period_sec = 0;
  db.stats_persist_period_sec = 0;
  return db;
}

rocksdb::ColumnFamilyOptions MakeDataFamilyOptions(const DatabaseOptions& options,
                                                   const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::ColumnFamilyOptions family;
  family.write_buffer_size = options.memtable_bytes;
  // Small blocks: a thousand idle families must not pin a megabyte each.
  family.arena_block_size = kArenaBlockBytes;
  family.max_write_buffer_number = 3;
  family.compression = FastCompression();
  family.bottommost_compression = DenseCompression();
  rocksdb::BlockBasedTableOptions table = MakeTableOptions(cache);
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kFilterBitsPerRow));
  table.whole_key_filtering = true;
  family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  family.level_compaction_dynamic_level_bytes = true;
  family.table_properties_collector_factories.push_back(
      rocksdb::NewCompactOnDeletionCollectorFactory(kDeletionWindowEntries, kDeletionsInWindow));
  return family;
}

rocksdb::ColumnFamilyOptions MakeTableFamilyOptions(const DatabaseOptions& options,
                                                    const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::ColumnFamilyOptions family = MakeDataFamilyOptions(options, cache);
  // Ten bits per row of 300 bytes. Allocated with the memtable, so tables without writes pay for it as well.
  family.memtable_prefix_bloom_size_ratio = kFilterRatio;
  family.memtable_whole_key_filtering = true;
  return family;
}

size_t SmallMemtableBytes(const DatabaseOptions& options) {
  return static_cast<size_t>(kFilterRatio * static_cast<double>(options.memtable_bytes)) + 2 * kArenaBlockBytes;
}

rocksdb::ColumnFamilyOptions MakeRangeFamilyOptions(const DatabaseOptions& options,
                                                    const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::ColumnFamilyOptions family = MakeDataFamilyOptions(options, cache);
  family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(MakeTableOptions(cache)));
  return family;
}

std::shared_ptr<rocksdb::Logger> MakeRocksLogger() { return std::make_shared<LogWriter>(); }

std::shared_ptr<rocksdb::EventListener> MakeErrorListener(DiskSpace* space, DamagedFamilies* damages) {
  return std::make_shared<ErrorListener>(space, damages);
}

std::unique_ptr<rocksdb::Env> MakeReadOnlyEnv(Volume* volume, std::string current) {
  return rocksdb::NewCompositeEnv(std::make_shared<ReadOnlyFileSystem>(volume, std::move(current)));
}

ReadOnlyDb::~ReadOnlyDb() {
  for (const auto& [name, handle] : families) static_cast<void>(db->DestroyColumnFamilyHandle(handle));
}

rocksdb::Status ReadOnlyDb::Open(const rocksdb::DBOptions& options, const std::string& path, size_t cache_bytes) {
  std::vector<std::string> names;
  if (rocksdb::Status status = rocksdb::DB::ListColumnFamilies(options, path, &names); !status.ok()) return status;
  const rocksdb::ColumnFamilyOptions family = MakeDataFamilyOptions({}, rocksdb::NewLRUCache(cache_bytes));
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  descriptors.reserve(names.size());
  for (const std::string& name : names) descriptors.emplace_back(name, family);
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* raw = nullptr;
  rocksdb::Status status = rocksdb::DB::OpenForReadOnly(options, path, descriptors, &handles, &raw);
  if (!status.ok()) return status;
  db.reset(raw);
  for (rocksdb::ColumnFamilyHandle* const handle : handles) families.emplace(handle->GetName(), handle);
  return status;
}

}  // namespace armature::store
