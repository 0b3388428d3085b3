#include "storage/store/recovery.h"

#include <memory>
#include <set>
#include <utility>

#include "glog/logging.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/base/timer_queue.h"
#include "storage/store/catalog/catalog.h"
#include "storage/store/catalog/ddl_worker.h"
#include "storage/store/data_directory.h"
#include "storage/store/durable_file.h"
#include "storage/store/inspector.h"
#include "storage/store/meta_keys.h"
#include "storage/store/rocks_db.h"
#include "storage/store/wal/log_check.h"

namespace armature::store {
namespace {

std::string DatabasePath(const std::string& data_dir) { return Cat(data_dir, kDataDatabase); }

std::string LossOf(const LogFault& fault) {
  if (fault.name.kind == LogKind::kManifest) return "";
  if (fault.is_missing) return Cat("all writes that were only in this file, of at least ", fault.synced, " bytes");
  if (fault.size < fault.synced) return Cat("the writes from offset ", fault.whole, " to ", fault.synced);
  return Cat("the writes from offset ", fault.whole, " on in the same block of 32 KiB; later ones are kept");
}

absl::Status AddLogDamage(const std::string& data_dir, std::vector<Damage>* damage) {
  const std::string path = DatabasePath(data_dir);
  const absl::StatusOr<std::unique_ptr<LogRegister>> opened =
      LogRegister::Open(Cat(path, "/", kLogRegisterFile), LogRegister::Access::kRead);
  if (absl::IsNotFound(opened.status())) return absl::OkStatus();
  ARM_RETURN_IF_ERROR(opened.status());
  ARM_ASSIGN_OR_RETURN(const LogFindings findings, FindLogFaults(path, **opened));
  for (const LogFault& fault : findings.faults) damage->push_back({fault.text, LossOf(fault)});
  return absl::OkStatus();
}

// Families with rows that belong to no table.
absl::Status AddLostTables(const Inspector& inspector, std::vector<Damage>* damage) {
  std::set<std::string> known = {"default", std::string(kMetaFamily), std::string(kLogFamily)};
  const auto read = [&known](std::string_view key, std::string_view value) {
    const MetaRecord record = ParseMetaRecord(key, value);
    if (record.kind != MetaKind::kTable) return RowVerdict::kContinue;
    for (std::string& family : Catalog::FamilyNames(record.descriptor)) known.insert(std::move(family));
    return RowVerdict::kContinue;
  };
  if (!inspector.HasFamily(kMetaFamily)) return absl::OkStatus();
  ARM_RETURN_IF_ERROR(inspector.ForEachRow(kMetaFamily, {}, read, [](const ReadGap&) {}).status());
  for (const FamilyFiles& family : inspector.Families()) {
    if (known.contains(family.name) || family.rows_estimate == 0) continue;
    damage->push_back({Cat("column family ", family.name, " belongs to no table of the catalog"),
                       Cat("its rows, about ", family.rows_estimate, " in ", family.file_bytes, " bytes of files")});
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Damage>> FindDamage(const std::string& data_dir) {
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<Inspector> inspector, Inspector::Open(data_dir));
  std::vector<Damage> damage;
  ARM_RETURN_IF_ERROR(AddLogDamage(data_dir, &damage));
  ARM_RETURN_IF_ERROR(AddLostTables(*inspector, &damage));
  return damage;
}

absl::Status AcceptLosses(const std::string& data_dir) {
  if (!PathExists(Cat(data_dir, kDataFormatFile))) {
    return FailedPreconditionError(Cat(data_dir, " holds no database of Armature"));
  }
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<DataDirectory> directory, DataDirectory::Open(data_dir));
  DatabaseOptions options;
  options.path = data_dir;
  ARM_ASSIGN_OR_RETURN(
      const std::unique_ptr<RocksDb> rocks,
      RocksDb::Open(directory->db_path(), options, RocksDb::IfMissing::kFail, RocksDb::IfDamaged::kAcceptLosses));
  TimerQueue timers;
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<Catalog> catalog, Catalog::Open(rocks.get(), &timers));
  const std::vector<std::string> lost = FamiliesWithoutTable(*catalog->snapshot(), rocks.get());
  ARM_RETURN_IF_ERROR(rocks->DropFamilies(lost));
  LOG(WARNING) << "store: started without lost writes path=" << data_dir << " dropped_families=" << lost.size();
  return absl::OkStatus();
}

}  // namespace armature::store
