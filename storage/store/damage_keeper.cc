#include "storage/store/damage_keeper.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "glog/logging.h"
#include "rocksdb/sst_file_reader.h"
#include "rocksdb/write_batch.h"
#include "storage/base/fault_points.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/compaction_switches.h"
#include "storage/store/damaged_families.h"
#include "storage/store/files/volume.h"
#include "storage/store/meta_keys.h"
#include "storage/store/rocks_db.h"
#include "storage/store/rocks_status.h"

namespace armature::store {
namespace {

// Pause before another attempt to keep what could not be kept.
constexpr absl::Duration kRetryPause = absl::Seconds(1);

// Damage whose file is not known cannot be looked for.
bool IsStillDamaged(RocksDb* db, const FamilyDamage& damage) {
  if (damage.file.empty()) return db->Find(damage.family) != nullptr;
  const std::string path = db->PathOf(damage.family, damage.file);
  return !path.empty() && !CheckTableFile(db->volume()->env(), path).ok();
}

// True, once for each file, if the file can be read again, as after a timeout of the disk: the family is compacted
// again.
bool HasPassed(RocksDb* db, const FamilyDamage& damage, CompactionSwitches* switches) {
  if (IsStillDamaged(db, damage) || !db->damages()->Withdraw(damage)) return false;
  LOG(WARNING) << "store: a table file can be read again, its column family is not set apart family=" << damage.family
               << " " << DamageText(damage);
  switches->Start(damage.family);
  return true;
}

}  // namespace

absl::Status OpenTableFile(rocksdb::Env* env, const std::string& path) {
  rocksdb::Options options;
  options.env = env;
  rocksdb::SstFileReader reader(options);
  return FromRocks(reader.Open(path), Cat("check ", path));
}

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
        // A record that cannot be parsed is left out: the next compaction finds the damage again.
        if (!ParseDamageRecord(value, &damage))
          unreadable.push_back(damage.family);
        else
          damages.push_back(std::move(damage));
        return absl::OkStatus();
      }));
  rocksdb::WriteBatch repaired;
  const auto forget = [&](const std::string& family) {
    // The start has met another damage of it, which is to be recorded.
    if (!db->damages()->Find(family).has_value()) repaired.Delete(db->meta()->handle(), DamagedKey(family));
  };
  for (const std::string& family : unreadable) forget(family);
  for (FamilyDamage& damage : damages) {
    if (!IsStillDamaged(db, damage)) {
      LOG(WARNING) << "store: a damaged column family is whole again family=" << damage.family << " "
                   << DamageText(damage);
      forget(damage.family);
      continue;
    }
    LOG(ERROR) << "store: a table file is still damaged, its column family is set apart family=" << damage.family << " "
               << DamageText(damage);
    // No write is there yet for which it could wait.
    const absl::Status stopped = db->StopCompactions(damage.family);
    if (!stopped.ok()) LOG(WARNING) << "store: cannot set a damaged family apart status=" << stopped;
    db->damages()->Add(std::move(damage), stopped.ok() ? DamagedFamilies::IsKept::kYes : DamagedFamilies::IsKept::kNo);
  }
  if (repaired.Count() == 0) return absl::OkStatus();
  // A record that stays is looked at again by the next start.
  const absl::Status written = db->TryWrite(&repaired, "forget damages");
  if (!written.ok()) LOG(WARNING) << "store: " << written;
  return absl::OkStatus();
}

bool KeepDamages(RocksDb* db, CompactionSwitches* switches) {
  // After the changes took effect, which is before they end.
  if (switches->is_any_in_progress()) db->WakeWrites();
  const std::vector<FamilyDamage> added = db->damages()->NotKept();
  bool are_stopped = true;
  // RocksDB would try the same compactions again every second. All families before the files are read, and before the
  // write, which one of them might hold back.
  for (const FamilyDamage& damage : added) are_stopped = switches->Stop(damage.family) && are_stopped;
  if (!are_stopped) return false;
  rocksdb::WriteBatch batch;
  std::vector<FamilyDamage> recorded;
  for (const FamilyDamage& damage : added) {
    if (HasPassed(db, damage, switches)) continue;
    batch.Put(db->meta()->handle(), DamagedKey(damage.family), EncodeDamageRecord(damage));
    recorded.push_back(damage);
  }
  if (recorded.empty()) return !switches->is_any_in_progress();
  ARM_FAULT_POINT("damage.before_record");
  // Without the record, a start finds the damage when it compacts the family.
  const absl::Status written = db->TryWrite(&batch, "record damages");
  if (!written.ok()) {
    LOG_EVERY_N(WARNING, 60) << "store: cannot record damages status=" << written;
    return false;
  }
  // Not all of `added`: a family whose damage has passed may have another one by now.
  for (const FamilyDamage& damage : recorded) db->damages()->SetKept(damage);
  return !switches->is_any_in_progress();
}

DamageKeeper::DamageKeeper(RocksDb* db) : db_(db) {
  db_->damages()->SetListener([this] { worker_.Wake(); });
  worker_.Start(Worker::Next::AtOnce().EvenIfStopped());
}

DamageKeeper::~DamageKeeper() {
  worker_.Stop();
  db_->damages()->SetListener(nullptr);
}

Worker::Next DamageKeeper::Work() {
  const bool are_kept = KeepDamages(db_, &switches_);
  return Worker::Next::WhenWoken(are_kept ? absl::InfiniteDuration() : kRetryPause)
      .EvenIfStopped(switches_.is_any_in_progress());
}

}  // namespace armature::store
