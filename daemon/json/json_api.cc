#include "daemon/json/json_api.h"

#include <utility>

#include "daemon/json/operations.h"
#include "storage/base/api_error.h"

namespace armature::daemon {

bool JsonApi::Knows(std::string_view target, std::string_view* operation) {
  constexpr std::string_view kPrefix = "DynamoDB_20120810.";
  if (!target.starts_with(kPrefix)) return false;
  const std::string_view name = target.substr(kPrefix.size());
  if (FindOperation(name) == nullptr) return false;
  *operation = name;
  return true;
}

void JsonApi::Call(JsonCall call, Done done) {
  const JsonOperation* const operation = FindOperation(call.operation);
  if (operation == nullptr) return Fail(call, UnknownOperationError(""), std::move(done));
  call.operation = operation->name;  // the caller's may not live as long
  operation->run(engine_, call, std::move(done));
}

}  // namespace armature::daemon
