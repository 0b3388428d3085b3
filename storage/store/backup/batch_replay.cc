#include "storage/store/backup/batch_replay.h"

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "rocksdb/write_batch.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/table_descriptor.h"
#include "storage/store/catalog/catalog.h"
#include "storage/store/catalog/catalog_record.h"
#include "storage/store/meta_keys.h"
#include "storage/store/options.h"
#include "storage/store/rocks_db.h"
#include "storage/store/rocks_status.h"

namespace armature::store {
namespace {

constexpr size_t kReplayCacheBytes = size_t{64} << 20;

// Copies a batch for the families of another database, without the notes in it, which are about the other one's log.
class BatchCopy final : public rocksdb::WriteBatch::Handler {
 public:
  BatchCopy(RocksDb* rocks, const FamilyNamesById& families, rocksdb::WriteBatch* out)
      : rocks_(rocks), families_(families), out_(out) {}

  rocksdb::Status PutCF(uint32_t id, const rocksdb::Slice& key, const rocksdb::Slice& value) override {
    rocksdb::ColumnFamilyHandle* const family = Find(id);
    return family == nullptr ? Unknown(id) : out_->Put(family, key, value);
  }
  rocksdb::Status DeleteCF(uint32_t id, const rocksdb::Slice& key) override {
    rocksdb::ColumnFamilyHandle* const family = Find(id);
    return family == nullptr ? Unknown(id) : out_->Delete(family, key);
  }
  rocksdb::Status DeleteRangeCF(uint32_t id, const rocksdb::Slice& begin, const rocksdb::Slice& end) override {
    rocksdb::ColumnFamilyHandle* const family = Find(id);
    return family == nullptr ? Unknown(id) : out_->DeleteRange(family, begin, end);
  }
  void LogData(const rocksdb::Slice&) override {}

 private:
  static rocksdb::Status Unknown(uint32_t id) {
    return rocksdb::Status::Corruption(Cat("it names column family ", id, ", which is unknown"));
  }
  rocksdb::ColumnFamilyHandle* Find(uint32_t id) {
    const auto name = families_.find(id);
    ColumnFamily* const family = name == families_.end() ? nullptr : rocks_->Find(name->second);
    return family == nullptr ? nullptr : family->handle();
  }

  RocksDb* const rocks_;
  const FamilyNamesById& families_;
  rocksdb::WriteBatch* const out_;
};

}  // namespace

struct BatchReplay::Impl {
  // Drops the families of tables and indexes that the catalog does not have any more. Their drop is not in the log: it
  // comes before the batch that removes their totals and their record, and a start would take them for lost ones.
  absl::Status DropRemoved() const {
    std::set<std::string> known = FixedFamilyNames();
    ARM_RETURN_IF_ERROR(rocks->ForEachWithPrefix(
        *rocks->meta(), kTablePrefix, [&known](std::string_view, std::string_view value) -> absl::Status {
          const absl::StatusOr<model::TableDescriptor> table = ParseTableRecord(value);
          if (!table.ok()) return table.status();
          for (std::string& family : Catalog::FamilyNames(*table)) known.insert(std::move(family));
          return absl::OkStatus();
        }));
    std::vector<std::string> removed;
    for (std::string& name : rocks->FamilyNames()) {
      if (known.contains(name)) continue;
      ARM_ASSIGN_OR_RETURN(const std::optional<std::string> totals, rocks->Get(*rocks->meta(), StatsKey(name)));
      if (!totals.has_value()) removed.push_back(std::move(name));
    }
    return removed.empty() ? absl::OkStatus() : rocks->DropFamilies(removed);
  }

  std::unique_ptr<RocksDb> rocks;
};

BatchReplay::BatchReplay(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BatchReplay::~BatchReplay() = default;

absl::StatusOr<std::unique_ptr<BatchReplay>> BatchReplay::Open(Volume* volume, const std::string& db_path) {
  DatabaseOptions options;
  options.volume = volume;
  options.path = db_path;
  options.cache_bytes = kReplayCacheBytes;
  // All of the disk is for the restore.
  options.disk_reserve = {.bytes = 0, .percent = 0};
  auto impl = std::make_unique<Impl>();
  ARM_ASSIGN_OR_RETURN(impl->rocks, RocksDb::Open(db_path, options, RocksDb::IfMissing::kFail));
  return std::unique_ptr<BatchReplay>(new BatchReplay(std::move(impl)));
}

uint64_t BatchReplay::sequence() const { return impl_->rocks->opened_sequence(); }

absl::Status BatchReplay::Apply(std::string_view batch, const FamilyNamesById& families) {
  ARM_ASSIGN_OR_RETURN(const LogBatch parsed, ParseLogBatch(batch));
  std::vector<std::string> missing;
  for (const uint32_t id : parsed.families) {
    const auto name = families.find(id);
    if (name != families.end() && impl_->rocks->Find(name->second) == nullptr) missing.push_back(name->second);
  }
  if (!missing.empty()) ARM_RETURN_IF_ERROR(impl_->rocks->CreateFamilies(missing));
  const rocksdb::WriteBatch source(parsed.bytes);
  rocksdb::WriteBatch copied;
  BatchCopy copy(impl_->rocks.get(), families, &copied);
  if (const rocksdb::Status read = source.Iterate(&copy); !read.ok()) {
    return DataLossError(Cat("batch ", parsed.sequence, ": ", TextOf(read)));
  }
  return impl_->rocks->Write(&copied, /*sync=*/false, "restore from the archive");
}

absl::Status BatchReplay::Finish() {
  ARM_RETURN_IF_ERROR(impl_->DropRemoved());
  ARM_RETURN_IF_ERROR(impl_->rocks->SyncLog());
  impl_->rocks.reset();
  return absl::OkStatus();
}

}  // namespace armature::store
