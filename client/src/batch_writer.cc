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

// Two writes of one item in a batch.
bool IsRefusedForDuplicates(const absl::Status& status) {
  return ErrorName(status) == "ValidationException" &&
         std::string_view(status.message().data(), status.message().size()).find("duplicates") !=
             std::string_view::npos;
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
  if (!answer.ok()) {
    if (count > 1 && IsRefusedForDuplicates(answer.status())) {
      // The first half may leave something over, which then goes before the second.
      ARM_RETURN_IF_ERROR(SendFirst(count / 2));
      return SendFirst(std::min(waiting_.size(), count - count / 2));
    }
    if (!IsTransient(answer.status())) waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<int64_t>(count));
    return answer.status();
  }
  change_sequence_ = std::max(change_sequence_, answer->change_sequence());
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<int64_t>(count));
  std::vector<Write> left;
  for (const auto& [table, writes] : answer->unprocessed_items()) {
    for (const api::v1::WriteRequest& write : writes.requests()) left.push_back({table, write});
  }
  fruitless_attempts_ = left.size() == count ? fruitless_attempts_ + 1 : 0;
  const bool give_up = fruitless_attempts_ >= options_.fruitless_attempts_max;
  waiting_.insert(waiting_.begin(), left.begin(), left.end());
  if (left.empty()) return absl::OkStatus();
  if (give_up) {
    fruitless_attempts_ = 0;
    return absl::ResourceExhaustedError("the daemon takes no writes now");
  }
  const ClientOptions& options = client_.options();
  options.clock->SleepFor(options.backoff->DelayAfter(std::max(fruitless_attempts_, 1)));
  return absl::OkStatus();
}

}  // namespace armature::client
