#ifndef ARMATURE_TOOLS_ADVISE_WORKLOAD_JSON_H_
#define ARMATURE_TOOLS_ADVISE_WORKLOAD_JSON_H_

// The advisor's file, and its answer as JSON. docs/ADVISE.md describes both.

#include <nlohmann/json.hpp>

#include "absl/status/statusor.h"
#include "tools/advise/advice.h"
#include "tools/advise/workload.h"

namespace armature::advise {

using Json = nlohmann::ordered_json;

// Reads a workload. Whatever is wrong is refused, never guessed: members that are not known, values of another type or
// out of range, names of attributes that the table does not list. What is left out gets the documented default; a key
// may be missing, see CheckWorkload. Errors: InvalidArgument that begins with the place, such as
// "patterns[2].range.kind: ...".
absl::StatusOr<Workload> WorkloadFromJson(const Json& json);

// Also has a member CreateTable, a request that makes the table with all that is proposed; for a table that is created,
// UpdateTable, a list of requests that each add one of the proposed global indexes.
Json AdviceToJson(const Advice& advice);

}  // namespace armature::advise

#endif  // ARMATURE_TOOLS_ADVISE_WORKLOAD_JSON_H_
