#include "daemon/rpc/rpc_front.h"

#include <utility>

#include "daemon/rpc/rpc_wire.h"
#include "storage/base/strings.h"

namespace armature::daemon {

std::shared_ptr<StreamHandler> RpcFront::Open(H2Stream* stream, H2Request* request,
                                              const std::shared_ptr<const H2Peer>& peer,
                                              const std::shared_ptr<IoLoop>& loop) {
  if (request->method.view() != "POST" || !IsRpcContentType(request->Find("content-type"))) return nullptr;
  auto call = std::make_shared<RpcCall>(stream, *request, peer, loop, &limits_);
  if (request->is_too_large) {
    call->Finish({.code = RpcCode::kResourceExhausted, .message = "The metadata is too large"});
    return call;
  }
  if (peer->running.load(std::memory_order_relaxed) > limits_.calls_max) {
    refused_surplus_.fetch_add(1, std::memory_order_relaxed);
    call->Finish(limits_.too_many());
    return call;
  }
  if (peer->is_full) {
    call->Refuse();
    return call;
  }
  const auto found = methods_.find(Av(request->path.view()));
  call->Begin(found == methods_.end() ? unknown_ : found->second);
  return call;
}

}  // namespace armature::daemon
