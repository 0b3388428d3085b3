// Random damage of a data directory: a start refuses it, or serves what is whole; a salvage makes a directory that
// starts.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "storage/store/recovery.h"
#include "storage/store/salvage.h"
#include "tests/unit/storage/model/random_seed.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::damaged_directory_test {

namespace fs = std::filesystem;

constexpr int kRows = 600;
constexpr int kRowsInFiles = 400;
constexpr int kTurns = 25;

std::string KeyOf(int row) { return "key" + std::to_string(row); }
// Not compressible, so that damage hits rows.
std::string ValueOfRow(int row) {
  std::mt19937_64 random(static_cast<uint64_t>(row));
  std::string value;
  while (value.size() < 300) value += std::to_string(random());
  return value;
}

class DamagedDirectoryTest : public testing::Test {
 protected:
  void SetUp() override {
    options_.durability = Durability::kSync;
    auto database = OpenDatabase(options_);
    CreateActive(database.get(), PlainTable("t"));
    Write(database.get(), 0, kRowsInFiles);
    database.reset();
    // A start writes the rows of the log to files.
    database = OpenDatabase(options_);
    Write(database.get(), kRowsInFiles, kRows);
  }

  static void Write(Database* database, int from, int to) {
    const std::shared_ptr<const CatalogSnapshot> snapshot = database->catalog();
    const Keyspace data = snapshot->Find("t")->data;
    for (int row = from; row < to; row += 20) {
      WriteUnit unit(snapshot);
      for (int i = row; i < row + 20; ++i) unit.Put(data, KeyOf(i), ValueOfRow(i));
      ASSERT_TRUE(CommitAndWait(database, std::move(unit)).ok());
    }
  }

  // Damages one file of the database in `path`. Returns a description.
  std::string Damage(const std::string& path) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(path + "/db")) {
      const std::string name = entry.path().filename().string();
      if (name != "LOCK" && name != "armature.spare" && entry.is_regular_file()) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    const fs::path& file = files[Below(files.size())];
    const auto size = fs::file_size(file);
    const std::string name = file.filename().string();
    const uint64_t kind = Below(4);
    if (kind == 0 || size == 0) {
      fs::remove(file);
      return name + " removed";
    }
    const uint64_t at = Below(size);
    if (kind == 1) {
      fs::resize_file(file, at);
      return name + " cut at " + std::to_string(at);
    }
    std::ifstream in(file, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (kind == 2) {
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << Below(8)));
    } else {
      std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.end(), '\0');
    }
    std::ofstream(file, std::ios::binary) << bytes;
    return name + (kind == 2 ? " flipped at " : " zeroed from ") + std::to_string(at);
  }

  uint64_t Below(uint64_t end) { return random_() % end; }

  // Every row is there, or its read fails.
  static void CheckServed(const Database& database, const std::string& damage) {
    const std::shared_ptr<const CatalogSnapshot> snapshot = database.catalog();
    const Table* const table = snapshot->Find("t");
    ASSERT_NE(table, nullptr) << damage;
    for (int row = 0; row < kRows; ++row) {
      std::string value;
      const absl::StatusOr<GetResult> got = database.rows().Get(table->data, KeyOf(row), ReadMode::kMayBlock, &value);
      if (!got.ok()) continue;
      ASSERT_EQ(*got, GetResult::kFound) << damage << ": row " << row << " is lost silently";
      ASSERT_EQ(value, ValueOfRow(row)) << damage;
    }
  }

  // The rows of a salvaged directory are rows that were written. Returns their number.
  static int CountSalvaged(const DatabaseOptions& options, const std::string& damage) {
    const auto database = OpenDatabase(options);
    if (database == nullptr) {
      ADD_FAILURE() << damage;
      return 0;
    }
    const std::shared_ptr<const CatalogSnapshot> snapshot = database->catalog();
    const Table* const table = snapshot->Find("t");
    if (table == nullptr) return 0;
    int found = 0;
    for (int row = 0; row < kRows; ++row) {
      const std::string value = ValueOf(*database, table->data, KeyOf(row));
      if (value == "(none)") continue;
      EXPECT_EQ(value, ValueOfRow(row)) << damage;
      ++found;
    }
    return found;
  }

  const test::TempDir dir_;
  DatabaseOptions options_ = TestOptions(dir_.path("whole"));
  std::mt19937_64 random_{PrintedTestSeed()};
};

TEST_F(DamagedDirectoryTest, IsRefusedOrServedWithoutSilentLossAndCanBeSalvaged) {
  int refused = 0;
  int salvaged = 0;
  int64_t rows = 0;
  for (int turn = 0; turn < kTurns; ++turn) {
    DatabaseOptions damaged = options_;
    damaged.path = dir_.path("damaged");
    fs::copy(options_.path, damaged.path, fs::copy_options::recursive);
    std::string damage = Damage(damaged.path);
    if (Below(4) == 0) damage += ", " + Damage(damaged.path);
    const std::string copy = dir_.path("copy");
    fs::copy(damaged.path, copy, fs::copy_options::recursive);
    {
      const absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(damaged);
      if (opened.ok()) {
        CheckServed(**opened, damage);
      } else {
        ++refused;
        const absl::StatusOr<std::vector<store::Damage>> found = FindDamage(LocalVolume(), damaged.path);
        EXPECT_TRUE(!found.ok() || !found->empty()) << damage << ": " << opened.status();
      }
    }
    DatabaseOptions fresh = options_;
    fresh.path = dir_.path("salvaged");
    const absl::StatusOr<SalvageReport> report = Salvage(LocalVolume(), copy, fresh.path);
    if (report.ok()) {
      ++salvaged;
      rows += CountSalvaged(fresh, damage);
    }
    for (const std::string& path : {damaged.path, copy, fresh.path}) fs::remove_all(path);
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(salvaged, kTurns * 8 / 10);
  EXPECT_GT(rows, int64_t{salvaged} * kRows * 4 / 10);
}

}  // namespace armature::store::damaged_directory_test
