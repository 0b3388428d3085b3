#ifndef ARMATURE_TOOLS_ARMATURE_SCHEMA_YAML_TEXT_H_
#define ARMATURE_TOOLS_ARMATURE_SCHEMA_YAML_TEXT_H_

// YAML as JSON, for templates of CloudFormation and other definitions of tables.
//
// - Plain scalars are null, booleans and numbers as in the core schema of YAML 1.2; all others are texts, also dates,
//   numbers with a leading zero, and integers of more than 18 digits.
// - The short forms of CloudFormation become their long forms: `!Ref x` is {"Ref": "x"}, `!Sub x` is {"Fn::Sub": "x"}.
// - An alias is a copy of what its anchor names. Merge keys (<<) are refused, as CloudFormation refuses them.

#include <cstddef>
#include <string_view>

#include "absl/status/statusor.h"
#include "tools/armature/json_text.h"

namespace armature::cli {

// Maximum size of the value in memory, roughly: aliases can make a short text a very large value.
inline constexpr size_t kYamlBytesMax = 64 << 20;
// Maximum number of members of one mapping, whose cost grows with their square.
inline constexpr size_t kYamlMembersMax = 1000;

// Parses one document; an empty text is null. Errors: INVALID_ARGUMENT with line and column, also for a value that
// nests deeper than kJsonDepthMax or exceeds a limit above, and for a member that occurs twice. No recursion.
absl::StatusOr<Json> ParseYaml(std::string_view text);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SCHEMA_YAML_TEXT_H_
