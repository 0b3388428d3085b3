#ifndef ARMATURE_TESTS_UNIT_STORAGE_STORE_BACKUP_BACKUP_TEST_UTIL_H_
#define ARMATURE_TESTS_UNIT_STORAGE_STORE_BACKUP_BACKUP_TEST_UTIL_H_

// A database to back up, and access to the files of its backups.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "storage/store/backup/backup_repository.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store {

// In memory if possible, because backups sync often.
inline std::filesystem::path FastDirectory() {
  std::error_code error;
  const std::filesystem::path memory = "/dev/shm";
  return std::filesystem::is_directory(memory, error) ? memory : std::filesystem::temp_directory_path();
}

using RowMap = std::map<std::string, std::string>;
using BackupMode = BackupRepositoryOptions::Mode;

inline std::string ReadBytes(const std::string& path) {
  std::ostringstream all;
  all << std::ifstream(path, std::ios::binary).rdbuf();
  return all.str();
}

inline void WriteBytes(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

// Flips a bit of one byte.
inline void DamageByte(const std::string& path, size_t at) {
  std::string bytes = ReadBytes(path);
  bytes.at(at) = static_cast<char>(bytes.at(at) ^ 1);
  WriteBytes(path, bytes);
}

// Paths of files below `root`, relative to it, in byte order.
inline std::vector<std::string> FilesIn(const std::string& root) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.is_regular_file()) files.push_back(entry.path().string().substr(root.size() + 1));
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The files below `root` with their contents, without the lock and the number of the next backup.
inline RowMap Tree(const std::string& root) {
  RowMap tree;
  for (const std::string& file : FilesIn(root)) {
    if (file != "LOCK" && file != "armature.backups") tree[file] = ReadBytes(root + "/" + file);
  }
  return tree;
}

// Incompressible bytes.
inline std::string RandomBytes(size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

inline std::unique_ptr<BackupRepository> OpenBackups(const std::string& path, BackupMode mode = BackupMode::kWrite) {
  absl::StatusOr<std::unique_ptr<BackupRepository>> opened = BackupRepository::Open(path, {.mode = mode});
  EXPECT_TRUE(opened.ok()) << opened.status();
  return opened.ok() ? *std::move(opened) : nullptr;
}

// All rows of a table; empty if it does not exist.
inline RowMap RowsOf(const Database& database, std::string_view name = "t") {
  RowMap rows;
  const std::shared_ptr<const CatalogSnapshot> catalog = database.catalog();
  const Table* const table = catalog->Find(name);
  if (table == nullptr) return rows;
  const absl::StatusOr<RangeEnd> ended = database.rows().ReadRange(table->data, {}, Direction::kForward,
                                                                   [&](std::string_view key, std::string_view value) {
                                                                     rows.emplace(key, value);
                                                                     return RowVerdict::kContinue;
                                                                   });
  EXPECT_TRUE(ended.ok()) << ended.status();
  return rows;
}

inline void PutRows(Database* database, const RowMap& rows) {
  const std::shared_ptr<const CatalogSnapshot> catalog = database->catalog();
  WriteUnit unit(catalog);
  for (const auto& [key, value] : rows) unit.Put(catalog->Find("t")->data, key, value);
  const absl::StatusOr<ChangeSequence> committed = CommitAndWait(database, std::move(unit));
  EXPECT_TRUE(committed.ok()) << committed.status();
}

// A database with table `t`, whose rows are partly in table files and partly in the log.
class BackupTest : public testing::Test {
 protected:
  void SetUp() override {
    CreateActive(database_.get(), PlainTable("t"));
    Put({{"a", RandomBytes(200'000, 1)}, {"b", "old"}});
    Reopen();
    Put({{"b", "new"}, {"c", "logged"}});
  }

  void Put(const RowMap& rows) {
    PutRows(database_.get(), rows);
    for (const auto& [key, value] : rows) rows_[key] = value;
  }

  // Moves the rows in the log to table files.
  void Reopen() {
    database_.reset();
    database_ = OpenDatabase(TestOptions(dir_.path("data")));
    ASSERT_NE(database_, nullptr);
  }

  // Creates a backup.
  BackupEntry Back(BackupRepository* backups, std::string_view note = "") {
    const absl::StatusOr<BackupEntry> made = backups->Create(database_.get(), note, nullptr);
    EXPECT_TRUE(made.ok()) << made.status();
    return made.ok() ? *made : BackupEntry{};
  }

  // Restores a backup and returns its rows.
  RowMap Restored(BackupRepository* backups, BackupId id) {
    const test::TempDir target(FastDirectory());
    const absl::Status restored = backups->Restore(id, LocalVolume(), target.path("data"), nullptr);
    EXPECT_TRUE(restored.ok()) << restored;
    const std::unique_ptr<Database> database = restored.ok() ? OpenDatabase(TestOptions(target.path("data"))) : nullptr;
    if (database == nullptr) return {};
    EXPECT_EQ(database->database_id(), database_->database_id());
    return RowsOf(*database);
  }

  std::string backups_path() const { return dir_.path("backups"); }
  std::string BackupFilePath(std::string_view name) const { return backups_path() + "/" + std::string(name); }

  const test::TempDir dir_{FastDirectory()};
  std::unique_ptr<Database> database_ = OpenDatabase(TestOptions(dir_.path("data")));
  RowMap rows_;
};

inline std::vector<BackupId> IdsOf(BackupRepository* backups) {
  const absl::StatusOr<std::vector<BackupEntry>> entries = backups->List();
  EXPECT_TRUE(entries.ok()) << entries.status();
  std::vector<BackupId> ids;
  for (const BackupEntry& entry : entries.ok() ? *entries : std::vector<BackupEntry>()) ids.push_back(entry.id);
  return ids;
}

inline std::string DamageOf(BackupRepository* backups, BackupId id) {
  const absl::StatusOr<BackupEntry> entry = backups->Find(id);
  EXPECT_TRUE(entry.ok()) << entry.status();
  return entry.ok() ? entry->damage : "";
}

}  // namespace armature::store

#endif  // ARMATURE_TESTS_UNIT_STORAGE_STORE_BACKUP_BACKUP_TEST_UTIL_H_
