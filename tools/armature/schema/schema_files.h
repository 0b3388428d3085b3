#ifndef ARMATURE_TOOLS_ARMATURE_SCHEMA_SCHEMA_FILES_H_
#define ARMATURE_TOOLS_ARMATURE_SCHEMA_SCHEMA_FILES_H_

// Schema files of all forms, one by one or all of a directory.
//
//   .json .yaml .yml .template   a model of NoSQL Workbench, a template of CloudFormation, definitions of tables, or a
//                                batch of items: the content decides
//   .sql                         CREATE TABLE statements
//   NAME.items.jsonl             items of the table NAME: plain or typed JSON on each line

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/armature/schema/schema_table.h"
#include "tools/armature/schema/template_values.h"

namespace armature::cli {

// Maximum size of one file.
inline constexpr size_t kSchemaFileBytesMax = 32 << 20;

// The schema of a text, which is read as the content of a file with the name `path`. Errors: INVALID_ARGUMENT.
absl::StatusOr<Schema> SchemaOfText(const std::string& path, const std::string& text,
                                    const TemplateParameters& parameters);

// The schema of all `paths`, files and directories. A directory gives its files with these names, in their order,
// without folders in it, hidden files and other files. Items of other files are with their tables.
//
// Errors: InputError with the file; also for a table that is defined twice, and for items without a table.
absl::StatusOr<Schema> ReadSchema(const std::vector<std::string>& paths, const TemplateParameters& parameters);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SCHEMA_SCHEMA_FILES_H_
