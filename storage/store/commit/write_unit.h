#ifndef ARMATURE_STORAGE_STORE_COMMIT_WRITE_UNIT_H_
#define ARMATURE_STORAGE_STORE_COMMIT_WRITE_UNIT_H_

// One atomic write: all effects of one change of one partition.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "storage/base/strong_type.h"
#include "storage/store/keyspace.h"
#include "storage/store/log/index_backlog.h"

namespace armature::store {

// Rows of the base table and its local indexes, the change in item collection size, totals, and the records of
// the change log and of the table's stream. All of it becomes visible and durable together, or none.
//
// Thread-safety: owned by one thread at a time.
// Lifetime: holds `pin` until it is destroyed. The pin must keep the keyspaces and backlogs named in the unit alive.
class WriteUnit {
 public:
  enum class OpKind : uint8_t { kPut, kDelete, kCounter };
  struct Op {
    OpKind kind;
    ColumnFamily* family;
    uint32_t key_offset;
    uint32_t key_size;
    uint32_t value_offset;
    uint32_t value_size;
    int64_t delta;  // kCounter
  };
  struct StatsOp {
    KeyspaceStats* stats;
    StatsDelta delta;
  };

  // The units of most rows have one of each.
  using Ops = absl::InlinedVector<Op, 1>;
  using StatsOps = absl::InlinedVector<StatsOp, 1>;

  // A global index that the change record changes.
  struct IndexOp {
    IndexId index;
    Keyspace keyspace;
    IndexBacklog* backlog;
    uint64_t bytes;  // of its rows
    bool is_built;   // false while it is under construction
  };

  // `pin` keeps column families alive. Usually it is the table that the request has pinned.
  explicit WriteUnit(std::shared_ptr<const void> pin) : pin_(std::move(pin)) {}
  WriteUnit(WriteUnit&&) = default;
  WriteUnit& operator=(WriteUnit&&) = default;

  // Makes room for `rows` rows of `bytes` in all.
  void Reserve(size_t rows, size_t bytes) {
    ops_.reserve(rows);
    bytes_.reserve(bytes);
  }
  void Put(const Keyspace& keyspace, std::string_view key, std::string_view value) { Put(keyspace, key, value, {}); }
  // The value in two parts, which the caller need not join.
  void Put(const Keyspace& keyspace, std::string_view key, std::string_view value_begin, std::string_view value_end) {
    Append(OpKind::kPut, keyspace, key, 0);
    bytes_.append(value_begin).append(value_end);
    ops_.back().value_size = static_cast<uint32_t>(value_begin.size() + value_end.size());
  }
  void Delete(const Keyspace& keyspace, std::string_view key) { Append(OpKind::kDelete, keyspace, key, 0); }
  // Adds `delta` to the unsigned counter stored under `key` (an absent counter is 0; a counter at 0 is removed).
  // Counters are sizes of item collections: a unit that would raise one above
  // DatabaseOptions::item_collection_bytes_max is not committed.
  void AddCounter(const Keyspace& keyspace, std::string_view key, int64_t delta) {
    if (delta != 0) Append(OpKind::kCounter, keyspace, key, delta);
  }
  void AddStats(const Keyspace& keyspace, StatsDelta delta) {
    if (delta.items != 0 || delta.bytes != 0) stats_.push_back(StatsOp{keyspace.stats, delta});
  }
  // Appends `record` to the change log of `table`; the committer assigns its sequence. At most once per unit.
  void SetChangeRecord(TableId table, std::string record) {
    record_table_ = table;
    record_ = std::move(record);
  }
  // Adds `record`, of the change of a row with this StreamHashOf, to a stream; the committer assigns its sequence, the
  // same as that of the change record. At most once per unit.
  void SetStreamRecord(StreamId stream, uint8_t hash, std::string record) {
    stream_ = stream;
    stream_hash_ = hash;
    stream_record_ = std::move(record);
  }
  // Adds an index of the change record. The record counts in the index's backlog if it is logged. Once per index.
  void AddIndexChange(const IndexOp& op) { index_ops_.push_back(op); }
  // Notes that the index rows of the change record are written with the unit, so that the record is not logged.
  void LeaveOutChangeRecord() { record_is_left_out_ = true; }

  bool empty() const { return ops_.empty() && record_.empty() && stream_record_.empty(); }
  // Memory held, for the limits of the commit queue.
  size_t byte_size() const { return bytes_.size() + record_.size() + stream_record_.size() + 64; }

  // The unit's bytes in a batch of RocksDB, or some more: each row has a type, a family and two lengths.
  size_t batch_bytes() const { return byte_size() + 16 * (ops_.size() + stats_.size()); }

  // Read by the committer.
  const Ops& ops() const { return ops_; }
  const StatsOps& stats() const { return stats_; }
  const std::vector<IndexOp>& index_ops() const { return index_ops_; }
  bool has_record() const { return !record_.empty() && !record_is_left_out_; }
  TableId record_table() const { return record_table_; }
  const std::string& record() const { return record_; }
  bool has_stream_record() const { return !stream_record_.empty(); }
  StreamId stream() const { return stream_; }
  uint8_t stream_hash() const { return stream_hash_; }
  const std::string& stream_record() const { return stream_record_; }
  // True if the unit changes a counter, so that the committer may refuse it alone.
  bool has_counters() const {
    return std::any_of(ops_.begin(), ops_.end(), [](const Op& op) { return op.kind == OpKind::kCounter; });
  }
  // True if the unit takes a sequence of its own: also if the change record is left out, so that each write of an index
  // has its position.
  bool has_sequence() const { return !record_.empty() || has_stream_record(); }
  std::string_view key(const Op& op) const { return std::string_view(bytes_).substr(op.key_offset, op.key_size); }
  std::string_view value(const Op& op) const { return std::string_view(bytes_).substr(op.value_offset, op.value_size); }

 private:
  void Append(OpKind kind, const Keyspace& keyspace, std::string_view key, int64_t delta) {
    const auto key_offset = static_cast<uint32_t>(bytes_.size());
    bytes_.append(key);
    const auto key_size = static_cast<uint32_t>(key.size());
    ops_.push_back(Op{kind, keyspace.family, key_offset, key_size, key_offset + key_size, /*value_size=*/0, delta});
  }

  std::shared_ptr<const void> pin_;
  std::string bytes_;
  Ops ops_;
  StatsOps stats_;
  std::vector<IndexOp> index_ops_;
  TableId record_table_;
  std::string record_;
  bool record_is_left_out_ = false;
  StreamId stream_;
  uint8_t stream_hash_ = 0;
  std::string stream_record_;
};

// Memory held by several units.
inline size_t ByteSize(const std::vector<WriteUnit>& units) {
  size_t bytes = 0;
  for (const WriteUnit& unit : units) bytes += unit.byte_size();
  return bytes;
}

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_COMMIT_WRITE_UNIT_H_
