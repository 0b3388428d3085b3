#ifndef ARMATURE_STORAGE_MODEL_TABLE_NAME_H_
#define ARMATURE_STORAGE_MODEL_TABLE_NAME_H_

// Names of tables: plain names, or ARNs (arn:aws:dynamodb:<region>:<account>:table/<name>).

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "storage/model/constraint_list.h"

namespace armature::model {

// ARNs have the original format, so that tools can parse them. A daemon has one fixed region and account.
inline constexpr std::string_view kRegion = "local";
inline constexpr std::string_view kTableArnPrefix = "arn:aws:dynamodb:local:000000000000:table/";

std::string TableArn(std::string_view table_name);
std::string IndexArn(std::string_view table_name, std::string_view index_name);
std::string StreamArn(std::string_view table_name, std::string_view label);

// True if the text is an ARN: names have no colon.
bool IsArn(std::string_view text);

// The table's name in `name_or_arn`: the name part of any ARN of a table or of a resource of a table, in any region;
// other texts as a whole. Checks nothing.
std::string_view TableNamePart(std::string_view name_or_arn);

// The name of the table in this daemon's catalog: the part behind the prefix of this daemon's ARNs, or a plain name.
// Empty, which is no table's name, for ARNs of another region or account.
std::string_view LocalTableName(std::string_view name_or_arn);

// The parts of a DynamoDB ARN. Views into the text.
struct Arn {
  std::string_view region;
  std::string_view account;
  std::string_view resource;  // "table/Cats/index/ByAge"
};

// Errors: ValidationException that names the first invalid part.
absl::Status ParseArn(std::string_view text, Arn* arn);

// Checks the parameter TableName of all operations except CreateTable, which accepts a name only. Operations on items
// also refuse names that are too short for a table: their `chars_min` is kTableNameMinChars. Errors:
// ValidationException; for a name by the rules of ConstraintList::CheckName, for an ARN with its first invalid part.
absl::Status CheckTableReference(std::string_view name_or_arn, size_t chars_min = 1);

// The same for operations without other required members. An absent parameter is an error.
absl::Status CheckRequiredTableReference(const std::optional<std::string>& name_or_arn);

// The same where violations are collected: adds to `constraints` that the parameter is missing, or has an invalid
// length or character. CheckTableReference checks the parts of an ARN afterwards.
void CheckTableReferenceShape(const std::optional<std::string>& name_or_arn, ConstraintList* constraints,
                              size_t chars_min = 1);
// The same for the name in `path`, which is not an ARN. The error for an empty name states that one character is
// missing.
void CheckTableNameShape(std::string_view name, std::string_view path, size_t chars_min, ConstraintList* constraints);

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_TABLE_NAME_H_
