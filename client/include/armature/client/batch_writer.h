#ifndef ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_BATCH_WRITER_H_
#define ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_BATCH_WRITER_H_

// Many puts and deletes in few calls.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "absl/status/status.h"
#include "armature/client/client.h"
#include "armature/client/item_builder.h"

namespace armature::client {

struct BatchWriterOptions {
  // In a row, in which the daemon did nothing of a batch because it was throttled. Then the call that waits gives up.
  // At least 1.
  int fruitless_attempts_max = 10;
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
// Errors of all methods: those of BatchWriteItem. A batch that was refused for what is in it (ValidationException,
// ResourceNotFoundException, AccessDeniedException) is dropped, and none of it was written. If only a part of it can be
// at fault (a full item collection, more bytes than a message may have), the batch is sent in parts, and what is
// dropped is the write at fault alone. After any other error, such as RESOURCE_EXHAUSTED, UNAVAILABLE or
// DEADLINE_EXCEEDED, all that may not be done still waits, and Flush tries again; a write may be done twice then.
class BatchWriter {
 public:
  static constexpr size_t kBatchWritesMax = 25;

  explicit BatchWriter(Client client, BatchWriterOptions options = {});
  BatchWriter(const BatchWriter&) = delete;
  BatchWriter& operator=(const BatchWriter&) = delete;

  // Sends a batch when there is enough for one.
  absl::Status Put(std::string table, Item item);
  absl::Status Delete(std::string table, Item key);
  // Sends all that waits.
  absl::Status Flush();

  // Writes that wait.
  size_t waiting() const { return waiting_.size(); }
  // Of all writes that were done.
  uint64_t change_sequence() const { return change_sequence_; }

 private:
  struct Write {
    std::string table;
    api::v1::WriteRequest request;
  };

  absl::Status Add(Write write);
  // Sends the first `count` of what waits. What of them is not done stays in front.
  absl::Status SendFirst(size_t count);
  // What to do after the first `count` were refused with `status`.
  absl::Status Refused(const absl::Status& status, size_t count);
  // Waits until the next attempt is worth while; returns `why` after too many in a row.
  absl::Status PauseAfterNothing(absl::Status why);
  void DropFirst(size_t count);

  const Client client_;
  const BatchWriterOptions options_;
  std::deque<Write> waiting_;
  uint64_t change_sequence_ = 0;
  int fruitless_attempts_ = 0;
};

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_BATCH_WRITER_H_
