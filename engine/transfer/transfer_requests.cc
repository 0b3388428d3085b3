#include "engine/transfer/transfer_requests.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "engine/transfer/transfer_files.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/canonical_text.h"
#include "storage/model/constraint_list.h"
#include "storage/model/table_name.h"

namespace armature::engine {
namespace {

using model::ConstraintList;
using model::PrintedValue;
using model::TransferKind;

// Source: the API reference, types ExportArn, ImportArn, BulkOperationArn, S3Bucket, S3Prefix, S3SseKmsKeyId, TableArn,
// CsvHeaderList, CsvHeader, ListExportsMaxLimit, BulkOperationMaxWriteRequestUnits.
constexpr size_t kTransferArnMinChars = 37;
constexpr size_t kTransferArnMaxChars = 1024;
constexpr size_t kBucketMaxChars = 255;
constexpr size_t kPrefixMaxChars = 1024;
constexpr size_t kKmsKeyMaxChars = 2048;
constexpr size_t kCsvHeaderMaxNames = 255;
constexpr size_t kCsvNameMaxChars = 65536;
constexpr int64_t kPageMax = 25;
constexpr int64_t kWriteUnitsMin = 1024;
constexpr size_t kAccountDigits = 12;
constexpr std::string_view kBucketPattern = "^[a-z0-9A-Z]+[\\.\\-\\w]*[a-z0-9A-Z]+$";
constexpr std::string_view kTokenPattern = "^[^\\$]+$";
constexpr std::string_view kDelimiters = ",;:|\t ";
constexpr size_t kPageTokenUnit = 8;

constexpr std::string_view kFormats[] = {"DYNAMODB_JSON", "ION"};
constexpr std::string_view kImportFormats[] = {"DYNAMODB_JSON", "ION", "CSV"};
constexpr std::string_view kCompressions[] = {"GZIP", "ZSTD", "NONE"};
constexpr std::string_view kExportTypes[] = {"FULL_EXPORT", "INCREMENTAL_EXPORT"};
constexpr std::string_view kAlgorithms[] = {"AES256", "KMS"};
constexpr std::string_view kTiers[] = {"STANDARD", "ACCELERATED"};
constexpr std::string_view kOutputTypes[] = {"ERROR", "CONDITION_CHECK_FAILURE"};

bool IsAlphanumeric(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool IsBucketName(std::string_view name) {
  const auto is_inner = [](char c) { return IsAlphanumeric(c) || c == '.' || c == '-' || c == '_'; };
  return name.size() >= 2 && IsAlphanumeric(name.front()) && IsAlphanumeric(name.back()) &&
         std::all_of(name.begin(), name.end(), is_inner);
}

void CheckPattern(bool fits, std::string_view value, std::string_view path, std::string_view pattern,
                  ConstraintList* faults) {
  if (!fits) faults->Add(PrintedValue(value), path, Cat("Member must satisfy regular expression pattern: ", pattern));
}

void CheckMaxChars(const std::optional<std::string>& value, std::string_view path, size_t maximum,
                   ConstraintList* faults) {
  if (value.has_value()) {
    faults->CheckLengthMax(PrintedValue(*value), model::CharacterCount(*value), path, maximum);
  }
}

void CheckToken(const std::optional<std::string>& token, ConstraintList* faults) {
  if (!token.has_value()) return;
  CheckPattern(!token->empty() && token->find('$') == std::string::npos, *token, "clientToken", kTokenPattern, faults);
}

// Checks the members of a place, whose names begin with `path`. `prefix_name` is the name of the prefix.
void CheckPlaceShape(const FilePlaceRequest& place, std::string_view path, std::string_view prefix_name,
                     ConstraintList* faults) {
  const std::string bucket_path = Cat(path, "s3Bucket");
  if (!place.s3_bucket.has_value()) {
    faults->AddNull(bucket_path);
  } else {
    CheckMaxChars(place.s3_bucket, bucket_path, kBucketMaxChars, faults);
    CheckPattern(IsBucketName(*place.s3_bucket), *place.s3_bucket, bucket_path, kBucketPattern, faults);
  }
  if (place.s3_bucket_owner.has_value()) {
    const std::string& owner = *place.s3_bucket_owner;
    const bool is_account =
        owner.size() == kAccountDigits && owner.find_first_not_of("0123456789") == std::string::npos;
    CheckPattern(is_account, owner, Cat(path, "s3BucketOwner"), "[0-9]{12}", faults);
  }
  CheckMaxChars(place.prefix, Cat(path, prefix_name), kPrefixMaxChars, faults);
}

void CheckEncryptionShape(const FileEncryptionRequest& encryption, std::string_view path, ConstraintList* faults) {
  if (encryption.algorithm.has_value()) {
    faults->CheckEnum(*encryption.algorithm, Cat(path, "s3SseAlgorithm"), kAlgorithms);
  }
  if (encryption.kms_key_id.has_value()) {
    const std::string key_path = Cat(path, "s3SseKmsKeyId");
    faults->CheckLengthMin(PrintedValue(*encryption.kms_key_id), encryption.kms_key_id->size(), key_path, 1);
    CheckMaxChars(encryption.kms_key_id, key_path, kKmsKeyMaxChars, faults);
  }
}

void CheckRequiredEnum(const std::optional<std::string>& value, std::string_view path,
                       std::span<const std::string_view> allowed, ConstraintList* faults) {
  if (!value.has_value()) return faults->AddNull(path);
  faults->CheckEnum(*value, path, allowed);
}

absl::Status CheckMessageSize(std::string_view message) {
  if (message.size() <= kTransferRequestBytesMax) return absl::OkStatus();
  return ValidationError(Cat("The request has more than ", kTransferRequestBytesMax, " bytes"));
}

absl::Status NotSupported(std::string_view member, std::string_view value) {
  return ValidationError(Cat(member, " ", value, " is not supported by this server"));
}

// An export takes the ARN of a table, in any region. Source: answers of the original service, captured in October 2026.
absl::Status CheckExportedTable(std::string_view arn) {
  model::Arn parts;
  if (!model::ParseArn(arn, &parts).ok()) return InvalidParameterError("tableArn is not a valid ARN");
  if (!parts.is_of_this_account()) return model::OtherAccountError();
  return model::IsTableArn(arn) ? absl::OkStatus() : InvalidRequestError("Table ARN is invalid.");
}

absl::Status CheckPrefixOf(const FilePlaceRequest& place) { return CheckFilePrefix(place.prefix.value_or("")); }

std::string_view PathOf(TransferKind kind) {
  constexpr std::string_view kPaths[] = {"/export/", "/import/", "/bulk-operation/"};
  return kPaths[static_cast<size_t>(kind) - 1];
}

// Checks <table's ARN>/export/<14 digits>-<8 hex digits>. Source: answers of the original service, captured in October
// 2026.
absl::Status CheckExportArn(std::string_view arn) {
  const absl::Status invalid = ValidationError("Invalid Export ARN");
  const size_t end = arn.find(PathOf(TransferKind::kExport));
  const std::string_view table_arn = arn.substr(0, end);
  model::Arn parts;
  if (end == std::string_view::npos || !model::IsTableArn(table_arn) || !model::ParseArn(table_arn, &parts).ok()) {
    return invalid;
  }
  const std::string_view id = arn.substr(end + PathOf(TransferKind::kExport).size());
  const auto consists_of = [](std::string_view text, std::string_view characters) {
    return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
  };
  const size_t dash = id.find('-');
  if (dash == std::string_view::npos || !consists_of(id.substr(0, dash), "0123456789") ||
      !consists_of(id.substr(dash + 1), "0123456789abcdef")) {
    return invalid;
  }
  if (!parts.is_of_this_account()) return model::OtherAccountError();
  return parts.is_of_this_region() ? absl::OkStatus() : ExportNotFoundError("Export not found: Invalid export arn");
}

absl::Status CheckCsv(const StartImportRequest& request) {
  if (!request.has_csv || request.format == "CSV") return absl::OkStatus();
  return ValidationError(Cat("InputFormatOptions.Csv cannot be specified for the input format ", *request.format));
}

model::TransferCompression CompressionOf(const std::optional<std::string>& word) {
  if (word == "GZIP") return model::TransferCompression::kGzip;
  return word == "ZSTD" ? model::TransferCompression::kZstd : model::TransferCompression::kNone;
}

}  // namespace

absl::Status CheckStartExport(const StartExportRequest& request) {
  ConstraintList faults;
  if (!request.table_arn.has_value()) {
    faults.AddNull("tableArn");
  } else {
    faults.CheckLengthMin(PrintedValue(*request.table_arn), request.table_arn->size(), "tableArn", 1);
    CheckMaxChars(request.table_arn, "tableArn", kTransferArnMaxChars, &faults);
  }
  CheckToken(request.client_token, &faults);
  CheckPlaceShape(request.place, "", "s3Prefix", &faults);
  CheckEncryptionShape(request.encryption, "", &faults);
  if (request.format.has_value()) faults.CheckEnum(*request.format, "exportFormat", kFormats);
  if (request.type.has_value()) faults.CheckEnum(*request.type, "exportType", kExportTypes);
  ARM_RETURN_IF_ERROR(faults.ToStatus());
  ARM_RETURN_IF_ERROR(CheckMessageSize(request.message));
  ARM_RETURN_IF_ERROR(CheckExportedTable(*request.table_arn));
  if (request.encryption.kms_key_id.has_value() && request.encryption.algorithm != "KMS") {
    return InvalidRequestError("KMS Key Id is not supported for this encryption type");
  }
  // A request with the specification has been refused before: the member is not available.
  if (request.type == "INCREMENTAL_EXPORT") {
    return InvalidRequestError(
        "Incremental Export Specification expected when export type is set as Incremental Export");
  }
  ARM_RETURN_IF_ERROR(CheckPrefixOf(request.place));
  return request.format == "ION" ? NotSupported("ExportFormat", "ION") : absl::OkStatus();
}

absl::Status CheckStartImport(const StartImportRequest& request) {
  ConstraintList faults;
  CheckToken(request.client_token, &faults);
  if (!request.source.has_value()) {
    faults.AddNull("s3BucketSource");
  } else {
    CheckPlaceShape(*request.source, "s3BucketSource.", "s3KeyPrefix", &faults);
  }
  CheckRequiredEnum(request.format, "inputFormat", kImportFormats, &faults);
  if (request.csv_delimiter.has_value()) {
    const std::string& delimiter = *request.csv_delimiter;
    CheckPattern(delimiter.size() == 1 && kDelimiters.find(delimiter[0]) != std::string_view::npos, delimiter,
                 "inputFormatOptions.csv.delimiter", "[,;:|\\t ]", &faults);
  }
  if (request.csv_header.has_value()) {
    constexpr std::string_view kPath = "inputFormatOptions.csv.headerList";
    const std::vector<std::string>& header = *request.csv_header;
    faults.CheckLengthMin(model::PrintedList(header), header.size(), kPath, 1);
    if (header.size() > kCsvHeaderMaxNames) faults.CheckLengthMax("[...]", header.size(), kPath, kCsvHeaderMaxNames);
    const auto is_valid = [](const std::string& name) {
      return !name.empty() && name.size() <= kCsvNameMaxChars &&
             std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != ','; });
    };
    for (const std::string& name : header) {
      CheckPattern(is_valid(name), model::Shown(name), kPath, "[\\x20-\\x21\\x23-\\x2B\\x2D-\\x7E]*", &faults);
    }
  }
  if (request.compression.has_value()) faults.CheckEnum(*request.compression, "inputCompressionType", kCompressions);
  if (!request.table.has_value()) faults.AddNull("tableCreationParameters");
  ARM_RETURN_IF_ERROR(faults.ToStatus());
  ARM_RETURN_IF_ERROR(CheckMessageSize(request.message));
  ARM_RETURN_IF_ERROR(CheckPrefixOf(*request.source));
  if (request.format == "ION") return NotSupported("InputFormat", "ION");
  return CheckCsv(request);
}

absl::Status CheckStartBulkPut(const StartBulkPutRequest& request) {
  ConstraintList faults;
  CheckToken(request.client_token, &faults);
  if (!request.input.has_value()) {
    faults.AddNull("inputS3Configuration");
  } else {
    constexpr std::string_view kPath = "inputS3Configuration.";
    CheckPlaceShape(request.input->place, kPath, "s3KeyPrefix", &faults);
    CheckRequiredEnum(request.input->format, Cat(kPath, "inputFormat"), kFormats, &faults);
    if (request.input->compression.has_value()) {
      faults.CheckEnum(*request.input->compression, Cat(kPath, "inputCompressionType"), kCompressions);
    }
  }
  if (!request.output.has_value()) {
    faults.AddNull("outputS3Configuration");
  } else {
    constexpr std::string_view kPath = "outputS3Configuration.";
    CheckPlaceShape(request.output->place, kPath, "s3KeyPrefix", &faults);
    CheckEncryptionShape(request.output->encryption, kPath, &faults);
    if (!request.output->types.has_value()) faults.AddNull(Cat(kPath, "outputType"));
    for (const std::string& type : request.output->types.value_or(std::vector<std::string>())) {
      faults.CheckEnum(type, Cat(kPath, "outputType"), kOutputTypes);
    }
  }
  model::CheckTableReferenceShape(request.table_name, &faults);
  if (request.write_units_max.has_value()) {
    faults.CheckMinimum(*request.write_units_max, "maxWriteRequestUnits", kWriteUnitsMin);
  }
  if (request.performance_tier.has_value()) faults.CheckEnum(*request.performance_tier, "performanceTier", kTiers);
  ARM_RETURN_IF_ERROR(faults.ToStatus());
  ARM_RETURN_IF_ERROR(CheckMessageSize(request.message));
  ARM_RETURN_IF_ERROR(model::CheckTableReference(*request.table_name));
  ARM_RETURN_IF_ERROR(CheckPrefixOf(request.input->place));
  ARM_RETURN_IF_ERROR(CheckPrefixOf(request.output->place));
  if (request.output->types->empty()) return ValidationError("OutputType must contain at least one value");
  if (request.input->format == "ION") return NotSupported("InputFormat", "ION");
  return absl::OkStatus();
}

absl::Status CheckListTransfers(const ListTransfersRequest& request) {
  ConstraintList faults;
  if (request.table_arn.has_value()) {
    faults.CheckLengthMin(PrintedValue(*request.table_arn), request.table_arn->size(), "tableArn", 1);
    CheckMaxChars(request.table_arn, "tableArn", kTransferArnMaxChars, &faults);
  }
  if (request.max.has_value()) {
    const std::string_view path = request.kind == TransferKind::kImport ? "pageSize" : "maxResults";
    faults.CheckMinimum(*request.max, path, 1);
    faults.CheckMaximum(*request.max, path, kPageMax);
  }
  ARM_RETURN_IF_ERROR(faults.ToStatus());
  if (request.table_arn.has_value()) {
    // The region is not looked at, as in the requests that start exports.
    const bool is_export = request.kind == TransferKind::kExport;
    ARM_RETURN_IF_ERROR(model::CheckTableReference(
        *request.table_arn, is_export ? model::ForeignRegion::kIgnored : model::ForeignRegion::kRefused));
  }
  if (!request.next_token.has_value() || ParsePageToken(*request.next_token).has_value()) return absl::OkStatus();
  return InvalidRequestError(Cat("Provided nextToken is invalid: ", model::Shown(*request.next_token)));
}

absl::Status CheckTransferArn(TransferKind kind, const std::optional<std::string>& arn) {
  constexpr std::string_view kNames[] = {"exportArn", "importArn", "bulkOperationArn"};
  const std::string_view path = kNames[static_cast<size_t>(kind) - 1];
  ConstraintList faults;
  if (!arn.has_value()) {
    faults.AddNull(path);
  } else {
    faults.CheckLengthMin(PrintedValue(*arn), model::CharacterCount(*arn), path, kTransferArnMinChars);
    CheckMaxChars(arn, path, kTransferArnMaxChars, &faults);
  }
  ARM_RETURN_IF_ERROR(faults.ToStatus());
  return kind == TransferKind::kExport ? CheckExportArn(*arn) : absl::OkStatus();
}

model::TransferInput InputOf(const StartImportRequest& request) {
  model::TransferInput input;
  input.place = {*request.source->s3_bucket, request.source->prefix.value_or("")};
  input.format = request.format == "CSV" ? model::TransferFormat::kCsv : model::TransferFormat::kJsonLines;
  input.compression = CompressionOf(request.compression);
  input.csv_delimiter = request.csv_delimiter.value_or("");
  input.csv_header = request.csv_header.value_or(std::vector<std::string>());
  return input;
}

model::TransferInput InputOf(const StartBulkPutRequest::Input& input) {
  model::TransferInput to;
  to.place = {*input.place.s3_bucket, input.place.prefix.value_or("")};
  to.compression = CompressionOf(input.compression);
  return to;
}

std::string MakeTransferArn(TransferKind kind, std::string_view table_name, int64_t time_ms, uint32_t random) {
  return absl::StrCat(model::TableArn(table_name), Av(PathOf(kind)), absl::Dec(time_ms, absl::kZeroPad14), "-",
                      absl::Hex(random, absl::kZeroPad8));
}

std::string_view TransferIdOf(std::string_view arn) { return arn.substr(arn.rfind('/') + 1); }

absl::Status NoSuchTransferError(TransferKind kind, std::string_view arn) {
  switch (kind) {
    case TransferKind::kExport:
      return ExportNotFoundError(Cat("Export not found: Export not found: ", arn));  // twice, as in the original
    case TransferKind::kImport:
      return ImportNotFoundError(Cat("Import not found: ", arn));
    case TransferKind::kBulkPut:
      break;
  }
  return ResourceNotFoundError(Cat("Requested resource not found: Bulk operation: ", arn, " not found"));
}

std::string MakePageToken(std::string_view arn) {
  std::string padded(arn);
  padded.resize((padded.size() + kPageTokenUnit - 1) / kPageTokenUnit * kPageTokenUnit);
  return absl::BytesToHexString(padded);
}

std::optional<std::string> ParsePageToken(std::string_view token) {
  const bool is_hex = token.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  if (token.empty() || !is_hex || token.size() % (2 * kPageTokenUnit) != 0) return std::nullopt;
  std::string arn = absl::HexStringToBytes(Av(token));
  arn.resize(std::min(arn.size(), arn.find('\0')));
  if (!model::IsArn(arn) || !codec::IsValidUtf8(arn)) return std::nullopt;
  return arn;
}

}  // namespace armature::engine
