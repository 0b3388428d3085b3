#ifndef ARMATURE_DAEMON_GRPC_HEALTH_SERVICE_H_
#define ARMATURE_DAEMON_GRPC_HEALTH_SERVICE_H_

// The standard service grpc.health.v1.Health, for load balancers.

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "daemon/grpc/call_ledger.h"
#include "daemon/grpc/guarded_call.h"
#include "daemon/grpc/unary_service.h"
#include "grpcpp/impl/service_type.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"

namespace armature::daemon {

// One Watch call: sends the status, and again when the daemon stops, and stays open until the client or the server ends
// it.
//
// Thread-safety: thread-safe. Lifetime: the owner releases it when it calls `ended`, its last action.
class HealthWatch final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                          public std::enable_shared_from_this<HealthWatch>,
                          private TrackedCall {
 public:
  HealthWatch(CallLedger* ledger, grpc::CallbackServerContext* context, std::function<void(HealthWatch*)> ended)
      : TrackedCall(context), ledger_(ledger), ended_(std::move(ended)) {}

  // Call it once, before anything else.
  void Start();
  void Drain();

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  // Takes the next step, if there is one.
  void GoOn();

  CallLedger* const ledger_;
  const std::function<void(HealthWatch*)> ended_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer answer_;  // belongs to gRPC during a write
  absl::Mutex mutex_;
  bool is_known_ ABSL_GUARDED_BY(mutex_) = false;  // the service that is asked for
  bool is_reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_draining_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_over_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_finished_ ABSL_GUARDED_BY(mutex_) = false;
  int wanted_ ABSL_GUARDED_BY(mutex_) = 0;  // status to send; 0: none yet
  int sent_ ABSL_GUARDED_BY(mutex_) = 0;
};

// gRPC's own implementation receives a request of any size from anybody before it looks at it. The calls of this one
// are in the CallLedger like all others.
//
// Thread-safety: thread-safe. Lifetime: `ledger` outlives it; it outlives the server.
class HealthService final : public grpc::Service {
 public:
  static constexpr char kCheck[] = "/grpc.health.v1.Health/Check";
  static constexpr char kWatch[] = "/grpc.health.v1.Health/Watch";

  explicit HealthService(CallLedger* ledger);

  // The daemon stops: it is no longer serving.
  void Drain();

 private:
  void Check(OpenedCall* opened) const;

  CallLedger* const ledger_;
  std::atomic<bool> is_draining_ = false;
  StreamSet<HealthWatch> watches_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_HEALTH_SERVICE_H_
