#include "storage/store/backup/backup_reader.h"

#include <algorithm>
#include <utility>

#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/utilities/backup_engine.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/backup/backup_repository_impl.h"
#include "storage/store/catalog/catalog_record.h"
#include "storage/store/data_directory.h"
#include "storage/store/durable_file.h"
#include "storage/store/meta_keys.h"
#include "storage/store/rocks_options.h"
#include "storage/store/rocks_status.h"

namespace armature::store {
namespace {

constexpr size_t kCacheBytes = size_t{8} << 20;
// Limit for backups with very many files. A reader reads one table at a time.
constexpr int kOpenFilesMax = 512;
constexpr size_t kReadaheadBytes = size_t{1} << 20;

}  // namespace

// Members in order of construction; destroyed in reverse.
struct BackupReader::Impl {
  Impl(LockedFile given_hold, BackupEntry given_entry) : hold(std::move(given_hold)), entry(std::move(given_entry)) {}
  ~Impl() {
    if (db == nullptr) return;
    for (const auto& [name, handle] : families) static_cast<void>(db->DestroyColumnFamilyHandle(handle));
    static_cast<void>(db->Close());
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  absl::Status OpenDatabase(const rocksdb::BackupEngineOptions& options, uint32_t engine_id);
  absl::Status ReadTables();
  std::string Context() const { return Cat("backup ", entry.id); }

  const LockedFile hold;
  const BackupEntry entry;
  std::shared_ptr<rocksdb::Env> env;
  std::unique_ptr<rocksdb::DB> db;
  StringMap<rocksdb::ColumnFamilyHandle*> families;
  std::vector<model::TableDescriptor> tables;
};

BackupReader::BackupReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BackupReader::~BackupReader() = default;

const std::vector<model::TableDescriptor>& BackupReader::tables() const { return impl_->tables; }

absl::StatusOr<std::unique_ptr<BackupReader>> BackupReader::Open(const std::string& directory, BackupId id) {
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<BackupRepository> repository, BackupRepository::Open(directory, {}));
  const BackupRepository::Impl& backups = *repository->impl_;
  ARM_ASSIGN_OR_RETURN(LockedFile hold, backups.files.Hold(id));
  ARM_ASSIGN_OR_RETURN(const KnownBackup known, backups.files.Read(id));
  ARM_RETURN_IF_ERROR(known.state);
  ARM_RETURN_IF_ERROR(backups.CheckDataFormat(known.entry));
  // Table files have checksums of their own, checked by every read. In the log and in RocksDB's manifest damage could
  // pass for a torn end, so these files are checked here.
  const BackupObserver no_observer;
  BackupWork work(no_observer, nullptr);
  for (const BackupFile& file : known.manifest->files) {
    if (!file.name.starts_with("shared")) ARM_RETURN_IF_ERROR(backups.files.CheckContent(file, &work));
  }
  auto impl = std::make_unique<Impl>(std::move(hold), known.entry);
  ARM_RETURN_IF_ERROR(impl->OpenDatabase(backups.EngineOptions(rocksdb::Env::Default()), known.manifest->engine_id));
  ARM_RETURN_IF_ERROR(impl->ReadTables());
  return std::unique_ptr<BackupReader>(new BackupReader(std::move(impl)));
}

absl::Status BackupReader::Impl::OpenDatabase(const rocksdb::BackupEngineOptions& options, uint32_t engine_id) {
  rocksdb::BackupEngineReadOnly* raw_engine = nullptr;
  ARM_RETURN_IF_ERROR(
      FromRocks(rocksdb::BackupEngineReadOnly::Open(options, rocksdb::Env::Default(), &raw_engine), Context()));
  const std::unique_ptr<rocksdb::BackupEngineReadOnly> engine(raw_engine);
  rocksdb::BackupInfo info;
  ARM_RETURN_IF_ERROR(FromRocks(engine->GetBackupInfo(engine_id, &info, /*include_file_details=*/true), Context()));
  env = info.env_for_open;
  const DatabaseOptions database;
  rocksdb::DBOptions db_options = MakeDbOptions(database);
  db_options.env = env.get();
  db_options.max_open_files = kOpenFilesMax;
  std::vector<std::string> names;
  ARM_RETURN_IF_ERROR(FromRocks(rocksdb::DB::ListColumnFamilies(db_options, info.name_for_open, &names), Context()));
  const rocksdb::ColumnFamilyOptions family_options =
      MakeDataFamilyOptions(database, rocksdb::NewLRUCache(kCacheBytes));
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  descriptors.reserve(names.size());
  for (const std::string& name : names) descriptors.emplace_back(name, family_options);
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* raw = nullptr;
  ARM_RETURN_IF_ERROR(
      FromRocks(rocksdb::DB::OpenForReadOnly(db_options, info.name_for_open, descriptors, &handles, &raw), Context()));
  db.reset(raw);
  for (rocksdb::ColumnFamilyHandle* const handle : handles) families[handle->GetName()] = handle;
  return absl::OkStatus();
}

absl::Status BackupReader::Impl::ReadTables() {
  const auto meta = families.find(kMetaFamily);
  if (meta == families.end()) return DataLossError(Cat(Context(), ": column family ", kMetaFamily, " is missing"));
  rocksdb::ReadOptions read;
  read.total_order_seek = true;
  const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(read, meta->second));
  const rocksdb::Slice prefix = ToSlice(kTablePrefix);
  for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix); it->Next()) {
    ARM_ASSIGN_OR_RETURN(model::TableDescriptor table, ParseTableRecord(ToView(it->value())));
    const bool is_served = table.state == model::TableState::kActive || table.state == model::TableState::kUpdating;
    if (!is_served) continue;
    if (!families.contains(DataFamilyName(table.id))) {
      return DataLossError(Cat(Context(), ": the column family of table ", table.name, " is missing"));
    }
    tables.push_back(std::move(table));
  }
  std::sort(tables.begin(), tables.end(),
            [](const model::TableDescriptor& a, const model::TableDescriptor& b) { return a.name < b.name; });
  return FromRocks(it->status(), Context());
}

absl::Status BackupReader::ReadTable(TableId table,
                                     absl::FunctionRef<RowVerdict(std::string_view, std::string_view)> visit) {
  const bool is_known = std::any_of(impl_->tables.begin(), impl_->tables.end(),
                                    [&](const model::TableDescriptor& known) { return known.id == table; });
  if (!is_known) return absl::NotFoundError(Cat(impl_->Context(), " has no table with id ", table.value()));
  const auto family = impl_->families.find(DataFamilyName(table));
  rocksdb::ReadOptions read;
  read.total_order_seek = true;
  read.fill_cache = false;
  read.readahead_size = kReadaheadBytes;
  const std::unique_ptr<rocksdb::Iterator> it(impl_->db->NewIterator(read, family->second));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    if (visit(ToView(it->key()), ToView(it->value())) == RowVerdict::kStop) return absl::OkStatus();
  }
  return FromRocks(it->status(), Cat("read table ", table.value(), " of ", impl_->Context()));
}

}  // namespace armature::store
