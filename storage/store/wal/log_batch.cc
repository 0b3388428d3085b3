#include "storage/store/wal/log_batch.h"

#include <algorithm>

#include "rocksdb/write_batch.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/meta_keys.h"
#include "storage/store/rocks_status.h"

namespace armature::store {
namespace {

constexpr std::string_view kTimeMagic = "arm\x02";
constexpr size_t kTimeMarkBytes = 4 + sizeof(uint64_t);
constexpr size_t kSequenceBytes = 8;
constexpr size_t kBatchHeaderBytes = kSequenceBytes + 4;  // sequence, number of writes: little-endian

uint64_t LittleEndianOf(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i > 0; --i) value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
  return value;
}

class BatchFacts final : public rocksdb::WriteBatch::Handler {
 public:
  explicit BatchFacts(LogBatch* batch) : batch_(batch) {}

  rocksdb::Status PutCF(uint32_t id, const rocksdb::Slice&, const rocksdb::Slice&) override { return Note(id); }
  rocksdb::Status DeleteCF(uint32_t id, const rocksdb::Slice&) override { return Note(id); }
  rocksdb::Status DeleteRangeCF(uint32_t id, const rocksdb::Slice&, const rocksdb::Slice&) override { return Note(id); }
  void LogData(const rocksdb::Slice& blob) override {
    const std::string_view bytes = ToView(blob);
    if (bytes.size() != kTimeMarkBytes || !bytes.starts_with(kTimeMagic)) return;
    // Batches that RocksDB has joined have one each.
    batch_->time_ms = std::max(batch_->time_ms, static_cast<int64_t>(*ParseU64(bytes.substr(kTimeMagic.size()))));
  }

 private:
  rocksdb::Status Note(uint32_t id) {
    batch_->families.insert(id);
    return rocksdb::Status::OK();
  }

  LogBatch* const batch_;
};

}  // namespace

std::string EncodeTimeMark(int64_t time_ms) { return Cat(kTimeMagic, EncodeU64(static_cast<uint64_t>(time_ms))); }

absl::StatusOr<LogBatch> ParseLogBatch(std::string_view record) {
  if (record.size() < kBatchHeaderBytes) return DataLossError(Cat("a batch of ", record.size(), " bytes"));
  LogBatch batch{.sequence = LittleEndianOf(record.substr(0, kSequenceBytes)),
                 .writes = static_cast<uint32_t>(LittleEndianOf(record.substr(kSequenceBytes, 4))),
                 .bytes = std::string(record)};
  BatchFacts facts(&batch);
  const rocksdb::WriteBatch parsed(batch.bytes);
  if (const rocksdb::Status read = parsed.Iterate(&facts); !read.ok()) {
    return DataLossError(Cat("batch ", batch.sequence, ": ", TextOf(read)));
  }
  return batch;
}

}  // namespace armature::store
