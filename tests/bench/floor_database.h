#ifndef ARMATURE_TESTS_BENCH_FLOOR_DATABASE_H_
#define ARMATURE_TESTS_BENCH_FLOOR_DATABASE_H_

// The database of a floor: RocksDB with the daemon's settings, and one thread that writes to it.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/synchronization/mutex.h"
#include "rocksdb/db.h"

namespace armature::bench {

// Answers a request: with an encoded message, or nullopt if the request is unreadable. Called once, on any thread.
using FloorReply = absl::AnyInvocable<void(std::optional<std::string> answer) &&>;

// Ends the process with the error, if it is one.
void CheckFloor(const rocksdb::Status& status);

// Opens a database in `directory`, which is created.
std::unique_ptr<rocksdb::DB> OpenFloorDatabase(const std::string& directory, size_t cache_bytes);

// Reads the row, if there is one.
void LookUp(rocksdb::DB* db, const std::string& key);

// Writes what waits as one batch, synced, again and again, on a thread of its own.
//
// Thread-safety: thread-safe. Lifetime: the destructor writes and answers what waits. The database outlives it.
class FloorWriter {
 public:
  explicit FloorWriter(rocksdb::DB* db) : db_(db), thread_([this] { Loop(); }) {}
  ~FloorWriter();
  FloorWriter(const FloorWriter&) = delete;
  FloorWriter& operator=(const FloorWriter&) = delete;

  // New keys, spread evenly.
  std::vector<std::string> NewKeys(size_t count);

  // Answers with an empty message when the rows are durable: the first `parts` keys have parts of `bytes`, the others
  // are empty.
  void Write(std::vector<std::string> keys, size_t parts, std::string bytes, FloorReply reply);

 private:
  struct Waiting {
    std::vector<std::string> keys;
    size_t parts = 1;
    std::string bytes;
    FloorReply reply;
  };

  void Loop();

  rocksdb::DB* const db_;
  absl::Mutex mutex_;
  std::vector<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  bool is_stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::atomic<uint64_t> next_key_ = 1;
  std::thread thread_;  // last: it uses the members above
};

}  // namespace armature::bench

#endif  // ARMATURE_TESTS_BENCH_FLOOR_DATABASE_H_
