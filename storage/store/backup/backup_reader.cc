#include "storage/store/backup/backup_reader.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/escaping.h"
#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/utilities/backup_engine.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/backup/backup_repository_impl.h"
#include "storage/store/catalog/catalog_record.h"
#include "storage/store/data_directory.h"
#include "storage/store/files/volume.h"
#include "storage/store/meta_keys.h"
#include "storage/store/records/backup.pb.h"
#include "storage/store/rocks_options.h"
#include "storage/store/rocks_status.h"

namespace armature::store {
namespace {

constexpr size_t kReaderCacheBytes = size_t{8} << 20;
// Limit for backups with very many files. A reader reads one table at a time.
constexpr int kReaderOpenFilesMax = 512;
constexpr size_t kReadaheadBytes = size_t{1} << 20;

// Begins the note of a backup of one table.
constexpr std::string_view kHead = "table backup ";

}  // namespace

// Members in order of construction; destroyed in reverse.
struct BackupReader::Impl {
  Impl(Volume* given_volume, std::unique_ptr<const VolumeLock> given_hold, BackupEntry given_entry)
      : volume(given_volume), hold(std::move(given_hold)), entry(std::move(given_entry)) {}
  absl::Status OpenDatabase(const rocksdb::BackupEngineOptions& options, uint32_t engine_id);
  absl::Status ReadTables();
  // DataLoss if the table's column family is missing. A table that was never written has none.
  absl::Status CheckFamily(TableId table, std::string_view name) const;
  std::string Context() const { return Cat("backup ", entry.id); }

  Volume* const volume;
  const std::unique_ptr<const VolumeLock> hold;
  const BackupEntry entry;
  std::shared_ptr<rocksdb::Env> env;
  ReadOnlyDb rocks;
  std::vector<model::TableDescriptor> tables;
};

BackupReader::BackupReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BackupReader::~BackupReader() = default;

const std::vector<model::TableDescriptor>& BackupReader::tables() const { return impl_->tables; }

absl::StatusOr<std::unique_ptr<BackupReader>> BackupReader::Open(Volume* volume, const std::string& directory,
                                                                 BackupId id) {
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<BackupRepository> repository,
                       BackupRepository::Open(directory, {.volume = volume}));
  const BackupRepository::Impl& backups = *repository->impl_;
  ARM_ASSIGN_OR_RETURN(std::unique_ptr<const VolumeLock> hold, backups.files.Hold(id));
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
  auto impl = std::make_unique<Impl>(volume, std::move(hold), known.entry);
  ARM_RETURN_IF_ERROR(impl->OpenDatabase(backups.EngineOptions(volume->env()), known.manifest->engine_id));
  ARM_RETURN_IF_ERROR(impl->ReadTables());
  return std::unique_ptr<BackupReader>(new BackupReader(std::move(impl)));
}

absl::Status BackupReader::Impl::OpenDatabase(const rocksdb::BackupEngineOptions& options, uint32_t engine_id) {
  rocksdb::BackupEngineReadOnly* raw_engine = nullptr;
  ARM_RETURN_IF_ERROR(FromRocks(rocksdb::BackupEngineReadOnly::Open(options, volume->env(), &raw_engine), Context()));
  const std::unique_ptr<rocksdb::BackupEngineReadOnly> engine(raw_engine);
  rocksdb::BackupInfo info;
  ARM_RETURN_IF_ERROR(FromRocks(engine->GetBackupInfo(engine_id, &info, /*include_file_details=*/true), Context()));
  env = info.env_for_open;
  rocksdb::DBOptions db_options = MakeDbOptions({});
  db_options.env = env.get();
  db_options.max_open_files = kReaderOpenFilesMax;
  return FromRocks(rocks.Open(db_options, info.name_for_open, kReaderCacheBytes), Context());
}

absl::Status BackupReader::Impl::ReadTables() {
  const auto meta = rocks.families.find(kMetaFamily);
  if (meta == rocks.families.end())
    return DataLossError(Cat(Context(), ": column family ", kMetaFamily, " is missing"));
  rocksdb::ReadOptions read;
  read.total_order_seek = true;
  const std::unique_ptr<rocksdb::Iterator> it(rocks.db->NewIterator(read, meta->second));
  const rocksdb::Slice prefix = ToSlice(kTablePrefix);
  for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix); it->Next()) {
    ARM_ASSIGN_OR_RETURN(model::TableDescriptor table, ParseTableRecord(ToView(it->value())));
    const bool is_served = table.state == model::TableState::kActive || table.state == model::TableState::kUpdating;
    if (!is_served) continue;
    ARM_RETURN_IF_ERROR(CheckFamily(table.id, table.name));
    tables.push_back(std::move(table));
  }
  std::sort(tables.begin(), tables.end(),
            [](const model::TableDescriptor& a, const model::TableDescriptor& b) { return a.name < b.name; });
  return FromRocks(it->status(), Context());
}

absl::Status BackupReader::Impl::CheckFamily(TableId table, std::string_view name) const {
  const std::string family = DataFamilyName(table);
  if (rocks.families.contains(family)) return absl::OkStatus();
  std::string totals;
  const rocksdb::Status counted =
      rocks.db->Get(rocksdb::ReadOptions(), rocks.families.at(std::string(kMetaFamily)), StatsKey(family), &totals);
  if (counted.IsNotFound()) return absl::OkStatus();
  ARM_RETURN_IF_ERROR(FromRocks(counted, Context()));
  return DataLossError(Cat(Context(), ": the column family of table ", name, " is missing"));
}

absl::Status BackupReader::ReadTable(TableId table, RowVisitor visit) {
  const bool is_known = std::any_of(impl_->tables.begin(), impl_->tables.end(),
                                    [&](const model::TableDescriptor& known) { return known.id == table; });
  if (!is_known) return absl::NotFoundError(Cat(impl_->Context(), " has no table with id ", table.value()));
  return ReadRowsOf(table, visit);
}

absl::Status BackupReader::ReadRowsOf(TableId table, RowVisitor visit) {
  ARM_RETURN_IF_ERROR(impl_->CheckFamily(table, Cat(table.value())));
  const auto family = impl_->rocks.families.find(DataFamilyName(table));
  if (family == impl_->rocks.families.end()) return absl::OkStatus();
  rocksdb::ReadOptions read;
  read.total_order_seek = true;
  read.fill_cache = false;
  read.readahead_size = kReadaheadBytes;
  const std::unique_ptr<rocksdb::Iterator> it(impl_->rocks.db->NewIterator(read, family->second));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    if (visit(ToView(it->key()), ToView(it->value())) == RowVerdict::kStop) return absl::OkStatus();
  }
  return FromRocks(it->status(), Cat("read table ", table.value(), " of ", impl_->Context()));
}

std::string EncodeTableBackupNote(const TableBackupNote& note) {
  armature::disk::v1::TableBackupNote message;
  message.set_arn(note.arn);
  message.set_name(note.name);
  message.set_creation_time_ms(note.creation_time_ms);
  message.set_table_record(EncodeTableRecord(note.table));
  message.set_item_count(note.item_count);
  message.set_size_bytes(note.size_bytes);
  return Cat(kHead, note.name, " of ", note.table.name, "\n", Sv(absl::Base64Escape(message.SerializeAsString())));
}

std::optional<TableBackupNote> ParseTableBackupNote(const std::string& text) {
  const size_t end = text.find('\n');
  if (!text.starts_with(kHead) || end == std::string::npos) return std::nullopt;
  std::string bytes;
  armature::disk::v1::TableBackupNote message;
  if (!absl::Base64Unescape(text.substr(end + 1), &bytes) || !message.ParseFromString(bytes)) return std::nullopt;
  absl::StatusOr<model::TableDescriptor> table = ParseTableRecord(message.table_record());
  if (!table.ok()) return std::nullopt;
  return TableBackupNote{.arn = message.arn(),
                         .name = message.name(),
                         .creation_time_ms = message.creation_time_ms(),
                         .table = *std::move(table),
                         .item_count = message.item_count(),
                         .size_bytes = message.size_bytes()};
}

}  // namespace armature::store
