#ifndef ARMATURE_TOOLS_ADVISE_WORKLOAD_JSON_H_
#define ARMATURE_TOOLS_ADVISE_WORKLOAD_JSON_H_

// Reads the advisor's file, and writes its advice as JSON. docs/ADVISE.md describes both.

#include <nlohmann/json.hpp>

#include "absl/status/statusor.h"
#include "tools/advise/advice.h"
#include "tools/advise/workload.h"

namespace armature::advise {

using Json = nlohmann::ordered_json;

// Reads a workload. Refuses every mistake: unknown members, values of another type or out of range, attributes that the
// table does not list. Missing members get their documented defaults. The key may be missing: see CheckWorkload.
// Errors: InvalidArgument that begins with the place, such as "patterns[2].range.kind: ...".
absl::StatusOr<Workload> WorkloadFromJson(const Json& json);

// The advice as JSON. Its member CreateTable is a request that creates the table with all proposed indexes. For an
// existing table, UpdateTable is a list of requests that each add one of the proposed global indexes.
Json AdviceToJson(const Advice& advice);

}  // namespace armature::advise

#endif  // ARMATURE_TOOLS_ADVISE_WORKLOAD_JSON_H_
