#include "daemon/grpc/unknown_operations.h"

#include <string_view>

#include "daemon/grpc/error_map.h"
#include "daemon/json/json_api.h"
#include "engine/operations.h"

namespace armature::daemon {
namespace {

class UnknownCall final : public grpc::ServerGenericBidiReactor {
 public:
  explicit UnknownCall(const grpc::Status& end) { Finish(end); }
  void OnDone() override { delete this; }
  bool InternalInlineable() override { return true; }
};

// The method, if no service of this version has one of this name; else, or if there is none, the whole path.
std::string_view OperationIn(std::string_view path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  if (!path.starts_with("armature.")) return path;
  const std::string_view method = path.substr(path.find('/') + 1);
  return method.empty() || engine::FindOperation(method) != nullptr ? path : method;
}

}  // namespace

grpc::ServerGenericBidiReactor* UnknownOperations::CreateReactor(grpc::GenericCallbackServerContext* context) {
  const RequestStats::Request counted = gate_->Count(Front::kGrpc, "");
  const absl::Status error = NotSupportedError(OperationIn(context->method()));
  counted.Finish(error, {});
  return new UnknownCall(EndOf(context, error));  // ends itself
}

}  // namespace armature::daemon
