#include "storage/store/log/sequence_epoch.h"

#include <sys/random.h>

#include <algorithm>
#include <optional>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "rocksdb/write_batch.h"
#include "storage/base/fault_points.h"
#include "storage/base/status_macros.h"
#include "storage/model/wire.h"
#include "storage/store/meta_keys.h"
#include "storage/store/rocks_db.h"
#include "storage/store/rocks_status.h"

namespace armature::store {
namespace {

constexpr char kEpochVersion = 1;
// Sequences count far slower than microseconds, so those of a history that began earlier are below the clock. Epochs
// that begin at the same time, such as those of two copies, begin up to four minutes apart.
constexpr uint64_t kSpreadBits = 28;
// An epoch that began less than this before may still be ahead of the clock.
constexpr uint64_t kYoung = uint64_t{1} << 30;
// Gap to the last known sequence if the clock does not help: more than a history that is gone has had changes.
constexpr uint64_t kGapBits = 36;
// A daemon begins far less than one segment a second, so seconds since 1970 are greater than any segment's number.
constexpr uint64_t kSegmentGapBits = 16;

uint64_t RandomBits(uint64_t bits) {
  uint64_t random = 0;
  // Without a random number, the clock alone makes epochs differ.
  if (getrandom(&random, sizeof random, 0) != static_cast<ssize_t>(sizeof random)) random = 0;
  return random & ((uint64_t{1} << bits) - 1);
}

uint64_t SystemEpochClock() {
  return static_cast<uint64_t>(std::max<int64_t>(absl::ToUnixMicros(absl::Now()), 0)) + RandomBits(kSpreadBits);
}

// Adds the begin of a segment with the epoch, so that no shard has records of two epochs. Its number is one that no
// other history has used: a consumer may remember that it has read a shard to its end.
absl::Status AddSegment(RocksDb* db, ChangeSequence base, int64_t now_ms, rocksdb::WriteBatch* batch) {
  std::optional<uint32_t> last;
  uint64_t last_begin_ms = 0;
  ARM_RETURN_IF_ERROR(db->ForEachWithPrefix(
      *db->meta(), kSegmentPrefix, [&](std::string_view key, std::string_view value) -> absl::Status {
        uint64_t first = 0;
        last = ParseU32(key.substr(std::min(key.size(), kSegmentPrefix.size())));
        if (!last.has_value() || !ParseSegmentRecord(value, &last_begin_ms, &first)) {
          return DataLossError("meta: a malformed record of a stream segment");
        }
        return absl::OkStatus();
      }));
  if (!last.has_value()) return absl::OkStatus();
  const int64_t begin_ms = std::max(now_ms, static_cast<int64_t>(last_begin_ms));
  const uint64_t by_clock = static_cast<uint64_t>(std::max<int64_t>(now_ms, 0)) / 1000;
  const uint64_t by_gap = uint64_t{*last} + 1 + RandomBits(kSegmentGapBits);
  const uint64_t number = by_clock > *last ? by_clock : by_gap;
  batch->Put(db->meta()->handle(), SegmentKey(SegmentId(static_cast<uint32_t>(number))),
             EncodeSegmentRecord(begin_ms, base.value() + 1));
  return absl::OkStatus();
}

}  // namespace

std::string EncodeEpochRecord(ChangeSequence base, int64_t begun_ms) {
  std::string value(1, kEpochVersion);
  model::AppendVarint(base.value(), &value);
  model::AppendVarint(static_cast<uint64_t>(begun_ms), &value);
  return value;
}

bool ParseEpochRecord(std::string_view value, ChangeSequence* base, int64_t* begun_ms) {
  if (value.empty() || value[0] != kEpochVersion) return false;
  value.remove_prefix(1);
  uint64_t sequence = 0;
  uint64_t time_ms = 0;
  if (!model::TakeVarint(&value, &sequence) || !model::TakeVarint(&value, &time_ms) || !value.empty()) return false;
  *base = ChangeSequence(sequence);
  *begun_ms = static_cast<int64_t>(time_ms);
  return true;
}

absl::StatusOr<ChangeSequence> ReadEpochBase(RocksDb* db) {
  ARM_ASSIGN_OR_RETURN(const std::optional<std::string> stored, db->Get(*db->meta(), kEpochKey));
  ChangeSequence base;
  int64_t begun_ms = 0;
  if (stored.has_value() && !ParseEpochRecord(*stored, &base, &begun_ms)) {
    return DataLossError("meta: the record of the epoch is malformed");
  }
  return base;
}

absl::StatusOr<ChangeSequence> BeginEpoch(RocksDb* db, ChangeSequence last, const std::function<uint64_t()>& clock) {
  const uint64_t proposed = clock ? clock() : SystemEpochClock();
  const bool is_beyond = last == ChangeSequence() || proposed > last.value() + kYoung;
  const ChangeSequence base(is_beyond ? proposed : last.value() + (uint64_t{1} << kGapBits) + RandomBits(kGapBits));
  const int64_t now_ms = absl::ToUnixMillis(absl::Now());
  rocksdb::WriteBatch batch;
  rocksdb::ColumnFamilyHandle* const meta = db->meta()->handle();
  batch.Put(meta, ToSlice(kEpochKey), EncodeEpochRecord(base, now_ms));
  batch.Put(meta, ToSlice(kSequenceKey), EncodeU64(base.value()));
  ARM_RETURN_IF_ERROR(AddSegment(db, base, now_ms, &batch));
  ARM_FAULT_POINT("epoch.before_write");
  ARM_RETURN_IF_ERROR(db->Write(&batch, /*sync=*/true, "begin an epoch of change sequences"));
  ARM_FAULT_POINT("epoch.after_write");
  return base;
}

}  // namespace armature::store
