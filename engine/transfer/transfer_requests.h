#ifndef ARMATURE_ENGINE_TRANSFER_TRANSFER_REQUESTS_H_
#define ARMATURE_ENGINE_TRANSFER_TRANSFER_REQUESTS_H_

// Requests for exports, imports and bulk operations, their checks that need no table, and the format of their ARNs.
//
// Members are present or absent as in the client's request. Enumerations are as the client wrote them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "storage/model/table_definition.h"
#include "storage/model/transfer_record.h"

namespace armature::engine {

// Limit on the message of a request, which is kept as long as its job.
inline constexpr size_t kTransferRequestBytesMax = size_t{256} << 10;

// A place in files; names of members as in the API.
struct FilePlaceRequest {
  std::optional<std::string> s3_bucket;
  std::optional<std::string> prefix;
  std::optional<std::string> s3_bucket_owner;
};

// Encryption of the files, which the daemon does not do: reported as requested.
struct FileEncryptionRequest {
  std::optional<std::string> algorithm;
  std::optional<std::string> kms_key_id;
};

// ExportTableToPointInTime.
struct StartExportRequest {
  std::optional<std::string> table_arn;
  std::optional<int64_t> export_time_ms;
  std::optional<std::string> client_token;
  FilePlaceRequest place;
  FileEncryptionRequest encryption;
  std::optional<std::string> format;
  std::optional<std::string> type;
  std::string message;  // the whole request in an encoding that is equal for equal requests
};

// ImportTable.
struct StartImportRequest {
  std::optional<std::string> client_token;
  std::optional<FilePlaceRequest> source;
  std::optional<std::string> format;
  std::optional<std::string> csv_delimiter;
  std::optional<std::vector<std::string>> csv_header;
  bool has_csv = false;
  std::optional<std::string> compression;
  std::optional<model::TableDefinition> table;
  std::string message;
};

// StartBulkPutItems.
struct StartBulkPutRequest {
  struct Input {
    FilePlaceRequest place;
    std::optional<std::string> format;
    std::optional<std::string> compression;
  };
  struct Output {
    FilePlaceRequest place;
    FileEncryptionRequest encryption;
    std::optional<std::vector<std::string>> types;
  };
  std::optional<std::string> client_token;
  std::optional<Input> input;
  std::optional<Output> output;
  std::optional<std::string> table_name;
  std::optional<int64_t> write_units_max;
  std::optional<std::string> performance_tier;
  std::string message;
};

// ListExports, ListImports, ListBulkOperations.
struct ListTransfersRequest {
  model::TransferKind kind = model::TransferKind::kExport;
  std::optional<std::string> table_arn = {};
  std::optional<int64_t> max = {};
  std::optional<std::string> next_token = {};
};

// After OK, required members are present and all members are within their limits. Errors: ValidationException. Source:
// the API reference of each operation; its texts for malformed requests are those of other operations.
absl::Status CheckStartExport(const StartExportRequest& request);
absl::Status CheckStartImport(const StartImportRequest& request);
absl::Status CheckStartBulkPut(const StartBulkPutRequest& request);
absl::Status CheckListTransfers(const ListTransfersRequest& request);
// For the operations that describe or cancel a job.
absl::Status CheckTransferArn(model::TransferKind kind, const std::optional<std::string>& arn);

// The parts of a record that follow from the input of a checked request.
model::TransferInput InputOf(const StartImportRequest& request);
model::TransferInput InputOf(const StartBulkPutRequest::Input& input);

// <table's ARN>/export/<14 digits>-<8 hex digits>, and the same with import and bulk-operation.
std::string MakeTransferArn(model::TransferKind kind, std::string_view table_name, int64_t time_ms, uint32_t random);
// The part behind the last slash.
std::string_view TransferIdOf(std::string_view arn);

// The error for an ARN of no job.
absl::Status NoSuchTransferError(model::TransferKind kind, std::string_view arn);

// Tokens of pages name the last ARN of the page. ParsePageToken: nullopt for other texts.
std::string MakePageToken(std::string_view arn);
std::optional<std::string> ParsePageToken(std::string_view token);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_TRANSFER_TRANSFER_REQUESTS_H_
