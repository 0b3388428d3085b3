#ifndef ARMATURE_DAEMON_ADMIN_INDEX_OPERATIONS_H_
#define ARMATURE_DAEMON_ADMIN_INDEX_OPERATIONS_H_

// The state of indexes and the items that they leave out: operations of the admin service, and JSON for the web
// console.

#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "daemon/api/unary_operation.h"
#include "engine/check/index_check.h"
#include "engine/engine.h"

namespace armature::daemon {

UnaryOperation ListIndexStatusOperation();
UnaryOperation GetIndexStatusOperation();
UnaryOperation ListIndexViolationsOperation();

// Called once, on any thread.
using JsonReply = absl::AnyInvocable<void(absl::StatusOr<std::string>) &&>;

// The answers of ListIndexStatus for one table and of ListIndexViolations, in the dialect of the command line. Do not
// block. Errors: those of the operations.
void IndexStatusJson(engine::Engine* engine, std::string table, JsonReply done);
void IndexViolationsJson(engine::Engine* engine, engine::ListIndexViolationsRequest request, JsonReply done);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_ADMIN_INDEX_OPERATIONS_H_
