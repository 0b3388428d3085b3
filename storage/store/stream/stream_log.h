#ifndef ARMATURE_STORAGE_STORE_STREAM_STREAM_LOG_H_
#define ARMATURE_STORAGE_STORE_STREAM_STREAM_LOG_H_

// The streams of tables and their change records: docs/reference/format.md, "Streams".
//
// The records of all streams are in one column family, ordered by segment, stream, slot and sequence. A segment is a
// period of time, common to all streams. A new one begins every few hours, and the oldest is removed as a whole, by
// range. A slot is a part of the partition keys, by their hash. A shard of the API is one slot of one stream in one
// segment, so shards roll over together and a trim removes whole shards. The number of slots of a stream may grow from
// a segment to the next.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "storage/base/strong_type.h"
#include "storage/model/stream_descriptor.h"
#include "storage/model/table_descriptor.h"
#include "storage/store/stream/stream_set.h"

namespace rocksdb {
class WriteBatch;
}  // namespace rocksdb

namespace armature::store {

class RocksDb;
class SequenceTickets;

// Limit on the slots of a stream in a segment.
inline constexpr uint8_t kStreamSlotsMax = model::kStreamShardsMax;

// The stream that the writes of a table must record their changes for, now. All states of a table share it.
//
// A writer asks while it holds the row's lock. So once a change of an item was recorded, later changes of the item are,
// too, whatever state of the table their requests hold.
//
// Thread-safety: thread-safe.
class StreamSwitch {
 public:
  struct State {
    StreamId stream;  // 0: none
    model::StreamView view = model::StreamView::kKeysOnly;
  };

  State state() const {
    const uint64_t packed = packed_.load(std::memory_order_acquire);
    return {StreamId(static_cast<uint32_t>(packed >> 8)), static_cast<model::StreamView>(packed & 0xFF)};
  }
  void Set(State state) {
    packed_.store(uint64_t{state.stream.value()} << 8 | static_cast<uint64_t>(state.view), std::memory_order_release);
  }

 private:
  std::atomic<uint64_t> packed_ = 0;
};

// A period of time. It ends where the next one begins; the last one is current.
struct StreamSegment {
  SegmentId id;
  int64_t begin_ms = 0;           // since the epoch
  ChangeSequence first_sequence;  // least sequence of its records
  uint64_t bytes = 0;             // size of its records, approximately
};

// A stream and the segments of all streams, at one moment.
struct StreamState {
  model::StreamDescriptor stream;
  std::vector<StreamSegment> segments;  // in the order of time
};

// The greatest sequence of a record in each slot of a stream.
using SlotSequences = std::array<ChangeSequence, kStreamSlotsMax>;

// The part of a row's key, which begins with the hash of the partition key, that decides about its slot.
uint8_t StreamHashOf(std::string_view row_key);
// The slot of rows with this hash, if there are so many.
constexpr uint8_t StreamSlotOf(uint8_t hash, uint32_t slots) { return static_cast<uint8_t>(hash % slots); }

// Thread-safety: thread-safe.
class StreamLog {
 public:
  // Reads streams and segments. Both must outlive the log. `shards`: of new streams whose tables ask for no number.
  static absl::StatusOr<std::unique_ptr<StreamLog>> Open(RocksDb* db, SequenceTickets* tickets, uint32_t shards);
  // The greatest sequence that a segment or a stream in `db` has passed. Later changes need greater ones.
  static absl::StatusOr<ChangeSequence> ReadLastSequence(RocksDb* db);

  // ---------------------------------------------------------------------------------------------------------------
  // For the catalog.

  // A change of the set of streams that is being written. While it lives, no batch with stream records is written, so
  // that the first and the last record of a stream are certain.
  class Change {
   public:
    ~Change();
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;
    // Makes the change visible. Called after the batch was written.
    void Apply();

   private:
    friend class StreamLog;
    explicit Change(StreamLog* log);

    StreamLog* const log_;
    const std::unique_ptr<absl::MutexLock> gate_;
    std::vector<model::StreamDescriptor> changed_;
    ChangeSequence left_out_;                     // the records of a stream that begins have greater sequences
    std::vector<StreamId> removed_;               // ended ones, for which there is no room any more
    std::optional<StreamSegment> first_segment_;  // a segment that begins with this change, because there was none
  };

  // Checks that the stream of the table may become what its settings ask for. Errors: LimitExceededException if the
  // table has had too many; ValidationException for fewer shards than the stream has.
  absl::Status CheckChange(const model::TableDescriptor& table) const;
  // Adds the records to `batch` that begin, change or end the stream of the table, as its settings after the change ask
  // for. `stream_id`: the id for a new stream. Null if the streams stay as they are. A table in deletion has no stream.
  std::unique_ptr<Change> Prepare(const model::TableDescriptor& table, StreamId stream_id, int64_t now_ms,
                                  rocksdb::WriteBatch* batch);
  // True if Prepare would begin a stream, which needs an id.
  bool BeginsStream(const model::TableDescriptor& table) const;
  // The switch of a table, the same for all its states. Forget releases it.
  std::shared_ptr<const StreamSwitch> SwitchOf(TableId table);
  void Forget(TableId table);

  // ---------------------------------------------------------------------------------------------------------------
  // For the committer.

  // The stream records of one batch. One batch at a time.
  class Batch {
   public:
    explicit Batch(StreamLog* log);
    // Adds the record, unless its stream has ended, which makes the change later than the stream. `hash`: StreamHashOf.
    void Add(StreamId stream, uint8_t hash, ChangeSequence sequence, std::string_view record,
             rocksdb::WriteBatch* batch);
    // Called after the batch was written.
    void Written();
    // Called after the sequences were released, so that the records may be read. Calls the append listener.
    void Readable();

   private:
    struct Appended {
      StreamId stream;
      uint8_t slot;
      ChangeSequence last;
    };

    StreamLog* const log_;
    const absl::MutexLock gate_;
    const SegmentId segment_;
    uint64_t bytes_ = 0;
    std::vector<Appended> appended_;  // one for each slot of a stream
  };

  // ---------------------------------------------------------------------------------------------------------------
  // For readers.

  std::vector<model::StreamDescriptor> streams() const;                          // sorted by id
  std::vector<model::StreamDescriptor> StreamsOf(std::string_view table) const;  // of tables of this name, sorted by id
  std::optional<model::StreamDescriptor> Find(std::string_view table_name, std::string_view label) const;
  std::optional<StreamState> StateOf(std::string_view table_name, std::string_view label) const;
  // The first `max` names behind `after`, in their order; `table_name`: those of tables of this name. Cheap.
  std::vector<StreamName> Names(const std::optional<std::string_view>& table_name, const StreamName& after,
                                size_t max) const;
  std::vector<StreamSegment> segments() const;  // in the order of time
  uint64_t bytes() const;                       // of all segments
  // All records up to this sequence may be read.
  ChangeSequence watermark() const;
  // The base of the epoch: positions below it are of another history of the database.
  ChangeSequence epoch_base() const;
  // The greatest sequence of a record in each slot of `stream`. For slots without records since the log was opened, it
  // is the last sequence before that.
  SlotSequences LastAppended(StreamId stream) const;
  // Calls `listen` (on the committer's or the catalog's thread) when records of a stream have become readable, and when
  // a stream has begun or ended. It must only take a note. Null removes it; it is not running when the call returns.
  void SetAppendListener(std::function<void(StreamId stream)> listen);

  // Calls fn(sequence, record) for the records of a slot behind `after`, in order, until it returns false. Returns true
  // if all were read. Errors: DataLoss, Unavailable, or what `fn` returned.
  absl::StatusOr<bool> Read(
      SegmentId segment, StreamId stream, uint8_t slot, ChangeSequence after,
      absl::FunctionRef<absl::StatusOr<bool>(ChangeSequence sequence, std::string_view record)> fn) const;

  // Changes the tags or the policy of a stream. False if there is no such stream. Errors: what `change` returned.
  absl::StatusOr<bool> ChangeSettings(std::string_view table_name, std::string_view label,
                                      absl::FunctionRef<absl::Status(model::StreamDescriptor*)> change);

  // ---------------------------------------------------------------------------------------------------------------
  // For the keeper.

  // Ends the current segment and begins the next, in which streams have the number of shards that was asked for.
  absl::Status BeginSegment(int64_t now_ms);
  // Removes the oldest segment, which must not be the current one, with all its records. One call at a time.
  absl::Status TrimOldest();
  // The streams that ended at `time_ms` or before.
  std::vector<StreamId> EndedUntil(int64_t time_ms) const;
  // Removes a stream that has ended. Its records are removed with their segments.
  absl::Status Remove(StreamId stream);
  // Calls `wake` (on any thread) when the current segment has grown by `bytes`. Null removes it; it is not running when
  // the call returns.
  void SetGrowthListener(std::function<void()> wake, uint64_t bytes);

 private:
  StreamLog(RocksDb* db, SequenceTickets* tickets, uint32_t shards);
  absl::Status Load();
  uint32_t ShardsWanted(const model::TableDescriptor& table) const;
  // The stream of `table` that begins with `segment`.
  model::StreamDescriptor NewStream(const model::TableDescriptor& table, StreamId id, int64_t now_ms, SegmentId segment,
                                    ChangeSequence first) const;
  void SetSwitch(TableId table, StreamSwitch::State state) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CountWritten(SegmentId segment, uint64_t bytes);
  void NotifyAppended(StreamId stream);
  SlotSequences OpenedAt() const;

  RocksDb* const db_;
  SequenceTickets* const tickets_;
  const uint32_t shards_;
  const ChangeSequence opened_at_;
  // Held while a batch with stream records, a change of the set of streams, or the begin of a segment is written.
  absl::Mutex gate_;
  mutable absl::Mutex mutex_;  // taken inside the gate
  StreamSet streams_ ABSL_GUARDED_BY(mutex_);
  std::vector<StreamSegment> segments_ ABSL_GUARDED_BY(mutex_);
  std::map<TableId, std::shared_ptr<StreamSwitch>> switches_ ABSL_GUARDED_BY(mutex_);
  std::map<StreamId, SlotSequences> last_appended_ ABSL_GUARDED_BY(mutex_);  // since the log was opened
  uint64_t grown_bytes_ ABSL_GUARDED_BY(mutex_) = 0;                         // since the last call of the listener
  absl::Mutex listener_mutex_;
  std::function<void()> on_growth_ ABSL_GUARDED_BY(listener_mutex_);
  std::function<void(StreamId)> on_append_ ABSL_GUARDED_BY(listener_mutex_);
  std::atomic<bool> has_append_listener_ = false;
  std::atomic<uint64_t> growth_bytes_ = UINT64_MAX;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_STREAM_STREAM_LOG_H_
