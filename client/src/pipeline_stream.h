#ifndef ARMATURE_CLIENT_SRC_PIPELINE_STREAM_H_
#define ARMATURE_CLIENT_SRC_PIPELINE_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "armature/api/v1/items.pb.h"
#include "armature/client/connection.h"
#include "armature/client/pipeline.h"
#include "client/src/stubs.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/client_callback.h"

namespace armature::client {

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
  void Start(Stubs& stubs, const CallContext& call);

  // See Pipeline.
  void Send(api::v1::PipelineRequest request, Answered answered);
  void WaitUntilIdle();
  absl::Status Close();
  absl::Status status() const;

  // Returns when no callback of the stream is running or will run.
  void CancelAndWait();

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

 private:
  struct Outstanding {
    Answered answered;
    size_t bytes = 0;
  };
  enum class Step { kNothing, kWrite, kWritesDone, kRelease };

  void Call(Answered answered, absl::StatusOr<api::v1::PipelineResponse> answer);
  void Pump();
  Step NextStep() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool MaySend() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
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

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_SRC_PIPELINE_STREAM_H_
