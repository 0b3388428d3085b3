#include "armature/client/batch_writer.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "armature/client/errors.h"
#include "armature/client/retry_policy.h"
#include "storage/base/status_macros.h"

namespace armature::client {
namespace {

// Of one of the writes; the others were done, or were not.
bool IsFullCollection(const absl::Status& status) {
  return ErrorName(status) == "ItemCollectionSizeLimitExceededException";
}

// What gRPC says of a message beyond the daemon's limit: it has no detail.
bool IsTooLarge(const absl::Status& status) { return absl::IsResourceExhausted(status) && ErrorName(status).empty(); }

// Refused for what is in the batch, so that it would be refused for ever.
bool IsRefusedForGood(const absl::Status& status) {
  const std::string name = ErrorName(status);
  return name == "ValidationException" || name == "ResourceNotFoundException" || name == "AccessDeniedException" ||
         name == "SerializationException" || IsFullCollection(status) || IsTooLarge(status);
}

// Refused as a whole for something that its parts may not have.
bool IsForParts(const absl::Status& status) {
  return IsFullCollection(status) || IsTooLarge(status) ||
         // Two writes of one item.
         (ErrorName(status) == "ValidationException" &&
          std::string_view(status.message().data(), status.message().size()).find("item keys contains duplicates") !=
              std::string_view::npos);
}

}  // namespace

BatchWriter::BatchWriter(Client client, BatchWriterOptions options)
    : client_(std::move(client)), options_(std::move(options)) {}

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
  waiting_.push_back(std::move(write));
  return waiting_.size() < kBatchWritesMax ? absl::OkStatus() : SendFirst(kBatchWritesMax);
}

absl::Status BatchWriter::Flush() {
  while (!waiting_.empty()) ARM_RETURN_IF_ERROR(SendFirst(std::min(waiting_.size(), kBatchWritesMax)));
  return absl::OkStatus();
}

absl::Status BatchWriter::SendFirst(size_t count) {
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
    for (const api::v1::WriteRequest& write : writes.requests()) left.push_back({table, write});
  }
  waiting_.insert(waiting_.begin(), left.begin(), left.end());
  if (left.size() == count) return PauseAfterNothing(absl::ResourceExhaustedError("the daemon takes no writes now"));
  fruitless_attempts_ = 0;
  if (!left.empty()) client_.options().clock->SleepFor(client_.options().backoff->DelayAfter(1));
  return absl::OkStatus();
}

absl::Status BatchWriter::Refused(const absl::Status& status, size_t count) {
  if (count > 1 && IsForParts(status)) {
    // The first half may leave something over, which then goes before the second.
    ARM_RETURN_IF_ERROR(SendFirst(count / 2));
    return SendFirst(std::min(waiting_.size(), count - count / 2));
  }
  if (IsRefusedForGood(status)) {
    DropFirst(count);
    return status;
  }
  // The daemon throttles all of it: as if it had come back unprocessed.
  const bool throttled = absl::IsResourceExhausted(status);
  return throttled ? PauseAfterNothing(status) : status;
}

absl::Status BatchWriter::PauseAfterNothing(absl::Status why) {
  if (++fruitless_attempts_ >= options_.fruitless_attempts_max) {
    fruitless_attempts_ = 0;
    return why;
  }
  const ClientOptions& options = client_.options();
  options.clock->SleepFor(std::max(options.backoff->DelayAfter(fruitless_attempts_), RetryAfter(why)));
  return absl::OkStatus();
}

void BatchWriter::DropFirst(size_t count) {
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<int64_t>(count));
}

}  // namespace armature::client
