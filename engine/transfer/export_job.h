#ifndef ARMATURE_ENGINE_TRANSFER_EXPORT_JOB_H_
#define ARMATURE_ENGINE_TRANSFER_EXPORT_JOB_H_

#include "absl/status/status.h"

namespace armature::engine {

class TransferJob;

// Writes all items of a table, as of one moment, to files below <bucket>/<prefix>/AWSDynamoDB/<id of the job>. The
// summary of the manifest is written last: without it the export is not whole. An export that was interrupted begins
// anew, with a new snapshot.
//
// Errors end the job as failed; see JobFailure.
absl::Status RunExport(TransferJob* job);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_TRANSFER_EXPORT_JOB_H_
