// A damaged block of one table: the table is set apart, and the others go on.

#include "storage/store/damaged_families.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "rocksdb/db.h"
#include "rocksdb/listener.h"
#include "rocksdb/write_batch.h"
#include "storage/base/api_error.h"
#include "storage/base/fault_points.h"
#include "storage/base/strings.h"
#include "storage/store/compaction_switches.h"
#include "storage/store/damage_keeper.h"
#include "storage/store/database.h"
#include "storage/store/disk_space.h"
#include "storage/store/inspector.h"
#include "storage/store/meta_keys.h"
#include "storage/store/recovery.h"
#include "storage/store/rocks_db.h"
#include "storage/store/rocks_options.h"
#include "tests/support/fault_points.h"
#include "tests/unit/storage/codec/codec_test_util.h"
#include "tests/unit/storage/store/damaged_files.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::damaged_families_test {

using testing::AllOf;
using testing::HasSubstr;

TEST(DamageRecord, HasTheBytesOfTheFormat) {
  for (const auto& vector : codec::ReadGolden("damage.golden", 4, /*format=*/7)) {
    const FamilyDamage damage{"t7", vector[0] == "-" ? "" : vector[0], std::stoll(vector[1]), vector[2]};
    EXPECT_EQ(codec::ToHex(EncodeDamageRecord(damage)), vector[3]);
    const MetaRecord record = ParseMetaRecord(DamagedKey("t7"), codec::FromHex(vector[3]));
    ASSERT_TRUE(record.status.ok()) << record.status;
    EXPECT_EQ(record.kind, MetaKind::kDamage);
    EXPECT_EQ(record.damage.family, "t7");
    EXPECT_EQ(record.damage.file, damage.file);
    EXPECT_EQ(record.damage.found_ms, damage.found_ms);
    EXPECT_EQ(record.damage.reason, damage.reason);
  }
  for (const std::string_view bytes : {std::string_view(), std::string_view("\x02\x01\x01", 3),
                                       std::string_view("\x01\x01\x05"
                                                        "abc",
                                                        6)}) {
    EXPECT_TRUE(absl::IsDataLoss(ParseMetaRecord(DamagedKey("t7"), bytes).status));
  }
}

// The errors of RocksDB's compactions, without a database.
class CompactionErrorTest : public testing::Test {
 protected:
  // Reports a failed compaction as RocksDB does. Returns the error that is left.
  rocksdb::Status Fail(const std::string& family, const rocksdb::Status& status) {
    rocksdb::CompactionJobInfo job;
    job.cf_name = family;
    job.status = status;
    job.input_files = {"/data/db/000011.sst", "/data/db/000012.sst"};
    listener_->OnCompactionCompleted(nullptr, job);
    rocksdb::Status error(status, rocksdb::Status::Severity::kUnrecoverableError);
    listener_->OnBackgroundError(rocksdb::BackgroundErrorReason::kCompaction, &error);
    return error;
  }

  DiskSpace space_{{}, [] { return DiskUsage{uint64_t{1} << 30, uint64_t{1} << 30}; }};
  DamagedFamilies damages_;
  std::shared_ptr<rocksdb::EventListener> listener_ = MakeErrorListener(&space_, &damages_);
};

TEST_F(CompactionErrorTest, DamageOfATableIsKeptFromTheOthers) {
  EXPECT_TRUE(Fail("t7", rocksdb::Status::Corruption("bad block in /data/db/000012.sst offset 0")).ok());
  EXPECT_TRUE(Fail("g8.9", rocksdb::Status::IOError("While pread offset 0", "/data/db/000011.sst")).ok());
  EXPECT_FALSE(space_.report().is_read_only());
  const std::vector<FamilyDamage> all = damages_.NotKept();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].family + all[0].file, "g8.9000011.sst");
  EXPECT_EQ(all[1].family + all[1].file, "t7000012.sst");
}

TEST_F(CompactionErrorTest, DamageOfTheCatalogRefusesWritesAndNamesTheFile) {
  EXPECT_FALSE(Fail("meta", rocksdb::Status::Corruption("bad block in /data/db/000012.sst offset 0")).ok());
  EXPECT_TRUE(space_.report().is_broken);
  EXPECT_THAT(space_.report().damage, HasSubstr("000012.sst"));
  EXPECT_FALSE(damages_.any());
}

TEST_F(CompactionErrorTest, OtherErrorsAreNoDamage) {
  EXPECT_FALSE(Fail("t7", rocksdb::Status::IOError("While appending to file", "/data/db/000013.sst")).ok());
  EXPECT_FALSE(Fail("t7", rocksdb::Status::NoSpace("While appending to file", "/data/db/000012.sst")).ok());
  EXPECT_FALSE(damages_.any());
}

// RocksDB's default, which all families have.
constexpr uint64_t kFilesThatStopWrites = 36;

class DamagedFamiliesTest : public testing::Test {
 protected:
  void SetUp() override {
    Open();
    CreateActive(database_.get(), IndexedTable("bad"));
    CreateActive(database_.get(), PlainTable("good"));
    // Each start writes the rows of the log to a file of each family.
    for (int turn = 0; turn < 3; ++turn) WriteAndReopen(turn);
  }

  void Open() {
    database_.reset();
    database_ = OpenDatabase(TestOptions(path_));
  }
  const Table& TableOf(const std::string& name) {
    snapshot_ = database_->catalog();
    return *snapshot_->Find(name);
  }
  Keyspace Rows(const std::string& name) { return TableOf(name).data; }
  Keyspace Index(const std::string& name) { return TableOf("bad").FindIndex(name)->keyspace; }
  static std::string Key(int turn, int row) { return Cat("key", row, ".", turn); }
  // Not compressible, so that the first block has the byte that is damaged.
  static std::string Value(std::string_view key) {
    std::mt19937_64 random(std::hash<std::string_view>()(key));
    std::string value(200, '\0');
    for (char& byte : value) byte = static_cast<char>(random());
    return value;
  }
  absl::Status Put(const std::string& name, std::string_view key) {
    const Keyspace rows = Rows(name);
    WriteUnit unit(snapshot_);
    unit.Put(rows, key, Value(key));
    if (name == "bad") {
      for (const char* const index : {"by_l", "by_g"}) unit.Put(Index(index), key, Value(key));
      unit.AddCounter(TableOf("bad").collections, "p", 1);
    }
    return CommitAndWait(database_.get(), std::move(unit)).status();
  }
  void WriteAndReopen(int turn) {
    for (int row = 0; row < 50; ++row) {
      for (const char* const name : {"bad", "good"}) {
        // A compaction may meet the damage meanwhile.
        const absl::Status put = Put(name, Key(turn, row));
        ASSERT_TRUE(put.ok() || !database_->damages().All().empty()) << put;
      }
    }
    Open();
  }
  absl::Status Get(const Keyspace& keyspace, std::string_view key) {
    std::string value;
    const absl::StatusOr<GetResult> got = database_->rows().Get(keyspace, key, ReadMode::kMayBlock, &value);
    if (got.ok() && *got == GetResult::kMissing) return absl::NotFoundError("");
    return got.status();
  }
  // Damages the first file of a family, and lets a compaction meet the damage. Returns the file's path.
  std::string Damage(const std::string& family) {
    database_.reset();
    const std::vector<std::string> files = FlushedFilesOf(family, path_);
    EXPECT_FALSE(files.empty());
    InvertByte(files.front(), 100);
    Open();
    const auto is_met = [&] {
      const std::vector<DamagedPart> parts = database_->damages().All();
      return database_->disk_report().is_read_only() ||
             std::any_of(parts.begin(), parts.end(),
                         [&](const DamagedPart& part) { return part.damage.family == family; });
    };
    // Until there are enough files for a compaction.
    for (int turn = 3; turn < 12 && !is_met(); ++turn) WriteAndReopen(turn);
    EXPECT_TRUE(Eventually(is_met));
    return files.front();
  }
  // Changes what is behind the closed database.
  void Change(const std::function<void(RocksDb*)>& change) {
    database_.reset();
    auto rocks = RocksDb::Open(path_ + "/db", TestOptions(path_), RocksDb::IfMissing::kFail);
    ASSERT_TRUE(rocks.ok()) << rocks.status();
    change(rocks->get());
  }
  static void AddFilesTo(const std::string& family, RocksDb* rocks) {
    rocksdb::ColumnFamilyHandle* const handle = rocks->Find(family)->handle();
    rocksdb::ColumnFamilyMetaData files;
    while (files.file_count <= kFilesThatStopWrites) {
      // Each file overlaps all others, so that a compaction of one reads the damaged one.
      for (const char* const key : {"a", "z"}) ASSERT_TRUE(rocks->db()->Put({}, handle, key, "").ok());
      ASSERT_TRUE(rocks->db()->Flush({}, handle).ok());
      rocks->db()->GetColumnFamilyMetaData(handle, &files);
    }
  }
  // Makes the files of families hold back all writes, without a compaction that would end that or wake the writes.
  static void HoldWritesBack(const std::vector<std::string>& families, RocksDb* rocks) {
    for (const std::string& family : families) {
      ASSERT_TRUE(rocks->StopCompactions(family).ok());
      AddFilesTo(family, rocks);
    }
    for (const std::string& family : families) {
      ASSERT_TRUE(rocks->db()
                      ->SetOptions(rocks->Find(family)->handle(),
                                   {{"level0_file_num_compaction_trigger", Cat(100 * kFilesThatStopWrites)},
                                    {"level0_slowdown_writes_trigger", Cat(100 * kFilesThatStopWrites)},
                                    {"disable_auto_compactions", "false"}})
                      .ok());
    }
    ASSERT_TRUE(AreWritesHeldBack(rocks));
  }
  static bool AreWritesHeldBack(RocksDb* rocks) {
    uint64_t value = 0;
    return rocks->db()->GetIntProperty(rocksdb::DB::Properties::kIsWriteStopped, &value) && value > 0;
  }
  // Begins a write to `meta` that may be held back.
  static std::thread BeginWrite(RocksDb* rocks) {
    absl::Notification begun;
    std::thread writer([&begun, rocks] {
      rocksdb::WriteBatch batch;
      batch.Put(rocks->meta()->handle(), "key", "value");
      begun.Notify();
      EXPECT_TRUE(rocks->Write(&batch, /*sync=*/true, "write").ok());
    });
    begun.WaitForNotification();
    return writer;
  }
  std::string LocalIndexFamily() {
    const Table& table = TableOf("bad");
    return LocalIndexFamilyName(table.descriptor.id, table.FindIndex("by_l")->descriptor.id);
  }
  // The record of a damage is written by a thread of the database.
  void AwaitRecord() {
    ASSERT_TRUE(Eventually([&] {
      database_.reset();
      Open();
      return !database_->damages().All().empty();
    }));
  }
  static std::string NameIn(const std::string& path) { return path.substr(path.rfind('/') + 1); }
  static std::string Text(const absl::Status& status) {
    const std::optional<ApiError> error = GetApiError(status);
    return error.has_value() && error->type == ApiErrorType::kDataLoss ? error->message : status.ToString();
  }
  void ExpectOthersGoOn() {
    EXPECT_FALSE(database_->disk_report().is_read_only());
    EXPECT_TRUE(Put("good", "more").ok());
    EXPECT_TRUE(Get(Rows("good"), "more").ok());
    EXPECT_TRUE(Get(Rows("good"), Key(0, 1)).ok());
    EXPECT_TRUE(database_->damages().CheckWhole(TableOf("good")).ok());
    const auto created = database_->tables().Create(PlainTable("other"));
    EXPECT_TRUE(created.ok()) << created.status();
    EXPECT_TRUE(database_->tables().AwaitOpen(created->id, absl::Seconds(30)));
    EXPECT_TRUE(database_->tables().Delete("other").ok());
    EXPECT_TRUE(Eventually([&] { return database_->catalog()->Find("other") == nullptr; }));
  }

  const test::TempDir dir_;
  const std::string path_ = dir_.path("data");
  std::unique_ptr<Database> database_;
  std::shared_ptr<const CatalogSnapshot> snapshot_;
};

TEST_F(DamagedFamiliesTest, ATableIsSetApartAlsoAfterARestart) {
  const std::string family = DataFamilyName(TableOf("bad").descriptor.id);
  const std::string file = Damage(family);
  for (int turn = 0; turn < 2; ++turn) {
    ASSERT_EQ(database_->damages().All().size(), 1u);
    const DamagedPart part = database_->damages().All().front();
    EXPECT_EQ(NameOf(part), "table bad");
    EXPECT_EQ(part.damage.file, NameIn(file));
    const auto tells = AllOf(HasSubstr("table bad"), HasSubstr(NameIn(file)));
    EXPECT_THAT(Text(Get(Rows("bad"), Key(1, 1))), tells);
    EXPECT_THAT(Text(Put("bad", "more")), tells);
    EXPECT_THAT(Text(database_->damages().CheckWhole(TableOf("bad"))), tells);
    ExpectOthersGoOn();
    AwaitRecord();
  }
}

TEST_F(DamagedFamiliesTest, AFileThatIsPutBackEndsIt) {
  const std::string file = Damage(DataFamilyName(TableOf("bad").descriptor.id));
  ASSERT_EQ(database_->damages().All().size(), 1u);
  database_.reset();
  InvertByte(file, 100);
  Open();
  EXPECT_TRUE(database_->damages().All().empty());
  for (int turn = 0; turn < 4; ++turn) EXPECT_TRUE(Get(Rows("bad"), Key(turn, 7)).ok());
  EXPECT_TRUE(Put("bad", "more").ok());
  Open();
  EXPECT_TRUE(database_->damages().All().empty());
}

TEST_F(DamagedFamiliesTest, ADamagedTableIsDeletedAndMadeAnew) {
  Damage(DataFamilyName(TableOf("bad").descriptor.id));
  ASSERT_EQ(database_->damages().All().size(), 1u);
  ASSERT_TRUE(database_->tables().Delete("bad").ok());
  snapshot_.reset();  // it holds the table
  ASSERT_TRUE(Eventually([&] { return database_->catalog()->Find("bad") == nullptr; }));
  EXPECT_TRUE(Eventually([&] { return database_->damages().All().empty(); }));
  CreateActive(database_.get(), IndexedTable("bad"));
  EXPECT_TRUE(Put("bad", "more").ok());
  Open();
  EXPECT_TRUE(database_->damages().All().empty());
  EXPECT_TRUE(Get(Rows("bad"), "more").ok());
}

TEST_F(DamagedFamiliesTest, ADamagedIndexFailsItsReadsOnly) {
  for (const char* const name : {"by_l", "by_g"}) {
    const Table& table = TableOf("bad");
    const model::IndexDescriptor index = table.FindIndex(name)->descriptor;
    const bool is_local = index.kind == model::IndexKind::kLocal;
    const std::string family = is_local ? LocalIndexFamilyName(table.descriptor.id, index.id)
                                        : GlobalIndexFamilyName(table.descriptor.id, index.id);
    const std::string file = Damage(family);
    EXPECT_THAT(Text(Get(Index(name), Key(1, 1))),
                AllOf(HasSubstr(Cat("index ", name, " of table bad")), HasSubstr(NameIn(file))));
    EXPECT_TRUE(Get(Rows("bad"), Key(1, 1)).ok());
    EXPECT_TRUE(Put("bad", "more").ok());
    EXPECT_TRUE(database_->damages().CheckWhole(TableOf("bad")).ok());
    ExpectOthersGoOn();
  }
}

// More files than RocksDB lets a family have that it compacts: beyond, it holds all writes back.
TEST_F(DamagedFamiliesTest, ManyFilesOfADamagedIndexHoldNothingBack) {
  const Table& table = TableOf("bad");
  const std::string family = LocalIndexFamilyName(table.descriptor.id, table.FindIndex("by_l")->descriptor.id);
  Damage(family);
  AwaitRecord();
  Change([&](RocksDb* rocks) { AddFilesTo(family, rocks); });
  Open();
  ASSERT_EQ(database_->damages().All().size(), 1u);
  ExpectOthersGoOn();
  EXPECT_TRUE(Put("bad", "even more").ok());
  // A start to which the damage is not known yet.
  const auto forget = [&](RocksDb* rocks) {
    ASSERT_TRUE(rocks->db()->Delete({}, rocks->meta()->handle(), DamagedKey(family)).ok());
  };
  Change(forget);
  Open();
  ExpectOthersGoOn();
  EXPECT_TRUE(Put("bad", "still more").ok());
  EXPECT_TRUE(Eventually([&] { return database_->damages().All().size() == 1; }));
  Change(forget);
  EXPECT_TRUE(AcceptLosses(LocalVolume(), path_, {}).ok());
  Open();
  ExpectOthersGoOn();
}

TEST_F(DamagedFamiliesTest, AWriteThatIsHeldBackGoesOnWhenTheDamageIsFound) {
  const Table& table = TableOf("bad");
  const std::string family = LocalIndexFamilyName(table.descriptor.id, table.FindIndex("by_l")->descriptor.id);
  Damage(family);
  AwaitRecord();
  Change([&](RocksDb* rocks) {
    AddFilesTo(family, rocks);
    ASSERT_TRUE(rocks->db()->Delete({}, rocks->meta()->handle(), DamagedKey(family)).ok());
  });
  Change([&](RocksDb* rocks) {
    EXPECT_TRUE(AreWritesHeldBack(rocks));
    CompactionSwitches switches(rocks, nullptr);
    std::thread writer = BeginWrite(rocks);
    EXPECT_TRUE(Eventually([&] { return !rocks->damages()->NotKept().empty(); }));
    EXPECT_TRUE(Eventually([&] { return KeepDamages(rocks, &switches); }));
    writer.join();
    EXPECT_FALSE(AreWritesHeldBack(rocks));
  });
}

// RocksDB writes each change of options to a file, after the write.
TEST_F(DamagedFamiliesTest, AWriteThatTwoFamiliesHoldBackGoesOnWhenBothDamagesAreFound) {
  const std::vector<std::string> families = {DataFamilyName(TableOf("bad").descriptor.id), LocalIndexFamily()};
  Change([&](RocksDb* rocks) {
    HoldWritesBack(families, rocks);
    CompactionSwitches switches(rocks, nullptr);
    std::thread writer = BeginWrite(rocks);
    rocks->damages()->Add({families[0], "", 1, "damaged"});
    EXPECT_FALSE(KeepDamages(rocks, &switches));
    rocks->damages()->Add({families[1], "", 1, "damaged"});
    EXPECT_TRUE(Eventually([&] { return KeepDamages(rocks, &switches); }));
    writer.join();
    EXPECT_FALSE(AreWritesHeldBack(rocks));
    for (const std::string& family : families) {
      EXPECT_TRUE(rocks->AreCompactionsStopped(family));
      EXPECT_TRUE(rocks->Get(*rocks->meta(), DamagedKey(family))->has_value());
    }
  });
}

TEST_F(DamagedFamiliesTest, TheThreadEndsOnlyAfterTheWriteForWhichItsChangesWait) {
  const std::vector<std::string> families = {DataFamilyName(TableOf("bad").descriptor.id), LocalIndexFamily()};
  Change([&](RocksDb* rocks) {
    HoldWritesBack(families, rocks);
    std::thread writer = BeginWrite(rocks);
    absl::Notification ending;
    std::thread finder;
    {
      const DamageKeeper keeper(rocks);
      rocks->damages()->Add({families[0], "", 1, "damaged"});
      EXPECT_TRUE(Eventually([&] { return rocks->AreCompactionsStopped(families[0]); }));
      finder = std::thread([&] {
        ending.WaitForNotification();
        rocks->damages()->Add({families[1], "", 1, "damaged"});
      });
      ending.Notify();
    }
    finder.join();
    // The write may have begun only after the thread had ended.
    CompactionSwitches switches(rocks, nullptr);
    EXPECT_TRUE(Eventually([&] { return KeepDamages(rocks, &switches); }));
    writer.join();
    EXPECT_FALSE(AreWritesHeldBack(rocks));
  });
}

TEST_F(DamagedFamiliesTest, DamageThatAStartMeetsIsKept) {
  const std::string family = DataFamilyName(TableOf("bad").descriptor.id);
  const FamilyDamage gone{family, "000001.sst", 1, "gone"};
  Change([&](RocksDb* rocks) {
    ASSERT_TRUE(rocks->db()->Put({}, rocks->meta()->handle(), DamagedKey(family), EncodeDamageRecord(gone)).ok());
    // A compaction may be faster than the start.
    rocks->damages()->Add({family, "", 2, "met"});
    ASSERT_TRUE(LoadDamages(rocks).ok());
    EXPECT_TRUE(rocks->Get(*rocks->meta(), DamagedKey(family))->has_value());
    CompactionSwitches switches(rocks, nullptr);
    EXPECT_TRUE(Eventually([&] { return KeepDamages(rocks, &switches); }));
  });
  Open();
  ASSERT_EQ(database_->damages().All().size(), 1u);
  EXPECT_EQ(database_->damages().All().front().damage.reason, "met");
}

TEST_F(DamagedFamiliesTest, AFileThatCanBeReadAgainIsNoDamage) {
  const std::string family = DataFamilyName(TableOf("bad").descriptor.id);
  database_.reset();
  const FamilyDamage damage{family, NameIn(FlushedFilesOf(family, path_).front()), 1, "IO error: timed out"};
  Change([&](RocksDb* rocks) {
    CompactionSwitches switches(rocks, nullptr);
    rocks->damages()->Add(damage);
    EXPECT_TRUE(Eventually([&] { return KeepDamages(rocks, &switches); }));
    EXPECT_FALSE(rocks->damages()->Find(family).has_value());
    EXPECT_FALSE(rocks->AreCompactionsStopped(family));
    // But if compactions fail again, they would do so for ever.
    rocks->damages()->Add(damage);
    EXPECT_TRUE(Eventually([&] { return KeepDamages(rocks, &switches); }));
    EXPECT_TRUE(rocks->damages()->Find(family).has_value());
    EXPECT_TRUE(rocks->AreCompactionsStopped(family));
  });
}

// Else writes would wait again, and so would the end of the compactions if they fail once more.
TEST_F(DamagedFamiliesTest, FilesOfAFamilyThatIsCompactedAgainHoldNothingBack) {
  const std::string family = LocalIndexFamily();
  Change([&](RocksDb* rocks) {
    HoldWritesBack({family}, rocks);
    EXPECT_TRUE(rocks->StopCompactions(family).ok());
    EXPECT_FALSE(AreWritesHeldBack(rocks));
    EXPECT_TRUE(rocks->StartCompactions(family).ok());
    EXPECT_FALSE(rocks->AreCompactionsStopped(family));
    EXPECT_FALSE(AreWritesHeldBack(rocks));
  });
}

class DamageBeforeRecordTest : public DamagedFamiliesTest {
 protected:
  void SetUp() override {
    test::SkipWithoutFaultPoints();
    if (!IsSkipped()) DamagedFamiliesTest::SetUp();
  }
};

TEST_F(DamageBeforeRecordTest, DamageThatIsFoundAgainWhileAnotherIsRecordedIsRecordedToo) {
  const std::string passing = DataFamilyName(TableOf("bad").descriptor.id);
  const std::string lasting = LocalIndexFamily();
  database_.reset();
  FamilyDamage damage{passing, NameIn(FlushedFilesOf(passing, path_).front()), 1, "IO error: timed out"};
  Change([&](RocksDb* rocks) {
    CompactionSwitches switches(rocks, nullptr);
    rocks->damages()->Add(damage);
    rocks->damages()->Add({lasting, "", 1, "damaged"});
    bool is_found_again = false;
    SetFaultPointCall("damage.before_record", [&] {
      damage.found_ms = 2;
      is_found_again = rocks->damages()->Add(damage);
    });
    EXPECT_TRUE(Eventually([&] {
      KeepDamages(rocks, &switches);
      return is_found_again;
    }));
    SetFaultPointCall("", nullptr);
    EXPECT_TRUE(Eventually([&] { return KeepDamages(rocks, &switches); }));
    for (const std::string& family : {passing, lasting}) {
      EXPECT_TRUE(rocks->AreCompactionsStopped(family));
      EXPECT_TRUE(rocks->Get(*rocks->meta(), DamagedKey(family))->has_value());
    }
  });
}

TEST(DamagedFamilies, OtherDamageOfAFamilyIsNeitherKeptNorWithdrawn) {
  DamagedFamilies damages;
  const FamilyDamage first{"t7", "000011.sst", 1, "bad block"};
  damages.Add({"t7", "000011.sst", 2, "bad block"});
  damages.SetKept(first);
  EXPECT_EQ(damages.NotKept().size(), 1u);
  EXPECT_TRUE(damages.Withdraw(first));
  EXPECT_TRUE(damages.Find("t7").has_value());
}

TEST_F(DamagedFamiliesTest, ToolsFindTheDamageWithoutTheDaemon) {
  const std::string family = DataFamilyName(TableOf("bad").descriptor.id);
  database_.reset();
  EXPECT_TRUE(FindDamagedFiles(LocalVolume(), path_)->empty());
  const std::vector<std::string> files = FlushedFilesOf(family, path_);
  InvertByte(files.back(), 100);
  const auto found = FindDamagedFiles(LocalVolume(), path_);
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(found->front().name, "table bad");
  EXPECT_THAT(found->front().text, HasSubstr(NameIn(files.back())));
  EXPECT_THAT(found->front().advice, HasSubstr("backup"));
}

}  // namespace armature::store::damaged_families_test
