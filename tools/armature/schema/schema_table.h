#ifndef ARMATURE_TOOLS_ARMATURE_SCHEMA_SCHEMA_TABLE_H_
#define ARMATURE_TOOLS_ARMATURE_SCHEMA_SCHEMA_TABLE_H_

// Tables as schema files define them, whatever the form of the file.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "armature/api/v1/tables.pb.h"
#include "armature/api/v1/types.pb.h"
#include "tools/armature/json_text.h"

namespace armature::cli {

struct SchemaTable {
  api::v1::CreateTableRequest definition;
  std::string expiry_attribute;      // empty: items do not expire
  std::vector<api::v1::Item> items;  // put into the table when it is created
  std::string source;                // the file
};

struct Schema {
  std::vector<SchemaTable> tables;
  // Items whose tables other files define, by table name.
  std::vector<std::pair<std::string, std::vector<api::v1::Item>>> items;
  // Settings in the files that the daemon does not have, one sentence each.
  std::vector<std::string> notes;
};

// INVALID_ARGUMENT for the value at `path`, which may be empty.
absl::Status SchemaFault(std::string_view path, std::string_view what);

// A copy of the member of an object; null for an absent one, and for the member of anything else.
Json MemberOf(const Json& json, const char* name);

// The definition in `json`, which has the documented form of a CreateTable request, but may have numbers and booleans
// as texts, as CloudFormation permits. Members that CreateTable lacks are errors, or are dropped with `prune`. Errors:
// INVALID_ARGUMENT with the path of the fault, which begins with `path`.
absl::StatusOr<api::v1::CreateTableRequest> DefinitionFromJson(Json json, std::string_view path, bool prune = false);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SCHEMA_SCHEMA_TABLE_H_
