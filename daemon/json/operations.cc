#include "daemon/json/operations.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

StringMap<JsonOperation> MakeAllOperations() {
  StringMap<JsonOperation> all;
  for (const auto& topic :
       {BackupOperations(), ItemOperations(), GroupOperations(), SettingOperations(), TableOperations()}) {
    for (const JsonOperation& operation : topic) all.emplace(operation.name, operation);
  }
  return all;
}

const StringMap<JsonOperation>& AllOperations() {
  static const StringMap<JsonOperation> kAll = MakeAllOperations();
  return kAll;
}

}  // namespace

const JsonOperation* FindOperation(std::string_view name) {
  const auto found = AllOperations().find(name);
  return found == AllOperations().end() ? nullptr : &found->second;
}

std::vector<std::string_view> OperationNames() {
  std::vector<std::string_view> names;
  for (const auto& [name, operation] : AllOperations()) names.push_back(operation.name);
  std::sort(names.begin(), names.end());
  return names;
}

bool IsItemOperation(std::string_view name) {
  for (const auto& topic : {ItemOperations(), GroupOperations()}) {
    for (const JsonOperation& operation : topic) {
      if (operation.name == name) return true;
    }
  }
  return false;
}

absl::Status CheckAccess(const JsonCall& call, std::string_view table) {
  return CheckAccess(call, call.operation, table);
}

absl::Status CheckAccess(const JsonCall& call, std::string_view operation, std::string_view table) {
  if (call.context.trace != nullptr) call.context.trace->set_table(table);
  return call.access == nullptr ? absl::OkStatus() : call.access->Check(operation, table);
}

void Fail(const JsonCall& call, const absl::Status& status, JsonApi::Done done) {
  std::move(done)(ErrorAnswer(status, call.request_id));
}

}  // namespace armature::daemon
