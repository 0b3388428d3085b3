#ifndef ARMATURE_STORAGE_STORE_TRANSFER_RECORDS_H_
#define ARMATURE_STORAGE_STORE_TRANSFER_RECORDS_H_

// Records of exports, imports and bulk operations in the family `meta`. docs/reference/format.md, "Transfers".

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/model/transfer_record.h"
#include "storage/store/commit/write_unit.h"

namespace armature::store {

class RocksDb;

// Thread-safety: thread-safe.
class TransferRecords {
 public:
  // `db` must outlive this object.
  explicit TransferRecords(RocksDb* db) : db_(db) {}

  // All records, in ascending order of ARNs. A record that cannot be read is logged and left out. Errors: DataLoss,
  // Unavailable.
  absl::StatusOr<std::vector<model::TransferRecord>> ReadAll() const;
  // Writes the record durably. Errors: ServiceUnavailable while there is little space.
  absl::Status Put(const model::TransferRecord& record) const;
  // Adds the record to `unit`, to be committed together with what the job has written.
  void AddTo(const model::TransferRecord& record, WriteUnit* unit) const;
  // Removes records, without fsync: those that a crash brings back are removed again.
  absl::Status Remove(const std::vector<std::string>& arns) const;

 private:
  RocksDb* const db_;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_TRANSFER_RECORDS_H_
