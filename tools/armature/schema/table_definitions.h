#ifndef ARMATURE_TOOLS_ARMATURE_SCHEMA_TABLE_DEFINITIONS_H_
#define ARMATURE_TOOLS_ARMATURE_SCHEMA_TABLE_DEFINITIONS_H_

// Definitions of tables in the forms of the API, of dynein and of our SQL, and items in the form of BatchWriteItem.

#include <string_view>

#include "absl/status/statusor.h"
#include "tools/armature/json_text.h"
#include "tools/armature/schema/schema_table.h"

namespace armature::cli {

// True for what TablesOfDefinitions takes.
bool IsDefinition(const Json& json);

// The table of a CreateTable request, of an answer of DescribeTable or CreateTable ("Table", "TableDescription"), or of
// dynein's `dy admin desc`; or the tables of a list of these. An answer gives what a request may ask for. Errors:
// INVALID_ARGUMENT with the path of the fault.
absl::StatusOr<Schema> TablesOfDefinitions(const Json& json);

// True for {"TABLE": [{"PutRequest": {"Item": {...}}}, ...], ...}, bare or as RequestItems.
bool IsBatch(const Json& json);

// The items of such a batch. Errors: INVALID_ARGUMENT with the path of the fault; also for a DeleteRequest.
absl::StatusOr<Schema> ItemsOfBatch(const Json& json);

// The tables of a script of CREATE TABLE statements (docs/reference/shell.md). Errors: INVALID_ARGUMENT with the line
// of the statement; also for any other statement.
absl::StatusOr<Schema> TablesOfScript(std::string_view text);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SCHEMA_TABLE_DEFINITIONS_H_
