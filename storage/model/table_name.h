#ifndef ARMATURE_STORAGE_MODEL_TABLE_NAME_H_
#define ARMATURE_STORAGE_MODEL_TABLE_NAME_H_

// How tables are named: by name, or by ARN (arn:aws:dynamodb:<region>:<account>:table/<name>).

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "storage/model/constraint_list.h"

namespace armature::model {

// Names of resources follow the original form, so that tools can take them apart. A daemon has one region and one
// account, and they stand for nothing.
inline constexpr std::string_view kRegion = "local";
inline constexpr std::string_view kTableArnPrefix = "arn:aws:dynamodb:local:000000000000:table/";

std::string TableArn(std::string_view table_name);
std::string IndexArn(std::string_view table_name, std::string_view index_name);
std::string StreamArn(std::string_view table_name, std::string_view label);

// Whether a text is meant as an ARN: names have no colon.
bool IsArn(std::string_view text);

// The table's name in `name_or_arn`, for those who only want to know which table is meant: an ARN of a table, or of
// something that belongs to one, in whatever region; of other texts the whole text. Checks nothing.
std::string_view TableNamePart(std::string_view name_or_arn);

// The name under which the catalog may have the table: the part behind the prefix of this daemon's ARNs; of a name the
// name. Empty, which is nobody's name, for other ARNs: those of another region or account.
std::string_view LocalTableName(std::string_view name_or_arn);

// The parts of an ARN of DynamoDB. Views into the text.
struct Arn {
  std::string_view region;
  std::string_view account;
  std::string_view resource;  // "table/Cats/index/ByAge"
};

// Errors: ValidationException that tells the first part that no ARN has.
absl::Status ParseArn(std::string_view text, Arn* arn);

// The parameter TableName of all operations but CreateTable, which takes a name only. Errors: ValidationException; for
// a name the rules of ConstraintList::CheckName, for an ARN that of its first bad part.
absl::Status CheckTableReference(std::string_view name_or_arn);

// The same for operations that have no other required member: an absent one is told, too.
absl::Status CheckRequiredTableReference(const std::optional<std::string>& name_or_arn);

// The same where further constraints are gathered: adds to `constraints` that it is missing, or wrong in length or
// characters. The parts of an ARN are checked by CheckTableReference, after them.
void CheckTableReferenceShape(const std::optional<std::string>& name_or_arn, ConstraintList* constraints);

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_TABLE_NAME_H_
