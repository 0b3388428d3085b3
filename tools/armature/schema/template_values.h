#ifndef ARMATURE_TOOLS_ARMATURE_SCHEMA_TEMPLATE_VALUES_H_
#define ARMATURE_TOOLS_ARMATURE_SCHEMA_TEMPLATE_VALUES_H_

// Values of a CloudFormation template: parameters, mappings, conditions, and the functions that use them.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tools/armature/json_text.h"

namespace armature::cli {

// Values of parameters by name, also of pseudo parameters such as AWS::StackName.
using TemplateParameters = std::map<std::string, std::string>;

// A value without functions.
struct TemplateValue {
  Json json;
  bool is_absent = false;  // AWS::NoValue, which removes its member
};

// Known are Ref, Fn::Sub, Fn::Join, Fn::Select, Fn::FindInMap, Fn::If, and Fn::GetAtt for the Arn of a table.
// Parameters have the values given, else their defaults. AWS::Region is "local", AWS::AccountId "000000000000", as in
// the daemon's ARNs. A name without a value, and any other function, is an error.
//
// All errors are INVALID_ARGUMENT and begin with the path of the value. Not thread-safe. Lifetime: the template
// outlives it.
class TemplateValues {
 public:
  // Maximum size of all texts that functions have made: a short template can repeat a long parameter.
  static constexpr size_t kBytesMax = 64 << 20;

  // `root`: an object.
  TemplateValues(const Json& root, TemplateParameters given);

  absl::StatusOr<TemplateValue> Resolve(const Json& value, const std::string& path);

  // True if the condition of this name holds.
  absl::StatusOr<bool> IsTrue(const std::string& condition, const std::string& path);

  // The name of the table that a resource is: its TableName, or the name of the resource.
  absl::StatusOr<std::string> TableNameOf(const std::string& resource, const std::string& path);

  // True for types of resources that are tables.
  static bool IsTableType(std::string_view type);

 private:
  using Value = absl::StatusOr<TemplateValue>;

  Value Function(const std::string& name, const Json& argument, const std::string& path);
  Value Ref(const std::string& name, const std::string& path);
  Value Parameter(const std::string& name, const Json& parameter, const std::string& path);
  Value Sub(const Json& argument, const std::string& path);
  Value SubName(const std::string& name, const Json& own, const std::string& path);
  Value Join(const Json& argument, const std::string& path);
  Value Select(const Json& argument, const std::string& path);
  Value FindInMap(const Json& argument, const std::string& path);
  Value If(const Json& argument, const std::string& path);
  Value GetAtt(const Json& argument, const std::string& path);
  absl::StatusOr<bool> Evaluate(const Json& condition, const std::string& path);
  absl::StatusOr<bool> EvaluateAll(const std::string& function, const Json& argument, const std::string& path);
  // The resolved argument, which must be a list of `count` elements.
  absl::StatusOr<Json> List(const Json& argument, size_t count, const std::string& path);
  absl::Status Spend(size_t bytes, const std::string& path);
  // A section of the template, such as Parameters; an empty object if it is absent.
  const Json& Section(const char* name) const;

  const Json& root_;
  const TemplateParameters given_;
  size_t spent_ = 0;
  int depth_ = 0;  // of conditions and tables that name others
};

// A scalar as a text, as CloudFormation inserts it into texts. Nullopt for lists and objects.
std::optional<std::string> ScalarText(const Json& value);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SCHEMA_TEMPLATE_VALUES_H_
