#ifndef ARMATURE_TOOLS_ARMATURE_COPY_BATCH_WRITER_H_
#define ARMATURE_TOOLS_ARMATURE_COPY_BATCH_WRITER_H_

// Writes many items by BatchWriteItem.

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/armature/copy/rate_limit.h"
#include "tools/armature/copy/remote.h"
#include "tools/armature/copy/stop_signal.h"
#include "tools/armature/copy/wire_json.h"

namespace armature::cli::copy {

// A request of BatchWriteItem, as text: {"PutRequest": {"Item": ...}} or {"DeleteRequest": {"Key": ...}}.
using WriteText = std::string;
WriteText PutText(const Wire& item);
WriteText DeleteText(const Wire& key);

// Thread-safe. Lifetime: all arguments outlive it.
class BatchWriter {
 public:
  // `rate`: items per second.
  BatchWriter(Remote* target, RateLimit* rate, StopSignal* stop) : target_(*target), rate_(*rate), stop_(*stop) {}

  // Writes all requests, on this thread. No two of them may have the same key. Requests that the target leaves are
  // sent again, with growing pauses, until nothing was taken for the patience of the target. Errors: those of
  // Remote::Call; an item that the target refuses is named.
  absl::Status Write(const std::string& table, const std::vector<WriteText>& requests);

  // The same on several threads.
  absl::Status WriteWide(const std::string& table, const std::vector<WriteText>& requests, size_t threads);

 private:
  using Batch = std::vector<WriteText>;

  absl::Status WriteBatch(const std::string& table, Batch batch);
  // The error of the first request of a refused batch that is refused by itself, with its key; `why` if none is.
  absl::Status BlameOne(const std::string& table, const Batch& batch, const absl::Status& why);
  // Sends the batch once. Returns what the target has not processed.
  absl::StatusOr<Batch> Send(const std::string& table, const Batch& batch);
  // Cuts the requests into batches that the protocol permits.
  static std::vector<Batch> BatchesOf(const std::vector<WriteText>& requests);

  Remote& target_;
  RateLimit& rate_;
  StopSignal& stop_;
};

}  // namespace armature::cli::copy

#endif  // ARMATURE_TOOLS_ARMATURE_COPY_BATCH_WRITER_H_
