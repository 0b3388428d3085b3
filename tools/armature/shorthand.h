#ifndef ARMATURE_TOOLS_ARMATURE_SHORTHAND_H_
#define ARMATURE_TOOLS_ARMATURE_SHORTHAND_H_

// The shorthand of the AWS command line for flat objects: "AttributeName=a,AttributeType=S".

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/armature/json_text.h"

namespace armature::cli {

enum class Scalars {
  kTexts,  // "AttributeName=1" means the text "1".
  kTyped,  // "ReadCapacityUnits=1" means the number 1, "StreamEnabled=true" the boolean.
};

// Parses the members of one object; or JSON, if the text begins with '{', '[' or '@'.
absl::StatusOr<Json> ParseShorthand(const std::string& text, Scalars scalars);

// Parses the arguments of one option into one array. An argument that is an array adds its elements.
absl::StatusOr<Json> ParseShorthandList(const std::vector<std::string>& arguments);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SHORTHAND_H_
