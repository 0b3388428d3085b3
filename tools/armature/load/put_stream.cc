#include "tools/armature/load/put_stream.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "armature/client/errors.h"
#include "armature/client/retry_policy.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

constexpr absl::Duration kTickEvery = absl::Milliseconds(100);

}  // namespace

PutStream::PutStream(client::Client client, std::string table_name, absl::Duration patience, Callbacks callbacks)
    : client_(std::move(client)),
      table_name_(std::move(table_name)),
      patience_(patience),
      callbacks_(std::move(callbacks)) {}

absl::Status PutStream::Put(PendingPut put) {
  ARM_RETURN_IF_ERROR(HandleAnswers());
  while (!waiting_.empty() || !HasRoom()) ARM_RETURN_IF_ERROR(Wait());
  put.bytes = put.item.ByteSizeLong();
  return Send(std::make_shared<PendingPut>(std::move(put)));
}

absl::Status PutStream::Finish() {
  ARM_RETURN_IF_ERROR(HandleAnswers());
  while (!waiting_.empty() || under_way_ > 0) ARM_RETURN_IF_ERROR(Wait());
  return absl::OkStatus();
}

absl::Status PutStream::Send(std::shared_ptr<PendingPut> put) {
  if (under_way_ == 0) heard_ = absl::Now();
  ++under_way_;
  under_way_bytes_ += put->bytes;
  ++put->attempts;
  if (pipeline_ == nullptr || !pipeline_->status().ok()) {
    absl::StatusOr<std::unique_ptr<client::Pipeline>> opened =
        client_.OpenPipeline({.in_flight_max = kUnderWayMax + 1, .in_flight_bytes_max = 2 * kUnderWayBytesMax});
    if (!opened.ok()) return HandleAnswer({std::move(put), opened.status()});
    pipeline_ = *std::move(opened);
  }
  api::v1::PutItemRequest request;
  request.set_table_name(table_name_);
  *request.mutable_item() = put->item;
  pipeline_->Ask(std::move(request),
                 [inbox = inbox_, put = std::move(put)](const absl::StatusOr<api::v1::PutItemResponse>& answer) {
                   absl::MutexLock lock(&inbox->mutex);
                   inbox->answers.push_back({put, answer.status()});
                 });
  return absl::OkStatus();
}

absl::Status PutStream::HandleAnswer(const Answer& answer) {
  --under_way_;
  under_way_bytes_ -= answer.put->bytes;
  if (!client::IsTransient(answer.status)) {
    failing_since_.reset();
    return callbacks_.settled(*answer.put, answer.status);
  }
  const absl::Time now = absl::Now();
  if (!failing_since_.has_value()) failing_since_ = now;
  if (now - *failing_since_ > patience_) return answer.status;
  const absl::Duration pause = client_.options().backoff->DelayAfter(answer.put->attempts);
  answer.put->due = now + client::RetryAfter(answer.status) + pause;
  waiting_.push_back(answer.put);
  return absl::OkStatus();
}

absl::Status PutStream::HandleAnswers() {
  std::vector<Answer> answers;
  {
    absl::MutexLock lock(&inbox_->mutex);
    answers.swap(inbox_->answers);
  }
  if (!answers.empty()) heard_ = absl::Now();
  for (const Answer& answer : answers) ARM_RETURN_IF_ERROR(HandleAnswer(answer));
  return SendDue();
}

absl::Status PutStream::SendDue() {
  const absl::Time now = absl::Now();
  // A put that fails at once is appended to the end, and not tried twice.
  for (size_t left = waiting_.size(); left > 0; --left) {
    std::shared_ptr<PendingPut> put = std::move(waiting_.front());
    waiting_.pop_front();
    if (put->due > now) {
      waiting_.push_back(std::move(put));
    } else {
      ARM_RETURN_IF_ERROR(Send(std::move(put)));
    }
  }
  return absl::OkStatus();
}

absl::Status PutStream::Wait() {
  const absl::Time patient_until = under_way_ > 0 ? heard_ + patience_ : absl::InfiniteFuture();
  absl::Time due = std::min(patient_until, absl::Now() + kTickEvery);
  for (const std::shared_ptr<PendingPut>& put : waiting_) due = std::min(due, put->due);
  Inbox& inbox = *inbox_;
  const auto has_answers = [&inbox]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return !inbox.answers.empty(); };
  {
    absl::MutexLock lock(&inbox.mutex);
    inbox.mutex.AwaitWithDeadline(absl::Condition(&has_answers), due);
    if (inbox.answers.empty() && absl::Now() >= patient_until) {
      return absl::DeadlineExceededError(Av(Cat("it has answered nothing for ", absl::FormatDuration(patience_))));
    }
  }
  ARM_RETURN_IF_ERROR(HandleAnswers());
  return callbacks_.tick();
}

}  // namespace armature::cli
