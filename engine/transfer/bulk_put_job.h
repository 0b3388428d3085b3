#ifndef ARMATURE_ENGINE_TRANSFER_BULK_PUT_JOB_H_
#define ARMATURE_ENGINE_TRANSFER_BULK_PUT_JOB_H_

#include "absl/status/status.h"

namespace armature::engine {

class TransferJob;

// Puts the items of files into a table that is in use, by the same path as a client's PutItem: indexes, streams and
// limits apply, and throttled items are tried again. Records that cannot be written are counted and, if the request
// asks for it, written to files below <bucket>/<prefix>/AWSDynamoDB/<id of the job>/errors.
//
// The place in the files is recorded about once a second, so after a crash some records are put once more.
//
// Errors end the job as failed; see JobFailure.
absl::Status RunBulkPut(TransferJob* job);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_TRANSFER_BULK_PUT_JOB_H_
