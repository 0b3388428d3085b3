// Cost of range reads among overwritten and deleted rows, at the storage interface:
//
//   overwrite_bench --directory=DIR
//
// DIR is created and must not exist. Prints CPU microseconds of the reading thread per read of 100 rows: fresh, after n
// overwrites, while a thread overwrites the same rows, at the head of a queue, and behind rows that were deleted in
// bulk. Prints CPU microseconds of the process per row written, too. No row is synced: the disk is not measured.

#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/synchronization/notification.h"
#include "storage/store/database.h"

ABSL_FLAG(std::string, directory, "", "Where to put the database; removed at the end.");
ABSL_FLAG(int, item_bytes, 300, "Size of a value.");
ABSL_FLAG(int, reads, 3000, "Reads to a figure.");
ABSL_FLAG(int, memtable_mb, 128, "Size of a memtable. Large: without flushes.");
ABSL_FLAG(int, rounds, 3, "Rounds, each with a new table.");

namespace armature::bench {
namespace {

using store::Database;

constexpr int kPartitions = 100;
constexpr int kRowsInPartition = 100;
constexpr int kBatch = 25;

[[noreturn]] void Die(std::string_view text) {
  std::fprintf(stderr, "overwrite_bench: %.*s\n", static_cast<int>(text.size()), text.data());
  std::exit(1);
}

double CpuUs(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

std::string Key(uint64_t partition, uint64_t row) {
  char key[48];
  std::snprintf(key, sizeof key, "%08llx|partition|%012llu", static_cast<unsigned long long>(partition * 2654435761u),
                static_cast<unsigned long long>(row));
  return key;
}

class Bench {
 public:
  Bench(Database* database, int round) : database_(database), rng_(static_cast<uint64_t>(round)) {
    model::TableDescriptor table;
    table.name = "t" + std::to_string(round);
    table.key.partition.push_back({"pk", model::ScalarType::kString});
    if (!database->tables().Create(table).ok()) Die("cannot create the table");
    while (true) {
      snapshot_ = database->catalog();
      const store::Table* const found = snapshot_->Find(table.name);
      if (found != nullptr && found->descriptor.state == model::TableState::kActive) {
        rows_ = found->data;
        break;
      }
      std::this_thread::yield();
    }
    value_.assign(static_cast<size_t>(absl::GetFlag(FLAGS_item_bytes)), 'v');
    for (char& byte : value_) byte = static_cast<char>(rng_());
  }

  // Runs `change(unit)` `count` times, kBatch in one commit. Returns CPU us of the process per change.
  template <class Change>
  double Write(int count, Change change) {
    const double begin = CpuUs(CLOCK_PROCESS_CPUTIME_ID);
    for (int done = 0; done < count;) {
      store::WriteUnit unit(snapshot_);
      for (int i = 0; i < kBatch && done < count; ++i, ++done) change(&unit);
      absl::Notification written;
      database_->commits().Commit(std::move(unit), [&written](const absl::StatusOr<ChangeSequence>& answer) {
        if (!answer.ok()) Die(answer.status().ToString());
        written.Notify();
      });
      written.WaitForNotification();
    }
    return (CpuUs(CLOCK_PROCESS_CPUTIME_ID) - begin) / count;
  }

  double Load() {
    int next = 0;
    return Write(kPartitions * kRowsInPartition, [&](store::WriteUnit* unit) {
      unit->Put(rows_,
                Key(static_cast<uint64_t>(next / kRowsInPartition), static_cast<uint64_t>(next % kRowsInPartition)),
                value_);
      ++next;
    });
  }
  double Overwrite(int count) {
    return Write(count, [&](store::WriteUnit* unit) {
      unit->Put(rows_, Key(rng_() % kPartitions, rng_() % kRowsInPartition), value_);
    });
  }
  void Put(uint64_t partition, uint64_t row, store::WriteUnit* unit) { unit->Put(rows_, Key(partition, row), value_); }
  void Delete(uint64_t partition, uint64_t row, store::WriteUnit* unit) { unit->Delete(rows_, Key(partition, row)); }

  // CPU us of one read of up to 100 rows of `partition`.
  double ReadOnce(uint64_t partition, int expected) {
    const store::KeyRange range{Key(partition, 0), Key(partition, UINT64_C(999999999999))};
    const double begin = CpuUs(CLOCK_THREAD_CPUTIME_ID);
    int rows = 0;
    const auto goes_on = [] { return true; };
    store::SkipLimit limit{.skipped_max = 10'000'000, .goes_on = goes_on, .passed = {}};
    const absl::StatusOr<store::RangeEnd> end = database_->rows().ReadRange(
        rows_, range, store::Direction::kForward,
        [&](std::string_view, std::string_view value) {
          sum_ += static_cast<uint64_t>(value[0]);
          return ++rows == kRowsInPartition ? store::RowVerdict::kStop : store::RowVerdict::kContinue;
        },
        store::ReadMode::kMayBlock, &limit);
    const double cost = CpuUs(CLOCK_THREAD_CPUTIME_ID) - begin;
    if (!end.ok()) Die(end.status().ToString());
    if (rows != expected) Die("a row is missing: " + std::to_string(rows));
    return cost;
  }
  double Read() {
    double sum = 0;
    std::mt19937_64 rng(7);
    const int reads = absl::GetFlag(FLAGS_reads);
    for (int i = 0; i < reads; ++i) sum += ReadOnce(rng() % kPartitions, kRowsInPartition);
    return sum / reads;
  }

 private:
  Database* const database_;
  std::mt19937_64 rng_;
  std::shared_ptr<const store::CatalogSnapshot> snapshot_;
  store::Keyspace rows_;
  std::string value_;
  uint64_t sum_ = 0;
};

void Print(const char* what, double us, double fresh) {
  std::printf("  %-56s %9.2f us", what, us);
  if (fresh > 0) std::printf("  %5.2f times", us / fresh);
  std::printf("\n");
}

void Overwritten(Bench* bench) {
  Print("put of a new row", bench->Load(), 0);
  bench->Read();
  const double fresh = bench->Read();
  Print("read of 100, fresh", fresh, fresh);
  Print("put over a row", bench->Overwrite(62'000), 0);
  Print("read of 100 after 62,000 overwrites", bench->Read(), fresh);
  Print("put over a row", bench->Overwrite(92'000), 0);
  Print("read of 100 after 154,000 overwrites", bench->Read(), fresh);
  std::atomic<bool> stop = false;
  std::atomic<int> written = 0;
  std::thread writer([&] {
    for (; !stop; written += 1000) bench->Overwrite(1000);
  });
  double sum = 0;
  constexpr int kSteady = 5;
  for (int i = 0; i < kSteady; ++i) sum += bench->Read();
  stop = true;
  writer.join();
  Print(("read of 100 under " + std::to_string(written.load()) + " more").c_str(), sum / kSteady, fresh);
}

// `step` rows are put at the end and deleted at the head, and the head is read, in turns.
void Queue(Bench* bench, uint64_t step, uint64_t first, int turns) {
  uint64_t head = 0;
  uint64_t tail = 0;
  const auto put = [&](store::WriteUnit* unit) { bench->Put(first, tail++, unit); };
  const auto take = [&](store::WriteUnit* unit) { bench->Delete(first, head++, unit); };
  bench->Write(1000, put);
  double fresh = 0;
  // As in the turns, each read follows a write.
  for (int i = 0; i < 200; ++i) {
    bench->Write(2 * static_cast<int>(step), put);
    fresh += bench->ReadOnce(first, kRowsInPartition) / 200;
  }
  double sum = 0;
  double worst = 0;
  double writes = 0;
  for (int turn = 0; turn < turns; ++turn) {
    writes += bench->Write(static_cast<int>(step), put) + bench->Write(static_cast<int>(step), take);
    const double us = bench->ReadOnce(first, kRowsInPartition);
    sum += us;
    if (turn >= turns * 9 / 10) worst += us;
  }
  Print(("queue, " + std::to_string(step) + " at a time: read of 100, fresh").c_str(), fresh, fresh);
  Print("  mean of all turns", sum / turns, fresh);
  Print("  mean of the last tenth", worst / (turns - turns * 9 / 10), fresh);
  Print("  put or delete", writes / turns / 2, 0);
}

void Bulk(Bench* bench, uint64_t partition) {
  constexpr int kDeleted = 40'000;
  uint64_t row = 0;
  bench->Write(kDeleted + 100, [&](store::WriteUnit* unit) { bench->Put(partition, row++, unit); });
  double fresh = 0;
  for (int i = 0; i < 200; ++i) fresh += bench->ReadOnce(partition, kRowsInPartition) / 200;
  row = 0;
  const double cost = bench->Write(kDeleted, [&](store::WriteUnit* unit) { bench->Delete(partition, row++, unit); });
  Print("delete", cost, 0);
  Print("behind 40,000 deleted: first read", bench->ReadOnce(partition, kRowsInPartition), fresh);
  Print("  second read", bench->ReadOnce(partition, kRowsInPartition), fresh);
  double sum = 0;
  for (int i = 0; i < 50; ++i) sum += bench->ReadOnce(partition, kRowsInPartition) / 50;
  Print("  mean of 50 more", sum, fresh);
}

void Main() {
  store::DatabaseOptions options;
  options.path = absl::GetFlag(FLAGS_directory);
  options.durability = store::Durability::kOs;
  options.memtable_bytes = static_cast<size_t>(absl::GetFlag(FLAGS_memtable_mb)) << 20;
  options.wal_max_bytes = size_t{1} << 30;
  if (options.path.empty() || std::filesystem::exists(options.path)) Die("--directory must name a new directory");
  {
    absl::StatusOr<std::unique_ptr<Database>> database = Database::Open(options);
    if (!database.ok()) Die(database.status().ToString());
    for (int round = 0; round < absl::GetFlag(FLAGS_rounds); ++round) {
      std::printf("round %d\n", round + 1);
      Bench bench(database->get(), round);
      Overwritten(&bench);
      Queue(&bench, 25, 1001, 400);
      Queue(&bench, 1, 1002, 4000);
      Bulk(&bench, 1003);
      std::fflush(stdout);
    }
  }
  std::filesystem::remove_all(options.path);
}

}  // namespace
}  // namespace armature::bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Cost of range reads among overwritten and deleted rows.");
  absl::ParseCommandLine(argc, argv);
  armature::bench::Main();
}
