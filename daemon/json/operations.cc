#include "daemon/json/operations.h"

#include "absl/container/flat_hash_map.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

StringMap<JsonOperation> AllOperations() {
  StringMap<JsonOperation> all;
  for (const auto& topic : {ItemOperations(), SettingOperations(), TableOperations()}) {
    for (const JsonOperation& operation : topic) all.emplace(operation.name, operation);
  }
  return all;
}

}  // namespace

const JsonOperation* FindOperation(std::string_view name) {
  static const StringMap<JsonOperation> kAll = AllOperations();
  const auto found = kAll.find(name);
  return found == kAll.end() ? nullptr : &found->second;
}

absl::Status CheckAccess(const JsonCall& call, std::string_view table) {
  return call.access == nullptr ? absl::OkStatus() : call.access->Check(call.operation, table);
}

void Fail(const JsonCall& call, const absl::Status& status, JsonApi::Done done) {
  std::move(done)(ErrorAnswer(status, call.request_id));
}

}  // namespace armature::daemon
