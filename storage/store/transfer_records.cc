#include "storage/store/transfer_records.h"

#include <string_view>
#include <utility>

#include "glog/logging.h"
#include "rocksdb/write_batch.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/catalog/catalog_record.h"
#include "storage/store/meta_keys.h"
#include "storage/store/rocks_db.h"

namespace armature::store {

absl::StatusOr<std::vector<model::TransferRecord>> TransferRecords::ReadAll() const {
  std::vector<model::TransferRecord> records;
  const auto read = [&records](std::string_view key, std::string_view value) {
    absl::StatusOr<model::TransferRecord> record = ParseTransferRecord(value);
    if (record.ok()) {
      records.push_back(*std::move(record));
    } else {
      LOG(ERROR) << "store: skipped a record of a transfer key=" << key << " status=" << record.status();
    }
    return absl::OkStatus();
  };
  ARM_RETURN_IF_ERROR(db_->ForEachWithPrefix(*db_->meta(), kTransferPrefix, read));
  return records;
}

absl::Status TransferRecords::Put(const model::TransferRecord& record) const {
  ARM_RETURN_IF_ERROR(db_->space()->CheckClients());
  rocksdb::WriteBatch batch;
  batch.Put(db_->meta()->handle(), TransferKey(record.arn), EncodeTransferRecord(record));
  return db_->Write(&batch, /*sync=*/true, Cat("write the record of ", record.arn));
}

void TransferRecords::AddTo(const model::TransferRecord& record, WriteUnit* unit) const {
  unit->Put(Keyspace{db_->meta()}, TransferKey(record.arn), EncodeTransferRecord(record));
}

absl::Status TransferRecords::Remove(const std::vector<std::string>& arns) const {
  if (arns.empty()) return absl::OkStatus();
  rocksdb::WriteBatch batch;
  for (const std::string& arn : arns) batch.Delete(db_->meta()->handle(), TransferKey(arn));
  return db_->Write(&batch, /*sync=*/false, "remove records of transfers");
}

}  // namespace armature::store
