#ifndef ARMATURE_STORAGE_MODEL_TABLE_NAME_H_
#define ARMATURE_STORAGE_MODEL_TABLE_NAME_H_

// Names of tables: plain names, or ARNs (arn:aws:dynamodb:<region>:<account>:table/<name>).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "storage/model/constraint_list.h"

namespace armature::model {

// ARNs have the original format, so that tools can parse them. A daemon has one fixed region and account.
inline constexpr std::string_view kPartition = "aws";
inline constexpr std::string_view kRegion = "local";
inline constexpr std::string_view kAccount = "000000000000";
inline constexpr std::string_view kTableArnPrefix = "arn:aws:dynamodb:local:000000000000:table/";
// The key of encrypted tables whose client has named none. The original has one for each account.
inline constexpr std::string_view kDefaultKmsKeyArn =
    "arn:aws:kms:local:000000000000:key/00000000-0000-0000-0000-000000000000";

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
  std::string_view partition;
  std::string_view region;
  std::string_view account;
  std::string_view resource;  // "table/Cats/index/ByAge"

  // True if the region, with its partition, and the account are those of this daemon.
  bool is_of_this_region() const { return partition == kPartition && region == kRegion; }
  bool is_of_this_account() const { return account == kAccount; }
};

// Parses an ARN of any region and account. Errors: ValidationException that names the first invalid part.
absl::Status ParseArn(std::string_view text, Arn* arn);

// True for a well-formed ARN of a table, in any region and account.
bool IsTableArn(std::string_view text);

// Some operations take no notice of the region in an ARN.
enum class ForeignRegion : uint8_t { kRefused, kIgnored };

// Checks the parameter TableName of all operations except CreateTable, which accepts a name only. Errors:
// ValidationException, for a name by the rules of ConstraintList::CheckName, for an ARN with its first invalid part;
// AccessDeniedException for an ARN of another account. Source: answers of the original service, captured in October
// 2026.
absl::Status CheckTableReference(std::string_view name_or_arn, ForeignRegion region = ForeignRegion::kRefused);

// The answer to requests that name a resource of another account.
absl::Status OtherAccountError();

// CheckTableReference for operations without other required members. An absent parameter is an error.
absl::Status CheckRequiredTableReference(const std::optional<std::string>& name_or_arn);

// For operations that collect violations: adds to `constraints` that the parameter is missing, or has an invalid length
// or character. CheckTableReference checks the parts of an ARN afterwards.
void CheckTableReferenceShape(const std::optional<std::string>& name_or_arn, ConstraintList* constraints);
// Adds to `constraints` the faults of the name in `path`, which is not an ARN. The error for an empty name states that
// one character is missing.
void CheckTableNameShape(std::string_view name, std::string_view path, ConstraintList* constraints);

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_TABLE_NAME_H_
