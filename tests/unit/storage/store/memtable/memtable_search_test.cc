// Searches in memtables, beside a map of the same rows.

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rocksdb/perf_context.h"
#include "tests/support/rounds.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::memtable_search_test {

using Rows = std::map<std::string, std::string>;

std::string BigEndian(uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(number >> shift));
  return bytes;
}

// Keys that begin with a hash of their partition, as rows do; keys of one partition; and keys that nothing has.
class KeyMaker {
 public:
  explicit KeyMaker(uint32_t seed) : rng_(seed) {}

  std::string Next() {
    switch (Below(8)) {
      case 0:
        return BigEndian(7777) + "crowd" + BigEndian(Below(6000));
      case 1:
        return BigEndian(UINT32_MAX) + BigEndian(Below(300));
      case 2:
        return BigEndian(0) + BigEndian(Below(300));
      case 3:
        return BigEndian(Below(256) << 24).substr(0, 1 + Below(3));
      default:
        return Spread(Below(8000));
    }
  }
  static std::string Spread(uint32_t partition) { return BigEndian(partition * 2654435761U) + "row"; }
  uint32_t Below(uint32_t bound) { return static_cast<uint32_t>(rng_() % bound); }

 private:
  std::mt19937 rng_;
};

class MemtableSearchTest : public testing::Test {
 protected:
  MemtableSearchTest() : database_(OpenDatabase(Options(dir_.path("data")))) {
    snapshot_ = CreateActive(database_.get(), PlainTable("t"));
  }
  static DatabaseOptions Options(const std::string& path) {
    DatabaseOptions options = TestOptions(path);
    options.memtable_bytes = size_t{64} << 20;
    return options;
  }
  const Keyspace& keyspace() const { return snapshot_->Find("t")->data; }

  void Commit(WriteUnit unit) { ASSERT_TRUE(CommitAndWait(database_.get(), std::move(unit)).ok()); }

  std::vector<std::pair<std::string, std::string>> Read(const KeyRange& range, Direction direction, size_t count) {
    std::vector<std::pair<std::string, std::string>> rows;
    const auto visit = [&](std::string_view key, std::string_view value) {
      rows.emplace_back(key, value);
      return rows.size() < count ? RowVerdict::kContinue : RowVerdict::kStop;
    };
    EXPECT_TRUE(database_->rows().ReadRange(keyspace(), range, direction, visit).ok());
    return rows;
  }

  // Reads from `from` on in both directions.
  void CheckAround(const Rows& model, const std::string& from, size_t count) {
    std::vector<std::pair<std::string, std::string>> forward;
    for (auto it = model.lower_bound(from); it != model.end() && forward.size() < count; ++it) forward.push_back(*it);
    EXPECT_EQ(Read({.begin = from, .end = {}}, Direction::kForward, count), forward);
    std::vector<std::pair<std::string, std::string>> reverse;
    for (auto it = model.lower_bound(from); it != model.begin() && reverse.size() < count;) reverse.push_back(*--it);
    EXPECT_EQ(Read({.begin = {}, .end = from}, Direction::kReverse, count), reverse);
  }

  test::TempDir dir_;
  std::unique_ptr<Database> database_;
  std::shared_ptr<const CatalogSnapshot> snapshot_;
};

TEST_F(MemtableSearchTest, FindsWhatAMapFinds) {
  const int rounds = test::Rounds(400);
  KeyMaker keys(20261128);
  Rows model;
  for (int round = 0; round < rounds; ++round) {
    WriteUnit unit(snapshot_);
    for (int i = 0; i < 60; ++i) {
      const std::string key = keys.Next();
      if (keys.Below(4) == 0) {
        unit.Delete(keyspace(), key);
        model.erase(key);
      } else {
        model[key] = std::to_string(round) + "." + std::to_string(i);
        unit.Put(keyspace(), key, model[key]);
      }
    }
    Commit(std::move(unit));
    for (int i = 0; i < 5; ++i) {
      CheckAround(model, keys.Next(), 5);
      const std::string key = keys.Next();
      const auto found = model.find(key);
      ASSERT_EQ(ValueOf(*database_, keyspace(), key), found == model.end() ? "(none)" : found->second);
    }
  }
  const std::vector<std::pair<std::string, std::string>> all(model.begin(), model.end());
  EXPECT_EQ(Read({}, Direction::kForward, SIZE_MAX), all);
  EXPECT_EQ(Read({}, Direction::kReverse, SIZE_MAX),
            (std::vector<std::pair<std::string, std::string>>(all.rbegin(), all.rend())));
  EXPECT_EQ(database_->stats().files.flush_bytes_total, 0);
}

// Comparisons of keys are what a search costs. One from the head of the list makes 17 at least among so many rows.
TEST_F(MemtableSearchTest, ComparesFewKeysAmongManyRows) {
  constexpr uint32_t kRows = 60'000;
  for (uint32_t first = 0; first < kRows; first += 1000) {
    WriteUnit unit(snapshot_);
    for (uint32_t row = first; row < first + 1000; ++row) unit.Put(keyspace(), KeyMaker::Spread(row), "v");
    Commit(std::move(unit));
  }
  const uint64_t before = rocksdb::get_perf_context()->user_key_comparison_count;
  constexpr uint32_t kReads = 1000;
  for (uint32_t read = 0; read < kReads; ++read) {
    EXPECT_EQ(ValueOf(*database_, keyspace(), KeyMaker::Spread(read * 59)), "v");
  }
  const uint64_t compared = rocksdb::get_perf_context()->user_key_comparison_count - before;
  EXPECT_GT(compared, 0U);
  EXPECT_LT(compared, kReads * 6);
}

}  // namespace armature::store::memtable_search_test
