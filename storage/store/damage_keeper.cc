#include "storage/store/damage_keeper.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "glog/logging.h"
#include "rocksdb/db.h"
#include "rocksdb/sst_file_reader.h"
#include "rocksdb/write_batch.h"
#include "storage/base/fault_points.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/damaged_families.h"
#include "storage/store/files/volume.h"
#include "storage/store/meta_keys.h"
#include "storage/store/rocks_db.h"
#include "storage/store/rocks_status.h"

namespace armature::store {
namespace {

// RocksDB would try the same compaction again every second.
void StopCompactions(RocksDb* db, std::string_view family) {
  ColumnFamily* const found = db->Find(family);
  if (found == nullptr) return;
  const rocksdb::Status stopped = db->db()->SetOptions(found->handle(), {{"disable_auto_compactions", "true"}});
  if (!stopped.ok()) {
    LOG(WARNING) << "store: cannot end compactions of a damaged family family=" << family
                 << " status=" << stopped.ToString();
  }
}

// The path of a file that the family still has; empty if it has it no more.
std::string PathOf(RocksDb* db, const FamilyDamage& damage) {
  ColumnFamily* const found = db->Find(damage.family);
  if (found == nullptr) return "";
  rocksdb::ColumnFamilyMetaData facts;
  db->db()->GetColumnFamilyMetaData(found->handle(), &facts);
  for (const rocksdb::LevelMetaData& level : facts.levels) {
    for (const rocksdb::SstFileMetaData& file : level.files) {
      if (NameIn(file.name) == damage.file) return Cat(file.db_path, "/", damage.file);
    }
  }
  return "";
}

// Damage whose file is not known cannot be looked for.
bool IsStillDamaged(RocksDb* db, const FamilyDamage& damage) {
  if (damage.file.empty()) return db->Find(damage.family) != nullptr;
  const std::string path = PathOf(db, damage);
  return !path.empty() && !CheckTableFile(db->volume()->env(), path).ok();
}

}  // namespace

absl::Status CheckTableFile(rocksdb::Env* env, const std::string& path) {
  rocksdb::Options options;
  options.env = env;
  rocksdb::SstFileReader reader(options);
  rocksdb::Status status = reader.Open(path);
  if (status.ok()) status = reader.VerifyChecksum();
  return FromRocks(status, Cat("check ", path));
}

absl::Status LoadDamages(RocksDb* db) {
  std::vector<FamilyDamage> damages;
  std::vector<std::string> unreadable;
  ARM_RETURN_IF_ERROR(
      db->ForEachWithPrefix(*db->meta(), kDamagedPrefix, [&](std::string_view key, std::string_view value) {
        FamilyDamage damage;
        damage.family = std::string(key.substr(kDamagedPrefix.size()));
        // Without what it says, the next compaction tells.
        if (!ParseDamageRecord(value, &damage))
          unreadable.push_back(damage.family);
        else
          damages.push_back(std::move(damage));
        return absl::OkStatus();
      }));
  rocksdb::WriteBatch repaired;
  for (const std::string& family : unreadable) repaired.Delete(db->meta()->handle(), DamagedKey(family));
  for (FamilyDamage& damage : damages) {
    if (!IsStillDamaged(db, damage)) {
      LOG(WARNING) << "store: a damaged column family is whole again family=" << damage.family << " "
                   << DamageText(damage);
      repaired.Delete(db->meta()->handle(), DamagedKey(damage.family));
      continue;
    }
    LOG(ERROR) << "store: a table file is still damaged, its column family is set apart family=" << damage.family << " "
               << DamageText(damage);
    StopCompactions(db, damage.family);
    db->damages()->Add(std::move(damage));
  }
  static_cast<void>(db->damages()->TakeNew());
  if (repaired.Count() == 0) return absl::OkStatus();
  // A record that stays is looked at again by the next start.
  const absl::Status written = db->Write(&repaired, /*sync=*/false, "forget damages");
  if (!written.ok()) LOG(WARNING) << "store: " << written;
  return absl::OkStatus();
}

void KeepDamages(RocksDb* db) {
  if (!db->damages()->any()) return;
  const std::vector<FamilyDamage> added = db->damages()->TakeNew();
  if (added.empty()) return;
  rocksdb::WriteBatch batch;
  for (const FamilyDamage& damage : added) {
    batch.Put(db->meta()->handle(), DamagedKey(damage.family), EncodeDamageRecord(damage));
    StopCompactions(db, damage.family);
  }
  ARM_FAULT_POINT("damage.before_record");
  // Without the record, a start finds the damage when it compacts the family.
  const absl::Status written = db->Write(&batch, /*sync=*/true, "record damages");
  if (!written.ok()) LOG(WARNING) << "store: cannot record damages status=" << written;
}

}  // namespace armature::store
