// Cost of the storage engine alone for the writes that armature-bench sends to a daemon: batches of puts, each synced
// before the next one of its thread, with the daemon's settings and no daemon. It is the lower bound for `batch`,
// `transact` and `pipeline`:
//
//   rocksdb_floor --directory=DIR --batch=25 --threads=16
//
// DIR is created and must not exist: choose one on the disk to measure. RocksDB joins concurrent batches into one
// group, like the daemon's committer. --families and --memtables_mb show how the budget of memtables behaves with many
// families that are written at once.
//
// --items=N loads as many items once, each with a row in every family, as a table with indexes has, and prints what the
// load wrote. The rows are as long as those of armature-bench, and compress as well.

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
ABSL_FLAG(int64_t, items, 0, "Load so many items, with a row in each family, instead of rounds.");

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

// The key and the value of a row of an item. Families differ in the order of their keys.
struct Row {
  Row(int64_t item, size_t family) {
    uint64_t order = (static_cast<uint64_t>(item) + 1) * (0x9E3779B97F4A7C15 + 2 * family);
    order ^= order >> 29;
    key.assign(reinterpret_cast<const char*>(&order), kKeyHashBytes);
    const std::string number = std::to_string(100'000'000'000 + item);
    // An entry of an index has the key of the index before that of its item.
    for (size_t part = 0; part < (family == 0 ? 1 : 2); ++part) key += "item-" + number + std::string(8, '\0');
    value = "pk item-" + number + " sk " + number + " payload ";
    const auto size = static_cast<size_t>(absl::GetFlag(FLAGS_item_bytes));
    value.resize(std::max(size, value.size()), 'x');
  }
  static constexpr size_t kKeyHashBytes = 4;
  std::string key;
  std::string value;
};

// Loads the items from `next` on, as long as there are any. Returns the bytes of their rows.
uint64_t LoadItems(rocksdb::DB* db, const Families& families, std::atomic<int64_t>* next) {
  rocksdb::WriteOptions options;
  options.sync = true;
  const int64_t items = absl::GetFlag(FLAGS_items);
  const int64_t batch_items = absl::GetFlag(FLAGS_batch);
  uint64_t bytes = 0;
  while (true) {
    const int64_t begin = next->fetch_add(batch_items);
    if (begin >= items) return bytes;
    rocksdb::WriteBatch batch;
    for (int64_t item = begin; item < std::min(items, begin + batch_items); ++item) {
      for (size_t family = 0; family < families.size(); ++family) {
        const Row row(item, family);
        bytes += row.key.size() + row.value.size();
        Check(batch.Put(families[family], row.key, row.value));
      }
    }
    Check(db->Write(options, &batch));
  }
}

void PrintWritten(const char* when, uint64_t bytes, rocksdb::DB* db, const rocksdb::Statistics& statistics) {
  const auto megabytes = [&statistics](rocksdb::Tickers ticker) {
    return static_cast<double>(statistics.getTickerCount(ticker)) / 1e6;
  };
  std::vector<rocksdb::LiveFileMetaData> live;
  db->GetLiveFilesMetaData(&live);
  double files = 0;
  for (const rocksdb::LiveFileMetaData& file : live) files += static_cast<double>(file.size) / 1e6;
  const double flushed = megabytes(rocksdb::FLUSH_WRITE_BYTES);
  const double compacted = megabytes(rocksdb::COMPACT_WRITE_BYTES);
  std::printf(
      "%s: rows %.0f MB, logged %.0f, flushed %.0f, compacted %.0f (%.1f bytes for each flushed one), files %.0f\n",
      when, static_cast<double>(bytes) / 1e6, megabytes(rocksdb::WAL_FILE_BYTES), flushed, compacted,
      flushed > 0 ? (flushed + compacted) / flushed : 0, files);
  std::fflush(stdout);
}

void AwaitCompactions(rocksdb::DB* db, const Families& families) {
  Check(db->Flush(rocksdb::FlushOptions(), families));
  while (true) {
    uint64_t running = 0;
    uint64_t pending = 0;
    db->GetAggregatedIntProperty(rocksdb::DB::Properties::kNumRunningCompactions, &running);
    db->GetAggregatedIntProperty(rocksdb::DB::Properties::kCompactionPending, &pending);
    if (running + pending == 0) return;
    absl::SleepFor(absl::Milliseconds(100));
  }
}

void Load(rocksdb::DB* db, const Families& families, const rocksdb::Statistics& statistics) {
  const absl::Time begin = absl::Now();
  std::atomic<int64_t> next = 0;
  std::atomic<uint64_t> bytes = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < absl::GetFlag(FLAGS_threads); ++i) {
    threads.emplace_back([&] { bytes += LoadItems(db, families, &next); });
  }
  for (std::thread& thread : threads) thread.join();
  const double seconds = absl::ToDoubleSeconds(absl::Now() - begin);
  std::printf("%lld items of %zu rows in %.0f s, %.0f items/s\n", static_cast<long long>(absl::GetFlag(FLAGS_items)),
              families.size(), seconds, static_cast<double>(absl::GetFlag(FLAGS_items)) / seconds);
  PrintWritten("after the load", bytes, db, statistics);
  AwaitCompactions(db, families);
  PrintWritten("after compactions", bytes, db, statistics);
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

void RunRounds(rocksdb::DB* db, const Families& families, const rocksdb::Statistics& statistics) {
  std::vector<double> rounds;
  uint64_t memtables_max = 0;
  for (int round = 0; round < absl::GetFlag(FLAGS_rounds); ++round) {
    rounds.push_back(BatchesPerSecond(db, families, round));
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
              static_cast<unsigned long long>(statistics.getTickerCount(rocksdb::FLUSH_WRITE_BYTES) >> 20),
              static_cast<unsigned long long>(statistics.getTickerCount(rocksdb::COMPACT_WRITE_BYTES) >> 20),
              static_cast<unsigned long long>(statistics.getTickerCount(rocksdb::STALL_MICROS) / 1000));
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
  if (absl::GetFlag(FLAGS_items) < 0) wrong = "--items must not be negative";
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
  if (absl::GetFlag(FLAGS_items) > 0) {
    Load(db.get(), families, *engine.statistics);
  } else {
    RunRounds(db.get(), families, *engine.statistics);
  }
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
