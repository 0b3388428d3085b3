#ifndef ARMATURE_STORAGE_STORE_EXPIRY_EXPIRY_INDEX_H_
#define ARMATURE_STORAGE_STORE_EXPIRY_EXPIRY_INDEX_H_

// The index of items by the time at which they expire. docs/reference/format.md, "Expiry".
//
// A row says that an item may expire at a time. Writes maintain the rows in their batch from the moment when time to
// live is on. The rows of older items are written by a scan. The scan takes no locks, so it may leave a row of an item
// that was changed meanwhile. Whoever deletes an expired item therefore looks at the item first.
//
//   progress := 0x01 generation phase next_key
//   generation, phase := varint
//   next_key := byte*                              only while scanning

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/base/strong_type.h"
#include "storage/store/commit/write_unit.h"
#include "storage/store/keyspace.h"

namespace armature::store {

class RocksDb;

// Values are on disk: never renumber.
enum class ExpiryPhase : uint8_t {
  kScanning = 1,  // the rows of items before next_key are there
  kComplete = 2,
  kCleared = 3,  // time to live is off, and all rows of the table were removed
};

// Progress of the rows of a table.
struct ExpiryState {
  uint32_t generation = 0;  // of the table's setting that the progress is about
  ExpiryPhase phase = ExpiryPhase::kScanning;
  std::string next_key;  // kScanning
  friend bool operator==(const ExpiryState&, const ExpiryState&) = default;
};

std::string EncodeExpiryState(const ExpiryState& state);
// Errors: DataLoss for an unknown version or malformed bytes.
absl::StatusOr<ExpiryState> ParseExpiryState(std::string_view value);

// The least due time that writers of a table have written since it was last taken. It tells whoever looks for due rows
// that there are some behind the place where it is. Shared by all states of a table.
//
// Thread-safety: thread-safe.
class DueMark {
 public:
  static constexpr int64_t kNone = INT64_MAX;

  void Note(int64_t due_ms) {
    int64_t least = least_.load(std::memory_order_relaxed);
    while (due_ms < least && !least_.compare_exchange_weak(least, due_ms, std::memory_order_relaxed)) {
    }
  }
  int64_t Take() { return least_.exchange(kNone, std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> least_ = kNone;
};

// Thread-safety: thread-safe, except that one thread changes the state of a table.
class ExpiryIndex {
 public:
  // `db` must outlive the index.
  explicit ExpiryIndex(RocksDb* db) : db_(db) {}

  // The keyspace of the rows of all tables; see ExpiryKey for their keys. Their values are empty.
  Keyspace keyspace() const;
  // Nullopt if nothing was done for the table yet. Errors: DataLoss, Unavailable.
  absl::StatusOr<std::optional<ExpiryState>> ReadState(TableId table) const;
  // Writes rows together with the progress of the scan that found them, without fsync. Errors: ServiceUnavailable while
  // there is little space.
  absl::Status CommitScanned(const WriteUnit& unit, TableId table, const ExpiryState& state);
  // Removes the rows of the generations before `generation` by range, and records `state`.
  absl::Status Clear(TableId table, uint32_t generation, const ExpiryState& state);

 private:
  RocksDb* const db_;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_EXPIRY_EXPIRY_INDEX_H_
