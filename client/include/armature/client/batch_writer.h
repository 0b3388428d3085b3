#ifndef ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_BATCH_WRITER_H_
#define ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_BATCH_WRITER_H_

// Many puts and deletes in few calls.

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
  // In a row, in which the daemon did nothing of a batch because it was throttled. Then the call that waits gives up.
  // At least 1.
  int fruitless_attempts_max = 10;
  // Called with each write that is dropped, in the method that drops it, and why. Must not call the writer. May be
  // empty.
  std::function<void(const std::string& table, const api::v1::WriteRequest& write, const absl::Status& why)> dropped;
  CallOptions call;  // of each batch
};

// Collects writes and sends them 25 at a time. What the daemon leaves unprocessed goes into the next batch, after the
// pause that the client's backoff policy says.
//
//   BatchWriter writer(client);
//   for (const Item& item : items) {
//     if (absl::Status written = writer.Put("users", item); !written.ok()) return written;
//   }
//   return writer.Flush();
//
// Writes of different items have no order. Two writes of one item that are both on their way are done in the order in
// which they came: the daemon refuses to have both in one batch, and the writer then sends them one after the other.
//
// Thread-safety: owned by one thread.
// Lifetime: what is not flushed is lost with the writer.
//
// Errors. A write is either done, or dropped, or still waits:
// - Dropped is what would be refused for ever. Of a batch that is refused with ValidationException,
//   SerializationException, ResourceNotFoundException or AccessDeniedException that is all of it, and none of it was
//   written; with ItemCollectionSizeLimitExceededException it is the write whose collection is full; with
//   INVALID_ARGUMENT and no name (errors.h), from Put and Delete alone, it is the write just given, which is larger
//   than kRequestBytesMax (options.h). BatchWriterOptions::dropped tells which writes these are.
// - After any other error, such as throttling (RESOURCE_EXHAUSTED), UNAVAILABLE or DEADLINE_EXCEEDED, all that may not
//   be done still waits, and Flush tries again; a write may be done twice then.
// A method goes on behind what it dropped, and returns the first error that it met; waiting() tells whether something
// still waits. Behind an error of the second kind nothing more is sent by that call.
//
// The daemon does not say whose collection is full, nor which of the others were written: the batch is sent again in
// halves until that is known, so that writes beside the one at fault may be done up to six times.
class BatchWriter {
 public:
  static constexpr size_t kBatchWritesMax = 25;

  explicit BatchWriter(Client client, BatchWriterOptions options = {});
  BatchWriter(const BatchWriter&) = delete;
  BatchWriter& operator=(const BatchWriter&) = delete;

  // Sends a batch when there is enough for one.
  absl::Status Put(std::string table, Item item);
  absl::Status Delete(std::string table, Item key);
  // Sends all that waits. OK: nothing waits any more, and nothing was dropped by this call.
  absl::Status Flush();

  // Writes that wait.
  size_t waiting() const { return waiting_.size(); }
  // Of all writes that were done.
  uint64_t change_sequence() const { return change_sequence_; }

 private:
  struct Write {
    std::string table;
    api::v1::WriteRequest request;
    size_t bytes = 0;  // in a message
  };

  absl::Status Add(Write write);
  // Of the first `count` that wait, so many as one message may have; at least one.
  size_t FitInAMessage(size_t count) const;
  // Sends the first `count` of what waits, or as many as fit. What of them is not done stays in front.
  absl::Status SendFirst(size_t count);
  // What to do after the first `count` were refused with `status`.
  absl::Status Refused(const absl::Status& status, size_t count);
  // Waits until the next attempt is worth while; returns `why` after too many in a row.
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
