// Cost of the storage engine alone for the writes that armature-bench sends to a daemon: batches of puts, each synced
// before the next one of its thread, with the daemon's settings and no daemon. It is the lower bound for `batch`,
// `transact` and `pipeline`:
//
//   rocksdb_floor --directory=DIR --batch=25 --threads=16
//
// DIR is created and must not exist: choose one on the disk to measure. RocksDB joins concurrent batches into one
// group, like the daemon's committer. --families and --memtables_mb show how the budget of memtables behaves with many
// families that are written at once.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "rocksdb/db.h"
#include "rocksdb/statistics.h"
#include "rocksdb/write_batch.h"
#include "rocksdb/write_buffer_manager.h"
#include "storage/store/options.h"
#include "storage/store/rocks_options.h"

ABSL_FLAG(std::string, directory, "", "Where to put the database; removed at the end.");
ABSL_FLAG(int, batch, 25, "Puts in a batch.");
ABSL_FLAG(int, threads, 16, "Threads, each with one batch under way.");
ABSL_FLAG(int, item_bytes, 300, "Size of a value.");
ABSL_FLAG(int, families, 1, "Column families; each batch goes to one of them, at random.");
ABSL_FLAG(int, memtables_mb, 512, "Budget for the memtables of all families; 0: none.");
ABSL_FLAG(double, seconds, 5, "Length of a round.");
ABSL_FLAG(int, rounds, 5, "Rounds; the median counts.");

namespace armature::bench {
namespace {

// About the key size of a row with a string and a number as its key.
constexpr size_t kKeyBytes = 32;

void Check(const rocksdb::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "rocksdb_floor: %s\n", status.ToString().c_str());
  std::exit(1);
}

std::string RandomBytes(size_t size, std::mt19937_64* rng) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>((*rng)());
  return bytes;
}

using Families = std::vector<rocksdb::ColumnFamilyHandle*>;

// Writes batches until `end`. Returns their number.
int64_t WriteBatches(rocksdb::DB* db, const Families& families, uint64_t seed, absl::Time end) {
  std::mt19937_64 rng(seed);
  rocksdb::WriteOptions options;
  options.sync = true;
  const std::string value = RandomBytes(static_cast<size_t>(absl::GetFlag(FLAGS_item_bytes)), &rng);
  int64_t done = 0;
  for (; absl::Now() < end; ++done) {
    rocksdb::WriteBatch batch;
    rocksdb::ColumnFamilyHandle* const family = families[rng() % families.size()];
    for (int i = 0; i < absl::GetFlag(FLAGS_batch); ++i) {
      Check(batch.Put(family, RandomBytes(kKeyBytes, &rng), value));
    }
    Check(db->Write(options, &batch));
  }
  return done;
}

double BatchesPerSecond(rocksdb::DB* db, const Families& families, int round) {
  const absl::Time begin = absl::Now();
  const absl::Time end = begin + absl::Seconds(absl::GetFlag(FLAGS_seconds));
  std::atomic<int64_t> done = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < absl::GetFlag(FLAGS_threads); ++i) {
    threads.emplace_back(
        [&, seed = static_cast<uint64_t>(round * 1000 + i)] { done += WriteBatches(db, families, seed, end); });
  }
  for (std::thread& thread : threads) thread.join();
  return static_cast<double>(done) / absl::ToDoubleSeconds(absl::Now() - begin);
}

// `sorted` must not be empty.
double MedianOf(const std::vector<double>& sorted) {
  const size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

void CheckFlags() {
  const std::string directory = absl::GetFlag(FLAGS_directory);
  const char* wrong = nullptr;
  if (directory.empty() || std::filesystem::exists(directory)) wrong = "--directory must name one that does not exist";
  if (absl::GetFlag(FLAGS_batch) < 1) wrong = "--batch must be at least 1";
  if (absl::GetFlag(FLAGS_threads) < 1) wrong = "--threads must be at least 1";
  if (absl::GetFlag(FLAGS_families) < 1) wrong = "--families must be at least 1";
  if (absl::GetFlag(FLAGS_memtables_mb) < 0) wrong = "--memtables_mb must not be negative";
  if (absl::GetFlag(FLAGS_item_bytes) < 0) wrong = "--item_bytes must not be negative";
  if (!(absl::GetFlag(FLAGS_seconds) > 0)) wrong = "--seconds must be positive";
  if (absl::GetFlag(FLAGS_rounds) < 1) wrong = "--rounds must be at least 1";
  if (wrong == nullptr) return;
  std::fprintf(stderr, "rocksdb_floor: %s\n", wrong);
  std::exit(2);
}

void Run() {
  const std::string directory = absl::GetFlag(FLAGS_directory);
  const store::DatabaseOptions options;
  rocksdb::Options engine(store::MakeDbOptions(options),
                          store::MakeDataFamilyOptions(options, rocksdb::NewLRUCache(options.cache_bytes)));
  engine.create_if_missing = true;
  engine.statistics = rocksdb::CreateDBStatistics();
  if (absl::GetFlag(FLAGS_memtables_mb) > 0) {
    engine.write_buffer_manager =
        std::make_shared<rocksdb::WriteBufferManager>(static_cast<size_t>(absl::GetFlag(FLAGS_memtables_mb)) << 20);
  }
  rocksdb::DB* opened = nullptr;
  Check(rocksdb::DB::Open(engine, directory, &opened));
  const std::unique_ptr<rocksdb::DB> db(opened);
  Families families;
  std::vector<std::string> names;
  for (int i = 0; i < absl::GetFlag(FLAGS_families); ++i) names.push_back("f" + std::to_string(i));
  Check(db->CreateColumnFamilies(engine, names, &families));
  std::vector<double> rounds;
  uint64_t memtables_max = 0;
  for (int round = 0; round < absl::GetFlag(FLAGS_rounds); ++round) {
    rounds.push_back(BatchesPerSecond(db.get(), families, round));
    uint64_t memtables = 0;
    db->GetAggregatedIntProperty(rocksdb::DB::Properties::kSizeAllMemTables, &memtables);
    memtables_max = std::max(memtables_max, memtables);
  }
  std::sort(rounds.begin(), rounds.end());
  const double median = MedianOf(rounds);
  std::printf("%d puts a batch, %d threads: %.0f batches/s, %.0f items/s (%.0f to %.0f batches/s)\n",
              absl::GetFlag(FLAGS_batch), absl::GetFlag(FLAGS_threads), median, median * absl::GetFlag(FLAGS_batch),
              rounds.front(), rounds.back());
  uint64_t files = 0;
  std::vector<rocksdb::LiveFileMetaData> live;
  db->GetLiveFilesMetaData(&live);
  files = live.size();
  std::printf("%d families: memtables %llu MB, %llu files, flushed %llu MB, compacted %llu MB, stalled %llu ms\n",
              absl::GetFlag(FLAGS_families), static_cast<unsigned long long>(memtables_max >> 20),
              static_cast<unsigned long long>(files),
              static_cast<unsigned long long>(engine.statistics->getTickerCount(rocksdb::FLUSH_WRITE_BYTES) >> 20),
              static_cast<unsigned long long>(engine.statistics->getTickerCount(rocksdb::COMPACT_WRITE_BYTES) >> 20),
              static_cast<unsigned long long>(engine.statistics->getTickerCount(rocksdb::STALL_MICROS) / 1000));
  for (rocksdb::ColumnFamilyHandle* const family : families) Check(db->DestroyColumnFamilyHandle(family));
  Check(db->Close());
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace armature::bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("What the storage engine alone takes of batches of puts.");
  absl::ParseCommandLine(argc, argv);
  armature::bench::CheckFlags();
  armature::bench::Run();
}
