#include "storage/store/stream/stream_log.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "glog/logging.h"
#include "rocksdb/convenience.h"
#include "storage/base/api_error.h"
#include "storage/base/fault_points.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/wire.h"
#include "storage/store/catalog/catalog_record.h"
#include "storage/store/log/change_log.h"
#include "storage/store/meta_keys.h"
#include "storage/store/rocks_db.h"
#include "storage/store/rocks_status.h"

namespace armature::store {

using model::StreamDescriptor;
using model::TableDescriptor;

namespace {

bool WantsStream(const TableDescriptor& table) {
  return table.settings.stream_enabled && table.state != model::TableState::kDeleting;
}

// The number of shards that the stream has now.
uint32_t LatestShards(const StreamDescriptor& stream) {
  return stream.ShardsIn(SegmentId(std::numeric_limits<uint32_t>::max()));
}

// The stream with the number of shards that it is to have from `segment` on.
StreamDescriptor WithNextShards(StreamDescriptor stream, SegmentId segment) {
  if (stream.next_shards > LatestShards(stream)) stream.shard_counts.push_back({segment, stream.next_shards});
  stream.next_shards = 0;
  return stream;
}

absl::StatusOr<StreamSegment> ParseSegment(std::string_view key, std::string_view value) {
  const std::optional<uint32_t> id = ParseU32(key.substr(std::min(key.size(), kSegmentPrefix.size())));
  uint64_t begin_ms = 0;
  uint64_t first = 0;
  if (!id.has_value() || !ParseSegmentRecord(value, &begin_ms, &first)) {
    return DataLossError("meta: a malformed record of a stream segment");
  }
  return StreamSegment{SegmentId(*id), static_cast<int64_t>(begin_ms), ChangeSequence(first)};
}

// Size of the records of a segment on disk and in memtables.
uint64_t MeasureSegment(RocksDb* db, SegmentId id) {
  const std::string begin = SegmentDataKey(id);
  const std::string end = SegmentDataKey(SegmentId(id.value() + 1));
  const rocksdb::Range range(begin, end);
  rocksdb::SizeApproximationOptions options;
  options.include_memtables = true;
  options.include_files = true;
  uint64_t bytes = 0;
  const rocksdb::Status status = db->db()->GetApproximateSizes(options, db->stream()->handle(), &range, 1, &bytes);
  return status.ok() ? bytes : 0;
}

bool HasRecords(RocksDb* db, SegmentId id) {
  rocksdb::ReadOptions read;
  read.total_order_seek = true;
  const std::unique_ptr<rocksdb::Iterator> it(db->db()->NewIterator(read, db->stream()->handle()));
  const std::string begin = SegmentDataKey(id);
  it->Seek(begin);
  return it->Valid() && it->key().starts_with(begin);
}

}  // namespace

absl::StatusOr<ChangeSequence> StreamLog::ReadLastSequence(RocksDb* db) {
  uint64_t last = 0;
  ARM_RETURN_IF_ERROR(db->ForEachWithPrefix(
      *db->meta(), kSegmentPrefix, [&](std::string_view key, std::string_view value) -> absl::Status {
        ARM_ASSIGN_OR_RETURN(const StreamSegment segment, ParseSegment(key, value));
        last = std::max(last, segment.first_sequence.value() - 1);
        return absl::OkStatus();
      }));
  ARM_RETURN_IF_ERROR(
      db->ForEachWithPrefix(*db->meta(), kStreamPrefix, [&](std::string_view, std::string_view value) -> absl::Status {
        ARM_ASSIGN_OR_RETURN(const StreamDescriptor stream, ParseStreamDescriptor(value));
        last = std::max({last, stream.first_sequence.value() - 1, stream.last_sequence.value()});
        return absl::OkStatus();
      }));
  return ChangeSequence(last);
}

uint8_t StreamHashOf(std::string_view row_key) { return row_key.empty() ? 0 : static_cast<uint8_t>(row_key[0]); }

StreamLog::StreamLog(RocksDb* db, SequenceTickets* tickets, uint32_t shards)
    : db_(db), tickets_(tickets), shards_(shards), opened_at_(tickets->last_taken()) {}

absl::StatusOr<std::unique_ptr<StreamLog>> StreamLog::Open(RocksDb* db, SequenceTickets* tickets, uint32_t shards) {
  auto log = std::unique_ptr<StreamLog>(new StreamLog(db, tickets, shards));
  ARM_RETURN_IF_ERROR(log->Load());
  return log;
}

absl::Status StreamLog::Load() {
  const absl::MutexLock lock(&mutex_);
  ARM_RETURN_IF_ERROR(db_->ForEachWithPrefix(*db_->meta(), kSegmentPrefix,
                                             [&](std::string_view key, std::string_view value) -> absl::Status {
                                               mutex_.AssertHeld();
                                               ARM_ASSIGN_OR_RETURN(StreamSegment segment, ParseSegment(key, value));
                                               segment.bytes = MeasureSegment(db_, segment.id);
                                               if (segment.bytes == 0 && HasRecords(db_, segment.id)) segment.bytes = 1;
                                               segments_.push_back(segment);
                                               return absl::OkStatus();
                                             }));
  return db_->ForEachWithPrefix(*db_->meta(), kStreamPrefix,
                                [&](std::string_view, std::string_view value) -> absl::Status {
                                  mutex_.AssertHeld();
                                  ARM_ASSIGN_OR_RETURN(StreamDescriptor stream, ParseStreamDescriptor(value));
                                  if (stream.is_enabled()) SetSwitch(stream.table, {stream.id, stream.view});
                                  streams_.Put(std::move(stream));
                                  return absl::OkStatus();
                                });
}

// ---------------------------------------------------------------------------------------------------------------
// The set of streams.

StreamLog::Change::Change(StreamLog* log) : log_(log), gate_(std::make_unique<absl::MutexLock>(&log->gate_)) {}
StreamLog::Change::~Change() = default;

void StreamLog::Change::Apply() {
  std::vector<StreamId> streams;
  log_->tickets_->Skip(left_out_);
  {
    const absl::MutexLock lock(&log_->mutex_);
    if (first_segment_.has_value()) log_->segments_.push_back(*first_segment_);
    for (StreamDescriptor& stream : changed_) {
      const StreamSwitch::State state =
          stream.is_enabled() ? StreamSwitch::State{stream.id, stream.view} : StreamSwitch::State{};
      log_->SetSwitch(stream.table, state);
      streams.push_back(stream.id);
      log_->streams_.Put(std::move(stream));
    }
    for (const StreamId id : removed_) {
      log_->streams_.Erase(id);
      log_->last_appended_.erase(id);
    }
  }
  for (const StreamId stream : streams) log_->NotifyAppended(stream);
}

bool StreamLog::BeginsStream(const TableDescriptor& table) const {
  const absl::MutexLock lock(&mutex_);
  return WantsStream(table) && streams_.FindEnabled(table.id) == nullptr;
}

absl::Status StreamLog::CheckChange(const TableDescriptor& table) const {
  if (!WantsStream(table)) return absl::OkStatus();
  const absl::MutexLock lock(&mutex_);
  const StreamDescriptor* const enabled = streams_.FindEnabled(table.id);
  if (enabled == nullptr) {
    if (streams_.CountOf(table.id, table.name) < StreamSet::kOfTableMax) return absl::OkStatus();
    return LimitExceededError(Cat("Subscriber limit exceeded: the stream of table ", table.name, " was enabled ",
                                  StreamSet::kOfTableMax, " times, and each of these streams is still kept"));
  }
  const SegmentId current = segments_.empty() ? enabled->first_segment : segments_.back().id;
  const uint32_t now = enabled->ShardsIn(current);
  if (table.settings.stream_shards == 0 || table.settings.stream_shards >= now) return absl::OkStatus();
  return ValidationError(Cat("The stream of table ", table.name, " has ", now,
                             " shards, and their number cannot fall to ", table.settings.stream_shards,
                             ": disable the stream and enable it again"));
}

uint32_t StreamLog::ShardsWanted(const TableDescriptor& table) const {
  return table.settings.stream_shards != 0 ? table.settings.stream_shards : shards_;
}

StreamDescriptor StreamLog::NewStream(const TableDescriptor& table, StreamId id, int64_t now_ms, SegmentId segment,
                                      ChangeSequence first) const {
  StreamDescriptor stream;
  stream.id = id;
  stream.table = table.id;
  stream.table_name = table.name;
  stream.label = table.LatestStreamLabel();
  stream.view = model::StreamViewOf(table.settings.stream_view_type);
  stream.key = table.key;
  stream.creation_time_ms = now_ms;
  stream.first_segment = segment;
  stream.first_sequence = first;
  stream.shard_counts = {{segment, ShardsWanted(table)}};
  return stream;
}

std::unique_ptr<StreamLog::Change> StreamLog::Prepare(const TableDescriptor& table, StreamId stream_id, int64_t now_ms,
                                                      rocksdb::WriteBatch* batch) {
  const bool wants = WantsStream(table);
  {
    const absl::MutexLock lock(&mutex_);
    const StreamDescriptor* const enabled = streams_.FindEnabled(table.id);
    const bool changes_shards =
        wants && enabled != nullptr && table.settings.stream_shards != 0 &&
        table.settings.stream_shards != (enabled->next_shards != 0 ? enabled->next_shards : LatestShards(*enabled));
    if (wants == (enabled != nullptr) && !changes_shards) return nullptr;
  }
  auto change = std::unique_ptr<Change>(new Change(this));
  const ChangeSequence last = tickets_->last_taken();
  // Writes to a table without stream need not take a sequence. A stream that begins leaves one out, so that a position
  // in an earlier stream of the table differs from the begin of this one. Nobody sees it before it is stored with the
  // stream: a start would hand it out again.
  const ChangeSequence left_out(last.value() + 1);
  const ChangeSequence first(left_out.value() + 1);
  const absl::MutexLock lock(&mutex_);
  rocksdb::ColumnFamilyHandle* const meta = db_->meta()->handle();
  if (segments_.empty()) {
    change->first_segment_ = StreamSegment{SegmentId(1), now_ms, first};
    batch->Put(meta, SegmentKey(SegmentId(1)), EncodeSegmentRecord(now_ms, first.value()));
  }
  const SegmentId current = segments_.empty() ? SegmentId(1) : segments_.back().id;
  StreamDescriptor stream;
  if (const StreamDescriptor* const enabled = streams_.FindEnabled(table.id); enabled == nullptr) {
    stream = NewStream(table, stream_id, now_ms, current, first);
    change->left_out_ = left_out;
    change->removed_ = streams_.BeyondLimits(table.name);
  } else if (stream = *enabled; wants) {
    stream.next_shards = table.settings.stream_shards;
  } else {
    stream.last_segment = current;
    stream.last_sequence = last;
    stream.ended_ms = now_ms;
  }
  for (const StreamId removed : change->removed_) {
    const StreamDescriptor& old = *streams_.Find(removed);
    LOG(WARNING) << "store: a stream is removed before its time, because too many are kept table=" << old.table_name
                 << " label=" << old.label;
    batch->Delete(meta, StreamKey(removed));
  }
  batch->Put(meta, StreamKey(stream.id), EncodeStreamDescriptor(stream));
  change->changed_.push_back(std::move(stream));
  return change;
}

void StreamLog::SetSwitch(TableId table, StreamSwitch::State state) {
  std::shared_ptr<StreamSwitch>& found = switches_[table];
  if (found == nullptr) found = std::make_shared<StreamSwitch>();
  found->Set(state);
}

std::shared_ptr<const StreamSwitch> StreamLog::SwitchOf(TableId table) {
  const absl::MutexLock lock(&mutex_);
  std::shared_ptr<StreamSwitch>& found = switches_[table];
  if (found == nullptr) found = std::make_shared<StreamSwitch>();
  return found;
}

void StreamLog::Forget(TableId table) {
  const absl::MutexLock lock(&mutex_);
  switches_.erase(table);
}

absl::StatusOr<bool> StreamLog::ChangeSettings(std::string_view table_name, std::string_view label,
                                               absl::FunctionRef<absl::Status(model::StreamDescriptor*)> change) {
  const absl::MutexLock gate(&gate_);
  std::optional<StreamDescriptor> stream = Find(table_name, label);
  if (!stream.has_value()) return false;
  ARM_RETURN_IF_ERROR(change(&*stream));
  rocksdb::WriteBatch batch;
  batch.Put(db_->meta()->handle(), StreamKey(stream->id), EncodeStreamDescriptor(*stream));
  ARM_RETURN_IF_ERROR(db_->Write(&batch, /*sync=*/true, Cat("settings of a stream of table ", table_name)));
  const absl::MutexLock lock(&mutex_);
  streams_.Put(*std::move(stream));
  return true;
}

// ---------------------------------------------------------------------------------------------------------------
// Records.

StreamLog::Batch::Batch(StreamLog* log)
    : log_(log), gate_(&log->gate_), segment_([log] {
        const absl::MutexLock lock(&log->mutex_);
        return log->segments_.empty() ? SegmentId(0) : log->segments_.back().id;
      }()) {}

void StreamLog::Batch::Add(StreamId stream, uint8_t hash, ChangeSequence sequence, std::string_view record,
                           rocksdb::WriteBatch* batch) {
  uint8_t slot = 0;
  {
    const absl::MutexLock lock(&log_->mutex_);
    const StreamDescriptor* const found = log_->streams_.Find(stream);
    if (found == nullptr || !found->is_enabled()) return;
    slot = StreamSlotOf(hash, found->ShardsIn(segment_));
  }
  const std::string key = StreamRecordKey(segment_, stream, slot, sequence);
  batch->Put(log_->db_->stream()->handle(), key, ToSlice(record));
  bytes_ += key.size() + record.size();
  const auto same = [&](const Appended& each) { return each.stream == stream && each.slot == slot; };
  if (const auto found = std::find_if(appended_.begin(), appended_.end(), same); found != appended_.end()) {
    found->last = sequence;
  } else {
    appended_.push_back({stream, slot, sequence});
  }
}

void StreamLog::Batch::Written() {
  {
    const absl::MutexLock lock(&log_->mutex_);
    for (const Appended& each : appended_) {
      SlotSequences& last = log_->last_appended_.try_emplace(each.stream, log_->OpenedAt()).first->second;
      last[each.slot] = each.last;
    }
  }
  log_->CountWritten(segment_, bytes_);
}

void StreamLog::Batch::Readable() {
  StreamId notified;
  for (const Appended& each : appended_) {
    if (each.stream != notified) log_->NotifyAppended(each.stream);
    notified = each.stream;
  }
}

SlotSequences StreamLog::OpenedAt() const {
  SlotSequences sequences;
  sequences.fill(opened_at_);
  return sequences;
}

SlotSequences StreamLog::LastAppended(StreamId stream) const {
  const absl::MutexLock lock(&mutex_);
  const auto found = last_appended_.find(stream);
  return found == last_appended_.end() ? OpenedAt() : found->second;
}

void StreamLog::NotifyAppended(StreamId stream) {
  if (!has_append_listener_.load(std::memory_order_relaxed)) return;
  const absl::MutexLock lock(&listener_mutex_);
  if (on_append_) on_append_(stream);
}

void StreamLog::SetAppendListener(std::function<void(StreamId stream)> listen) {
  const absl::MutexLock lock(&listener_mutex_);
  has_append_listener_.store(listen != nullptr, std::memory_order_relaxed);
  on_append_ = std::move(listen);
}

void StreamLog::CountWritten(SegmentId segment, uint64_t bytes) {
  bool has_grown = false;
  {
    const absl::MutexLock lock(&mutex_);
    if (!segments_.empty() && segments_.back().id == segment) segments_.back().bytes += bytes;
    grown_bytes_ += bytes;
    has_grown = grown_bytes_ >= growth_bytes_.load(std::memory_order_relaxed);
    if (has_grown) grown_bytes_ = 0;
  }
  if (!has_grown) return;
  const absl::MutexLock lock(&listener_mutex_);
  if (on_growth_) on_growth_();
}

void StreamLog::SetGrowthListener(std::function<void()> wake, uint64_t bytes) {
  const absl::MutexLock lock(&listener_mutex_);
  on_growth_ = std::move(wake);
  growth_bytes_.store(bytes, std::memory_order_relaxed);
}

std::vector<StreamDescriptor> StreamLog::streams() const {
  const absl::MutexLock lock(&mutex_);
  std::vector<StreamDescriptor> all;
  all.reserve(streams_.all().size());
  for (const auto& [id, stream] : streams_.all()) all.push_back(stream);
  return all;
}

std::vector<StreamDescriptor> StreamLog::StreamsOf(std::string_view table) const {
  const absl::MutexLock lock(&mutex_);
  return streams_.OfName(table);
}

std::vector<StreamName> StreamLog::Names(const std::optional<std::string_view>& table_name, const StreamName& after,
                                         size_t max) const {
  const absl::MutexLock lock(&mutex_);
  return streams_.Names(table_name, after, max);
}

std::optional<StreamDescriptor> StreamLog::Find(std::string_view table_name, std::string_view label) const {
  const absl::MutexLock lock(&mutex_);
  const StreamDescriptor* const found = streams_.Find(table_name, label);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

std::optional<StreamState> StreamLog::StateOf(std::string_view table_name, std::string_view label) const {
  const absl::MutexLock lock(&mutex_);
  const StreamDescriptor* const found = streams_.Find(table_name, label);
  if (found == nullptr) return std::nullopt;
  return StreamState{*found, segments_};
}

std::vector<StreamId> StreamLog::EndedUntil(int64_t time_ms) const {
  const absl::MutexLock lock(&mutex_);
  return streams_.EndedUntil(time_ms);
}

std::vector<StreamSegment> StreamLog::segments() const {
  const absl::MutexLock lock(&mutex_);
  return segments_;
}

uint64_t StreamLog::bytes() const {
  const absl::MutexLock lock(&mutex_);
  uint64_t bytes = 0;
  for (const StreamSegment& segment : segments_) bytes += segment.bytes;
  return bytes;
}

ChangeSequence StreamLog::watermark() const { return tickets_->watermark(); }
ChangeSequence StreamLog::epoch_base() const { return tickets_->epoch_base(); }

absl::StatusOr<bool> StreamLog::Read(
    SegmentId segment, StreamId stream, uint8_t slot, ChangeSequence after,
    absl::FunctionRef<absl::StatusOr<bool>(ChangeSequence sequence, std::string_view record)> fn) const {
  const std::string lower = StreamRecordKey(segment, stream, slot, ChangeSequence(after.value() + 1));
  const std::string upper = StreamRecordKey(segment, stream, static_cast<uint8_t>(slot + 1), ChangeSequence(0));
  const rocksdb::Slice upper_slice(upper);
  rocksdb::ReadOptions options;
  options.total_order_seek = true;
  options.iterate_upper_bound = &upper_slice;
  const std::unique_ptr<rocksdb::Iterator> it(db_->db()->NewIterator(options, db_->stream()->handle()));
  for (it->Seek(lower); it->Valid(); it->Next()) {
    const std::optional<ChangeSequence> sequence = SequenceOfStreamRecordKey(ToView(it->key()));
    if (!sequence.has_value()) return DataLossError("stream: a malformed key");
    ARM_ASSIGN_OR_RETURN(const bool goes_on, fn(*sequence, ToView(it->value())));
    if (!goes_on) return false;
  }
  ARM_RETURN_IF_ERROR(FromRocks(it->status(), Cat("read stream ", stream.value())));
  return true;
}

// ---------------------------------------------------------------------------------------------------------------
// Segments.

absl::Status StreamLog::BeginSegment(int64_t now_ms) {
  const absl::MutexLock gate(&gate_);
  StreamSegment next{SegmentId(1), now_ms, ChangeSequence(tickets_->last_taken().value() + 1)};
  std::vector<StreamDescriptor> changed;
  {
    const absl::MutexLock lock(&mutex_);
    if (!segments_.empty()) {
      next.id = SegmentId(segments_.back().id.value() + 1);
      // Segments are in the order of time even if the clock was set back.
      next.begin_ms = std::max(now_ms, segments_.back().begin_ms);
    }
    for (const auto& [id, stream] : streams_.all()) {
      if (stream.is_enabled() && stream.next_shards != 0) changed.push_back(WithNextShards(stream, next.id));
    }
  }
  rocksdb::WriteBatch batch;
  batch.Put(db_->meta()->handle(), SegmentKey(next.id),
            EncodeSegmentRecord(next.begin_ms, next.first_sequence.value()));
  for (const StreamDescriptor& stream : changed) {
    batch.Put(db_->meta()->handle(), StreamKey(stream.id), EncodeStreamDescriptor(stream));
  }
  ARM_FAULT_POINT("stream.before_segment");
  ARM_RETURN_IF_ERROR(db_->Write(&batch, /*sync=*/true, "begin a segment of the streams"));
  ARM_FAULT_POINT("stream.after_segment");
  const absl::MutexLock lock(&mutex_);
  segments_.push_back(next);
  for (StreamDescriptor& stream : changed) streams_.Put(std::move(stream));
  return absl::OkStatus();
}

absl::Status StreamLog::TrimOldest() {
  StreamSegment trimmed;
  {
    // The segment goes before its records: a reader that finds no records looks whether the segment is still there.
    const absl::MutexLock lock(&mutex_);
    if (segments_.size() < 2) return absl::OkStatus();
    trimmed = segments_.front();
    segments_.erase(segments_.begin());
  }
  const SegmentId oldest = trimmed.id;
  const std::string begin = SegmentDataKey(oldest);
  const std::string end = SegmentDataKey(SegmentId(oldest.value() + 1));
  rocksdb::WriteBatch batch;
  batch.Delete(db_->meta()->handle(), SegmentKey(oldest));
  batch.DeleteRange(db_->stream()->handle(), begin, end);
  // Without fsync: after a power cut, the segment is trimmed again.
  const absl::Status written = db_->Write(&batch, /*sync=*/false, "trim the streams");
  ARM_FAULT_POINT("stream.trimmed");
  if (!written.ok()) {
    const absl::MutexLock lock(&mutex_);
    segments_.insert(segments_.begin(), trimmed);
    return written;
  }
  // Files that hold nothing else go at once and cost no compaction. The range deletion covers the rest of the segment,
  // in the few files that it shares with its neighbour. A key is never written twice, so no older row can reappear.
  const rocksdb::Slice first(begin);
  const rocksdb::Slice last(end);
  const rocksdb::Status dropped =
      rocksdb::DeleteFilesInRange(db_->db(), db_->stream()->handle(), &first, &last, /*include_end=*/false);
  if (!dropped.ok()) LOG(WARNING) << "store: cannot drop files of a trimmed segment status=" << dropped.ToString();
  return absl::OkStatus();
}

absl::Status StreamLog::Remove(StreamId stream) {
  const absl::MutexLock gate(&gate_);
  rocksdb::WriteBatch batch;
  batch.Delete(db_->meta()->handle(), StreamKey(stream));
  ARM_RETURN_IF_ERROR(db_->Write(&batch, /*sync=*/false, "remove a stream"));
  const absl::MutexLock lock(&mutex_);
  streams_.Erase(stream);
  last_appended_.erase(stream);
  return absl::OkStatus();
}

}  // namespace armature::store
