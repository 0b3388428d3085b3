// Whole databases on a volume in memory: nothing of them is elsewhere, and crashes lose no acknowledged write.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "rocksdb/env.h"
#include "storage/base/strings.h"
#include "storage/store/backup/backup_reader.h"
#include "storage/store/backup/backup_repository.h"
#include "storage/store/data_directory.h"
#include "storage/store/database.h"
#include "storage/store/inspector.h"
#include "storage/store/readable_rows.h"
#include "storage/store/recovery.h"
#include "storage/store/salvage.h"
#include "tests/support/random.h"
#include "tests/support/rounds.h"
#include "tests/unit/storage/store/backup/backup_test_util.h"
#include "tests/unit/storage/store/files/memory_volume.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::memory_database_test {

using Action = MemoryDisk::Action;

// No such path is on the local file systems.
constexpr char kMemoryData[] = "/armature-in-memory/data";

class MemoryDatabase : public testing::Test {
 protected:
  ~MemoryDatabase() override { EXPECT_FALSE(LocalVolume()->Exists("/armature-in-memory").value_or(true)); }

  DatabaseOptions Options() const {
    DatabaseOptions options = TestOptions(kMemoryData);
    options.volume = volume_.get();
    options.durability = Durability::kSync;
    options.memtable_bytes = size_t{64} << 10;  // a few rows of these tests
    return options;
  }
  // False, with a message, if a start is refused.
  bool Open() {
    database_ = OpenDatabase(Options());
    return database_ != nullptr;
  }
  // Ends the process and the machine in one moment.
  void Crash(const MemoryDisk::Keep& keep = nullptr) {
    disk_.Crash(keep);
    disk_.SetFault(nullptr);
    database_.reset();
    volume_ = disk_.Mount();
  }

  // Writes one row. False if it is refused.
  bool Put(const std::string& key, const std::string& value) {
    const std::shared_ptr<const CatalogSnapshot> catalog = database_->catalog();
    WriteUnit unit(catalog);
    unit.Put(catalog->Find("t")->data, key, value);
    return CommitAndWait(database_.get(), std::move(unit)).ok();
  }
  // Moves the rows in the log to table files.
  bool Reopen() {
    database_.reset();
    return Open();
  }

  // Overwrites the manifest of a database that is closed.
  void DamageManifest() {
    const std::string db = Cat(kMemoryData, kDataDatabase);
    const std::vector<std::string> names = *volume_->List(db);
    for (const std::string& name : names) {
      if (!name.starts_with("MANIFEST-")) continue;
      ASSERT_TRUE(volume_->WriteDurably(Cat(db, "/", name), "no manifest").ok());
    }
  }

  // Crashes at the action of this number that changes the disk, from now on.
  void CrashAtAction(int number) {
    actions_ = 0;
    disk_.SetFault([this, number](Action action, std::string_view) {
      if (action != Action::kRead && ++actions_ == number) disk_.Crash();
      return absl::OkStatus();
    });
  }

  MemoryDisk disk_;
  std::unique_ptr<Volume> volume_ = disk_.Mount();
  std::unique_ptr<Database> database_;
  std::atomic<int> actions_ = 0;
};

TEST_F(MemoryDatabase, CrashesLoseNoAcknowledgedWrite) {
  test::Random random(7);
  RowMap rows;
  ASSERT_TRUE(Open());
  CreateActive(database_.get(), PlainTable("t"));
  for (int round = 0; round < 12; ++round) {
    for (int i = 0; i < 20; ++i) {
      const std::string key = Cat("key", random.Below(100));
      std::string value = Cat(round, ".", i, std::string(random.Below(size_t{3000}), 'v'));
      ASSERT_TRUE(Put(key, value));
      rows[key] = std::move(value);
    }
    if (random.OneIn(3)) {
      ASSERT_TRUE(Reopen());
    }
    // Any part of the bytes that were not synced may be there.
    Crash([&random](std::string_view, uint64_t synced, uint64_t written) {
      return synced + random.Below(written - synced + 1);
    });
    ASSERT_TRUE(Open());
    ASSERT_EQ(RowsOf(*database_), rows) << round;
  }
}

TEST_F(MemoryDatabase, WithoutSyncsACrashLosesTheEndOnly) {
  DatabaseOptions options = Options();
  options.durability = Durability::kOs;
  database_ = OpenDatabase(options);
  CreateActive(database_.get(), PlainTable("t"));
  for (int i = 100; i < 200; ++i) ASSERT_TRUE(Put(Cat(i), "v"));
  test::Random random(3);
  Crash([&random](std::string_view, uint64_t synced, uint64_t written) {
    return synced + random.Below(written - synced + 1);
  });
  ASSERT_TRUE(Open());
  int expected = 100;
  for (const auto& [key, value] : RowsOf(*database_)) EXPECT_EQ(key, Cat(expected++));
  EXPECT_LT(expected, 200);
}

// Clients know the sequences of lost changes. If others got them, a reader of changes would skip these.
TEST_F(MemoryDatabase, SequencesOfChangesThatACrashLosesAreNotUsedAgain) {
  for (const Durability durability : {Durability::kOs, Durability::kInterval, Durability::kSync}) {
    DatabaseOptions options = Options();
    options.durability = durability;
    options.sync_interval_ms = 3'600'000;
    database_ = OpenDatabase(options);
    const std::string name = Cat("t", static_cast<int>(durability));
    const std::shared_ptr<const CatalogSnapshot> catalog = CreateActive(database_.get(), PlainTable(name));
    const auto put = [&](const std::shared_ptr<const CatalogSnapshot>& tables) {
      WriteUnit unit(tables);
      const Table* const table = tables->Find(name);
      unit.Put(table->data, "key", "v");
      unit.SetChangeRecord(table->descriptor.id, "record");
      return CommitAndWait(database_.get(), std::move(unit)).value_or(ChangeSequence(0));
    };
    ChangeSequence shown;
    for (int i = 0; i < 10; ++i) shown = put(catalog);
    EXPECT_GT(shown, ChangeSequence(0));
    Crash();
    options.volume = volume_.get();
    database_ = OpenDatabase(options);
    ASSERT_NE(database_, nullptr);
    EXPECT_GT(put(database_->catalog()), shown);
    Crash();
  }
}

TEST_F(MemoryDatabase, ACreationMayBeCutOffAnywhere) {
  int last = 0;
  for (int number = 1; last == 0; ++number) {
    disk_.SetFault(nullptr);
    ASSERT_TRUE(volume_->RemoveTree("/armature-in-memory").ok());
    CrashAtAction(number);
    if (auto opened = Database::Open(Options()); opened.ok() && actions_ < number) {
      last = number;
      database_ = *std::move(opened);
    }
    Crash();
    const auto opened = Database::Open(Options());
    ASSERT_TRUE(opened.ok()) << number << ": " << opened.status();
    ASSERT_LT(number, 1000);
  }
  EXPECT_GT(last, 20);
}

TEST_F(MemoryDatabase, ALostFileIsNamedAndEndsNoProcess) {
  ASSERT_TRUE(Open());
  CreateActive(database_.get(), PlainTable("t"));
  for (const char* kind : {"armature.format", "IDENTITY", "CURRENT", "MANIFEST-", "armature.logs", ".sst", ".log"}) {
    // Rows in table files, and in the log.
    ASSERT_TRUE(Put("key", kind) && Reopen() && Put("key2", kind)) << kind;
    database_.reset();
    std::string lost;
    for (const std::string& directory : {std::string(kMemoryData), Cat(kMemoryData, kDataDatabase)}) {
      const std::vector<std::string> names = volume_->List(directory).value();
      for (const std::string& name : names) {
        if (name.find(kind) != std::string::npos) lost = Cat(directory, "/", name);
      }
    }
    ASSERT_NE(lost, "") << kind;
    // A file that takes its name later is whole.
    bool is_there = true;
    disk_.SetFault([&lost, &is_there](Action action, std::string_view path) {
      if (path != lost) return absl::OkStatus();
      if (action == Action::kName) is_there = false;
      return action == Action::kRead && is_there ? absl::DataLossError(Cat(lost, " is lost")) : absl::OkStatus();
    });
    const absl::Status inspected =
        Inspector::Open(volume_.get(), kMemoryData, Inspector::IfUnreadable::kReadFiles).status();
    const auto damage = FindDamage(volume_.get(), kMemoryData);
    // Nothing can be said of a directory whose format is unknown.
    const bool has_format = std::string_view(kind) != "armature.format";
    EXPECT_EQ(inspected.ok(), has_format) << kind << ": " << inspected;
    ASSERT_EQ(damage.ok(), has_format) << kind << ": " << damage.status();
    auto opened = Database::Open(Options());
    const bool is_identity = std::string_view(kind) == "IDENTITY";
    EXPECT_EQ(opened.ok(), is_identity) << kind << ": " << opened.status();
    for (const absl::Status& refused : {inspected, damage.status()}) {
      if (refused.ok()) continue;
      EXPECT_THAT(std::string(Sv(refused.message())), testing::HasSubstr(lost));
    }
    EXPECT_EQ(!damage.ok() || damage->empty(), is_identity || !has_format) << kind;
    if (!opened.ok()) {
      EXPECT_THAT(std::string(Sv(opened.status().message())), testing::HasSubstr(lost));
    }
    if (damage.ok() && !damage->empty()) {
      EXPECT_THAT(damage->front().fault, testing::HasSubstr(lost));
    }
    opened = absl::UnknownError("closed");
    disk_.SetFault(nullptr);
    ASSERT_TRUE(Open()) << kind;
    EXPECT_EQ(RowsOf(*database_), (RowMap{{"key", kind}, {"key2", kind}})) << kind;
  }
}

TEST_F(MemoryDatabase, AnyActionMayBeTheLast) {
  ASSERT_TRUE(Open());
  CreateActive(database_.get(), PlainTable("t"));
  RowMap rows;
  int number = 0;
  while (true) {
    CrashAtAction(number += test::kFewerWithSanitizers);
    // A row whose write was refused may be there or not.
    std::string refused;
    for (int i = 0; i < 6 && refused.empty(); ++i) {
      const std::string key = Cat("key", i);
      const std::string value = Cat(number, ".", i, std::string(size_t{20'000}, 'v'));
      if (!Put(key, value)) refused = key;
      if (refused.empty()) rows[key] = value;
    }
    const bool is_whole = actions_ < number;
    Crash();
    // The next start is cut off, too.
    CrashAtAction(number);
    static_cast<void>(Database::Open(Options()).ok());
    Crash();
    ASSERT_TRUE(Open());
    RowMap found = RowsOf(*database_);
    if (!refused.empty()) {
      rows.erase(refused);
      if (found.contains(refused)) rows[refused] = found[refused];
    }
    ASSERT_EQ(found, rows) << "action " << number;
    if (is_whole) break;
    ASSERT_LT(number, 1000);
  }
  EXPECT_GT(number, 20);
}

TEST_F(MemoryDatabase, AFailedSyncRefusesTheWriteAndKeepsTheOthers) {
  ASSERT_TRUE(Open());
  CreateActive(database_.get(), PlainTable("t"));
  ASSERT_TRUE(Put("a", "1"));
  disk_.SetFault([](Action action, std::string_view path) {
    return action == Action::kSync && path.ends_with(".log") ? absl::UnavailableError("no sync") : absl::OkStatus();
  });
  EXPECT_FALSE(Put("b", "2"));
  disk_.SetFault(nullptr);
  EXPECT_FALSE(Put("c", "3"));  // until a restart
  EXPECT_EQ(RowsOf(*database_), (RowMap{{"a", "1"}}));
  database_.reset();
  ASSERT_TRUE(Open());
  EXPECT_EQ(RowsOf(*database_), (RowMap{{"a", "1"}}));
  EXPECT_TRUE(Put("c", "3"));
}

TEST_F(MemoryDatabase, ADirectoryThatAKilledStartHasMadeIsDurable) {
  const std::string parent(ParentOf(kMemoryData));
  ASSERT_TRUE(volume_->MakeDirectories(parent).ok());
  ASSERT_TRUE(volume_->env()->CreateDir(kMemoryData).ok());  // not durable
  ASSERT_TRUE(Open());
  CreateActive(database_.get(), PlainTable("t"));
  ASSERT_TRUE(Put("a", "1"));
  Crash();
  ASSERT_TRUE(Open());
  EXPECT_EQ(RowsOf(*database_), (RowMap{{"a", "1"}}));
}

TEST_F(MemoryDatabase, AFullVolumeRefusesWritesUntilThereIsSpace) {
  ASSERT_TRUE(Open());
  CreateActive(database_.get(), PlainTable("t"));
  ASSERT_TRUE(Put("a", "1"));
  disk_.SetSize(1);
  EXPECT_FALSE(Put("b", "2"));
  EXPECT_TRUE(database_->disk_report().is_read_only());
  EXPECT_EQ(RowsOf(*database_), (RowMap{{"a", "1"}}));
  disk_.SetSize(uint64_t{1} << 30);
  EXPECT_TRUE(Eventually([&] { return Put("c", "3"); }));
  Crash();
  ASSERT_TRUE(Open());
  EXPECT_EQ(RowsOf(*database_), (RowMap{{"a", "1"}, {"c", "3"}}));
}

TEST_F(MemoryDatabase, AnUnreadableMarkIsNotTakenForAMissingOne) {
  ASSERT_TRUE(Open());
  CreateActive(database_.get(), PlainTable("t"));
  ASSERT_TRUE(Put("a", "1"));
  database_.reset();
  for (const std::string_view mark : {kDataFormatFile, kDataNewFile, kDataRestoringFile}) {
    disk_.SetFault([mark](Action action, std::string_view path) {
      return action == Action::kRead && path == Cat(kMemoryData, mark) ? absl::UnavailableError("no reads")
                                                                       : absl::OkStatus();
    });
    EXPECT_EQ(Database::Open(Options()).status().message(), "no reads") << mark;
  }
  disk_.SetFault(nullptr);
  ASSERT_TRUE(Open());
  EXPECT_EQ(RowsOf(*database_), (RowMap{{"a", "1"}}));
}

TEST_F(MemoryDatabase, TwoDaemonsExcludeEachOther) {
  ASSERT_TRUE(Open());
  EXPECT_EQ(Database::Open(Options()).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Inspector::Open(volume_.get(), kMemoryData).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(MemoryDatabase, BackupsGoFromVolumeToVolume) {
  ASSERT_TRUE(Open());
  CreateActive(database_.get(), PlainTable("t"));
  ASSERT_TRUE(Put("a", "1"));
  ASSERT_TRUE(Reopen());
  ASSERT_TRUE(Put("b", "2"));
  const RowMap rows = RowsOf(*database_);
  const test::TempDir local;
  MemoryDisk other_disk;
  const std::unique_ptr<Volume> other = other_disk.Mount();
  const std::pair<Volume*, std::string> places[] = {{LocalVolume(), local.path("backups")},
                                                    {other.get(), "/backups"},
                                                    {volume_.get(), "/armature-in-memory/backups"}};
  for (const auto& [volume, path] : places) {
    const auto backups =
        BackupRepository::Open(path, {.mode = BackupRepositoryOptions::Mode::kWrite, .volume = volume});
    ASSERT_TRUE(backups.ok()) << backups.status();
    const auto made = (*backups)->Create(database_.get(), "note", nullptr);
    ASSERT_TRUE(made.ok()) << made.status();
    EXPECT_TRUE((*backups)->Verify(made->id, nullptr).ok());
    if (volume == other.get()) other_disk.Crash();  // the backup is durable
  }
  const std::unique_ptr<Volume> after = other_disk.Mount();
  const std::pair<Volume*, std::string> sources[] = {{LocalVolume(), local.path("backups")},
                                                     {after.get(), "/backups"},
                                                     {volume_.get(), "/armature-in-memory/backups"}};
  int number = 0;
  for (const auto& [volume, path] : sources) {
    const auto reader = BackupReader::Open(volume, path, 1);
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_EQ((*reader)->tables().size(), 1u);
    const auto backups = BackupRepository::Open(path, {.volume = volume});
    ASSERT_TRUE(backups.ok()) << backups.status();
    const std::pair<Volume*, std::string> targets[] = {{LocalVolume(), local.path(Cat("restored", number))},
                                                       {after.get(), Cat("/restored", number)}};
    for (const auto& [to, data] : targets) {
      const absl::Status restored = (*backups)->Restore(1, to, data, nullptr);
      ASSERT_TRUE(restored.ok()) << restored;
      DatabaseOptions options = TestOptions(data);
      options.volume = to;
      const auto copy = OpenDatabase(options);
      ASSERT_NE(copy, nullptr);
      EXPECT_EQ(RowsOf(*copy), rows);
      EXPECT_EQ(copy->database_id(), database_->database_id());
    }
    ++number;
  }
}

TEST_F(MemoryDatabase, ToolsReadADamagedDirectory) {
  ASSERT_TRUE(Open());
  CreateActive(database_.get(), PlainTable("t"));
  ASSERT_TRUE(Put("a", "1"));
  ASSERT_TRUE(Reopen());
  ASSERT_TRUE(Put("b", "2"));
  database_.reset();
  {
    const auto inspector = Inspector::Open(volume_.get(), kMemoryData);
    ASSERT_TRUE(inspector.ok()) << inspector.status();
    EXPECT_THAT((*inspector)->problems(), testing::IsEmpty());
    EXPECT_TRUE((*inspector)->HasFamily("meta"));
  }
  EXPECT_THAT(*FindDamage(volume_.get(), kMemoryData), testing::IsEmpty());
  const auto readable = CountReadableRows(volume_.get(), kMemoryData);
  ASSERT_TRUE(readable.ok() && readable->tables.size() == 1);
  // Without a manifest the table files are read in a scratch directory.
  DamageManifest();
  EXPECT_FALSE(Database::Open(Options()).ok());
  const auto damage = FindDamage(volume_.get(), kMemoryData);
  ASSERT_TRUE(damage.ok()) << damage.status();
  EXPECT_THAT(*damage, testing::Not(testing::IsEmpty()));
  {
    const auto inspector = Inspector::Open(volume_.get(), kMemoryData, Inspector::IfUnreadable::kReadFiles);
    ASSERT_TRUE(inspector.ok()) << inspector.status();
    EXPECT_EQ((*inspector)->extent(), Inspector::Extent::kFiles);
  }
  EXPECT_THAT(volume_->List("/scratch").value_or(std::vector<std::string>()), testing::IsEmpty());
  const auto salvaged = Salvage(volume_.get(), kMemoryData, "/armature-in-memory/salvaged");
  ASSERT_TRUE(salvaged.ok()) << salvaged.status();
  DatabaseOptions options = Options();
  options.path = "/armature-in-memory/salvaged";
  database_ = OpenDatabase(options);
  ASSERT_NE(database_, nullptr);
  EXPECT_TRUE(RowsOf(*database_).contains("a"));
}

TEST_F(MemoryDatabase, SalvageTellsThatTheLogCannotBeListed) {
  ASSERT_TRUE(Open());
  CreateActive(database_.get(), PlainTable("t"));
  ASSERT_TRUE(Put("a", "1"));
  ASSERT_TRUE(Reopen());
  ASSERT_TRUE(Put("in log", "2"));
  database_.reset();
  DamageManifest();
  const std::string db = Cat(kMemoryData, kDataDatabase);
  int without_log = 0;
  int looked = 0;
  for (int failing = 1; failing == 1 || looked >= failing - 1; ++failing) {
    looked = 0;
    disk_.SetFault([&](Action action, std::string_view path) {
      const bool fails = action == Action::kRead && path == db && ++looked == failing;
      return fails ? absl::UnavailableError("no list today") : absl::OkStatus();
    });
    const std::string target = Cat("/armature-in-memory/salvaged", failing);
    const auto report = Salvage(volume_.get(), kMemoryData, target);
    disk_.SetFault(nullptr);
    if (!report.ok()) continue;
    DatabaseOptions options = Options();
    options.path = target;
    const std::unique_ptr<Database> database = OpenDatabase(options);
    ASSERT_NE(database, nullptr);
    if (RowsOf(*database).contains("in log")) continue;
    ++without_log;
    EXPECT_THAT(report->problems, testing::Contains(testing::HasSubstr("no list today"))) << failing;
  }
  EXPECT_GT(without_log, 0);
}

}  // namespace armature::store::memory_database_test
