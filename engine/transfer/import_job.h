#ifndef ARMATURE_ENGINE_TRANSFER_IMPORT_JOB_H_
#define ARMATURE_ENGINE_TRANSFER_IMPORT_JOB_H_

#include "absl/status/status.h"

namespace armature::engine {

class TransferJob;

// Fills a new table with the items of files. The table is CREATING until its indexes contain all of them; clients
// cannot use it before. The place in the files is written in the batch of the items, so each record counts once
// whatever interrupts the job. The last one of several items with one key stays.
//
// A record that is no item of the table is counted; the first ones are logged. Other errors end the job as failed, and
// the table is deleted.
absl::Status RunImport(TransferJob* job);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_TRANSFER_IMPORT_JOB_H_
