#ifndef ARMATURE_DAEMON_RPC_RPC_FRONT_H_
#define ARMATURE_DAEMON_RPC_RPC_FRONT_H_

// The methods of the gRPC services, by their paths.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "daemon/http/h2_router.h"
#include "daemon/rpc/rpc_call.h"

namespace armature::daemon {

// Thread-safety: Open and counts are thread-safe; the rest comes before the server starts.
class RpcFront final : public H2Router {
 public:
  explicit RpcFront(RpcLimits limits = {}) : limits_(std::move(limits)) { limits_.refused_memory = &refused_memory_; }

  // `path`: "/armature.api.v1.TableService/TagResource".
  void Add(std::string_view path, OpenCall open) { methods_.insert_or_assign(std::string(path), std::move(open)); }
  // For calls of methods that do not exist. It finishes them.
  void set_unknown(OpenCall unknown) { unknown_ = std::move(unknown); }

  std::shared_ptr<StreamHandler> Open(H2Stream* stream, H2Request* request, const std::shared_ptr<const H2Peer>& peer,
                                      const std::shared_ptr<IoLoop>& loop) override;

  // Calls refused because there was no memory for their requests.
  uint64_t refused_memory() const { return refused_memory_.load(std::memory_order_relaxed); }
  // Calls refused because their connection had too many.
  uint64_t refused_surplus() const { return refused_surplus_.load(std::memory_order_relaxed); }

 private:
  RpcLimits limits_;
  absl::flat_hash_map<std::string, OpenCall> methods_;
  OpenCall unknown_;
  std::atomic<uint64_t> refused_surplus_ = 0;
  std::atomic<uint64_t> refused_memory_ = 0;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_RPC_RPC_FRONT_H_
