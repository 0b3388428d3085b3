#ifndef ARMATURE_ENGINE_TRANSFER_TRANSFER_OPS_H_
#define ARMATURE_ENGINE_TRANSFER_TRANSFER_OPS_H_

// ExportTableToPointInTime, ImportTable, StartBulkPutItems, and the operations that describe, list and cancel jobs.

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "engine/transfer/transfer_jobs.h"
#include "engine/transfer/transfer_requests.h"
#include "storage/model/transfer_record.h"

namespace armature::engine {

struct Parts;

// All functions block. Errors, beside those of the checks and of TransferJobs: ValidationException without the
// directory in the options.
//
// Exports are of the time at which they run. TableNotFoundException; PointInTimeRecoveryUnavailableException while
// point-in-time recovery of the table is off, as in the original service; InvalidExportTimeException for a time that is
// more than some seconds away.
absl::StatusOr<model::TransferRecord> StartExport(Parts* parts, const StartExportRequest& request);
// Errors: those of CreateTable.
absl::StatusOr<model::TransferRecord> StartImport(Parts* parts, const StartImportRequest& request);
// Errors: ResourceNotFoundException.
absl::StatusOr<model::TransferRecord> StartBulkPut(Parts* parts, const StartBulkPutRequest& request);

struct TransferName {
  model::TransferKind kind;
  std::optional<std::string> arn;
};
absl::StatusOr<model::TransferRecord> DescribeTransfer(Parts* parts, const TransferName& name);
absl::StatusOr<model::TransferRecord> CancelTransfer(Parts* parts, const TransferName& name);
absl::StatusOr<TransferPage> ListTransfers(Parts* parts, const ListTransfersRequest& request);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_TRANSFER_TRANSFER_OPS_H_
