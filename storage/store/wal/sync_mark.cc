#include "storage/store/wal/sync_mark.h"

#include "rocksdb/write_batch.h"
#include "storage/base/strings.h"
#include "storage/store/meta_keys.h"
#include "storage/store/rocks_status.h"

namespace armature::store {
namespace {

// Version 1 of the mark.
constexpr std::string_view kMarkMagic = "arm\x01";
constexpr size_t kMarkBytes = 4 + 1 + 2 * sizeof(uint64_t);

// Takes the first mark of a batch and ignores its rows.
class MarkFinder final : public rocksdb::WriteBatch::Handler {
 public:
  rocksdb::Status PutCF(uint32_t, const rocksdb::Slice&, const rocksdb::Slice&) override { return {}; }
  rocksdb::Status DeleteCF(uint32_t, const rocksdb::Slice&) override { return {}; }
  rocksdb::Status SingleDeleteCF(uint32_t, const rocksdb::Slice&) override { return {}; }
  rocksdb::Status DeleteRangeCF(uint32_t, const rocksdb::Slice&, const rocksdb::Slice&) override { return {}; }
  rocksdb::Status MergeCF(uint32_t, const rocksdb::Slice&, const rocksdb::Slice&) override { return {}; }
  void LogData(const rocksdb::Slice& blob) override {
    const std::string_view bytes = ToView(blob);
    if (mark_.has_value() || bytes.size() != kMarkBytes || !bytes.starts_with(kMarkMagic)) return;
    mark_ = SyncMark{{*ParseU64(bytes.substr(5, 8)), *ParseU64(bytes.substr(13, 8))}, bytes[4] != 0};
  }
  bool Continue() override { return !mark_.has_value(); }

  const std::optional<SyncMark>& mark() const { return mark_; }

 private:
  std::optional<SyncMark> mark_;
};

}  // namespace

std::string EncodeSyncMark(const SyncMark& mark) {
  return Cat(kMarkMagic, std::string_view(mark.is_unsynced_acknowledged ? "\x01" : "\0", 1),
             EncodeU64(mark.synced.file), EncodeU64(mark.synced.offset));
}

std::optional<SyncMark> FindSyncMark(std::string_view record) {
  constexpr size_t kBatchHeadBytes = 12;
  if (record.size() < kBatchHeadBytes) return std::nullopt;
  const rocksdb::WriteBatch batch{std::string(record)};
  MarkFinder finder;
  static_cast<void>(batch.Iterate(&finder));
  return finder.mark();
}

}  // namespace armature::store
