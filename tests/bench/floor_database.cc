#include "tests/bench/floor_database.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "rocksdb/write_batch.h"
#include "storage/store/options.h"
#include "storage/store/rocks_options.h"

namespace armature::bench {
namespace {

constexpr size_t kKeyBytes = 32;

}  // namespace

void CheckFloor(const rocksdb::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "floor: %s\n", status.ToString().c_str());
  std::exit(1);
}

std::unique_ptr<rocksdb::DB> OpenFloorDatabase(const std::string& directory, size_t cache_bytes) {
  store::DatabaseOptions options;
  options.cache_bytes = cache_bytes;
  rocksdb::Options engine(store::MakeDbOptions(options),
                          store::MakeTableFamilyOptions(options, rocksdb::NewLRUCache(cache_bytes)));
  engine.create_if_missing = true;
  rocksdb::DB* opened = nullptr;
  CheckFloor(rocksdb::DB::Open(engine, directory, &opened));
  return std::unique_ptr<rocksdb::DB>(opened);
}

void LookUp(rocksdb::DB* db, const std::string& key) {
  rocksdb::PinnableSlice value;
  const rocksdb::Status status = db->Get(rocksdb::ReadOptions(), db->DefaultColumnFamily(), key, &value);
  if (!status.IsNotFound()) CheckFloor(status);
}

FloorWriter::~FloorWriter() {
  {
    const absl::MutexLock lock(&mutex_);
    is_stopped_ = true;
  }
  thread_.join();
}

std::vector<std::string> FloorWriter::NewKeys(size_t count) {
  std::vector<std::string> keys;
  for (size_t i = 0; i < count; ++i) {
    const std::string number = std::to_string(next_key_++ * 0x9E3779B97F4A7C15);
    keys.push_back(std::string(kKeyBytes - number.size(), '0') + number);
  }
  return keys;
}

void FloorWriter::Write(std::vector<std::string> keys, size_t parts, std::string bytes, FloorReply reply) {
  const absl::MutexLock lock(&mutex_);
  waiting_.push_back({std::move(keys), parts, std::move(bytes), std::move(reply)});
}

void FloorWriter::Loop() {
  std::vector<Waiting> group;
  rocksdb::WriteOptions options;
  options.sync = true;
  while (true) {
    {
      const auto has_work = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return is_stopped_ || !waiting_.empty(); };
      const absl::MutexLock lock(&mutex_, absl::Condition(&has_work));
      if (waiting_.empty()) return;
      group.clear();
      group.swap(waiting_);
    }
    rocksdb::WriteBatch batch;
    for (const Waiting& write : group) {
      const size_t part = write.bytes.size() / write.parts;
      for (size_t row = 0; row < write.keys.size(); ++row) {
        const rocksdb::Slice value(write.bytes.data() + row * part, row < write.parts ? part : 0);
        CheckFloor(batch.Put(write.keys[row], value));
      }
    }
    CheckFloor(db_->Write(options, &batch));
    for (Waiting& write : group) std::move(write.reply)(std::string());
  }
}

}  // namespace armature::bench
