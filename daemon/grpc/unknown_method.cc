#include "daemon/grpc/unknown_method.h"

#include <memory>
#include <string_view>

#include "daemon/grpc/error_map.h"
#include "daemon/json/json_api.h"
#include "engine/operations.h"

namespace armature::daemon {
namespace {

// A call whose request is not read.
class UnreadCall final : public RpcHandler {
 public:
  void OnMessage(InMessage /*message*/) override {}
};

// The method, if no service of this version has one of this name; else, or if there is none, the whole path.
std::string_view OperationIn(std::string_view path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  if (!path.starts_with("armature.")) return path;
  const std::string_view method = path.substr(path.find('/') + 1);
  return method.empty() || engine::FindOperation(method) != nullptr ? path : method;
}

}  // namespace

OpenCall UnknownMethod(const CallGate* gate) {
  return [gate](const std::shared_ptr<RpcCall>& call) {
    call->set_handler(std::make_shared<UnreadCall>());
    gate->Identify(call, [gate, call](const absl::StatusOr<Caller>& caller) {
      const absl::Status error = caller.ok() ? NotSupportedError(OperationIn(call->path())) : caller.status();
      gate->Count(Front::kGrpc, "", *call).Finish(error, {});
      call->Finish(ToRpcStatus(error));
    });
  };
}

}  // namespace armature::daemon
