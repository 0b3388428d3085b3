#ifndef ARMATURE_STORAGE_STORE_LOG_SEQUENCE_TICKETS_H_
#define ARMATURE_STORAGE_STORE_LOG_SEQUENCE_TICKETS_H_

// Assigns sequences to change records, and computes the log's watermark.

#include <cstdint>
#include <set>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "storage/base/strong_type.h"

namespace armature::store {

// A ticket is a run of sequences that its holder is about to write. Batches may finish in another order than they took
// their tickets. Therefore a reader of the log never reads past the lowest outstanding ticket: it would skip the late
// records for ever.
//
// Thread-safety: thread-safe.
class SequenceTickets {
 public:
  // `last`: the highest sequence handed out before.
  explicit SequenceTickets(ChangeSequence last);

  // Takes `count` (at least 1) sequences; returns the first.
  ChangeSequence Take(uint64_t count);
  // Returns the ticket whose first sequence is `first`, after its batch was written or abandoned.
  void Release(ChangeSequence first);

  // Every sequence up to and including this one is in the log or never will be.
  ChangeSequence watermark() const;
  // The highest sequence handed out.
  ChangeSequence last_taken() const;

 private:
  mutable absl::Mutex mutex_;
  uint64_t next_ ABSL_GUARDED_BY(mutex_);
  std::set<uint64_t> out_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_LOG_SEQUENCE_TICKETS_H_
