#ifndef ARMATURE_DAEMON_ADMIN_ADMIN_OPERATIONS_H_
#define ARMATURE_DAEMON_ADMIN_ADMIN_OPERATIONS_H_

// The operations of the admin service: state of the process and of its indexes, checks of indexes, backups of the
// database, and an echo for measurements. Exports of tables are streams (export_stream.h).

#include <string>
#include <vector>

#include "daemon/api/unary_operation.h"
#include "daemon/grpc/message_operations.h"
#include "daemon/telemetry/request_stats.h"

namespace armature::daemon {

// `data_dir`: the daemon's. `stats`: of its requests, outlives the operations; may be null.
std::vector<UnaryOperation> AdminOperations(std::string data_dir, const RequestStats* stats);

// Answers without objects, because it measures the cost of a call.
MessageOperation EchoOperation();

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_ADMIN_ADMIN_OPERATIONS_H_
