#ifndef ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_BATCH_WRITER_H_
#define ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_BATCH_WRITER_H_

// Collects many puts and deletes into few calls.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "armature/client/client.h"
#include "armature/client/item_builder.h"

namespace armature::client {

struct BatchWriterOptions {
  // Number of successive attempts in which the daemon throttles the whole batch. After so many the waiting call gives
  // up. At least 1.
  int fruitless_attempts_max = 10;
  // Called with each dropped write and the reason, by the method that drops it. Must not call the writer. May be empty.
  std::function<void(const std::string& table, const api::v1::WriteRequest& write, const absl::Status& why)> dropped;
  CallOptions call;  // options of each batch
};

// Collects writes and sends them 25 at a time. Unprocessed writes go into the next batch, after the pause of the
// client's backoff policy.
//
//   BatchWriter writer(client);
//   for (const Item& item : items) {
//     if (absl::Status written = writer.Put("users", item); !written.ok()) return written;
//   }
//   return writer.Flush();
//
// Writes of different items have no order. Two waiting writes of the same item are done in the order in which they were
// added: the daemon refuses both in one batch, and the writer then sends them one after the other.
//
// Thread-safety: owned by one thread.
// Lifetime: the destructor loses writes that are not flushed.
//
// Errors. A write is done, or dropped, or still waiting:
// - A write is dropped if the daemon would refuse it every time. ValidationException, SerializationException,
//   ResourceNotFoundException and AccessDeniedException drop the whole batch, of which nothing was written.
//   ItemCollectionSizeLimitExceededException drops the write whose collection is full. INVALID_ARGUMENT without a name
//   (errors.h), from Put and Delete only, drops the given write, which is larger than kRequestBytesMax (options.h).
//   BatchWriterOptions::dropped is called with each dropped write.
// - After any other error, such as throttling (RESOURCE_EXHAUSTED), UNAVAILABLE or DEADLINE_EXCEEDED, all writes that
//   may not be done are still waiting. Flush tries again, so that a write may be done twice.
// A method continues after the writes that it dropped, and returns its first error. It sends nothing more after an
// error of the second kind.
//
// The daemon does not say whose collection is full, nor which of the other writes were done. The writer therefore sends
// the batch again in halves until it has found the write, and may do the other writes up to six times.
class BatchWriter {
 public:
  static constexpr size_t kBatchWritesMax = 25;

  explicit BatchWriter(Client client, BatchWriterOptions options = {});
  BatchWriter(const BatchWriter&) = delete;
  BatchWriter& operator=(const BatchWriter&) = delete;

  // Adds a write. Sends a batch when enough writes are waiting.
  absl::Status Put(std::string table, Item item);
  absl::Status Delete(std::string table, Item key);
  // Sends all waiting writes. OK: no write is waiting, and this call dropped none.
  absl::Status Flush();

  // Number of waiting writes.
  size_t waiting() const { return waiting_.size(); }
  // The highest change sequence of the writes that are done.
  uint64_t change_sequence() const { return change_sequence_; }

 private:
  struct Write {
    std::string table;
    api::v1::WriteRequest request;
    size_t bytes = 0;  // size within a message
  };

  absl::Status Add(Write write);
  // The number of writes, among the first `count` waiting ones, that fit into one message. At least 1.
  size_t FitInAMessage(size_t count) const;
  // Sends the first `count` waiting writes, or as many as fit. Writes that are not done stay in front.
  absl::Status SendFirst(size_t count);
  // Handles the refusal of the first `count` writes with `status`.
  absl::Status Refused(const absl::Status& status, size_t count);
  // Waits until the next attempt. Returns `why` after too many attempts without a done write.
  absl::Status PauseAfterNothing(absl::Status why);
  void DropFirst(size_t count);

  const Client client_;
  const BatchWriterOptions options_;
  const size_t request_bytes_max_;
  std::deque<Write> waiting_;
  uint64_t change_sequence_ = 0;
  int fruitless_attempts_ = 0;
};

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_BATCH_WRITER_H_
