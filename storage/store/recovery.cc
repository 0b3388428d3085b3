#include "storage/store/recovery.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "glog/logging.h"
#include "rocksdb/write_batch.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/base/timer_queue.h"
#include "storage/store/catalog/catalog.h"
#include "storage/store/catalog/ddl_worker.h"
#include "storage/store/damaged_tables.h"
#include "storage/store/data_directory.h"
#include "storage/store/inspector.h"
#include "storage/store/meta_keys.h"
#include "storage/store/remade_families.h"
#include "storage/store/rocks_db.h"
#include "storage/store/rocks_status.h"
#include "storage/store/wal/log_check.h"

namespace armature::store {
namespace {

std::string LossOf(const LogFault& fault) {
  if (fault.name.kind == LogKind::kManifest) return "";
  if (fault.is_missing) return Cat("all writes that were only in this file, of at least ", fault.synced, " bytes");
  if (fault.scan.is_whole()) return Cat("the writes from offset ", fault.scan.size, " to ", fault.synced);
  return Cat("the writes in ", fault.scan.lost_bytes, " bytes of the file, from offset ", fault.scan.whole, " on in ",
             fault.scan.lost_places, fault.scan.lost_places == 1 ? " place" : " places", "; the others are kept");
}

// Adds the faults of the log. nullopt: the register does not know the log.
absl::StatusOr<std::optional<size_t>> AddLogFaults(Volume* volume, const std::string& data_dir, bool has_logs,
                                                   std::vector<Damage>* damage) {
  const std::string path = Cat(data_dir, kDataDatabase);
  const absl::StatusOr<std::unique_ptr<LogRegister>> opened =
      LogRegister::Open(volume, Cat(path, "/", kLogRegisterFile), LogRegister::Access::kRead);
  if (absl::IsNotFound(opened.status()) && !has_logs) return std::nullopt;
  if (absl::IsNotFound(opened.status()) || absl::IsDataLoss(opened.status())) {
    damage->push_back({std::string(Sv(opened.status().message())),
                       "writes in log files that are missing or too short, of which nothing is known", ""});
    return std::nullopt;
  }
  ARM_RETURN_IF_ERROR(opened.status());
  const absl::StatusOr<LogFindings> findings = FindLogFaults(volume, path, **opened);
  if (absl::IsNotFound(findings.status()) || absl::IsDataLoss(findings.status())) {
    const absl::StatusOr<LogName> manifest = FindLostManifest(volume, path);
    // Without a manifest RocksDB opens nothing.
    if (!manifest.ok()) return std::nullopt;
    damage->push_back({std::string(Sv(findings.status().message())),
                       Cat("nothing: the file is written anew, and names ", FileName(*manifest)), ""});
    return std::nullopt;
  }
  ARM_RETURN_IF_ERROR(findings.status());
  if (!findings->are_registered) return std::nullopt;
  for (const LogFault& fault : findings->faults) damage->push_back({fault.text, LossOf(fault), ""});
  return findings->faults.size();
}

std::vector<model::TableDescriptor> ReadableTables(const Inspector& inspector) {
  std::vector<model::TableDescriptor> tables;
  const auto read = [&tables](std::string_view key, std::string_view value) {
    MetaRecord record = ParseMetaRecord(key, value);
    if (record.kind == MetaKind::kTable && record.status.ok()) tables.push_back(std::move(record.descriptor));
    return RowVerdict::kContinue;
  };
  if (inspector.HasFamily(kMetaFamily)) {
    inspector.ForEachRow(kMetaFamily, {}, read, [](const ReadGap&) {}).status().IgnoreError();
  }
  return tables;
}

// Adds the table files that a start cannot open. False if there are none, or the start succeeds without them: it does
// not read all that CheckFiles does.
bool AddUnopenedFiles(const Inspector& inspector, std::vector<Damage>* damage) {
  std::vector<FamilyDamage> unopened = inspector.CheckFiles(Inspector::CheckDepth::kOpen);
  if (unopened.empty() || inspector.OpensAllFiles()) return false;
  const std::vector<model::TableDescriptor> tables = ReadableTables(inspector);
  for (FamilyDamage& file : unopened) {
    const DamagedPart part = PartOf(tables, std::move(file));
    damage->push_back(
        {Cat(NameOf(part), ": ", DamageText(part.damage)), LossWith(part.damage.family), part.damage.family});
  }
  return true;
}

// Adds what prevents RocksDB from opening the database, beyond the faults of its log.
void AddOpenProblem(const Inspector& inspector, std::optional<size_t> log_faults, std::vector<Damage>* damage) {
  using Extent = Inspector::Extent;
  if (inspector.format().version == 0) damage->push_back({inspector.problems().front(), "", ""});
  const Extent extent = inspector.extent();
  const bool has_unopened = AddUnopenedFiles(inspector, damage);
  if (extent == Extent::kAll) return;
  // The register knows which damage of the log matters.
  if (extent == Extent::kBeforeDamage && log_faults.has_value()) return;
  if (extent == Extent::kSome && has_unopened) return;
  if (extent == Extent::kSome && log_faults.value_or(0) > 0) return;
  const bool may_be_log = extent != Extent::kNothing && !log_faults.has_value();
  damage->push_back({inspector.problems().back(),
                     may_be_log ? "the writes in damaged blocks (of 32 KiB) of the log; the others are kept" : "", ""});
}

// Adds damage of the catalog, and families with rows that belong to no table.
absl::Status AddCatalogDamage(const Inspector& inspector, std::vector<Damage>* damage) {
  if (!inspector.HasFamily(kMetaFamily)) return absl::OkStatus();
  std::set<std::string> known = FixedFamilyNames();
  const auto read = [&](std::string_view key, std::string_view value) {
    const MetaRecord record = ParseMetaRecord(key, value);
    const bool stops_start = record.kind == MetaKind::kTable || record.kind == MetaKind::kNextId ||
                             record.kind == MetaKind::kSequence || record.kind == MetaKind::kStats ||
                             record.kind == MetaKind::kStream || record.kind == MetaKind::kSegment ||
                             record.kind == MetaKind::kEpoch;
    if (stops_start && !record.status.ok()) damage->push_back({std::string(Sv(record.status.message())), "", ""});
    if (record.kind != MetaKind::kTable || !record.status.ok()) return RowVerdict::kContinue;
    for (std::string& family : Catalog::FamilyNames(record.descriptor)) known.insert(std::move(family));
    return RowVerdict::kContinue;
  };
  const auto add_gap = [damage](const ReadGap& gap) {
    damage->push_back({Cat("the catalog cannot be read: ", Sv(gap.reason.message())), "", ""});
  };
  ARM_RETURN_IF_ERROR(inspector.ForEachRow(kMetaFamily, {}, read, add_gap).status());
  for (const FamilyFiles& family : inspector.Families()) {
    if (known.contains(family.name)) continue;
    bool has_rows = false;
    const auto see = [&has_rows](std::string_view, std::string_view) {
      has_rows = true;
      return RowVerdict::kStop;
    };
    ARM_RETURN_IF_ERROR(
        inspector.ForEachRow(family.name, {}, see, [&has_rows](const ReadGap&) { has_rows = true; }).status());
    if (!has_rows) continue;
    damage->push_back({Cat("column family ", family.name, " belongs to no table of the catalog"),
                       Cat("its rows, about ", std::max<uint64_t>(family.rows_estimate, 1), " in ", family.file_bytes,
                           " bytes of files"),
                       family.name});
  }
  return absl::OkStatus();
}

// Lets the next start fill the expiry again: lost writes may have removed rows of it, or their items.
absl::Status FillExpiryAgain(RocksDb* rocks) {
  rocksdb::WriteBatch batch;
  const auto remove = [&](std::string_view key, std::string_view) {
    batch.Delete(rocks->meta()->handle(), ToSlice(key));
    return absl::OkStatus();
  };
  ARM_RETURN_IF_ERROR(rocks->ForEachWithPrefix(*rocks->meta(), kExpiryPrefix, remove));
  return rocks->Write(&batch, /*sync=*/true, "fill the expiry again");
}

// Removes the records of families from the change log and from `meta`, and takes care that ids and change sequences
// that were in use are not used again.
class Forgetting {
 public:
  Forgetting(RocksDb* rocks, const std::set<std::string>* families) : rocks_(rocks), families_(families) {}

  absl::Status Run() {
    for (const std::string& name : rocks_->FamilyNames()) SawIdsOf(name);
    ARM_RETURN_IF_ERROR(ReadMeta());
    ARM_RETURN_IF_ERROR(ReadLog());
    rocksdb::ColumnFamilyHandle* const meta = rocks_->meta()->handle();
    batch_.Put(meta, ToSlice(kNextIdKey), EncodeU32(next_id_));
    batch_.Put(meta, ToSlice(kSequenceKey), EncodeU64(sequence_));
    return rocks_->Write(&batch_, /*sync=*/true, "forget lost tables");
  }

 private:
  void SawId(uint32_t id) { next_id_ = std::max(next_id_, id + 1); }
  // The name of a family is a letter, the table's id, and for an index a dot and the index's id.
  void SawIdsOf(std::string_view family) {
    uint32_t id = 0;
    for (const size_t at : {size_t{1}, family.find('.') + 1}) {
      if (at >= family.size()) continue;
      if (std::from_chars(family.data() + at, family.data() + family.size(), id).ec == std::errc()) SawId(id);
    }
  }

  absl::Status ReadMeta() {
    ColumnFamily* const meta = rocks_->meta();
    return rocks_->ForEachWithPrefix(*meta, "", [&](std::string_view key, std::string_view value) {
      const MetaRecord record = ParseMetaRecord(key, value);
      bool is_lost = false;
      if (record.kind == MetaKind::kNextId) next_id_ = std::max(next_id_, static_cast<uint32_t>(record.number));
      if (record.kind == MetaKind::kSequence) sequence_ = std::max(sequence_, record.number);
      if (record.kind == MetaKind::kCursor || record.kind == MetaKind::kBuild) {
        SawId(record.table.value());
        SawId(record.index.value());
        is_lost = families_->contains(GlobalIndexFamilyName(record.table, record.index));
      }
      if (record.kind == MetaKind::kStream) SawId(record.stream.value());
      if (record.kind == MetaKind::kCursor) sequence_ = std::max(sequence_, record.number);
      if (record.kind == MetaKind::kStats) is_lost = families_->contains(record.name);
      if (is_lost) batch_.Delete(meta->handle(), ToSlice(key));
      return absl::OkStatus();
    });
  }

  // Reads the last record of each table.
  absl::Status ReadLog() {
    rocksdb::ReadOptions read;
    read.total_order_seek = true;
    rocksdb::ColumnFamilyHandle* const log = rocks_->log()->handle();
    const std::unique_ptr<rocksdb::Iterator> it(rocks_->db()->NewIterator(read, log));
    it->SeekToLast();
    while (it->Valid()) {
      const std::string_view key = ToView(it->key());
      const std::optional<uint32_t> id = ParseU32(key.substr(0, sizeof(uint32_t)));
      const std::optional<ChangeSequence> sequence = SequenceOfLogKey(key);
      if (!id.has_value() || !sequence.has_value()) return DataLossError("change log: a malformed key");
      SawId(*id);
      sequence_ = std::max(sequence_, sequence->value());
      const std::string begin = LogKey(TableId(*id), ChangeSequence(0));
      if (families_->contains(DataFamilyName(TableId(*id)))) {
        batch_.DeleteRange(log, begin, LogKey(TableId(*id + 1), ChangeSequence(0)));
      }
      it->Seek(begin);
      if (it->Valid()) it->Prev();
    }
    return FromRocks(it->status(), "read the change log");
  }

  RocksDb* const rocks_;
  const std::set<std::string>* const families_;
  rocksdb::WriteBatch batch_;
  uint32_t next_id_ = 1;
  uint64_t sequence_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<Damage>> FindLogDamage(Volume* volume, const std::string& data_dir) {
  const absl::StatusOr<DirectoryFormat> format = ReadDirectoryFormat(volume, data_dir);
  ARM_ASSIGN_OR_RETURN(const bool is_new, volume->Exists(Cat(data_dir, kDataNewFile)));
  std::vector<Damage> damage;
  ARM_RETURN_IF_ERROR(AddLogFaults(volume, data_dir, format.ok() && format->has_logs && !is_new, &damage).status());
  return damage;
}

absl::StatusOr<std::vector<Damage>> FindDamage(Volume* volume, const std::string& data_dir) {
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<Inspector> inspector, Inspector::Open(volume, data_dir));
  std::vector<Damage> damage;
  ARM_ASSIGN_OR_RETURN(const std::optional<size_t> log_faults,
                       AddLogFaults(volume, data_dir, inspector->format().has_logs && !inspector->is_new(), &damage));
  AddOpenProblem(*inspector, log_faults, &damage);
  ARM_RETURN_IF_ERROR(AddCatalogDamage(*inspector, &damage));
  return damage;
}

namespace {

// The global indexes that are built again when `family` is made anew, but cannot be, because rows of their tables,
// whose families are among `damaged`, cannot be read. Empty: there are none.
std::string UnbuildableIndexes(const std::vector<model::TableDescriptor>& tables, std::string_view family,
                               const std::set<std::string>& damaged) {
  std::string names;
  for (model::TableDescriptor table : tables) {
    if (!damaged.contains(DataFamilyName(table.id))) continue;
    for (model::IndexDescriptor& index : table.global_indexes) {
      if (family != kLogFamily && family != GlobalIndexFamilyName(table.id, index.id)) continue;
      if (!BuildIndexAgain(&table, &index)) continue;
      names += Cat(names.empty() ? "" : ", ", "index ", index.name, " of table ", table.name);
    }
  }
  return names;
}

std::string AdviceFor(const DamagedPart& part) {
  if (part.damage.family == kMetaFamily) return "restore a backup: the file belongs to the catalog";
  if (!part.index.empty() && part.damage.family.starts_with('g'))
    return "rebuild it (armature index rebuild), or delete the index and add it again";
  if (!LossWith(part.damage.family).empty()) return "armature recover makes it anew";
  return "restore the table from a backup";
}

}  // namespace

absl::StatusOr<std::vector<DamagedFile>> FindDamagedFiles(Volume* volume, const std::string& data_dir) {
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<Inspector> inspector, Inspector::Open(volume, data_dir));
  std::vector<DamagedFile> files;
  std::vector<FamilyDamage> damages = inspector->CheckFiles();
  if (damages.empty()) return files;
  const std::vector<model::TableDescriptor> tables = ReadableTables(*inspector);
  std::set<std::string> damaged;
  for (const FamilyDamage& damage : damages) damaged.insert(damage.family);
  for (FamilyDamage& damage : damages) {
    const DamagedPart part = PartOf(tables, std::move(damage));
    const std::string& family = part.damage.family;
    DamagedFile file{NameOf(part), DamageText(part.damage), AdviceFor(part), LossWith(family), family};
    if (const std::string indexes = UnbuildableIndexes(tables, family, damaged); !indexes.empty()) {
      file.loss.clear();
      file.advice = Cat("restore the table from a backup, and delete the damaged one, first: ", indexes,
                        " would have to be built from rows that cannot be read");
    }
    files.push_back(std::move(file));
  }
  return files;
}

absl::Status AcceptLosses(Volume* volume, const std::string& data_dir, const std::vector<Damage>& accepted) {
  ARM_RETURN_IF_ERROR(CheckHoldsDatabase(volume, data_dir));
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<DataDirectory> directory, DataDirectory::Open(volume, data_dir));
  // Clients may have positions in the lost changes.
  ARM_RETURN_IF_ERROR(directory->ForgetPlace());
  if (const absl::StatusOr<LogName> manifest = FindLostManifest(volume, directory->db_path()); manifest.ok()) {
    ARM_RETURN_IF_ERROR(volume->WriteDurably(directory->db_path() + "/CURRENT", CurrentText(*manifest)));
  }
  DatabaseOptions options;
  options.volume = volume;
  options.path = data_dir;
  std::set<std::string> damaged;
  auto if_damaged = RocksDb::IfDamaged::kAcceptLosses;
  for (const Damage& damage : accepted) {
    damaged.insert(damage.family);
    if (!LossWith(damage.family).empty()) if_damaged = RocksDb::IfDamaged::kAcceptLostFiles;
  }
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<RocksDb> rocks,
                       RocksDb::Open(directory->db_path(), options, RocksDb::IfMissing::kFail, if_damaged));
  // Before the expiry is made anew: with a record that says complete, an empty one would stay empty.
  ARM_RETURN_IF_ERROR(FillExpiryAgain(rocks.get()));
  ARM_RETURN_IF_ERROR(RemakeFamilies(rocks.get(), damaged));
  TimerQueue timers;
  SequenceTickets tickets(ChangeSequence(0));
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<StreamLog> streams,
                       StreamLog::Open(rocks.get(), &tickets, StreamOptions().shards));
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<Catalog> catalog, Catalog::Open(rocks.get(), &timers, streams.get()));
  std::set<std::string> lost;
  for (std::string& family : FamiliesWithoutTable(*catalog->snapshot(), rocks.get())) {
    const bool is_accepted = std::any_of(accepted.begin(), accepted.end(),
                                         [&family](const Damage& damage) { return damage.family == family; });
    if (!is_accepted) {
      ARM_ASSIGN_OR_RETURN(const bool is_empty, rocks->IsEmpty(*rocks->Find(family)));
      if (!is_empty) continue;
    }
    lost.insert(std::move(family));
  }
  ARM_RETURN_IF_ERROR(Forgetting(rocks.get(), &lost).Run());
  ARM_RETURN_IF_ERROR(rocks->DropFamilies({lost.begin(), lost.end()}));
  // RocksDB keeps a log until the next flush if it read nothing of it, and the next start would find its damage again.
  ARM_RETURN_IF_ERROR(FromRocks(rocks->db()->Flush(rocksdb::FlushOptions()), "forget damaged logs"));
  LOG(WARNING) << "store: started without lost writes path=" << data_dir << " dropped_families=" << lost.size();
  return absl::OkStatus();
}

}  // namespace armature::store
