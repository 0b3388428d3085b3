#include "armature/client/pipeline.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "armature/client/errors.h"
#include "client/src/grpc_connection.h"
#include "grpcpp/support/client_callback.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::client {
namespace {

// Number of callbacks running on this thread, of any stream. A callback must not wait for room in its own stream,
// because it would wait for itself. It must not wait in another stream either: that stream may wait for this callback,
// or for gRPC threads that all wait like this one.
thread_local int callbacks_running = 0;

// Size in bytes of the request id and its tag.
constexpr size_t kIdBytesMax = 11;

// The codes that gRPC reports for a broken connection.
bool IsBrokenConnection(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kCancelled:
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
      return true;
    default:
      return false;
  }
}

// The error of an operation without an answer at the end of its stream.
absl::Status Unanswered(const absl::Status& stream) {
  // Another stream would end in the same way, so the error must not count as transient.
  if (!ErrorName(stream).empty() || !IsBrokenConnection(stream.code())) return stream;
  const std::string_view reason = stream.ok() ? std::string_view("it was closed") : Sv(stream.message());
  return absl::UnavailableError(Av(Cat("the stream to the daemon has ended: ", reason)));
}

}  // namespace

// The implementation of Pipeline.
//
// Thread-safety: thread-safe. gRPC and the callbacks are called without the lock.
// Lifetime: destroyed after CancelAndWait, and not in a callback. The destructor may close the last connection of the
// process, which waits in gRPC for the threads that run callbacks.
class PipelineStream final : public grpc::ClientBidiReactor<api::v1::PipelineRequest, api::v1::PipelineResponse> {
 public:
  using Answered = absl::AnyInvocable<void(absl::StatusOr<api::v1::PipelineResponse>) &&>;

  // `request_bytes_max`: a larger request is refused without ending the stream.
  PipelineStream(std::shared_ptr<Connection> connection, const PipelineOptions& options, size_t request_bytes_max)
      : connection_(std::move(connection)),
        request_bytes_max_(request_bytes_max),
        in_flight_max_(options.in_flight_max),
        in_flight_bytes_max_(options.in_flight_bytes_max) {}

  // Called once, before all other functions.
  void Start(Stubs& stubs, const CallContext& call) {
    SetUp(call, &context_);
    std::get<std::unique_ptr<api::v1::ItemService::Stub>>(stubs.all)->async()->Pipeline(&context_, this);
    // Writes begin on any thread. Without the hold the stream could end between two of them.
    AddHold();
    StartRead(&read_);
    StartCall();
  }

  // See Pipeline.
  void Send(api::v1::PipelineRequest request, Answered answered) {
    const size_t bytes = request.ByteSizeLong() + kIdBytesMax;
    if (bytes > request_bytes_max_) {
      // The request would end the stream with all outstanding operations.
      return std::move(answered)(NeverSent(
          absl::InvalidArgumentError(Av(Cat("the request is larger than ", request_bytes_max_, " bytes may be")))));
    }
    absl::Status refused;
    {
      absl::MutexLock lock(&mutex_);
      if (callbacks_running == 0) mutex_.Await(absl::Condition(this, &PipelineStream::MaySend));
      // After the end and before its reason is known the operation is accepted, and answered with the reason.
      if (has_status_ || is_closing_) {
        refused = NeverSent(Unanswered(status_));
      } else {
        request.set_id(++last_id_);
        outstanding_.emplace(last_id_, Outstanding{std::exchange(answered, nullptr), bytes});
        outstanding_bytes_ += bytes;
        unsent_.push_back(std::move(request));
      }
    }
    if (answered != nullptr) return std::move(answered)(std::move(refused));
    Pump();
  }

  void WaitUntilIdle() {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(this, &PipelineStream::IsIdle));
  }

  absl::Status Close() {
    {
      absl::MutexLock lock(&mutex_);
      is_closing_ = true;
    }
    Pump();
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(&is_done_));
    return status_;
  }

  absl::Status status() const {
    absl::MutexLock lock(&mutex_);
    if (has_ended_ && !is_done_) return absl::UnavailableError("the stream to the daemon has ended");
    return status_;
  }

  // Returns when no callback of the stream is running or will run.
  void CancelAndWait() {
    {
      absl::MutexLock lock(&mutex_);
      is_closing_ = true;
      if (is_done_) return;
    }
    // Cancelling a call that has ended is legal.
    context_.TryCancel();
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(&is_done_));
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      {
        absl::MutexLock lock(&mutex_);
        has_ended_ = true;
      }
      return Pump();
    }
    Answered answered;
    {
      absl::MutexLock lock(&mutex_);
      if (const auto found = outstanding_.find(read_.id()); found != outstanding_.end()) {
        answered = std::move(found->second.answered);
        outstanding_bytes_ -= found->second.bytes;
        outstanding_.erase(found);
        ++answering_;
      }
    }
    if (answered != nullptr && read_.has_error()) {
      const api::v1::RpcStatus& error = read_.error();
      Call(std::move(answered),
           MakeCallStatus(static_cast<absl::StatusCode>(error.code()), error.message(), error.SerializeAsString()));
    } else if (answered != nullptr) {
      Call(std::move(answered), std::move(read_));
    }
    StartRead(&read_);
  }

  void OnWriteDone(bool ok) override {
    {
      absl::MutexLock lock(&mutex_);
      // A failed write means that the stream is ending. The pending read reports the end.
      is_writing_ = !ok;
    }
    Pump();
  }

  void OnDone(const grpc::Status& status) override {
    absl::flat_hash_map<uint64_t, Outstanding> left;
    absl::flat_hash_set<uint64_t> unsent;
    absl::Status unanswered;
    {
      absl::MutexLock lock(&mutex_);
      left.swap(outstanding_);
      for (const api::v1::PipelineRequest& request : unsent_) unsent.insert(request.id());
      unsent_.clear();
      outstanding_bytes_ = 0;
      has_ended_ = true;
      answering_ += static_cast<int>(left.size());
      status_ = StatusOf(status);
      has_status_ = true;
      unanswered = Unanswered(status_);
      if (status_.ok() && !left.empty()) status_ = unanswered;
    }
    for (auto& [id, operation] : left) {
      Call(std::move(operation.answered), unsent.contains(id) ? NeverSent(unanswered) : unanswered);
    }
    // The waiting thread destroys the stream as soon as the lock is free.
    absl::MutexLock lock(&mutex_);
    is_done_ = true;
  }

 private:
  struct Outstanding {
    Answered answered;
    size_t bytes = 0;
  };
  enum class Step { kNothing, kWrite, kWritesDone, kRelease };

  void Call(Answered answered, absl::StatusOr<api::v1::PipelineResponse> answer) {
    ++callbacks_running;
    std::move(answered)(std::move(answer));
    --callbacks_running;
    absl::MutexLock lock(&mutex_);
    --answering_;
  }

  void Pump() {
    bool was_starting = false;
    while (true) {
      Step step;
      {
        absl::MutexLock lock(&mutex_);
        if (was_starting) --starting_;
        step = NextStep();
        was_starting = step == Step::kWrite || step == Step::kWritesDone;
        if (was_starting) ++starting_;
      }
      switch (step) {
        case Step::kNothing:
          return;
        case Step::kWrite: {
          grpc::WriteOptions options;
          // Waiting requests are sent together, after this one.
          if (more_follow_) options.set_buffer_hint();
          StartWrite(&written_, options);
          break;
        }
        case Step::kWritesDone:
          StartWritesDone();
          break;
        case Step::kRelease:
          RemoveHold();
          return;
      }
    }
  }

  Step NextStep() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (has_ended_) {
      if (is_released_ || starting_ > 0) return Step::kNothing;
      is_released_ = true;
      return Step::kRelease;
    }
    if (is_writing_) return Step::kNothing;
    if (!unsent_.empty()) {
      is_writing_ = true;
      written_ = std::move(unsent_.front());
      unsent_.pop_front();
      more_follow_ = !unsent_.empty();
      return Step::kWrite;
    }
    if (!is_closing_ || are_writes_done_) return Step::kNothing;
    are_writes_done_ = true;
    return Step::kWritesDone;
  }

  bool MaySend() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (has_ended_ || is_closing_ || outstanding_.empty()) return true;
    return outstanding_.size() < in_flight_max_ && outstanding_bytes_ < in_flight_bytes_max_;
  }

  bool IsIdle() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return outstanding_.empty() && answering_ == 0; }

  const std::shared_ptr<Connection> connection_;  // owns the stubs
  const size_t request_bytes_max_;
  const size_t in_flight_max_;
  const size_t in_flight_bytes_max_;
  grpc::ClientContext context_;

  api::v1::PipelineResponse read_;    // owned by the pending read
  api::v1::PipelineRequest written_;  // owned by the pending write
  bool more_follow_ = false;

  mutable absl::Mutex mutex_;
  std::deque<api::v1::PipelineRequest> unsent_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<uint64_t, Outstanding> outstanding_ ABSL_GUARDED_BY(mutex_);
  size_t outstanding_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t last_id_ ABSL_GUARDED_BY(mutex_) = 0;
  int starting_ ABSL_GUARDED_BY(mutex_) = 0;   // threads that are about to call gRPC
  int answering_ ABSL_GUARDED_BY(mutex_) = 0;  // running callbacks
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_closing_ ABSL_GUARDED_BY(mutex_) = false;
  bool are_writes_done_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_ended_ ABSL_GUARDED_BY(mutex_) = false;    // no more answers will arrive
  bool has_status_ ABSL_GUARDED_BY(mutex_) = false;   // the reason of the end is known
  bool is_released_ ABSL_GUARDED_BY(mutex_) = false;  // gRPC is not called any more
  bool is_done_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

absl::StatusOr<std::unique_ptr<Pipeline>> Pipeline::Open(std::shared_ptr<Connection> connection,
                                                         const ClientOptions& client_options,
                                                         const PipelineOptions& options) {
  if (options.in_flight_max < 1) return absl::InvalidArgumentError("in_flight_max must be at least 1");
  if (options.lifetime <= absl::ZeroDuration()) return absl::InvalidArgumentError("lifetime must be positive");
  const absl::Time now = client_options.clock->Now();
  CallContext context = ContextOf(client_options, options.call);
  ARM_ASSIGN_OR_RETURN(Stubs* const stubs, connection->StubsForStream(context));
  context.deadline = now + options.lifetime;
  const size_t request_bytes_max = std::min(kRequestBytesMax, static_cast<size_t>(client_options.send_bytes_max));
  auto stream = std::make_unique<PipelineStream>(std::move(connection), options, request_bytes_max);
  stream->Start(*stubs, context);
  return std::unique_ptr<Pipeline>(new Pipeline(std::move(stream)));
}

Pipeline::Pipeline(std::unique_ptr<PipelineStream> stream) : stream_(std::move(stream)) {}

Pipeline::~Pipeline() { stream_->CancelAndWait(); }

void Pipeline::Send(api::v1::PipelineRequest request, Answered answered) {
  stream_->Send(std::move(request), std::move(answered));
}

void Pipeline::WaitUntilIdle() { stream_->WaitUntilIdle(); }

absl::Status Pipeline::Close() { return stream_->Close(); }

absl::Status Pipeline::status() const { return stream_->status(); }

}  // namespace armature::client
