#include "storage/store/memtable/read_horizon.h"

#include <algorithm>

namespace armature::store {
namespace {

// Threads begin their search for a free place at different ones, and keep to them.
size_t FirstPlaceOfThread() {
  static std::atomic<size_t> threads = 0;
  thread_local const size_t kPlace = threads.fetch_add(1, std::memory_order_relaxed) % ReadHorizon::kReadings;
  return kPlace;
}

// A free place among `places` from `first` on, taken with `value`; null if there is none.
template <class Places>
std::atomic<uint64_t>* TakePlace(Places& places, size_t first, uint64_t value) {
  for (size_t i = 0; i < places.size(); ++i) {
    std::atomic<uint64_t>& place = places[(first + i) % places.size()].sequence;
    uint64_t free = 0;
    if (place.load(std::memory_order_relaxed) == 0 && place.compare_exchange_strong(free, value)) return &place;
  }
  return nullptr;
}

}  // namespace

// The order of the sequentially consistent operations is the proof. A reader registers, then RocksDB takes the sequence
// that the read sees. The writer takes the last sequence, then looks at the places. If it misses the reader, the reader
// registered later and sees that sequence or a newer one.
ReadHorizon::Reading::Reading(ReadHorizon* horizon)
    : place_(TakePlace(horizon->places_, FirstPlaceOfThread(), horizon->LastSequence() + 1)),
      is_counted_(place_ == nullptr) {
  if (is_counted_) {
    place_ = &horizon->crowd_;
    place_->fetch_add(1);
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

ReadHorizon::Reading::~Reading() {
  if (is_counted_) {
    place_->fetch_sub(1, std::memory_order_release);
  } else {
    place_->store(0, std::memory_order_release);
  }
}

ReadHorizon::Holding::Holding(ReadHorizon* horizon, uint64_t sequence) : horizon_(horizon), sequence_(sequence) {
  const absl::MutexLock lock(&horizon_->mutex_);
  horizon_->held_.push_back(sequence_);
}

ReadHorizon::Holding::~Holding() {
  const absl::MutexLock lock(&horizon_->mutex_);
  horizon_->held_.erase(std::find(horizon_->held_.begin(), horizon_->held_.end(), sequence_));
}

bool ReadHorizon::Limits::AllowsToDrop(uint64_t version, uint64_t next_version) const {
  return next_version <= overwritten && std::none_of(held.begin(), held.end(), [&](uint64_t sequence) {
           return version <= sequence && sequence < next_version;
         });
}

uint64_t ReadHorizon::LastSequence() const {
  const rocksdb::DB* const db = db_.load(std::memory_order_acquire);
  return db == nullptr ? 0 : db->GetLatestSequenceNumber();
}

void ReadHorizon::GetLimits(Limits* limits) const {
  limits->overwritten = LastSequence();
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (const Place& place : places_) {
    const uint64_t sequence = place.sequence.load();
    if (sequence != 0) limits->overwritten = std::min(limits->overwritten, sequence - 1);
  }
  if (crowd_.load() != 0) limits->overwritten = 0;
  // Read last: a snapshot is covered by its Reading until it is held.
  const absl::MutexLock lock(&mutex_);
  limits->held = held_;
}

}  // namespace armature::store
