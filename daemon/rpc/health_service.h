#ifndef ARMATURE_DAEMON_RPC_HEALTH_SERVICE_H_
#define ARMATURE_DAEMON_RPC_HEALTH_SERVICE_H_

// The standard service grpc.health.v1.Health, for load balancers
// (https://github.com/grpc/grpc/blob/master/doc/health-checking.md).

#include <atomic>
#include <memory>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "daemon/rpc/rpc_call.h"
#include "daemon/rpc/rpc_front.h"

namespace armature::daemon {

// True if a HealthCheckRequest asks for the whole server or for one of its services.
bool IsKnownToHealth(std::string_view request);

// Check answers at once. Watch sends the status, and again when the daemon stops, and then ends. Callers need no
// credentials.
//
// Thread-safety: thread-safe. Lifetime: outlives the server.
class HealthService {
 public:
  static constexpr char kCheck[] = "/grpc.health.v1.Health/Check";
  static constexpr char kWatch[] = "/grpc.health.v1.Health/Watch";

  // Adds both methods to `front`.
  explicit HealthService(RpcFront* front);
  ~HealthService();
  HealthService(const HealthService&) = delete;
  HealthService& operator=(const HealthService&) = delete;

  // The daemon stops: it is no longer serving.
  void Drain();

 private:
  class Check;
  class Watch;
  struct OpenWatch {
    std::shared_ptr<RpcCall> call;
    std::weak_ptr<Watch> watch;
  };

  // The status of a service that is known, as a number of HealthCheckResponse.
  int status() const;
  void OpenNewWatch(const std::shared_ptr<RpcCall>& call);
  void Remove(const Watch* watch);

  std::atomic<bool> is_draining_ = false;
  absl::Mutex mutex_;
  absl::flat_hash_map<const Watch*, OpenWatch> watches_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_RPC_HEALTH_SERVICE_H_
