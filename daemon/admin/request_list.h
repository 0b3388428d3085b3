#ifndef ARMATURE_DAEMON_ADMIN_REQUEST_LIST_H_
#define ARMATURE_DAEMON_ADMIN_REQUEST_LIST_H_

// The answer of ListRequests.

#include <string>

#include "absl/status/status.h"
#include "armature/admin/v1/admin.pb.h"
#include "daemon/telemetry/request_stats.h"

namespace armature::daemon {

// `stats`: null if the daemon counts no requests; then there are none. Errors: ValidationException.
absl::Status ListRequests(const RequestStats* stats, const admin::v1::ListRequestsRequest& request,
                          admin::v1::ListRequestsResponse* response);

// The first 50 running and the last 50 slow requests, for the web console: {"running": ..., "slow": ...}, both answers
// of ListRequests in the dialect of the command line.
std::string RequestListsJson(const RequestStats& stats);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_ADMIN_REQUEST_LIST_H_
