#include "engine/backup/table_backup_requests.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/constraint_list.h"
#include "storage/model/limits.h"
#include "storage/model/setting_rules.h"
#include "storage/model/table_name.h"
#include "storage/model/table_shape.h"

namespace armature::engine {
namespace {

constexpr std::string_view kBackupPart = "/backup/";
constexpr size_t kTimeDigits = 14;
constexpr size_t kRandomDigits = 8;

// Source: the API reference, type BackupArn.
constexpr size_t kBackupArnMinChars = 37;
constexpr size_t kBackupArnMaxChars = 1024;
// Source: the API reference, type BackupsInputLimit.
constexpr int64_t kLimitMin = 1;
constexpr int64_t kLimitMax = 100;
constexpr size_t kBackupNameMinChars = 3;  // otherwise the same rule as for table names
// In the order in which error messages list them.
constexpr std::string_view kTypes[] = {"USER", "SYSTEM", "AWS_BACKUP", "ALL"};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHexDigit(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f'); }

absl::Status InvalidArnError() { return ValidationError("Invalid Backup ARN"); }

void CheckArnLength(std::string_view arn, std::string_view path, model::ConstraintList* faults) {
  const std::string printed = model::PrintedValue(arn);
  const size_t length = model::CharacterCount(arn);
  faults->CheckLengthMin(printed, length, path, kBackupArnMinChars);
  faults->CheckLengthMax(printed, length, path, kBackupArnMaxChars);
}

// Checks a required member with a backup ARN.
void CheckBackupArnShape(const std::optional<std::string>& arn, model::ConstraintList* faults) {
  constexpr std::string_view kPath = "backupArn";
  if (!arn.has_value()) return faults->AddNull(kPath);
  CheckArnLength(*arn, kPath, faults);
}

// Checks the required name of a backup or of a new table.
void CheckRequiredName(const std::optional<std::string>& name, std::string_view path, size_t minimum,
                       model::ConstraintList* faults) {
  if (!name.has_value()) return faults->AddNull(path);
  faults->CheckName(*name, path, minimum);
}

}  // namespace

absl::Status CheckCreateBackup(const CreateBackupRequest& request) {
  model::ConstraintList faults;
  model::CheckTableReferenceShape(request.table_name, &faults);
  CheckRequiredName(request.backup_name, "backupName", kBackupNameMinChars, &faults);
  ARM_RETURN_IF_ERROR(faults.ToStatus());
  return model::CheckTableReference(*request.table_name, model::ForeignRegion::kIgnored);
}

absl::Status CheckBackupArn(const std::optional<std::string>& arn) {
  model::ConstraintList faults;
  CheckBackupArnShape(arn, &faults);
  ARM_RETURN_IF_ERROR(faults.ToStatus());
  ARM_ASSIGN_OR_RETURN(const BackupArnParts parts, ParseBackupArn(*arn));
  return parts.is_of_this_account ? absl::OkStatus() : model::OtherAccountError();
}

absl::Status CheckListTableBackups(const ListTableBackupsRequest& request) {
  model::ConstraintList faults;
  if (request.table_name.has_value()) model::CheckTableReferenceShape(request.table_name, &faults);
  if (request.limit.has_value()) {
    faults.CheckMinimum(*request.limit, "limit", kLimitMin);
    faults.CheckMaximum(*request.limit, "limit", kLimitMax);
  }
  if (request.exclusive_start_arn.has_value()) {
    CheckArnLength(*request.exclusive_start_arn, "exclusiveStartBackupArn", &faults);
  }
  if (request.type.has_value()) faults.CheckEnum(*request.type, "backupType", kTypes);
  ARM_RETURN_IF_ERROR(faults.ToStatus());
  if (request.table_name.has_value()) {
    ARM_RETURN_IF_ERROR(model::CheckTableReference(*request.table_name, model::ForeignRegion::kIgnored));
  }
  if (request.from_ms.value_or(INT64_MIN) > request.until_ms.value_or(INT64_MAX)) {
    return InvalidParameterError("Time range lower bound must be less than or equal to upper bound");
  }
  if (!request.exclusive_start_arn.has_value()) return absl::OkStatus();
  ARM_ASSIGN_OR_RETURN(const BackupArnParts start, ParseBackupArn(*request.exclusive_start_arn));
  if (!start.is_of_this_region) {
    return InvalidRequestError("The supplied ExclusiveStartBackupArn does not match the region");
  }
  return start.is_of_this_account ? absl::OkStatus() : model::OtherAccountError();
}

void CheckTargetShape(const RestoreTableRequest& request, model::ConstraintList* faults) {
  CheckRequiredName(request.target_table_name, "targetTableName", model::kTableNameMinChars, faults);
}

void CheckOverrideShapes(const RestoreTableRequest& request, model::ConstraintList* faults) {
  if (request.billing_mode.has_value()) {
    model::CheckBillingModeShape(*request.billing_mode, "billingModeOverride", faults);
  }
  model::CheckIndexShapes(request.global_indexes, model::IndexKind::kGlobal, "globalSecondaryIndexOverride", faults);
  model::CheckIndexShapes(request.local_indexes, model::IndexKind::kLocal, "localSecondaryIndexOverride", faults);
  model::CheckThroughputShape(request.provisioned, "provisionedThroughputOverride", faults);
  model::CheckSseShape(request.sse, "sSESpecificationOverride", faults);
}

absl::Status CheckRestoreTable(const RestoreTableRequest& request) {
  model::ConstraintList faults;
  CheckTargetShape(request, &faults);
  CheckBackupArnShape(request.backup_arn, &faults);
  CheckOverrideShapes(request, &faults);
  ARM_RETURN_IF_ERROR(faults.ToStatus());
  // Unlike other requests for backups, a restore checks the front of the ARN.
  const absl::Status not_valid = InvalidRequestError("BackupArn is not valid");
  const std::string& arn = *request.backup_arn;
  model::Arn front;
  const bool has_front = model::IsArn(arn) && model::ParseArn(arn, &front).ok();
  if (!has_front) return arn.find(kBackupPart) == std::string::npos ? InvalidArnError() : not_valid;
  ARM_ASSIGN_OR_RETURN(const BackupArnParts parts, ParseBackupArn(arn));
  if (!parts.is_of_this_region) return not_valid;
  return parts.is_of_this_account ? absl::OkStatus() : model::OtherAccountError();
}

absl::Status NoSuchBackupError(std::string_view arn) { return BackupNotFoundError(Cat("Backup not found: ", arn)); }

absl::StatusOr<BackupArnParts> ParseBackupArn(std::string_view arn) {
  // Table names contain no slash.
  const size_t slash = arn.find(kBackupPart);
  if (slash == std::string_view::npos) return InvalidArnError();
  const std::string_view table_arn = arn.substr(0, slash);
  model::Arn front;
  if (!model::IsTableArn(table_arn) || !model::ParseArn(table_arn, &front).ok()) return InvalidArnError();
  BackupArnParts parts;
  parts.table_name = model::TableNamePart(table_arn);
  parts.is_of_this_region = front.is_of_this_region();
  parts.is_of_this_account = front.is_of_this_account();
  const std::string_view id = arn.substr(slash + kBackupPart.size());
  if (id.size() != kTimeDigits + 1 + kRandomDigits || id[kTimeDigits] != '-') return InvalidArnError();
  const std::string_view time = id.substr(0, kTimeDigits);
  const std::string_view random = id.substr(kTimeDigits + 1);
  if (!std::all_of(time.begin(), time.end(), IsDigit)) return InvalidArnError();
  if (!std::all_of(random.begin(), random.end(), IsHexDigit)) return InvalidArnError();
  std::from_chars(time.data(), time.data() + time.size(), parts.time_ms);
  std::from_chars(random.data(), random.data() + random.size(), parts.random, 16);
  return parts;
}

std::string LocalBackupArn(std::string_view arn) {
  const absl::StatusOr<BackupArnParts> parts = ParseBackupArn(arn);
  return parts.ok() ? MakeBackupArn(model::TableArn(parts->table_name), parts->time_ms, parts->random)
                    : std::string(arn);
}

std::string MakeBackupArn(std::string_view table_arn, int64_t time_ms, uint32_t random) {
  return absl::StrCat(Av(table_arn), Av(kBackupPart), absl::Dec(time_ms, absl::kZeroPad14), "-",
                      absl::Hex(random, absl::kZeroPad8));
}

}  // namespace armature::engine
