#ifndef ARMATURE_TOOLS_ARMATURE_SCHEMA_WORKBENCH_MODEL_H_
#define ARMATURE_TOOLS_ARMATURE_SCHEMA_WORKBENCH_MODEL_H_

// Data models of NoSQL Workbench, as it exports them in its own form.

#include "absl/status/statusor.h"
#include "tools/armature/json_text.h"
#include "tools/armature/schema/schema_table.h"

namespace armature::cli {

// True for a model: an object with the list DataModel.
bool IsModel(const Json& json);

// The tables of the model with their sample data. Descriptions, facets and formats of sample data are skipped. Where
// the capacity scales by itself, it begins with the provisioned one. Errors: INVALID_ARGUMENT with the path of the
// fault.
absl::StatusOr<Schema> TablesOfModel(const Json& json);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SCHEMA_WORKBENCH_MODEL_H_
