#include "storage/store/salvage.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "glog/logging.h"
#include "rocksdb/db.h"
#include "rocksdb/write_batch.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/stored_item.h"
#include "storage/store/catalog/catalog.h"
#include "storage/store/catalog/catalog_record.h"
#include "storage/store/data_directory.h"
#include "storage/store/inspector.h"
#include "storage/store/keyspace.h"
#include "storage/store/meta_keys.h"
#include "storage/store/remade_families.h"
#include "storage/store/rocks_db.h"
#include "storage/store/rocks_options.h"
#include "storage/store/rocks_status.h"
#include "storage/store/table_files.h"
#include "storage/store/wal/log_check.h"
#include "storage/store/wal/log_register.h"
#include "storage/store/wal/log_scan.h"
#include "storage/store/wal/manifest_families.h"

namespace armature::store {
namespace {

constexpr size_t kBatchBytes = 1 << 20;
constexpr size_t kSalvageCacheBytes = 64 << 20;
constexpr std::string_view kWorkDirectory = "/salvage";  // in the new directory: links to the files, repaired

// False for rows that are made again from items, those of global indexes and of the expiry, and for the records from
// which global indexes would be updated.
bool IsCopied(std::string_view family) {
  return family != rocksdb::kDefaultColumnFamilyName && family != kLogFamily && family != kExpiryFamily &&
         !family.starts_with('g');
}

// Rows of tables and local indexes are stored items.
bool HasItems(std::string_view family) {
  return IsDataFamilyName(family) || (family.size() > 1 && family[0] == 'l' && family[1] >= '0' && family[1] <= '9');
}

// The families that the log may name, by their ids.
using FamilyNames = std::map<uint32_t, std::string>;

class Salvager {
 public:
  Salvager(Volume* volume, std::string from, std::string to)
      : volume_(volume), from_(std::move(from)), to_(std::move(to)) {}

  absl::StatusOr<SalvageReport> Run() {
    ARM_RETURN_IF_ERROR(OpenSource());
    ARM_RETURN_IF_ERROR(OpenTarget());
    ARM_RETURN_IF_ERROR(CopyRows());
    // A gap of a file hides rows that are only in the log, too.
    if (!is_whole_ || !gaps_.empty()) ARM_RETURN_IF_ERROR(ReplayLogs());
    ARM_RETURN_IF_ERROR(MendCatalog());
    ARM_RETURN_IF_ERROR(CountItems());
    ARM_RETURN_IF_ERROR(Finish());
    return std::move(report_);
  }

 private:
  // Opens what there is to read. If RocksDB cannot open the database, its files are linked into the new directory and
  // a manifest is made for them there.
  absl::Status OpenSource() {
    ARM_ASSIGN_OR_RETURN(const bool is_unused, IsUnused(to_));
    if (!is_unused) return FailedPreconditionError(Cat(to_, " is not empty: name a new directory"));
    ARM_ASSIGN_OR_RETURN(source_, Inspector::Open(volume_, from_));
    is_whole_ = source_->extent() == Inspector::Extent::kAll;
    is_manifest_whole_ = source_->extent() != Inspector::Extent::kNothing;
    for (const std::string& problem : source_->problems()) report_.problems.push_back(problem);
    ReadRegister();
    const std::string db = Cat(from_, kDataDatabase);
    for (const LogName manifest : LogsOf(LogKind::kManifest)) {
      absl::StatusOr<FamilyNames> names = ReadFamilyNames(volume_, Cat(db, "/", FileName(manifest)));
      if (names.ok()) names_.merge(*names);
    }
    return absl::OkStatus();
  }

  // Names of the files of `kind` of the database, in order. If they cannot be listed there are none, and a problem
  // more.
  std::vector<LogName> LogsOf(LogKind kind) {
    const absl::StatusOr<std::vector<std::string>> entries = volume_->List(Cat(from_, kDataDatabase));
    if (!entries.ok()) report_.problems.push_back(Cat("logs are left out: ", Sv(entries.status().message())));
    std::vector<LogName> names;
    for (const std::string& entry : entries.ok() ? *entries : std::vector<std::string>()) {
      LogName name;
      if (ParseLogName(entry, &name) && name.kind == kind) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  // RocksDB opens a database whose manifest or log ends too early. The register knows where they ended.
  void ReadRegister() {
    const std::string db = from_ + "/db";
    const absl::StatusOr<std::unique_ptr<LogRegister>> logs =
        LogRegister::Open(volume_, Cat(db, "/", kLogRegisterFile), LogRegister::Access::kRead);
    if (!logs.ok()) return;
    const absl::StatusOr<LogFindings> findings = FindLogFaults(volume_, db, **logs);
    if (!findings.ok() || !findings->are_registered) return;
    for (const LogFault& fault : findings->faults) {
      report_.problems.push_back(fault.text);
      is_whole_ = false;
      if (fault.name.kind == LogKind::kManifest) is_manifest_whole_ = false;
    }
  }

  absl::StatusOr<bool> IsUnused(const std::string& directory) const {
    ARM_ASSIGN_OR_RETURN(const bool is_there, volume_->Exists(directory));
    return is_there ? IsUnusedDataDirectory(volume_, directory) : true;
  }

  absl::Status OpenTarget() {
    ARM_ASSIGN_OR_RETURN(target_, DataDirectory::Open(volume_, to_));
    // Until it is complete, a start refuses the directory, as it does during a restore.
    ARM_RETURN_IF_ERROR(volume_->WriteDurably(Cat(to_, kDataRestoringFile), ""));
    if (!is_manifest_whole_) ARM_RETURN_IF_ERROR(RepairFiles());
    ARM_RETURN_IF_ERROR(volume_->MakeDirectories(target_->db_path()));
    DatabaseOptions options;
    options.volume = volume_;
    options.path = to_;
    options.cache_bytes = kSalvageCacheBytes;
    ARM_ASSIGN_OR_RETURN(rocks_, RocksDb::Open(target_->db_path(), options, RocksDb::IfMissing::kCreate));
    return absl::OkStatus();
  }

  absl::Status RepairFiles() {
    const std::string work = Cat(to_, kWorkDirectory);
    ARM_ASSIGN_OR_RETURN(const std::vector<std::string> left_out,
                         MakeManifestOf(volume_, from_, work, LinkKind::kHard));
    for (const std::string& file : left_out) {
      report_.problems.push_back(Cat(from_, "/db/", file, " cannot be read as a whole; left out"));
    }
    ARM_ASSIGN_OR_RETURN(std::unique_ptr<Inspector> repaired, Inspector::Open(volume_, work));
    if (repaired->extent() == Inspector::Extent::kNothing) {
      return DataLossError(Cat("nothing of the files in ", from_, "/db can be read: ", repaired->problems().back()));
    }
    held_ = std::exchange(source_, std::move(repaired));
    return absl::OkStatus();
  }

  absl::Status CopyRows() {
    for (const FamilyFiles& family : source_->Families()) {
      names_[family.id] = family.name;
      flushed_[family.name] = family.largest_sequence;
      if (!IsCopied(family.name)) continue;
      ARM_RETURN_IF_ERROR(rocks_->CreateFamilies({family.name}));
      rocksdb::ColumnFamilyHandle* const handle = rocks_->Find(family.name)->handle();
      rocksdb::WriteBatch batch;
      absl::Status failed;
      const auto copy = [&](std::string_view key, std::string_view value) {
        batch.Put(handle, ToSlice(key), ToSlice(value));
        if (batch.GetDataSize() >= kBatchBytes) failed = Write(&batch);
        return failed.ok() ? RowVerdict::kContinue : RowVerdict::kStop;
      };
      const auto add_gap = [&](const ReadGap& gap) {
        ++gaps_[family.name];
        report_.problems.push_back(Cat(Sv(gap.reason.message())));
      };
      ARM_RETURN_IF_ERROR(source_->ForEachRow(family.name, {}, copy, add_gap).status());
      ARM_RETURN_IF_ERROR(failed);
      ARM_RETURN_IF_ERROR(Write(&batch));
    }
    return absl::OkStatus();
  }

  absl::Status Write(rocksdb::WriteBatch* batch) {
    if (batch->Count() == 0) return absl::OkStatus();
    ARM_RETURN_IF_ERROR(rocks_->Write(batch, /*sync=*/false, "salvage"));
    batch->Clear();
    return absl::OkStatus();
  }

  // Applies the writes of a batch of the log whose families do not have them in their files.
  class Replay final : public rocksdb::WriteBatch::Handler {
   public:
    Replay(Salvager* salvager, uint64_t sequence, rocksdb::WriteBatch* out)
        : salvager_(salvager), sequence_(sequence), out_(out) {}

    rocksdb::Status PutCF(uint32_t id, const rocksdb::Slice& key, const rocksdb::Slice& value) override {
      rocksdb::ColumnFamilyHandle* const family = Next(id);
      return family == nullptr ? rocksdb::Status() : out_->Put(family, key, value);
    }
    rocksdb::Status DeleteCF(uint32_t id, const rocksdb::Slice& key) override {
      rocksdb::ColumnFamilyHandle* const family = Next(id);
      return family == nullptr ? rocksdb::Status() : out_->Delete(family, key);
    }
    rocksdb::Status DeleteRangeCF(uint32_t id, const rocksdb::Slice& begin, const rocksdb::Slice& end) override {
      rocksdb::ColumnFamilyHandle* const family = Next(id);
      return family == nullptr ? rocksdb::Status() : out_->DeleteRange(family, begin, end);
    }
    void LogData(const rocksdb::Slice&) override {}
    absl::Status status() const { return status_; }

   private:
    // The family for the next write; null if the write is left out.
    rocksdb::ColumnFamilyHandle* Next(uint32_t id) {
      const uint64_t sequence = sequence_++;
      const auto name = salvager_->names_.find(id);
      if (name == salvager_->names_.end()) {
        ++salvager_->report_.log_writes_left_out;
        return nullptr;
      }
      if (!IsCopied(name->second)) return nullptr;
      const auto flushed = salvager_->flushed_.find(name->second);
      if (flushed != salvager_->flushed_.end() && sequence <= flushed->second) return nullptr;
      if (salvager_->rocks_->Find(name->second) == nullptr) {
        if (absl::Status made = salvager_->rocks_->CreateFamilies({name->second}); !made.ok()) {
          status_ = std::move(made);
          return nullptr;
        }
      }
      ++salvager_->report_.log_writes;
      return salvager_->rocks_->Find(name->second)->handle();
    }

    Salvager* const salvager_;
    uint64_t sequence_;
    rocksdb::WriteBatch* const out_;
    absl::Status status_;
  };

  absl::Status ReplayLogs() {
    AddFixedNames();
    const std::string db = Cat(from_, kDataDatabase);
    for (const LogName log : LogsOf(LogKind::kWriteAhead)) {
      const std::string file = Cat(db, "/", FileName(log));
      absl::Status failed;
      uint64_t behind = 0;
      const auto apply = [&](std::string_view record, bool is_behind_damage) {
        if (failed.ok()) failed = ReplayBatch(record);
        if (is_behind_damage) ++behind;
      };
      const absl::StatusOr<LogScan> scan = ScanLog(volume_, file, apply);
      ARM_RETURN_IF_ERROR(failed);
      if (!scan.ok()) {
        report_.problems.push_back(Cat(Sv(scan.status().message())));
      } else if (!scan->is_whole()) {
        report_.problems.push_back(
            Cat(file, " is damaged at offset ", scan->whole, "; ", behind, " batches behind the damage were taken"));
      }
    }
    return absl::OkStatus();
  }

  // The families that every database has are made first, in this order.
  void AddFixedNames() {
    const bool has_streams = source_->format().version >= 3 || held_ != nullptr;
    uint32_t id = 0;
    for (const std::string_view name : {std::string_view("default"), kMetaFamily, kLogFamily, kStreamFamily}) {
      if (name == kStreamFamily && !has_streams) break;
      names_.try_emplace(id++, std::string(name));
    }
  }

  absl::Status ReplayBatch(std::string_view record) {
    constexpr size_t kHeadBytes = 12;  // sequence, number of writes
    if (record.size() < kHeadBytes) return absl::OkStatus();
    uint64_t sequence = 0;
    for (size_t i = 0; i < sizeof(sequence); ++i) sequence |= uint64_t{static_cast<uint8_t>(record[i])} << (8 * i);
    const rocksdb::WriteBatch batch{std::string(record)};
    rocksdb::WriteBatch out;
    Replay replay(this, sequence, &out);
    // A malformed rest of a batch whose checksum was right comes from another build: what was read is kept.
    static_cast<void>(batch.Iterate(&replay));
    ARM_RETURN_IF_ERROR(replay.status());
    return Write(&out);
  }

  // ---------------------------------------------------------------------------------------------------------------

  // Removes what cannot be used, and what is made anew, from the catalog.
  absl::Status MendCatalog() {
    rocksdb::WriteBatch batch;
    rocksdb::ColumnFamilyHandle* const meta = rocks_->meta()->handle();
    uint32_t next_id = 1;
    uint64_t sequence = 0;
    std::set<std::string> counted;  // families that had totals, and therefore rows
    ARM_RETURN_IF_ERROR(
        rocks_->ForEachWithPrefix(*rocks_->meta(), "", [&](std::string_view key, std::string_view value) {
          MetaRecord record = ParseMetaRecord(key, value);
          if (!record.status.ok()) {
            report_.problems.push_back(Cat("a record of the catalog was left out: ", Sv(record.status.message())));
            batch.Delete(meta, ToSlice(key));
            return absl::OkStatus();
          }
          switch (record.kind) {
            case MetaKind::kNextId:
              next_id = std::max(next_id, static_cast<uint32_t>(record.number));
              break;
            case MetaKind::kSequence:
              sequence = std::max(sequence, record.number);
              break;
            case MetaKind::kCursor:
              sequence = std::max(sequence, record.number);
              [[fallthrough]];
            case MetaKind::kBuild:
            case MetaKind::kExpiry:
            case MetaKind::kStats:
              if (record.kind == MetaKind::kStats) counted.insert(record.name);
              batch.Delete(meta, ToSlice(key));
              break;
            case MetaKind::kTable:
              tables_.push_back(std::move(record.descriptor));
              break;
            case MetaKind::kStream:
              next_id = std::max(next_id, record.stream.value() + 1);
              break;
            default:
              break;
          }
          return absl::OkStatus();
        }));
    std::set<std::string> known = FixedFamilyNames();
    for (model::TableDescriptor& table : tables_) {
      BuildIndexesAgain(&table);
      batch.Put(meta, TableKey(table.id), EncodeTableRecord(table));
      next_id = std::max(next_id, table.id.value() + 1);
      for (const model::IndexDescriptor* const index : table.indexes()) {
        next_id = std::max(next_id, index->id.value() + 1);
      }
      for (const std::string& family : Catalog::FamilyNames(table)) {
        known.insert(family);
        const bool is_needed = table.state == model::TableState::kActive || table.state == model::TableState::kUpdating;
        const bool had_rows = counted.contains(family);
        if (is_needed && had_rows && !family.starts_with('g') && rocks_->Find(family) == nullptr) {
          report_.problems.push_back(Cat("column family ", family, " is lost; its table or index begins empty"));
        }
      }
    }
    ARM_ASSIGN_OR_RETURN(const uint64_t last_in_streams, LastStreamSequence());
    batch.Put(meta, ToSlice(kNextIdKey), EncodeU32(std::max(next_id, MaxFamilyId() + 1)));
    batch.Put(meta, ToSlice(kSequenceKey), EncodeU64(std::max(sequence, last_in_streams)));
    ARM_RETURN_IF_ERROR(Write(&batch));
    return DropUnknown(known);
  }

  // The first start fills these indexes.
  static void BuildIndexesAgain(model::TableDescriptor* table) {
    for (model::IndexDescriptor& index : table->global_indexes) BuildIndexAgain(table, &index);
  }

  // Ids of tables whose records are lost are not used again, because their streams are kept.
  uint32_t MaxFamilyId() {
    uint32_t max = 0;
    for (const std::string& family : rocks_->FamilyNames()) {
      for (const size_t at : {size_t{1}, family.find('.') + 1}) {
        uint32_t id = 0;
        if (at >= family.size()) continue;
        const auto [end, error] = std::from_chars(family.data() + at, family.data() + family.size(), id);
        if (error == std::errc()) max = std::max(max, id);
      }
    }
    return max;
  }

  absl::StatusOr<uint64_t> LastStreamSequence() {
    uint64_t last = 0;
    ARM_RETURN_IF_ERROR(rocks_->ForEachWithPrefix(*rocks_->stream(), "", [&](std::string_view key, std::string_view) {
      last = std::max(last, SequenceOfStreamRecordKey(key).value_or(ChangeSequence(0)).value());
      return absl::OkStatus();
    }));
    return last;
  }

  absl::Status DropUnknown(const std::set<std::string>& known) {
    std::vector<std::string> unknown;
    for (std::string& family : rocks_->FamilyNames()) {
      if (known.contains(family)) continue;
      LostFamily lost{family, 0};
      ARM_RETURN_IF_ERROR(
          rocks_->ForEachWithPrefix(*rocks_->Find(family), "", [&lost](std::string_view, std::string_view) {
            ++lost.rows;
            return absl::OkStatus();
          }));
      if (lost.rows > 0) report_.lost.push_back(std::move(lost));
      unknown.push_back(std::move(family));
    }
    return unknown.empty() ? absl::OkStatus() : rocks_->DropFamilies(unknown);
  }

  // Counts the totals of tables and local indexes.
  absl::Status CountItems() {
    rocksdb::WriteBatch batch;
    for (const model::TableDescriptor& table : tables_) {
      SalvagedTable salvaged{table.name, 0, 0, table.global_indexes.size()};
      for (const std::string& family : Catalog::FamilyNames(table)) {
        salvaged.gaps += gaps_[family];
        ColumnFamily* const found = rocks_->Find(family);
        if (found == nullptr || !HasItems(family)) continue;
        StatsDelta totals;
        size_t malformed = 0;
        ARM_RETURN_IF_ERROR(rocks_->ForEachWithPrefix(*found, "", [&](std::string_view, std::string_view value) {
          ++totals.items;
          const absl::StatusOr<codec::StoredItemView> item = codec::ParseStoredItem(value);
          if (item.ok()) totals.bytes += static_cast<int64_t>(item->api_size);
          malformed += item.ok() ? 0 : 1;
          return absl::OkStatus();
        }));
        if (malformed > 0) report_.problems.push_back(Cat(family, ": ", malformed, " rows hold no readable item"));
        if (IsDataFamilyName(family)) salvaged.rows = totals.items;
        batch.Put(rocks_->meta()->handle(), StatsKey(family), EncodeStats(totals));
      }
      report_.tables.push_back(std::move(salvaged));
    }
    std::sort(report_.tables.begin(), report_.tables.end(),
              [](const SalvagedTable& a, const SalvagedTable& b) { return a.name < b.name; });
    return Write(&batch);
  }

  absl::Status Finish() {
    ARM_RETURN_IF_ERROR(rocks_->SyncLog());
    rocks_.reset();
    ARM_RETURN_IF_ERROR(target_->FinishCreation());
    ARM_RETURN_IF_ERROR(target_->NoteLogs());
    source_.reset();
    // Left files do no harm.
    static_cast<void>(volume_->RemoveTree(Cat(to_, kWorkDirectory)));
    ARM_RETURN_IF_ERROR(volume_->Remove(Cat(to_, kDataRestoringFile)).status());
    return volume_->SyncDirectory(to_);
  }

  Volume* const volume_;
  const std::string from_;
  const std::string to_;
  std::unique_ptr<Inspector> source_;
  std::unique_ptr<Inspector> held_;  // keeps the lock of the damaged directory while its repaired files are read
  bool is_whole_ = false;            // RocksDB reads the whole log
  bool is_manifest_whole_ = false;   // RocksDB knows all files
  std::unique_ptr<DataDirectory> target_;
  std::unique_ptr<RocksDb> rocks_;
  FamilyNames names_;
  std::map<std::string, uint64_t, std::less<>> flushed_;  // greatest sequence in the files of a family
  std::map<std::string, size_t, std::less<>> gaps_;
  std::vector<model::TableDescriptor> tables_;
  SalvageReport report_;
};

}  // namespace

absl::StatusOr<SalvageReport> Salvage(Volume* volume, const std::string& from, const std::string& to) {
  return Salvager(volume, from, to).Run();
}

}  // namespace armature::store
