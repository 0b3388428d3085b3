#include "storage/store/backup/batch_rows.h"

#include <algorithm>
#include <string>

#include "rocksdb/write_batch.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/meta_keys.h"
#include "storage/store/rocks_status.h"

namespace armature::store {
namespace {

class FamilyRows final : public rocksdb::WriteBatch::Handler {
 public:
  FamilyRows(uint32_t family, RowChangeVisitor visit) : family_(family), visit_(visit) {}

  rocksdb::Status PutCF(uint32_t id, const rocksdb::Slice& key, const rocksdb::Slice& value) override {
    return id == family_ ? Visit(key, ToView(value)) : rocksdb::Status::OK();
  }
  rocksdb::Status DeleteCF(uint32_t id, const rocksdb::Slice& key) override {
    return id == family_ ? Visit(key, std::nullopt) : rocksdb::Status::OK();
  }
  rocksdb::Status DeleteRangeCF(uint32_t id, const rocksdb::Slice&, const rocksdb::Slice&) override {
    return id == family_ ? rocksdb::Status::Corruption("it deletes a range of rows of a table") : rocksdb::Status::OK();
  }
  void LogData(const rocksdb::Slice&) override {}
  bool Continue() override { return status_.ok(); }

  // The error of the visitor.
  const absl::Status& status() const { return status_; }

 private:
  rocksdb::Status Visit(const rocksdb::Slice& key, std::optional<std::string_view> value) {
    status_ = visit_(ToView(key), value);
    return rocksdb::Status::OK();
  }

  const uint32_t family_;
  const RowChangeVisitor visit_;
  absl::Status status_;
};

}  // namespace

std::optional<uint32_t> FamilyOfTable(const FamilyNamesById& families, TableId table) {
  const std::string name = DataFamilyName(table);
  const auto found =
      std::find_if(families.begin(), families.end(), [&name](const auto& family) { return family.second == name; });
  if (found == families.end()) return std::nullopt;
  return found->first;
}

absl::Status ForEachRowChange(std::string_view batch, uint32_t family, RowChangeVisitor visit) {
  FamilyRows rows(family, visit);
  const rocksdb::WriteBatch parsed{std::string(batch)};
  const rocksdb::Status read = parsed.Iterate(&rows);
  ARM_RETURN_IF_ERROR(rows.status());
  if (!read.ok()) return DataLossError(Cat("a batch of an archive: ", TextOf(read)));
  return absl::OkStatus();
}

}  // namespace armature::store
