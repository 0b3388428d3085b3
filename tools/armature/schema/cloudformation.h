#ifndef ARMATURE_TOOLS_ARMATURE_SCHEMA_CLOUDFORMATION_H_
#define ARMATURE_TOOLS_ARMATURE_SCHEMA_CLOUDFORMATION_H_

// Tables of CloudFormation templates, which SAM, CDK and Serverless write, too.

#include "absl/status/statusor.h"
#include "tools/armature/json_text.h"
#include "tools/armature/schema/schema_table.h"
#include "tools/armature/schema/template_values.h"

namespace armature::cli {

// True for a template: an object with Resources.
bool IsTemplate(const Json& json);

// The tables of all resources of the types AWS::DynamoDB::Table, AWS::DynamoDB::GlobalTable and
// AWS::Serverless::SimpleTable whose condition holds. Other resources are skipped. Properties that need other services
// of AWS are left out and noted; of a global table, the settings of the first replica count. Errors: INVALID_ARGUMENT
// with the path of the fault; also for an unknown property.
absl::StatusOr<Schema> TablesOfTemplate(const Json& root, const TemplateParameters& parameters);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SCHEMA_CLOUDFORMATION_H_
