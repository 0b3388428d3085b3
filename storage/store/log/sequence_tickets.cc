#include "storage/store/log/sequence_tickets.h"

namespace armature::store {

SequenceTickets::SequenceTickets(ChangeSequence last) : next_(last.value() + 1) {}

ChangeSequence SequenceTickets::Take(uint64_t count) {
  const absl::MutexLock lock(&mutex_);
  const uint64_t first = next_;
  next_ += count;
  out_.insert(first);
  return ChangeSequence(first);
}

void SequenceTickets::Release(ChangeSequence first) {
  const absl::MutexLock lock(&mutex_);
  out_.erase(first.value());
}

ChangeSequence SequenceTickets::watermark() const {
  const absl::MutexLock lock(&mutex_);
  return ChangeSequence((out_.empty() ? next_ : *out_.begin()) - 1);
}

ChangeSequence SequenceTickets::last_taken() const {
  const absl::MutexLock lock(&mutex_);
  return ChangeSequence(next_ - 1);
}

}  // namespace armature::store
