#include "armature/client/batch_writer.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "armature/client/errors.h"
#include "armature/client/retry_policy.h"
#include "storage/base/strings.h"

namespace armature::client {
namespace {

// The error of one write in a batch. The other writes may be done or not.
bool IsFullCollection(const absl::Status& status) {
  return ErrorName(status) == "ItemCollectionSizeLimitExceededException";
}

// The daemon refuses the content of the batch, and would refuse it every time.
bool IsRefusedForGood(const absl::Status& status) {
  const std::string name = ErrorName(status);
  return name == "ValidationException" || name == "ResourceNotFoundException" || name == "AccessDeniedException" ||
         name == "SerializationException" || IsFullCollection(status);
}

// The daemon refuses the batch as a whole. Smaller parts of it may succeed.
bool IsForParts(const absl::Status& status) {
  return IsFullCollection(status) ||
         // two writes of the same item
         (ErrorName(status) == "ValidationException" &&
          Sv(status.message()).find("item keys contains duplicates") != std::string_view::npos);
}

// Size in bytes of the tags and lengths around a write and its table name.
constexpr size_t kFramingBytesMax = 32;

size_t BytesOf(const std::string& table, const api::v1::WriteRequest& request) {
  return table.size() + request.ByteSizeLong() + kFramingBytesMax;
}

}  // namespace

BatchWriter::BatchWriter(Client client, BatchWriterOptions options)
    : client_(std::move(client)),
      options_(std::move(options)),
      request_bytes_max_(std::min(kRequestBytesMax, static_cast<size_t>(client_.options().send_bytes_max))) {}

absl::Status BatchWriter::Put(std::string table, Item item) {
  Write write{std::move(table), {}};
  *write.request.mutable_put_request()->mutable_item() = std::move(item);
  return Add(std::move(write));
}

absl::Status BatchWriter::Delete(std::string table, Item key) {
  Write write{std::move(table), {}};
  *write.request.mutable_delete_request()->mutable_key() = std::move(key);
  return Add(std::move(write));
}

absl::Status BatchWriter::Add(Write write) {
  write.bytes = BytesOf(write.table, write.request);
  if (write.bytes > request_bytes_max_) {
    absl::Status why = NeverSent(absl::InvalidArgumentError(
        Av(Cat("the write is larger than the ", request_bytes_max_, " bytes of a request"))));
    if (options_.dropped) options_.dropped(write.table, write.request, why);
    return why;
  }
  waiting_.push_back(std::move(write));
  return waiting_.size() < kBatchWritesMax ? absl::OkStatus() : SendFirst(kBatchWritesMax);
}

absl::Status BatchWriter::Flush() {
  absl::Status first;
  while (!waiting_.empty()) {
    const absl::Status sent = SendFirst(std::min(waiting_.size(), kBatchWritesMax));
    first.Update(sent);
    if (!sent.ok() && !IsRefusedForGood(sent)) break;
  }
  return first;
}

size_t BatchWriter::FitInAMessage(size_t count) const {
  size_t bytes = waiting_.front().bytes;
  size_t fit = 1;
  while (fit < count && bytes + waiting_[fit].bytes <= request_bytes_max_) bytes += waiting_[fit++].bytes;
  return fit;
}

absl::Status BatchWriter::SendFirst(size_t count) {
  count = FitInAMessage(count);
  api::v1::BatchWriteItemRequest request;
  for (size_t i = 0; i < count; ++i) {
    *(*request.mutable_request_items())[waiting_[i].table].add_requests() = waiting_[i].request;
  }
  const absl::StatusOr<api::v1::BatchWriteItemResponse> answer = client_.BatchWriteItem(request, options_.call);
  if (!answer.ok()) return Refused(answer.status(), count);
  change_sequence_ = std::max(change_sequence_, answer->change_sequence());
  DropFirst(count);
  std::vector<Write> left;
  for (const auto& [table, writes] : answer->unprocessed_items()) {
    for (const api::v1::WriteRequest& write : writes.requests()) left.push_back({table, write, BytesOf(table, write)});
  }
  waiting_.insert(waiting_.begin(), left.begin(), left.end());
  if (left.size() == count) return PauseAfterNothing(absl::ResourceExhaustedError("the daemon takes no writes now"));
  fruitless_attempts_ = 0;
  if (!left.empty()) client_.options().clock->SleepFor(client_.options().backoff->DelayAfter(1));
  return absl::OkStatus();
}

absl::Status BatchWriter::Refused(const absl::Status& status, size_t count) {
  if (count > 1 && IsForParts(status)) {
    // Unprocessed writes of the first half are sent before the second half.
    absl::Status first = SendFirst(count / 2);
    if (!first.ok() && !IsRefusedForGood(first)) return first;
    const absl::Status second = SendFirst(std::min(waiting_.size(), count - count / 2));
    // The error of a dropped write is returned first. The other writes are still waiting and report their error later.
    first.Update(second);
    return first;
  }
  if (IsRefusedForGood(status)) {
    for (size_t i = 0; options_.dropped && i < count; ++i) {
      options_.dropped(waiting_[i].table, waiting_[i].request, status);
    }
    DropFirst(count);
    return status;
  }
  // A throttled batch counts as a batch of unprocessed writes.
  const bool throttled = absl::IsResourceExhausted(status);
  return throttled ? PauseAfterNothing(status) : status;
}

absl::Status BatchWriter::PauseAfterNothing(absl::Status why) {
  if (++fruitless_attempts_ >= options_.fruitless_attempts_max) {
    fruitless_attempts_ = 0;
    return why;
  }
  const ClientOptions& options = client_.options();
  options.clock->SleepFor(RetryAfter(why) + options.backoff->DelayAfter(fruitless_attempts_));
  return absl::OkStatus();
}

void BatchWriter::DropFirst(size_t count) {
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<int64_t>(count));
}

}  // namespace armature::client
