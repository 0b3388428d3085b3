// Cost of writes and point reads among many rows in one memtable, for RocksDB's skip list and the daemon's memtables:
//
//   memtable_bench --directory=DIR --rows=100000
//
// DIR is created and must not exist. Prints CPU microseconds per row, without log and without flushes, for keys as rows
// have them: each of a partition of its own, in partitions of a hundred rows, and in one partition, in and out of
// order.

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "rocksdb/db.h"
#include "rocksdb/memtablerep.h"
#include "rocksdb/write_batch.h"
#include "storage/store/memtable/collapsing_memtable.h"
#include "storage/store/memtable/read_horizon.h"
#include "storage/store/options.h"
#include "storage/store/rocks_options.h"

ABSL_FLAG(std::string, directory, "", "Where to put the database; removed at the end.");
ABSL_FLAG(int, rows, 100'000, "Rows in a memtable.");
ABSL_FLAG(int, item_bytes, 300, "Size of a value.");
ABSL_FLAG(int, batch, 25, "Puts in a batch.");
ABSL_FLAG(int, rounds, 3, "Rounds, each with a new database; the median counts.");

namespace armature::bench {
namespace {

void Check(const rocksdb::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "memtable_bench: %s\n", status.ToString().c_str());
  std::exit(1);
}

double CpuUs() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

std::string Key(uint32_t partition, uint32_t row) {
  const uint32_t hash = partition * 2654435761U;
  std::string key;
  for (int shift = 24; shift >= 0; shift -= 8) key.push_back(static_cast<char>(hash >> shift));
  char rest[40];
  std::snprintf(rest, sizeof rest, "partition-%010u|%010u", partition, row);
  return key + rest;
}

struct Shape {
  const char* name;
  std::function<std::string(uint32_t row)> key;
};

std::vector<std::string> Keys(const Shape& shape) {
  std::vector<std::string> keys;
  for (int row = 0; row < absl::GetFlag(FLAGS_rows); ++row) keys.push_back(shape.key(static_cast<uint32_t>(row)));
  return keys;
}

struct Cost {
  double put = 0;
  double get = 0;
};

Cost Measure(const std::vector<std::string>& keys, std::shared_ptr<rocksdb::MemTableRepFactory> memtables) {
  const std::string directory = absl::GetFlag(FLAGS_directory);
  const store::DatabaseOptions settings;
  rocksdb::Options options(store::MakeDbOptions(settings),
                           store::MakeDataFamilyOptions(settings, rocksdb::NewLRUCache(settings.cache_bytes)));
  options.create_if_missing = true;
  options.write_buffer_size = size_t{4} << 30;
  if (memtables != nullptr) options.memtable_factory = std::move(memtables);
  rocksdb::DB* opened = nullptr;
  Check(rocksdb::DB::Open(options, directory, &opened));
  const std::unique_ptr<rocksdb::DB> db(opened);
  rocksdb::WriteOptions write;
  write.disableWAL = true;
  const std::string value(static_cast<size_t>(absl::GetFlag(FLAGS_item_bytes)), 'v');
  Cost cost;
  const size_t batch_rows = static_cast<size_t>(absl::GetFlag(FLAGS_batch));
  double start = CpuUs();
  for (size_t first = 0; first < keys.size(); first += batch_rows) {
    rocksdb::WriteBatch batch;
    for (size_t i = first; i < std::min(first + batch_rows, keys.size()); ++i) Check(batch.Put(keys[i], value));
    Check(db->Write(write, &batch));
  }
  cost.put = (CpuUs() - start) / static_cast<double>(keys.size());
  std::mt19937_64 rng(1);
  const size_t reads = std::min<size_t>(keys.size(), 50'000);
  rocksdb::PinnableSlice read;
  start = CpuUs();
  for (size_t i = 0; i < reads; ++i) {
    Check(db->Get(rocksdb::ReadOptions(), db->DefaultColumnFamily(), keys[rng() % keys.size()], &read));
    read.Reset();
  }
  cost.get = (CpuUs() - start) / static_cast<double>(reads);
  return cost;
}

Cost Median(std::vector<Cost> costs) {
  std::vector<double> puts;
  std::vector<double> gets;
  for (const Cost& cost : costs) {
    puts.push_back(cost.put);
    gets.push_back(cost.get);
  }
  std::sort(puts.begin(), puts.end());
  std::sort(gets.begin(), gets.end());
  return {puts[puts.size() / 2], gets[gets.size() / 2]};
}

int Main() {
  const std::string directory = absl::GetFlag(FLAGS_directory);
  if (directory.empty() || std::filesystem::exists(directory) || absl::GetFlag(FLAGS_rows) < 1 ||
      absl::GetFlag(FLAGS_batch) < 1 || absl::GetFlag(FLAGS_rounds) < 1) {
    std::fprintf(stderr, "memtable_bench: --directory must name one that does not exist, the numbers be at least 1\n");
    return 2;
  }
  const auto scattered = [](uint32_t row) { return row * 2246822519U; };
  const Shape shapes[] = {
      {"a partition each", [](uint32_t row) { return Key(row, 0); }},
      {"partitions of 100", [&](uint32_t row) { return Key(scattered(row) % 1000, row); }},
      {"one, in order", [](uint32_t row) { return Key(7, row); }},
      {"one, out of order", [&](uint32_t row) { return Key(7, scattered(row)); }},
  };
  std::printf("%-20s %12s %12s %12s %12s\n", "us/row", "put RocksDB", "put ours", "get RocksDB", "get ours");
  for (const Shape& shape : shapes) {
    const std::vector<std::string> keys = Keys(shape);
    std::vector<Cost> theirs;
    std::vector<Cost> ours;
    for (int round = 0; round < absl::GetFlag(FLAGS_rounds); ++round) {
      theirs.push_back(Measure(keys, nullptr));
      std::filesystem::remove_all(directory);
      const store::ReadHorizon horizon;
      ours.push_back(Measure(keys, store::MakeCollapsingMemtableFactory(&horizon)));
      std::filesystem::remove_all(directory);
    }
    const Cost their = Median(theirs);
    const Cost our = Median(ours);
    std::printf("%-20s %12.2f %12.2f %12.2f %12.2f\n", shape.name, their.put, our.put, their.get, our.get);
  }
  return 0;
}

}  // namespace
}  // namespace armature::bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Cost of memtables; see the head of the source.");
  absl::ParseCommandLine(argc, argv);
  return armature::bench::Main();
}
