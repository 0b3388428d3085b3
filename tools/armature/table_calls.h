#ifndef ARMATURE_TOOLS_ARMATURE_TABLE_CALLS_H_
#define ARMATURE_TOOLS_ARMATURE_TABLE_CALLS_H_

// Calls about tables that several commands make.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "armature/client/client.h"

namespace armature::cli {

// The names of all tables, from all pages of ListTables.
absl::StatusOr<std::vector<std::string>> ListTableNames(const client::Client& client);

absl::StatusOr<api::v1::TableDescription> DescribeTable(const client::Client& client, const std::string& name);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_TABLE_CALLS_H_
