#ifndef ARMATURE_TOOLS_ADVISE_LIVE_TABLE_H_
#define ARMATURE_TOOLS_ADVISE_LIVE_TABLE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "armature/api/v1/tables.pb.h"
#include "tools/advise/workload.h"

namespace armature::advise {

// Completes a workload from the description of an existing table: name, key, indexes, number and size of items. Marks
// the table as created. Numbers and sizes in the workload prevail. Appends to `notes` a sentence about each number that
// the description does not tell.
// Errors: InvalidArgument if workload and description disagree about the key, the indexes or the type of a key
// attribute. `workload` is unspecified then.
absl::Status AddLiveTable(const api::v1::TableDescription& live, Workload* workload, std::vector<std::string>* notes);

}  // namespace armature::advise

#endif  // ARMATURE_TOOLS_ADVISE_LIVE_TABLE_H_
