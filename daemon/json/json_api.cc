#include "daemon/json/json_api.h"

#include <utility>

#include "daemon/json/operations.h"
#include "storage/base/api_error.h"

namespace armature::daemon {

bool JsonApi::Knows(std::string_view target, std::string_view* operation) {
  constexpr std::string_view kPrefix = "DynamoDB_20120810.";
  if (!target.starts_with(kPrefix)) return false;
  const std::string_view name = target.substr(kPrefix.size());
  if (FindItemOperation(name) == nullptr && FindTableOperation(name) == nullptr) return false;
  *operation = name;
  return true;
}

void JsonApi::Call(JsonCall call, Done done) {
  if (const JsonOperation* const on_items = FindItemOperation(call.operation); on_items != nullptr) {
    call.operation = on_items->name;  // the caller's view may not live as long
    return on_items->run(engine_, call, std::move(done));
  }
  const UnaryOperation* const on_tables = FindTableOperation(call.operation);
  if (on_tables == nullptr) return Fail(call, UnknownOperationError(""), std::move(done));
  call.operation = on_tables->name();
  RunTableOperation(*on_tables, engine_, call, std::move(done));
}

}  // namespace armature::daemon
