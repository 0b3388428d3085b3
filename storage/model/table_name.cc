#include "storage/model/table_name.h"

#include <algorithm>

#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/limits.h"

namespace armature::model {
namespace {

constexpr std::string_view kArnPrefix = "arn:";
constexpr std::string_view kTableResource = "table/";
constexpr std::string_view kTableNamePath = "tableName";
constexpr size_t kAccountDigits = 12;

bool IsAsciiDigit(char c) { return c >= '0' && c <= '9'; }

// Letters, digits and dashes: the characters of partitions and regions.
bool IsWord(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char c) { return IsAsciiDigit(c) || (c >= 'a' && c <= 'z') || c == '-'; });
}

bool IsAccount(std::string_view text) {
  return text.size() == kAccountDigits && std::all_of(text.begin(), text.end(), IsAsciiDigit);
}

// Removes and returns the text before the next colon, or all of `rest` if there is none.
std::string_view TakePart(std::string_view* rest) {
  const size_t colon = rest->find(':');
  const std::string_view part = rest->substr(0, colon);
  rest->remove_prefix(colon == std::string_view::npos ? rest->size() : colon + 1);
  return part;
}

// The text behind the fifth colon.
std::string_view ResourcePart(std::string_view arn) {
  for (int i = 0; i < 5; ++i) TakePart(&arn);
  return arn;
}

void CheckShape(std::string_view name_or_arn, ConstraintList* constraints) {
  if (!IsArn(name_or_arn)) return CheckTableNameShape(name_or_arn, kTableNamePath, constraints);
  constraints->CheckLengthMax(PrintedValue(name_or_arn), CharacterCount(name_or_arn), kTableNamePath,
                              kTableArnMaxChars);
}

absl::Status Invalid(std::string_view what, std::string_view arn) {
  return ValidationError(Cat(kEnvelope, "Invalid ", what, " in ", PrintedValue(arn)));
}

// Checks the resource of an ARN: a table, and nothing below it.
absl::Status CheckTableResource(const Arn& arn, std::string_view text) {
  const std::string_view name = TableNamePart(text);
  if (!arn.resource.starts_with(kTableResource) || arn.resource.size() != kTableResource.size() + name.size()) {
    return Invalid("resource type", text);
  }
  return IsName(name, kTableNameMinChars) ? absl::OkStatus() : Invalid("table name", text);
}

}  // namespace

std::string TableArn(std::string_view table_name) { return Cat(kTableArnPrefix, table_name); }

std::string IndexArn(std::string_view table_name, std::string_view index_name) {
  return Cat(kTableArnPrefix, table_name, "/index/", index_name);
}

std::string StreamArn(std::string_view table_name, std::string_view label) {
  return Cat(kTableArnPrefix, table_name, "/stream/", label);
}

bool IsArn(std::string_view text) { return text.starts_with(kArnPrefix); }

std::string_view TableNamePart(std::string_view name_or_arn) {
  if (!IsArn(name_or_arn)) return name_or_arn;
  std::string_view resource = ResourcePart(name_or_arn);
  if (!resource.starts_with(kTableResource)) return name_or_arn;
  resource.remove_prefix(kTableResource.size());
  return resource.substr(0, resource.find('/'));
}

std::string_view LocalTableName(std::string_view name_or_arn) {
  if (name_or_arn.starts_with(kTableArnPrefix)) return name_or_arn.substr(kTableArnPrefix.size());
  return IsArn(name_or_arn) ? std::string_view() : name_or_arn;
}

absl::Status ParseArn(std::string_view text, Arn* arn) {
  std::string_view rest = text;
  if (TakePart(&rest) != "arn") return Invalid("ARN prefix", text);
  arn->partition = TakePart(&rest);
  if (!IsWord(arn->partition)) return Invalid("AWS partition", text);
  if (TakePart(&rest) != "dynamodb") return Invalid("AWS service", text);
  arn->region = TakePart(&rest);
  if (!IsWord(arn->region)) return Invalid("AWS region", text);
  arn->account = TakePart(&rest);
  if (!IsAccount(arn->account)) return Invalid("AWS account", text);
  arn->resource = rest;
  return absl::OkStatus();
}

bool IsTableArn(std::string_view text) {
  Arn arn;
  return ParseArn(text, &arn).ok() && CheckTableResource(arn, text).ok();
}

absl::Status CheckTableReference(std::string_view name_or_arn, ForeignRegion region) {
  ConstraintList constraints;
  CheckShape(name_or_arn, &constraints);
  ARM_RETURN_IF_ERROR(constraints.ToStatus());
  if (!IsArn(name_or_arn)) return absl::OkStatus();
  Arn arn;
  ARM_RETURN_IF_ERROR(ParseArn(name_or_arn, &arn));
  if (region == ForeignRegion::kRefused && !arn.is_of_this_region()) {
    return Invalid(arn.partition == kPartition ? "AWS region" : "AWS partition", name_or_arn);
  }
  ARM_RETURN_IF_ERROR(CheckTableResource(arn, name_or_arn));
  return arn.is_of_this_account() ? absl::OkStatus() : OtherAccountError();
}

absl::Status OtherAccountError() { return MakeApiError(ApiErrorType::kAccessDenied, "Access is denied"); }

absl::Status CheckRequiredTableReference(const std::optional<std::string>& name_or_arn) {
  if (name_or_arn.has_value()) return CheckTableReference(*name_or_arn);
  ConstraintList constraints;
  constraints.AddNull(kTableNamePath);
  return constraints.ToStatus();
}

void CheckTableReferenceShape(const std::optional<std::string>& name_or_arn, ConstraintList* constraints) {
  if (!name_or_arn.has_value()) return constraints->AddNull(kTableNamePath);
  CheckShape(*name_or_arn, constraints);
}

void CheckTableNameShape(std::string_view name, std::string_view path, ConstraintList* constraints) {
  constraints->CheckName(name, path, name.empty() ? 1 : kTableNameMinChars);
}

}  // namespace armature::model
