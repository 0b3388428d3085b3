#ifndef ARMATURE_CLIENT_SRC_RESPONSE_STREAM_H_
#define ARMATURE_CLIENT_SRC_RESPONSE_STREAM_H_

// A call with one request and a stream of responses.

#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/src/grpc_connection.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/client_callback.h"
#include "storage/base/strings.h"

namespace armature::client {

// Reads one response ahead.
//
// Thread-safety: Next and CancelAndWait are called by one thread at a time; Cancel is thread-safe. gRPC is called
// without the lock. Lifetime: destroy it after CancelAndWait.
template <class Response>
class ResponseStream final : public grpc::ClientReadReactor<Response> {
 public:
  // `connection` owns the stubs.
  explicit ResponseStream(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}

  // Call it once, before anything else. `begin(&context, reactor)` passes both to the method of a stub.
  template <class Begin>
  void Start(const CallContext& call, Begin begin) {
    SetUp(call, &context_);
    begin(&context_, this);
    // Reads begin on the caller's thread. Without the hold the stream could end between two of them.
    this->AddHold();
    this->StartRead(&read_);
    this->StartCall();
  }

  // Reads the next response into `*response`. False at the end of a stream without error. Blocks. Errors: the error
  // that ended the stream; DEADLINE_EXCEEDED if the daemon sends nothing for `patience`.
  absl::StatusOr<bool> Next(Response* response, absl::Duration patience) {
    {
      absl::MutexLock lock(&mutex_);
      if (!mutex_.AwaitWithTimeout(absl::Condition(this, &ResponseStream::HasNews), patience)) {
        return absl::DeadlineExceededError(
            Av(Cat("the daemon has sent nothing for ", Sv(absl::FormatDuration(patience)))));
      }
      if (!has_response_) {
        if (!status_.ok()) return status_;
        return false;
      }
      has_response_ = false;
      response->Swap(&read_);
    }
    this->StartRead(&read_);
    return true;
  }

  // Ends the stream soon. Cancelling a call that has ended is legal.
  void Cancel() { context_.TryCancel(); }

  // Returns when no callback of the stream is running or will run.
  void CancelAndWait() {
    bool has_hold = false;
    {
      absl::MutexLock lock(&mutex_);
      is_closing_ = true;
      has_hold = has_response_;
      has_response_ = false;
    }
    Cancel();
    if (has_hold) this->RemoveHold();
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(&is_done_));
  }

  void OnReadDone(bool ok) override {
    {
      absl::MutexLock lock(&mutex_);
      has_response_ = ok && !is_closing_;
      if (has_response_) return;
    }
    // There is no further read.
    this->RemoveHold();
  }

  void OnDone(const grpc::Status& status) override {
    absl::MutexLock lock(&mutex_);
    status_ = StatusOf(status);
    is_done_ = true;
  }

 private:
  bool HasNews() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return has_response_ || is_done_; }

  const std::shared_ptr<Connection> connection_;
  grpc::ClientContext context_;
  Response read_;  // owned by the pending read, or by Next
  absl::Mutex mutex_;
  bool has_response_ ABSL_GUARDED_BY(mutex_) = false;  // `read_` has a response, and no read is pending
  bool is_closing_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_done_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_SRC_RESPONSE_STREAM_H_
