// Exports, imports and bulk operations, on their messages.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "armature/api/v1/transfers.pb.h"
#include "daemon/api/table_messages.h"
#include "daemon/api/unary_operation.h"
#include "daemon/message_json/given_fields.h"
#include "engine/transfer/transfer_ops.h"
#include "storage/base/strings.h"
#include "storage/model/table_name.h"

namespace armature::daemon {
namespace {

namespace v1 = ::armature::api::v1;

using model::TransferKind;
using model::TransferRecord;
using model::TransferState;

// The request of a job, which its record keeps.
template <class Request>
Request RequestOf(const TransferRecord& record) {
  Request request;
  request.ParseFromString(record.request);
  request.DiscardUnknownFields();
  return request;
}

std::optional<std::vector<std::string>> GivenTexts(const Message& message, int number,
                                                   const google::protobuf::RepeatedPtrField<std::string>& texts) {
  if (!IsListGiven(message, number)) return std::nullopt;
  return std::vector<std::string>(texts.begin(), texts.end());
}

// `From`: S3BucketSource, InputS3Configuration or OutputS3Configuration.
template <class From>
engine::FilePlaceRequest ToPlace(const From& from) {
  return {.s3_bucket = GivenText(from, from.kS3BucketFieldNumber),
          .prefix = GivenText(from, from.kS3KeyPrefixFieldNumber),
          .s3_bucket_owner = GivenText(from, from.kS3BucketOwnerFieldNumber)};
}

template <class From>
engine::FileEncryptionRequest ToEncryption(const From& from) {
  return {GivenEnum(from, from.kS3SseAlgorithmFieldNumber), GivenText(from, from.kS3SseKmsKeyIdFieldNumber)};
}

// Members that descriptions of all kinds have.
template <class Description>
void FillCommon(const TransferRecord& record, Description* to) {
  if (!record.client_token.empty()) to->set_client_token(record.client_token);
  to->set_start_time_ms(record.start_time_ms);
  if (record.end_time_ms != 0) to->set_end_time_ms(record.end_time_ms);
  if (!record.failure_code.empty()) to->set_failure_code(record.failure_code);
  if (!record.failure_message.empty()) to->set_failure_message(record.failure_message);
}

// ---- Exports ----

v1::ExportStatus ExportStatusOf(TransferState state) {
  if (state == TransferState::kCompleted) return v1::EXPORT_STATUS_COMPLETED;
  return state == TransferState::kFailed ? v1::EXPORT_STATUS_FAILED : v1::EXPORT_STATUS_IN_PROGRESS;
}

std::string ManifestOf(const TransferRecord& record) {
  std::string_view prefix = record.output->prefix;
  if (prefix.ends_with('/')) prefix.remove_suffix(1);
  return Cat(prefix, prefix.empty() ? "" : "/", "AWSDynamoDB/", engine::TransferIdOf(record.arn),
             "/manifest-summary.json");
}

void FillExport(const TransferRecord& record, v1::ExportDescription* to) {
  const auto request = RequestOf<v1::ExportTableToPointInTimeRequest>(record);
  FillCommon(record, to);
  to->set_export_arn(record.arn);
  to->set_export_status(ExportStatusOf(record.state));
  to->set_table_arn(model::TableArn(record.table_name));
  to->set_table_id(record.table_uuid);
  to->set_export_time_ms(record.data_time_ms != 0 ? record.data_time_ms : record.start_time_ms);
  to->set_s3_bucket(request.s3_bucket());
  if (request.has_s3_bucket_owner()) to->set_s3_bucket_owner(request.s3_bucket_owner());
  if (request.has_s3_prefix()) to->set_s3_prefix(request.s3_prefix());
  const bool names_algorithm = request.s3_sse_algorithm() != v1::S3_SSE_ALGORITHM_UNSPECIFIED;
  to->set_s3_sse_algorithm(names_algorithm ? request.s3_sse_algorithm() : v1::S3_SSE_ALGORITHM_AES256);
  if (request.has_s3_sse_kms_key_id()) to->set_s3_sse_kms_key_id(request.s3_sse_kms_key_id());
  to->set_export_format(v1::EXPORT_FORMAT_DYNAMODB_JSON);
  // As in the original, the description has the type only if the request had it; lists always have it.
  if (request.export_type() != v1::EXPORT_TYPE_UNSPECIFIED) to->set_export_type(v1::EXPORT_TYPE_FULL_EXPORT);
  if (record.state != TransferState::kCompleted) return;
  to->set_export_manifest(ManifestOf(record));
  to->set_billed_size_bytes(record.progress.item_bytes);
  to->set_item_count(record.progress.items);
}

void ExportTableToPointInTime(const OperationContext& context, const v1::ExportTableToPointInTimeRequest& request,
                              v1::ExportTableToPointInTimeResponse* response, Finished done) {
  engine::StartExportRequest from;
  from.table_arn = GivenText(request, request.kTableArnFieldNumber);
  from.export_time_ms = GivenInteger(request, request.kExportTimeMsFieldNumber);
  from.client_token = GivenText(request, request.kClientTokenFieldNumber);
  from.place = {GivenText(request, request.kS3BucketFieldNumber), GivenText(request, request.kS3PrefixFieldNumber),
                GivenText(request, request.kS3BucketOwnerFieldNumber)};
  from.encryption = ToEncryption(request);
  from.format = GivenEnum(request, request.kExportFormatFieldNumber);
  from.type = GivenEnum(request, request.kExportTypeFieldNumber);
  from.message = request.SerializeAsString();
  context.engine->StartExport(
      std::move(from), AnswerIn<TransferRecord>(response->mutable_export_description(), std::move(done), FillExport));
}

void DescribeExport(const OperationContext& context, const v1::DescribeExportRequest& request,
                    v1::DescribeExportResponse* response, Finished done) {
  context.engine->DescribeTransfer(
      {TransferKind::kExport, GivenText(request, request.kExportArnFieldNumber)},
      AnswerIn<TransferRecord>(response->mutable_export_description(), std::move(done), FillExport));
}

void FillExports(const engine::TransferPage& page, v1::ListExportsResponse* to) {
  for (const TransferRecord& record : page.records) {
    v1::ExportSummary* const summary = to->add_export_summaries();
    summary->set_export_arn(record.arn);
    summary->set_export_status(ExportStatusOf(record.state));
    summary->set_export_type(v1::EXPORT_TYPE_FULL_EXPORT);
  }
  if (page.next_token.has_value()) to->set_next_token(*page.next_token);
}

void ListExports(const OperationContext& context, const v1::ListExportsRequest& request,
                 v1::ListExportsResponse* response, Finished done) {
  context.engine->ListTransfers({.kind = TransferKind::kExport,
                                 .table_arn = GivenText(request, request.kTableArnFieldNumber),
                                 .max = GivenInteger(request, request.kMaxResultsFieldNumber),
                                 .next_token = GivenText(request, request.kNextTokenFieldNumber)},
                                AnswerIn<engine::TransferPage>(response, std::move(done), FillExports));
}

// ---- Imports ----

v1::ImportStatus ImportStatusOf(TransferState state) {
  if (state == TransferState::kCompleted) return v1::IMPORT_STATUS_COMPLETED;
  return state == TransferState::kFailed ? v1::IMPORT_STATUS_FAILED : v1::IMPORT_STATUS_IN_PROGRESS;
}

void FillImport(const TransferRecord& record, v1::ImportTableDescription* to) {
  auto request = RequestOf<v1::ImportTableRequest>(record);
  FillCommon(record, to);
  to->set_import_arn(record.arn);
  to->set_import_status(ImportStatusOf(record.state));
  to->set_table_arn(model::TableArn(record.table_name));
  to->set_table_id(record.table_uuid);
  to->mutable_s3_bucket_source()->Swap(request.mutable_s3_bucket_source());
  to->set_error_count(record.progress.failed);
  to->set_input_format(request.input_format());
  if (request.has_input_format_options()) {
    to->mutable_input_format_options()->Swap(request.mutable_input_format_options());
  }
  const bool has_compression = request.input_compression_type() != v1::INPUT_COMPRESSION_TYPE_UNSPECIFIED;
  to->set_input_compression_type(has_compression ? request.input_compression_type() : v1::INPUT_COMPRESSION_TYPE_NONE);
  to->mutable_table_creation_parameters()->Swap(request.mutable_table_creation_parameters());
  to->set_processed_size_bytes(record.progress.bytes_read);
  to->set_processed_item_count(record.progress.items);
  to->set_imported_item_count(record.progress.written);
}

// TableCreationParameters has fields of CreateTableRequest, with their numbers.
model::TableDefinition ToNewTable(const v1::TableCreationParameters& parameters) {
  v1::CreateTableRequest create;
  create.ParseFromString(parameters.SerializeAsString());
  return ToTableDefinition(create);
}

void ImportTable(const OperationContext& context, const v1::ImportTableRequest& request,
                 v1::ImportTableResponse* response, Finished done) {
  engine::StartImportRequest from;
  from.client_token = GivenText(request, request.kClientTokenFieldNumber);
  if (request.has_s3_bucket_source()) from.source = ToPlace(request.s3_bucket_source());
  from.format = GivenEnum(request, request.kInputFormatFieldNumber);
  from.has_csv = request.input_format_options().has_csv();
  const v1::CsvOptions& csv = request.input_format_options().csv();
  from.csv_delimiter = GivenText(csv, csv.kDelimiterFieldNumber);
  from.csv_header = GivenTexts(csv, csv.kHeaderListFieldNumber, csv.header_list());
  from.compression = GivenEnum(request, request.kInputCompressionTypeFieldNumber);
  if (request.has_table_creation_parameters()) from.table = ToNewTable(request.table_creation_parameters());
  from.message = request.SerializeAsString();
  context.engine->StartImport(std::move(from), AnswerIn<TransferRecord>(response->mutable_import_table_description(),
                                                                        std::move(done), FillImport));
}

void DescribeImport(const OperationContext& context, const v1::DescribeImportRequest& request,
                    v1::DescribeImportResponse* response, Finished done) {
  context.engine->DescribeTransfer(
      {TransferKind::kImport, GivenText(request, request.kImportArnFieldNumber)},
      AnswerIn<TransferRecord>(response->mutable_import_table_description(), std::move(done), FillImport));
}

void FillImports(const engine::TransferPage& page, v1::ListImportsResponse* to) {
  for (const TransferRecord& record : page.records) {
    auto request = RequestOf<v1::ImportTableRequest>(record);
    v1::ImportSummary* const summary = to->add_import_summary_list();
    summary->set_import_arn(record.arn);
    summary->set_import_status(ImportStatusOf(record.state));
    summary->set_table_arn(model::TableArn(record.table_name));
    summary->mutable_s3_bucket_source()->Swap(request.mutable_s3_bucket_source());
    summary->set_input_format(request.input_format());
    summary->set_start_time_ms(record.start_time_ms);
    if (record.end_time_ms != 0) summary->set_end_time_ms(record.end_time_ms);
  }
  if (page.next_token.has_value()) to->set_next_token(*page.next_token);
}

void ListImports(const OperationContext& context, const v1::ListImportsRequest& request,
                 v1::ListImportsResponse* response, Finished done) {
  context.engine->ListTransfers({.kind = TransferKind::kImport,
                                 .table_arn = GivenText(request, request.kTableArnFieldNumber),
                                 .max = GivenInteger(request, request.kPageSizeFieldNumber),
                                 .next_token = GivenText(request, request.kNextTokenFieldNumber)},
                                AnswerIn<engine::TransferPage>(response, std::move(done), FillImports));
}

// ---- Bulk operations ----

v1::BulkOperationStatus BulkStatusOf(TransferState state) {
  switch (state) {
    case TransferState::kInProgress:
      return v1::BULK_OPERATION_STATUS_IN_PROGRESS;
    case TransferState::kCancelling:
      return v1::BULK_OPERATION_STATUS_CANCELLING;
    case TransferState::kCompleted:
      return v1::BULK_OPERATION_STATUS_COMPLETED;
    case TransferState::kCompletedWithErrors:
      return v1::BULK_OPERATION_STATUS_COMPLETED_WITH_ERRORS;
    case TransferState::kCancelled:
      return v1::BULK_OPERATION_STATUS_CANCELLED;
    case TransferState::kFailed:
      return v1::BULK_OPERATION_STATUS_FAILED;
  }
  return v1::BULK_OPERATION_STATUS_UNSPECIFIED;
}

void FillBulk(const TransferRecord& record, v1::BulkOperationDescription* to) {
  auto request = RequestOf<v1::StartBulkPutItemsRequest>(record);
  FillCommon(record, to);
  to->set_bulk_operation_arn(record.arn);
  to->set_bulk_operation_status(BulkStatusOf(record.state));
  v1::BulkOperationTableDetail* const table = to->add_table_details();
  table->set_table_name(request.table_name());
  table->set_table_id(record.table_uuid);
  to->mutable_input_s3_configuration()->Swap(request.mutable_input_s3_configuration());
  to->mutable_output_s3_configuration()->Swap(request.mutable_output_s3_configuration());
  to->set_processed_item_count(record.progress.items);
  to->set_processed_input_bytes(record.progress.bytes_read);
  if (record.progress.bytes_total != 0) to->set_total_input_bytes(record.progress.bytes_total);
  to->set_failed_item_count(record.progress.failed);
  if (record.write_units_max != 0) to->set_max_write_request_units(record.write_units_max);
  const bool has_tier = request.performance_tier() != v1::PERFORMANCE_TIER_UNSPECIFIED;
  to->set_performance_tier(has_tier ? request.performance_tier() : v1::PERFORMANCE_TIER_STANDARD);
}

void StartBulkPutItems(const OperationContext& context, const v1::StartBulkPutItemsRequest& request,
                       v1::StartBulkPutItemsResponse* response, Finished done) {
  engine::StartBulkPutRequest from;
  from.client_token = GivenText(request, request.kClientTokenFieldNumber);
  if (request.has_input_s3_configuration()) {
    const v1::InputS3Configuration& input = request.input_s3_configuration();
    from.input = {ToPlace(input), GivenEnum(input, input.kInputFormatFieldNumber),
                  GivenEnum(input, input.kInputCompressionTypeFieldNumber)};
  }
  if (request.has_output_s3_configuration()) {
    const v1::OutputS3Configuration& output = request.output_s3_configuration();
    engine::StartBulkPutRequest::Output& to = from.output.emplace();
    to.place = ToPlace(output);
    to.encryption = ToEncryption(output);
    to.types = GivenTexts(output, output.kOutputTypeFieldNumber, output.output_type());
  }
  from.table_name = GivenText(request, request.kTableNameFieldNumber);
  from.write_units_max = GivenInteger(request, request.kMaxWriteRequestUnitsFieldNumber);
  from.performance_tier = GivenEnum(request, request.kPerformanceTierFieldNumber);
  from.message = request.SerializeAsString();
  context.engine->StartBulkPut(std::move(from), AnswerIn<TransferRecord>(response->mutable_bulk_operation_description(),
                                                                         std::move(done), FillBulk));
}

void DescribeBulkOperation(const OperationContext& context, const v1::DescribeBulkOperationRequest& request,
                           v1::DescribeBulkOperationResponse* response, Finished done) {
  context.engine->DescribeTransfer(
      {TransferKind::kBulkPut, GivenText(request, request.kBulkOperationArnFieldNumber)},
      AnswerIn<TransferRecord>(response->mutable_bulk_operation_description(), std::move(done), FillBulk));
}

void FillBulks(const engine::TransferPage& page, v1::ListBulkOperationsResponse* to) {
  for (const TransferRecord& record : page.records) {
    v1::BulkOperationSummary* const summary = to->add_bulk_operations_summary_list();
    summary->set_bulk_operation_arn(record.arn);
    summary->set_bulk_operation_status(BulkStatusOf(record.state));
    summary->set_start_time_ms(record.start_time_ms);
    if (record.end_time_ms != 0) summary->set_end_time_ms(record.end_time_ms);
  }
  if (page.next_token.has_value()) to->set_next_token(*page.next_token);
}

void ListBulkOperations(const OperationContext& context, const v1::ListBulkOperationsRequest& request,
                        v1::ListBulkOperationsResponse* response, Finished done) {
  context.engine->ListTransfers({.kind = TransferKind::kBulkPut,
                                 .table_arn = std::nullopt,
                                 .max = GivenInteger(request, request.kMaxResultsFieldNumber),
                                 .next_token = GivenText(request, request.kNextTokenFieldNumber)},
                                AnswerIn<engine::TransferPage>(response, std::move(done), FillBulks));
}

void FillCancelled(const TransferRecord& record, v1::CancelBulkOperationResponse* to) {
  to->set_bulk_operation_arn(record.arn);
  to->set_bulk_operation_status(BulkStatusOf(record.state));
}

void CancelBulkOperation(const OperationContext& context, const v1::CancelBulkOperationRequest& request,
                         v1::CancelBulkOperationResponse* response, Finished done) {
  context.engine->CancelTransfer({TransferKind::kBulkPut, GivenText(request, request.kBulkOperationArnFieldNumber)},
                                 AnswerIn<TransferRecord>(response, std::move(done), FillCancelled));
}

}  // namespace

void AddTransferOperations(std::vector<UnaryOperation>* operations) {
  AddOperations(operations, ExportTableToPointInTime, DescribeExport, ListExports, ImportTable, DescribeImport,
                ListImports, StartBulkPutItems, DescribeBulkOperation, ListBulkOperations, CancelBulkOperation);
}

}  // namespace armature::daemon
