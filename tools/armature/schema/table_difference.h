#ifndef ARMATURE_TOOLS_ARMATURE_SCHEMA_TABLE_DIFFERENCE_H_
#define ARMATURE_TOOLS_ARMATURE_SCHEMA_TABLE_DIFFERENCE_H_

// Comparison of a table with its definition.

#include <string>

#include "armature/api/v1/tables.pb.h"

namespace armature::cli {

// The first difference, such as "KeySchema[0].AttributeName is \"id\" in the schema and \"pk\" in the table"; empty if
// the table is as defined. The order of attributes and indexes does not count. Not compared are tags, policies, warm
// throughput, which is a report, and keys of encryption.
std::string DifferenceOf(const api::v1::CreateTableRequest& wanted, const api::v1::TableDescription& present);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SCHEMA_TABLE_DIFFERENCE_H_
