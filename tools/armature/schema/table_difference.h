#ifndef ARMATURE_TOOLS_ARMATURE_SCHEMA_TABLE_DIFFERENCE_H_
#define ARMATURE_TOOLS_ARMATURE_SCHEMA_TABLE_DIFFERENCE_H_

// Comparison of a table with its definition.

#include <string>
#include <vector>

#include "armature/api/v1/tables.pb.h"

namespace armature::cli {

// The first difference, such as "KeySchema[0].AttributeName is \"id\" in the schema and \"pk\" in the table"; empty if
// the table is as defined. The order of attributes and indexes does not count. Not compared are tags, policies, warm
// throughput, which is a report, and keys of encryption.
std::string DifferenceOf(const api::v1::CreateTableRequest& wanted, const api::v1::TableDescription& present);

// The names of the two places in a difference.
struct DefinitionPlaces {
  const char* wanted = "the schema";
  const char* present = "the table";
};

// The first difference in each member of two definitions, by the same rules. Names of tables do not count.
std::vector<std::string> DefinitionDifferences(api::v1::CreateTableRequest wanted, api::v1::CreateTableRequest present,
                                               const DefinitionPlaces& places);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SCHEMA_TABLE_DIFFERENCE_H_
