#include "storage/store/log/index_backlog.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "glog/logging.h"
#include "storage/codec/change_codec.h"
#include "storage/store/catalog/catalog.h"
#include "storage/store/log/change_log.h"
#include "storage/store/meta_keys.h"

namespace armature::store {
namespace {

constexpr int64_t kSpacingMinMs = 500;
// When full, every second sample is dropped, which doubles the covered time. A record's age of one day is then known to
// some minutes.
constexpr size_t kSamplesMax = 128;

// Adds a record to the backlogs of those of `indexes` that it touches and that have not applied it.
void CountRecord(const std::vector<const Index*>& indexes, ChangeSequence sequence, std::string_view bytes) {
  const absl::StatusOr<codec::ChangeRecord> record = codec::ParseChangeRecord(bytes);
  if (!record.ok()) return;
  for (const Index* const index : indexes) {
    if (sequence <= index->progress->applied()) continue;
    BacklogLoad load;
    for (const codec::IndexRowChange& change : record->index_changes) {
      if (change.index != index->descriptor.id) continue;
      load.records = 1;
      load.bytes += codec::RowBytes(change);
    }
    if (load.records > 0) index->progress->backlog().Append(sequence, record->time_ms, load);
  }
}

}  // namespace

void IndexBacklog::Append(ChangeSequence last, int64_t time_ms, BacklogLoad load) {
  const absl::MutexLock lock(&mutex_);
  last_ = last;
  records_.fetch_add(load.records, std::memory_order_relaxed);
  bytes_.fetch_add(load.bytes, std::memory_order_relaxed);
  AddSample({last, time_ms});
}

void IndexBacklog::AddSample(Sample sample) {
  if (samples_.empty()) spacing_ms_ = kSpacingMinMs;
  if (!samples_.empty() && sample.time_ms - samples_.back().time_ms < spacing_ms_) {
    // The sample also represents later records, and is removed with the last of them.
    samples_.back().sequence = sample.sequence;
    return;
  }
  samples_.push_back(sample);
  if (samples_.size() < kSamplesMax) return;
  std::deque<Sample> kept;
  for (size_t i = 0; i < samples_.size(); i += 2) {
    const size_t last = std::min(i + 1, samples_.size() - 1);
    kept.push_back({samples_[last].sequence, samples_[i].time_ms});
  }
  samples_.swap(kept);
  spacing_ms_ *= 2;
}

void IndexBacklog::Applied(ChangeSequence through, BacklogLoad load) {
  const absl::MutexLock lock(&mutex_);
  // Clamped at 0: a record that was applied but never counted must not underflow the backlog.
  records_.store(records_.load(std::memory_order_relaxed) - std::min(load.records, this->load().records),
                 std::memory_order_relaxed);
  bytes_.store(bytes_.load(std::memory_order_relaxed) - std::min(load.bytes, this->load().bytes),
               std::memory_order_relaxed);
  while (!samples_.empty() && samples_.front().sequence <= through) samples_.pop_front();
}

bool IndexBacklog::BeginAt(ChangeSequence from) {
  const absl::MutexLock lock(&mutex_);
  if (last_ > from) return false;
  records_.store(0, std::memory_order_relaxed);
  bytes_.store(0, std::memory_order_relaxed);
  samples_.clear();
  return true;
}

IndexBacklog::State IndexBacklog::state() const {
  const absl::MutexLock lock(&mutex_);
  State state{load(), 0};
  if (state.load.records > 0 && !samples_.empty()) state.oldest_ms = samples_.front().time_ms;
  return state;
}

void CountBacklogs(const ChangeLog& log, const CatalogSnapshot& catalog) {
  for (const auto& [name, table] : catalog.tables()) {
    std::vector<const Index*> indexes;
    std::optional<ChangeSequence> from;
    for (const Index& index : table->global_indexes) {
      // An index that waits for its scan has no position yet. BeginIndexScan starts its count.
      const bool waits = index.build != nullptr && index.build->phase() == BuildPhase::kWaiting;
      if (index.progress == nullptr || waits) continue;
      indexes.push_back(&index);
      const ChangeSequence applied = index.progress->applied();
      from = std::min(from.value_or(applied), applied);
    }
    if (indexes.empty()) continue;
    ChangeSequence counted = *from;
    const absl::Status read = log.Read(table->descriptor.id, *from, log.watermark(), SIZE_MAX, SIZE_MAX,
                                       [&](ChangeSequence sequence, std::string_view record) {
                                         CountRecord(indexes, sequence, record);
                                         counted = sequence;
                                         return absl::OkStatus();
                                       })
                                  .status();
    if (!read.ok()) {
      LOG(ERROR) << "store: cannot read the change log, backlog counts are incomplete family=" << kLogFamily
                 << " table=" << name << " after_sequence=" << counted.value() << " status=" << read;
    }
  }
}

}  // namespace armature::store
