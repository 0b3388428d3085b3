#include "daemon/grpc/unknown_operations.h"

#include <string_view>

#include "daemon/grpc/error_map.h"
#include "daemon/json/json_api.h"

namespace armature::daemon {
namespace {

class UnknownCall final : public grpc::ServerGenericBidiReactor {
 public:
  explicit UnknownCall(const grpc::Status& end) { Finish(end); }
  void OnDone() override { delete this; }
  bool InternalInlineable() override { return true; }
};

// The method of a service of ours, or the whole path of another one.
std::string_view OperationIn(std::string_view path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  return path.starts_with("armature.") ? path.substr(path.find('/') + 1) : path;
}

}  // namespace

grpc::ServerGenericBidiReactor* UnknownOperations::CreateReactor(grpc::GenericCallbackServerContext* context) {
  const RequestStats::Request counted = gate_->Count(Front::kGrpc, "");
  const absl::Status error = NotSupportedError(OperationIn(context->method()));
  counted.Finish(error, {});
  return new UnknownCall(EndOf(context, error));  // ends itself
}

}  // namespace armature::daemon
