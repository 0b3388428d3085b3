#ifndef ARMATURE_TOOLS_ARMATURE_TOP_METRICS_PAGE_H_
#define ARMATURE_TOOLS_ARMATURE_TOP_METRICS_PAGE_H_

// Reads the daemon's metrics page over HTTP.

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace armature::cli {

// The body of http://ADDRESS/metrics. `address`: HOST:PORT. Errors: UNAVAILABLE with the reason if there is no such
// page, or no answer within `patience`.
absl::StatusOr<std::string> ReadMetricsPage(const std::string& address, absl::Duration patience);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_TOP_METRICS_PAGE_H_
