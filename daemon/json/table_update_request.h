#ifndef ARMATURE_DAEMON_JSON_TABLE_UPDATE_REQUEST_H_
#define ARMATURE_DAEMON_JSON_TABLE_UPDATE_REQUEST_H_

// UpdateTable from the document to the model.

#include <string>

#include "absl/status/statusor.h"
#include "storage/model/table_update.h"

namespace armature::daemon {

// Errors: SerializationException; UnknownOperationException for what is documented and not available.
absl::StatusOr<model::TableUpdate> ParseUpdateTable(const std::string& json);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_TABLE_UPDATE_REQUEST_H_
