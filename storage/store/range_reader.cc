// Range reads, joined reads and snapshots: the only code that creates iterators over rows. Both bounds of an iterator
// are always set, so that it never steps over tombstones or rows outside the range.

#include <algorithm>
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
#include "rocksdb/perf_context.h"
#include "rocksdb/slice.h"
#include "rocksdb/snapshot.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/damaged_tables.h"
#include "storage/store/dead_ranges.h"
#include "storage/store/rocks_db.h"
#include "storage/store/rocks_status.h"
#include "storage/store/rows.h"

namespace armature::store {
namespace {

// The rows to read, and how.
struct RangeRead {
  const KeyRange& range;
  Direction direction = Direction::kForward;
  ReadMode mode = ReadMode::kMayBlock;
  SkipLimit* limit = nullptr;
};

// Number of deleted and overwritten rows that an iterator skips before it stops and can be asked to go on.
constexpr uint64_t kSkipStep = 1000;
// Limit on rows that a kMemoryOnly read skips in all: skipping them takes as long as a disk read.
constexpr uint64_t kSkippedInMemoryMax = 2 * kSkipStep;
// RocksDB's property of an iterator that stopped after max_skippable_internal_keys: the key where it stopped.
constexpr char kStoppedAtProperty[] = "rocksdb.iterator.internal-key";

// Number of deleted rows and old versions that iterators of the thread with these counts have skipped so far. RocksDB
// counts the steps over visited rows as well.
uint64_t Skipped(const rocksdb::PerfContext& counts) {
  return counts.internal_delete_skipped_count + counts.internal_recent_skipped_count +
         counts.internal_key_skipped_count;
}

// Number of entries whose rows are read together: RocksDB's own batch size. The byte limit bounds the memory for
// entries with large projections.
constexpr size_t kJoinBatchEntries = 32;
constexpr size_t kJoinBatchBytes = 256 << 10;

std::string Hex(std::string_view key) { return absl::BytesToHexString(Av(key)); }

uint64_t SkippedMax(const RangeRead& read) {
  if (read.mode == ReadMode::kMemoryOnly) return kSkippedInMemoryMax;
  return read.limit != nullptr ? read.limit->skipped_max : UINT64_MAX;
}

// The dead ranges of one read.
class Gaps {
 public:
  // `mark`: null uses none.
  Gaps(RocksDb* db, uint32_t family, bool forward, const DeadRanges::Mark* mark)
      : db_(db), family_(family), forward_(forward), mark_(mark) {}

  // False if no read of the family has met many deleted rows.
  bool is_used() const { return mark_ != nullptr && mark_->is_watched; }
  // Called when the iterator was made.
  void BeginIteration() {
    if (is_used()) sequence_ = db_->db()->GetLatestSequenceNumber();
  }

  // The end of the dead range in which `from` is, in reading direction, or nullopt. `from`: the first key of the rest
  // of a forward read; the bound, not included, of the rest of a reverse read.
  std::optional<std::string> JumpFrom(std::string_view from) {
    if (!is_loaded_ || (next_.has_value() && IsPassed(from))) {
      next_ = db_->dead_ranges()->Next(family_, *mark_, from, forward_);
      is_loaded_ = true;
    }
    if (!next_.has_value()) return std::nullopt;
    if (forward_) return next_->begin <= from ? std::optional(next_->end) : std::nullopt;
    const bool reaches = next_->end.empty() || (!from.empty() && next_->end >= from);
    return reaches ? std::optional(next_->begin) : std::nullopt;
  }

  void Add(DeadRanges::Range range) {
    db_->dead_ranges()->Add(family_, *mark_, std::move(range), sequence_);
    is_loaded_ = false;
  }
  void EndRead(uint64_t skipped) {
    if (mark_ != nullptr && !mark_->is_watched && skipped >= DeadRanges::kManySkipped) {
      db_->dead_ranges()->Watch(family_);
    }
  }

 private:
  bool IsPassed(std::string_view from) const {
    return forward_ ? !next_->end.empty() && next_->end <= from : !from.empty() && next_->begin >= from;
  }

  RocksDb* const db_;
  const uint32_t family_;
  const bool forward_;
  const DeadRanges::Mark* const mark_;
  uint64_t sequence_ = 0;
  bool is_loaded_ = false;
  std::optional<DeadRanges::Range> next_;
};

// 0, the id of no family of a table, if the family is not made.
uint32_t IdOf(const ColumnFamily& family) {
  const rocksdb::ColumnFamilyHandle* const handle = family.handle();
  return handle == nullptr ? 0 : handle->GetID();
}

DeadRanges::Mark MarkOf(RocksDb* db, const ColumnFamily& family) {
  const rocksdb::ColumnFamilyHandle* const handle = family.handle();
  if (handle == nullptr) return {};
  return db->dead_ranges()->BeginRead(handle->GetID(), db->db()->GetLatestSequenceNumber());
}

// The view of a read, other than the current state.
struct ReadView {
  // Protected by a Holding of its sequence, or by a Reading that is older, for as long as the read takes.
  const rocksdb::Snapshot* snapshot = nullptr;
  // Taken before the snapshot. Null: dead ranges are not used.
  const DeadRanges::Mark* mark = nullptr;
  bool fill_cache = true;
};

// Iterates over the rows of one range. The range is not empty, or has no end.
class RangeCursor {
 public:
  RangeCursor(RocksDb* db, const ColumnFamily& family, const RangeRead& read, const ReadView& view)
      : begin_(read.range.begin),
        end_(read.range.end),
        forward_(read.direction == Direction::kForward),
        limit_(read.mode == ReadMode::kMayBlock ? read.limit : nullptr),
        skipped_max_(SkippedMax(read)),
        counts_(rocksdb::get_perf_context()),
        skipped_before_(Skipped(*counts_)),
        gaps_(db, IdOf(family), forward_, view.mark) {
    if (view.snapshot == nullptr) reading_.emplace(db->horizon());
    rocksdb::ReadOptions options;
    options.snapshot = view.snapshot;
    options.fill_cache = view.fill_cache;
    options.total_order_seek = true;
    if (read.mode == ReadMode::kMemoryOnly) options.read_tier = rocksdb::kBlockCacheTier;
    if (skipped_max_ != UINT64_MAX) options.max_skippable_internal_keys = kSkipStep;
    options.iterate_lower_bound = &begin_;
    if (!read.range.end.empty()) options.iterate_upper_bound = &end_;
    rocksdb::ColumnFamilyHandle* const handle = family.handle();
    iterator_.reset(handle == nullptr ? rocksdb::NewEmptyIterator() : db->db()->NewIterator(options, handle));
    Begin();
  }
  ~RangeCursor() { gaps_.EndRead(skipped()); }
  RangeCursor(const RangeCursor&) = delete;
  RangeCursor& operator=(const RangeCursor&) = delete;

  bool Valid() const { return !is_at_end_ && iterator_->Valid(); }
  void Next() {
    if (gaps_.is_used()) {
      from_ = key();
      if (forward_) from_.push_back('\0');
      return Move(&RangeCursor::Step);
    }
    Step();
    Settle();
  }
  // True if the read must end behind `key`, which was visited. End() then gives the reason.
  bool EndsBehind(std::string_view key) {
    if (skipped() < skipped_max_) return false;
    Pause(key);
    return true;
  }
  std::string_view key() const { return ToView(iterator_->key()); }
  std::string_view value() const { return ToView(iterator_->value()); }
  // The reason why Valid() is false, or EndsBehind true.
  absl::StatusOr<RangeEnd> End(const ColumnFamily& family) const {
    if (is_paused_) return limit_ != nullptr ? RangeEnd::kPaused : RangeEnd::kWouldBlock;
    const rocksdb::Status status = iterator_->status();
    if (status.IsIncomplete() && limit_ == nullptr) return RangeEnd::kWouldBlock;
    ARM_RETURN_IF_ERROR(FromRocks(status, Cat("read range of ", family.name())));
    return RangeEnd::kReached;
  }

 private:
  uint64_t skipped() const {
    const uint64_t counted = Skipped(*counts_) - skipped_before_;
    return counted - std::min(counted, steps_);
  }

  void Begin() {
    gaps_.BeginIteration();
    from_ = forward_ ? ToView(begin_) : ToView(end_);
    if (gaps_.is_used()) return Move(&RangeCursor::SeekToBegin);
    SeekToBegin();
    Settle();
  }
  void SeekToBegin() { forward_ ? iterator_->SeekToFirst() : iterator_->SeekToLast(); }
  void Step() {
    forward_ ? iterator_->Next() : iterator_->Prev();
    ++steps_;
  }

  // To the next row: over the dead range at `from_`, or else by `step`. Remembers long runs of deleted rows.
  void Move(void (RangeCursor::*step)()) {
    const uint64_t skipped_before = skipped();
    const std::optional<std::string> jump = gaps_.JumpFrom(from_);
    jump.has_value() ? JumpTo(*jump) : (this->*step)();
    Settle();
    if (skipped() - skipped_before >= DeadRanges::kRangeSkippedMin) Remember();
  }
  // To the first row from `key` on (empty: the end of the family), in a reverse read to the last one before `key`,
  // which is no row.
  void JumpTo(const std::string& key) {
    is_at_end_ = forward_ ? key.empty() || (!end_.empty() && key >= ToView(end_)) : key <= ToView(begin_);
    if (!is_at_end_) forward_ ? iterator_->Seek(key) : iterator_->SeekForPrev(key);
  }
  // There is no row between `from_` and the place of the iterator.
  void Remember() {
    std::string to(forward_ ? ToView(end_) : ToView(begin_));
    if (iterator_->Valid()) {
      to = key();
      if (!forward_) to.push_back('\0');
    } else if (is_paused_ && limit_ != nullptr) {
      if (limit_->passed.empty()) return;
      to = limit_->passed;
      if (forward_) to.push_back('\0');
    } else if (!iterator_->status().ok()) {
      return;
    }
    forward_ ? gaps_.Add({from_, std::move(to)}) : gaps_.Add({std::move(to), from_});
  }

  void Pause(std::string_view passed) {
    is_paused_ = true;
    if (limit_ != nullptr) limit_->passed = std::string(passed);
  }

  // Goes on over deleted rows while the limit allows it. The iterator may have stopped in the middle of a row's
  // versions, so a key counts as passed only when the iterator has gone on from there and stopped at another one.
  void Settle() {
    if (limit_ == nullptr) return;
    std::string stopped_at;
    std::string passed;
    while (!iterator_->Valid() && iterator_->status().IsIncomplete()) {
      std::string key;
      // RocksDB passes several keys in each step, whatever their number of versions.
      if (!iterator_->GetProperty(kStoppedAtProperty, &key).ok() || key == stopped_at) return;
      passed = std::exchange(stopped_at, std::move(key));
      if (!limit_->goes_on() || (skipped() >= skipped_max_ && !passed.empty())) return Pause(passed);
      forward_ ? iterator_->Seek(stopped_at) : iterator_->SeekForPrev(stopped_at);
    }
  }

  const rocksdb::Slice begin_;
  const rocksdb::Slice end_;
  const bool forward_;
  SkipLimit* const limit_;
  const uint64_t skipped_max_;
  const rocksdb::PerfContext* const counts_;  // of this thread; to ask for them costs more than to read them
  const uint64_t skipped_before_;
  uint64_t steps_ = 0;
  bool is_paused_ = false;
  bool is_at_end_ = false;  // by a jump
  // If gaps are used, where the rest of the read begins, in a reverse read not included. Empty: the end of the family.
  std::string from_;
  std::optional<ReadHorizon::Reading> reading_;
  Gaps gaps_;
  std::unique_ptr<rocksdb::Iterator> iterator_;
};

bool IsEmpty(const KeyRange& range) { return !range.end.empty() && range.begin >= range.end; }

absl::StatusOr<RangeEnd> Walk(const ColumnFamily& family, RangeCursor* cursor, RowVisitor visit) {
  for (; cursor->Valid(); cursor->Next()) {
    if (visit(cursor->key(), cursor->value()) == RowVerdict::kStop) return RangeEnd::kStopped;
    if (cursor->EndsBehind(cursor->key())) break;
  }
  return cursor->End(family);
}

// State of one ReadJoined call.
class JoinedReader {
 public:
  JoinedReader(RocksDb* db, const ColumnFamily& index, const ColumnFamily& rows, const RangeRead& read,
               JoinVisitor* visitor)
      : db_(db),
        index_(index),
        rows_(rows),
        read_(read),
        visitor_(visitor),
        mark_(MarkOf(db, index)),
        reading_(db->horizon()),
        snapshot_(db->db()) {}

  absl::StatusOr<RangeEnd> Run() {
    RangeCursor cursor(db_, index_, read_, {.snapshot = snapshot_.snapshot(), .mark = &mark_});
    while (true) {
      const bool more = Gather(&cursor);
      ReadChosen();
      for (const Entry& entry : batch_) {
        ARM_ASSIGN_OR_RETURN(const std::optional<RangeEnd> end, VisitEntry(entry));
        if (end.has_value()) return *end;
      }
      ARM_RETURN_IF_ERROR(choose_status_);
      if (!more) return is_stopped_ ? RangeEnd::kStopped : cursor.End(index_);
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
      is_stopped_ = choice->verdict == RowVerdict::kStop;
      if (is_stopped_ || cursor->EndsBehind(entry.key)) return false;
    }
    return cursor->Valid();
  }

  // Reads the chosen rows of the batch.
  void ReadChosen() {
    rocksdb::ColumnFamilyHandle* const rows = rows_.handle();
    if (rows == nullptr) {
      for (Entry& entry : batch_) entry.row_status = rocksdb::Status::NotFound();
      return;
    }
    rocksdb::ReadOptions options;
    options.snapshot = snapshot_.snapshot();
    if (read_.mode == ReadMode::kMemoryOnly) {
      // One by one: MultiGet is made for the disk, and may read from it in spite of read_tier.
      options.read_tier = rocksdb::kBlockCacheTier;
      for (Entry& entry : batch_) {
        if (!entry.row_key.has_value()) continue;
        entry.row_status = db_->db()->Get(options, rows, ToSlice(*entry.row_key), &entry.row);
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
    db_->db()->MultiGet(options, rows, keys.size(), keys.data(), values.data(), statuses.data());
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
  const RangeRead read_;
  JoinVisitor* const visitor_;
  const DeadRanges::Mark mark_;
  const ReadHorizon::Reading reading_;
  rocksdb::ManagedSnapshot snapshot_;
  std::vector<Entry> batch_;
  absl::Status choose_status_;
  bool is_stopped_ = false;  // by the visitor's choice
};

}  // namespace

absl::StatusOr<RangeEnd> Rows::ReadRange(const Keyspace& keyspace, const KeyRange& range, Direction direction,
                                         RowVisitor visit, ReadMode mode, SkipLimit* limit) const {
  ARM_RETURN_IF_ERROR(damages_->CheckReadable(keyspace));
  if (IsEmpty(range)) return RangeEnd::kReached;
  const DeadRanges::Mark mark = MarkOf(db_, *keyspace.family);
  RangeCursor cursor(db_, *keyspace.family, {range, direction, mode, limit}, {.mark = &mark});
  ARM_ASSIGN_OR_RETURN(const RangeEnd end, Walk(*keyspace.family, &cursor, visit));
  ARM_RETURN_IF_ERROR(db_->CheckCurrent());
  return end;
}

absl::StatusOr<RangeEnd> Rows::ReadJoined(const Keyspace& index, const KeyRange& range, Direction direction,
                                          const Keyspace& rows, JoinVisitor* visitor, ReadMode mode,
                                          SkipLimit* limit) const {
  ARM_RETURN_IF_ERROR(damages_->CheckReadable(index));
  ARM_RETURN_IF_ERROR(damages_->CheckReadable(rows));
  if (IsEmpty(range)) return RangeEnd::kReached;
  JoinedReader reader(db_, *index.family, *rows.family, {range, direction, mode, limit}, visitor);
  ARM_ASSIGN_OR_RETURN(const RangeEnd end, reader.Run());
  ARM_RETURN_IF_ERROR(db_->CheckCurrent());
  return end;
}

struct KeyspaceSnapshot::Held {
  Held(RocksDb* db, const ColumnFamily& shown) : rocks(db), family(shown) {
    const ReadHorizon::Reading reading(db->horizon());
    snapshot.emplace(db->db());
    holding.emplace(db->horizon(), snapshot->snapshot()->GetSequenceNumber());
  }

  RocksDb* const rocks;
  const ColumnFamily& family;
  std::optional<rocksdb::ManagedSnapshot> snapshot;
  std::optional<ReadHorizon::Holding> holding;
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
  RangeCursor cursor(held_->rocks, held_->family, {range},
                     {.snapshot = held_->snapshot->snapshot(), .fill_cache = false});
  return Walk(held_->family, &cursor, visit);
}

}  // namespace armature::store
