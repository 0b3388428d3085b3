#include "storage/store/range_reader.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/slice.h"
#include "rocksdb/snapshot.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/database.h"
#include "storage/store/rocks_db.h"
#include "storage/store/rocks_status.h"

namespace armature::store {
namespace {

// Limit on deleted and overwritten rows that a kMemoryOnly read may skip between two live rows.
constexpr uint64_t kSkippedInMemoryMax = 1000;

// Number of entries whose rows are read together: RocksDB's own batch size. The byte limit bounds the memory for
// entries with large projections.
constexpr size_t kJoinBatchEntries = 32;
constexpr size_t kJoinBatchBytes = 256 << 10;

std::string Hex(std::string_view key) { return absl::BytesToHexString(Av(key)); }

// Iterates over the rows of one range. The range is not empty, or has no end.
class RangeCursor {
 public:
  // `snapshot`: null reads the current state.
  RangeCursor(RocksDb* db, const ColumnFamily& family, const KeyRange& range, Direction direction, ReadMode mode,
              const rocksdb::Snapshot* snapshot, bool fill_cache = true)
      : begin_(range.begin), end_(range.end), forward_(direction == Direction::kForward) {
    rocksdb::ReadOptions options;
    options.snapshot = snapshot;
    options.fill_cache = fill_cache;
    options.total_order_seek = true;
    if (mode == ReadMode::kMemoryOnly) {
      options.read_tier = rocksdb::kBlockCacheTier;
      // Skipping a long run of deleted rows takes as long as a disk read.
      options.max_skippable_internal_keys = kSkippedInMemoryMax;
    }
    options.iterate_lower_bound = &begin_;
    if (!range.end.empty()) options.iterate_upper_bound = &end_;
    iterator_.reset(db->db()->NewIterator(options, family.handle()));
    forward_ ? iterator_->SeekToFirst() : iterator_->SeekToLast();
  }
  RangeCursor(const RangeCursor&) = delete;
  RangeCursor& operator=(const RangeCursor&) = delete;

  bool Valid() const { return iterator_->Valid(); }
  void Next() { forward_ ? iterator_->Next() : iterator_->Prev(); }
  std::string_view key() const { return ToView(iterator_->key()); }
  std::string_view value() const { return ToView(iterator_->value()); }
  // The reason why Valid() is false.
  absl::StatusOr<RangeEnd> End(const ColumnFamily& family) const {
    const rocksdb::Status status = iterator_->status();
    if (status.IsIncomplete()) return RangeEnd::kWouldBlock;
    ARM_RETURN_IF_ERROR(FromRocks(status, Cat("read range of ", family.name())));
    return RangeEnd::kReached;
  }

 private:
  const rocksdb::Slice begin_;
  const rocksdb::Slice end_;
  const bool forward_;
  std::unique_ptr<rocksdb::Iterator> iterator_;
};

bool IsEmpty(const KeyRange& range) { return !range.end.empty() && range.begin >= range.end; }

absl::StatusOr<RangeEnd> Walk(const ColumnFamily& family, RangeCursor* cursor, RowVisitor visit) {
  for (; cursor->Valid(); cursor->Next()) {
    if (visit(cursor->key(), cursor->value()) == RowVerdict::kStop) return RangeEnd::kStopped;
  }
  return cursor->End(family);
}

// State of one ReadJoined call.
class JoinedReader {
 public:
  JoinedReader(RocksDb* db, const ColumnFamily& index, const ColumnFamily& rows, ReadMode mode, JoinVisitor* visitor)
      : db_(db), index_(index), rows_(rows), mode_(mode), visitor_(visitor), snapshot_(db->db()) {}

  absl::StatusOr<RangeEnd> Run(const KeyRange& range, Direction direction) {
    RangeCursor cursor(db_, index_, range, direction, mode_, snapshot_.snapshot());
    while (true) {
      const bool more = Gather(&cursor);
      ReadChosen();
      for (const Entry& entry : batch_) {
        ARM_ASSIGN_OR_RETURN(const std::optional<RangeEnd> end, VisitEntry(entry));
        if (end.has_value()) return *end;
      }
      ARM_RETURN_IF_ERROR(choose_status_);
      if (!more) return cursor.Valid() ? RangeEnd::kStopped : cursor.End(index_);
    }
  }

 private:
  struct Entry {
    std::string key;
    std::string value;
    std::optional<std::string> row_key;
    rocksdb::PinnableSlice row;
    rocksdb::Status row_status;
  };

  // Fills the batch with entries at the cursor and asks for their row keys. Returns false if no more entries are
  // needed.
  bool Gather(RangeCursor* cursor) {
    batch_.clear();
    size_t bytes = 0;
    for (; cursor->Valid() && batch_.size() < kJoinBatchEntries && bytes < kJoinBatchBytes; cursor->Next()) {
      absl::StatusOr<JoinVisitor::Choice> choice = visitor_->Choose(cursor->value());
      if (!choice.ok()) {
        choose_status_ = choice.status();
        return false;
      }
      Entry& entry = batch_.emplace_back();
      entry.key = cursor->key();
      entry.value = cursor->value();
      entry.row_key = std::move(choice->row_key);
      bytes += entry.value.size();
      if (choice->verdict == RowVerdict::kStop) return false;
    }
    return cursor->Valid();
  }

  // Reads the chosen rows of the batch.
  void ReadChosen() {
    rocksdb::ReadOptions options;
    options.snapshot = snapshot_.snapshot();
    if (mode_ == ReadMode::kMemoryOnly) {
      // One by one: MultiGet is made for the disk, and may read from it in spite of read_tier.
      options.read_tier = rocksdb::kBlockCacheTier;
      for (Entry& entry : batch_) {
        if (!entry.row_key.has_value()) continue;
        entry.row_status = db_->db()->Get(options, rows_.handle(), ToSlice(*entry.row_key), &entry.row);
        if (entry.row_status.IsIncomplete()) return;
      }
      return;
    }
    std::vector<rocksdb::Slice> keys;
    std::vector<Entry*> chosen;
    for (Entry& entry : batch_) {
      if (!entry.row_key.has_value()) continue;
      keys.push_back(ToSlice(*entry.row_key));
      chosen.push_back(&entry);
    }
    if (keys.empty()) return;
    std::vector<rocksdb::PinnableSlice> values(keys.size());
    std::vector<rocksdb::Status> statuses(keys.size());
    db_->db()->MultiGet(options, rows_.handle(), keys.size(), keys.data(), values.data(), statuses.data());
    for (size_t i = 0; i < chosen.size(); ++i) {
      chosen[i]->row = std::move(values[i]);
      chosen[i]->row_status = std::move(statuses[i]);
    }
  }

  // Returns nullopt to continue.
  absl::StatusOr<std::optional<RangeEnd>> VisitEntry(const Entry& entry) {
    std::optional<std::string_view> row;
    if (entry.row_key.has_value()) {
      if (entry.row_status.IsIncomplete()) return RangeEnd::kWouldBlock;
      if (entry.row_status.IsNotFound()) {
        return DataLossError(Cat("entry ", Hex(entry.key), " of ", index_.name(), ": expected its row ",
                                 Hex(*entry.row_key), " in ", rows_.name(), ", which is missing"));
      }
      ARM_RETURN_IF_ERROR(FromRocks(entry.row_status, Cat("read from ", rows_.name())));
      row = ToView(entry.row);
    }
    ARM_ASSIGN_OR_RETURN(const RowVerdict verdict, visitor_->Visit(entry.value, row));
    if (verdict == RowVerdict::kStop) return RangeEnd::kStopped;
    return std::nullopt;
  }

  RocksDb* const db_;
  const ColumnFamily& index_;
  const ColumnFamily& rows_;
  const ReadMode mode_;
  JoinVisitor* const visitor_;
  rocksdb::ManagedSnapshot snapshot_;
  std::vector<Entry> batch_;
  absl::Status choose_status_;
};

}  // namespace

absl::StatusOr<RangeEnd> ReadRows(RocksDb* db, const ColumnFamily& family, const KeyRange& range, Direction direction,
                                  ReadMode mode, RowVisitor visit) {
  if (IsEmpty(range)) return RangeEnd::kReached;
  RangeCursor cursor(db, family, range, direction, mode, /*snapshot=*/nullptr);
  return Walk(family, &cursor, visit);
}

absl::StatusOr<RangeEnd> ReadJoinedRows(RocksDb* db, const ColumnFamily& index, const KeyRange& range,
                                        Direction direction, const ColumnFamily& rows, ReadMode mode,
                                        JoinVisitor* visitor) {
  if (IsEmpty(range)) return RangeEnd::kReached;
  return JoinedReader(db, index, rows, mode, visitor).Run(range, direction);
}

struct KeyspaceSnapshot::Held {
  Held(RocksDb* db, const ColumnFamily& shown) : rocks(db), family(shown), snapshot(db->db()) {}

  RocksDb* const rocks;
  const ColumnFamily& family;
  rocksdb::ManagedSnapshot snapshot;
};

std::unique_ptr<KeyspaceSnapshot> KeyspaceSnapshot::Take(RocksDb* db, const ColumnFamily& family,
                                                         ChangeSequence sequence) {
  return std::unique_ptr<KeyspaceSnapshot>(new KeyspaceSnapshot(std::make_unique<Held>(db, family), sequence));
}

KeyspaceSnapshot::KeyspaceSnapshot(std::unique_ptr<Held> held, ChangeSequence sequence)
    : held_(std::move(held)), sequence_(sequence) {}

KeyspaceSnapshot::~KeyspaceSnapshot() = default;

absl::StatusOr<RangeEnd> KeyspaceSnapshot::ReadRange(const KeyRange& range, RowVisitor visit) const {
  if (IsEmpty(range)) return RangeEnd::kReached;
  RangeCursor cursor(held_->rocks, held_->family, range, Direction::kForward, ReadMode::kMayBlock,
                     held_->snapshot.snapshot(), /*fill_cache=*/false);
  return Walk(held_->family, &cursor, visit);
}

}  // namespace armature::store
