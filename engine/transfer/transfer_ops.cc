#include "engine/transfer/transfer_ops.h"

#include <cstdint>
#include <random>
#include <string_view>
#include <utility>

#include "absl/time/clock.h"
#include "engine/parts.h"
#include "engine/tables/table_settings.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/table_definition.h"
#include "storage/model/table_name.h"
#include "storage/store/data_directory.h"

namespace armature::engine {
namespace {

using model::TransferKind;
using model::TransferRecord;

// Clocks of clients and the time of a call.
constexpr absl::Duration kExportTimeMargin = absl::Seconds(15);

absl::Status CheckDirectory(const TransferOptions& options, const std::string& directory, std::string_view flag) {
  if (!directory.empty() && options.files != nullptr) return absl::OkStatus();
  return ValidationError(Cat("This server has no directory for these files; start it with --", flag));
}

TransferRecord NewRecord(TransferKind kind, const std::optional<std::string>& token, std::string message) {
  TransferRecord record;
  record.kind = kind;
  record.client_token = token.value_or("");
  record.request = std::move(message);
  record.start_time_ms = absl::ToUnixMillis(absl::Now());
  return record;
}

void SetTable(const model::TableDescriptor& table, TransferRecord* record) {
  record->table = table.id;
  record->table_name = table.name;
  record->table_uuid = table.uuid;
  std::random_device random;
  record->arn = MakeTransferArn(record->kind, table.name, record->start_time_ms, random());
}

absl::Status PrepareExport(const Parts& parts, const StartExportRequest& request, TransferRecord* record) {
  // The region in the ARN does not matter.
  const absl::StatusOr<PinnedTable> pinned = FindTable(*parts.database, model::TableNamePart(*request.table_arn));
  if (!pinned.ok()) return TableNotFoundError(Cat("Table not found: ", *request.table_arn));
  const model::TableDescriptor& table = pinned->table->descriptor;
  if (!table.settings.point_in_time_recovery.has_value()) {
    return PointInTimeRecoveryUnavailableError(
        Cat("Point in time recovery is not enabled for table '", table.name, "'"));
  }
  if (request.export_time_ms.has_value()) {
    const int64_t time_ms = *request.export_time_ms;
    const int64_t margin_ms = absl::ToInt64Milliseconds(kExportTimeMargin);
    const int64_t earliest_ms =
        EarliestRestorableMs(*table.settings.point_in_time_recovery, absl::FromUnixMillis(record->start_time_ms));
    const bool is_in_window = time_ms >= earliest_ms && time_ms <= record->start_time_ms;
    // The daemon exports the present only.
    if (time_ms < record->start_time_ms - margin_ms || time_ms > record->start_time_ms + margin_ms) {
      return InvalidExportTimeError(is_in_window ? "Point in Time Recovery is not available for specified export time"
                                                 : "Export Time is invalid");
    }
  }
  SetTable(table, record);
  return absl::OkStatus();
}

absl::Status PrepareImport(Parts* parts, model::TableDescriptor table, TransferRecord* record) {
  table.restore = model::RestoreOrigin{.backup_arn = "",
                                       .source_table_arn = "",
                                       .time_ms = record->start_time_ms,
                                       .in_progress = true,
                                       .is_import = true};
  ARM_ASSIGN_OR_RETURN(const model::TableDescriptor created, parts->database->tables().Create(std::move(table)));
  SetTable(created, record);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TransferRecord> StartExport(Parts* parts, const StartExportRequest& request) {
  ARM_RETURN_IF_ERROR(CheckStartExport(request));
  const TransferOptions& options = parts->options.transfer;
  ARM_RETURN_IF_ERROR(CheckDirectory(options, options.export_directory, "export_dir"));
  TransferRecord record =
      NewRecord(TransferKind::kExport, request.client_token.value_or(store::RandomUuid()), request.message);
  record.output = model::TransferPlace{*request.place.s3_bucket, request.place.prefix.value_or("")};
  return parts->transfers.Begin(std::move(record),
                                [&](TransferRecord* made) { return PrepareExport(*parts, request, made); });
}

absl::StatusOr<TransferRecord> StartImport(Parts* parts, const StartImportRequest& request) {
  ARM_RETURN_IF_ERROR(CheckStartImport(request));
  ARM_ASSIGN_OR_RETURN(model::TableDescriptor table, model::BuildTableDescriptor(*request.table));
  const TransferOptions& options = parts->options.transfer;
  ARM_RETURN_IF_ERROR(CheckDirectory(options, options.import_directory, "import_dir"));
  TransferRecord record = NewRecord(TransferKind::kImport, request.client_token, request.message);
  record.input = InputOf(request);
  return parts->transfers.Begin(std::move(record),
                                [&](TransferRecord* made) { return PrepareImport(parts, std::move(table), made); });
}

absl::StatusOr<TransferRecord> StartBulkPut(Parts* parts, const StartBulkPutRequest& request) {
  ARM_RETURN_IF_ERROR(CheckStartBulkPut(request));
  const TransferOptions& options = parts->options.transfer;
  ARM_RETURN_IF_ERROR(CheckDirectory(options, options.import_directory, "import_dir"));
  ARM_RETURN_IF_ERROR(CheckDirectory(options, options.export_directory, "export_dir"));
  TransferRecord record = NewRecord(TransferKind::kBulkPut, request.client_token, request.message);
  record.input = InputOf(*request.input);
  const FilePlaceRequest& output = request.output->place;
  record.output = model::TransferPlace{*output.s3_bucket, output.prefix.value_or("")};
  record.write_units_max = request.write_units_max.value_or(0);
  record.writes_errors = std::ranges::count(*request.output->types, "ERROR") > 0;
  return parts->transfers.Begin(std::move(record), [&](TransferRecord* made) -> absl::Status {
    ARM_ASSIGN_OR_RETURN(const PinnedTable pinned, FindTable(*parts->database, *request.table_name));
    SetTable(pinned.table->descriptor, made);
    return absl::OkStatus();
  });
}

absl::StatusOr<TransferRecord> DescribeTransfer(Parts* parts, const TransferName& name) {
  ARM_RETURN_IF_ERROR(CheckTransferArn(name.kind, name.arn));
  return parts->transfers.Find(name.kind, *name.arn);
}

absl::StatusOr<TransferRecord> CancelTransfer(Parts* parts, const TransferName& name) {
  ARM_RETURN_IF_ERROR(CheckTransferArn(name.kind, name.arn));
  return parts->transfers.Cancel(*name.arn);
}

absl::StatusOr<TransferPage> ListTransfers(Parts* parts, const ListTransfersRequest& request) {
  ARM_RETURN_IF_ERROR(CheckListTransfers(request));
  return parts->transfers.List(request);
}

}  // namespace armature::engine
