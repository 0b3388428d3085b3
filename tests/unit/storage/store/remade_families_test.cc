// Damaged files of the column families that all tables share: what is dropped is made anew.

#include "storage/store/remade_families.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/db.h"
#include "storage/base/strings.h"
#include "storage/store/catalog/catalog_record.h"
#include "storage/store/damaged_families.h"
#include "storage/store/database.h"
#include "storage/store/expiry/expiry_index.h"
#include "storage/store/log/change_log.h"
#include "storage/store/meta_keys.h"
#include "storage/store/recovery.h"
#include "storage/store/rocks_db.h"
#include "storage/store/stream/stream_log.h"
#include "tests/support/fault_points.h"
#include "tests/unit/storage/store/child_process.h"
#include "tests/unit/storage/store/damaged_files.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::remade_families_test {

using testing::HasSubstr;
using testing::MatchesRegex;

constexpr char kPathVariable[] = "ARMATURE_TEST_RECOVER_PATH";

// Accepts what is lost with all damaged files that have a loss.
absl::Status AcceptDamagedFiles(const std::string& path) {
  const absl::StatusOr<std::vector<DamagedFile>> files = FindDamagedFiles(LocalVolume(), path);
  if (!files.ok()) return files.status();
  std::vector<Damage> accepted;
  for (const DamagedFile& file : *files) accepted.push_back({file.text, file.loss, file.family});
  return AcceptLosses(LocalVolume(), path, accepted);
}

// Runs in a child process that another test starts.
TEST(RecoverChild, DISABLED_Accepts) {
  const char* const path = getenv(kPathVariable);
  if (path == nullptr) GTEST_SKIP() << "not started by a test";
  const absl::Status done = AcceptDamagedFiles(path);
  ASSERT_TRUE(done.ok()) << done;
}

class RemadeFamiliesTest : public testing::Test {
 protected:
  void SetUp() override {
    Open();
    model::TableDescriptor table = IndexedTable("t");
    table.settings.stream_enabled = true;
    table.settings.stream_view_type = "NEW_IMAGE";
    snapshot_ = CreateActive(database_.get(), table);
    WriteUnit unit(snapshot_);
    unit.Put(TableNow().data, "k", "v");
    for (const char* const index : {"by_l", "by_g"}) unit.Put(Index(index).keyspace, "k", "v");
    unit.SetChangeRecord(id(), "record");
    ASSERT_TRUE(CommitAndWait(database_.get(), std::move(unit)).ok());
    const ExpiryState state{1, ExpiryPhase::kComplete, ""};
    ASSERT_TRUE(database_->expiry().CommitScanned(WriteUnit(snapshot_), id(), state).ok());
  }

  void Open() {
    snapshot_.reset();
    database_.reset();
    database_ = OpenDatabase(TestOptions(path_));
    ASSERT_NE(database_, nullptr);
    snapshot_ = database_->catalog();
  }
  const Table& TableNow() const { return *snapshot_->Find("t"); }
  TableId id() const { return TableNow().descriptor.id; }
  const armature::store::Index& Index(std::string_view name) const { return *TableNow().FindIndex(name); }

  // Closes the database, adds rows with these keys to a family, and damages its files.
  void Damage(std::string_view family, const std::function<std::string(uint64_t row)>& key) {
    snapshot_.reset();
    database_.reset();
    {
      const auto rocks = *RocksDb::Open(path_ + "/db", TestOptions(path_), RocksDb::IfMissing::kFail);
      for (uint64_t row = 1; row <= 100; ++row) {
        ASSERT_TRUE(rocks->db()->Put({}, rocks->Find(family)->handle(), key(row), std::string(200, 'v')).ok());
      }
      const FamilyDamage damage{std::string(family), "", 1, "met by a compaction"};
      const std::string record = EncodeDamageRecord(damage);
      ASSERT_TRUE(rocks->db()->Put({}, rocks->meta()->handle(), DamagedKey(family), record).ok());
    }
    // The largest one has blocks of rows at its begin.
    const std::vector<std::string> files = FlushedFilesOf(std::string(family), path_);
    ASSERT_FALSE(files.empty());
    InvertByte(*std::max_element(files.begin(), files.end(),
                                 [](const std::string& a, const std::string& b) {
                                   return std::filesystem::file_size(a) < std::filesystem::file_size(b);
                                 }),
               100);
    ASSERT_NO_FATAL_FAILURE(Open());
    ASSERT_EQ(database_->damages().All().size(), 1u);
    ASSERT_EQ(ValueOf(*database_, TableNow().data, "k"), "v");
    snapshot_.reset();
    database_.reset();
  }
  // Accepts what is lost with the damaged files, and opens the database.
  void Recover(std::string_view name, std::string_view loss) {
    const auto files = FindDamagedFiles(LocalVolume(), path_);
    ASSERT_TRUE(files.ok()) << files.status();
    ASSERT_FALSE(files->empty());
    std::vector<armature::store::Damage> accepted;
    for (const DamagedFile& file : *files) {
      EXPECT_EQ(file.name, name);
      EXPECT_THAT(file.advice, HasSubstr("recover"));
      EXPECT_THAT(file.loss, HasSubstr(std::string(loss)));
      accepted.push_back({file.text, file.loss, file.family});
    }
    // It may be repeated after an error.
    for (int turn = 0; turn < 2; ++turn) {
      const absl::Status done = AcceptLosses(LocalVolume(), path_, accepted);
      ASSERT_TRUE(done.ok()) << done;
    }
    EXPECT_TRUE(FindDamagedFiles(LocalVolume(), path_)->empty());
    ASSERT_NO_FATAL_FAILURE(Open());
    EXPECT_TRUE(database_->damages().All().empty());
    EXPECT_EQ(ValueOf(*database_, TableNow().data, "k"), "v");
    EXPECT_EQ(ValueOf(*database_, Index("by_l").keyspace, "k"), "v");
    WriteUnit unit(snapshot_);
    unit.Put(TableNow().data, "more", "v");
    EXPECT_TRUE(CommitAndWait(database_.get(), std::move(unit)).ok());
  }

  const test::TempDir dir_;
  const std::string path_ = dir_.path("data");
  std::unique_ptr<Database> database_;
  std::shared_ptr<const CatalogSnapshot> snapshot_;
};

TEST_F(RemadeFamiliesTest, StreamsBeginAnewInAnotherEpoch) {
  const ChangeSequence last = database_->change_log().last_taken();
  const std::optional<model::StreamDescriptor> stream =
      database_->streams().StreamsOf("t").empty() ? std::nullopt
                                                  : std::optional(database_->streams().StreamsOf("t").front());
  ASSERT_TRUE(stream.has_value());
  const SegmentId segment = database_->streams().segments().front().id;
  Damage(kStreamFamily,
         [&](uint64_t row) { return StreamRecordKey(segment, stream->id, /*slot=*/0, ChangeSequence(row)); });
  ASSERT_NO_FATAL_FAILURE(Recover("the streams", "records of all streams"));
  EXPECT_GT(database_->change_log().epoch_base(), last) << "positions of before are refused";
  EXPECT_EQ(database_->streams().StreamsOf("t").size(), 1u);
  EXPECT_EQ(ValueOf(*database_, Index("by_g").keyspace, "k"), "v");
}

TEST_F(RemadeFamiliesTest, IndexesAreBuiltAgainWithoutTheirLog) {
  const TableId table = id();
  Damage(kLogFamily, [&](uint64_t row) { return LogKey(table, ChangeSequence(row)); });
  ASSERT_NO_FATAL_FAILURE(Recover("the change log of global indexes", "builds all global indexes again"));
  for (const char* const name : {"by_g", "by_h"}) {
    EXPECT_EQ(Index(name).descriptor.state, model::IndexState::kCreating);
    EXPECT_EQ(Index(name).build->state().phase, BuildPhase::kWaiting);
    EXPECT_EQ(ValueOf(*database_, Index(name).keyspace, "k"), "(none)");
  }
}

TEST_F(RemadeFamiliesTest, TheExpiryIsFilledAgain) {
  ASSERT_TRUE(database_->expiry().ReadState(id())->has_value());
  const TableId table = id();
  Damage(kExpiryFamily, [&](uint64_t row) { return ExpiryKey(table, 1, static_cast<int64_t>(row), "k"); });
  ASSERT_NO_FATAL_FAILURE(Recover("the expiry of items", "the items that expire"));
  EXPECT_FALSE(database_->expiry().ReadState(id())->has_value());
  EXPECT_EQ(ValueOf(*database_, Index("by_g").keyspace, "k"), "v");
}

// The family is whole and empty then, and a second call finds no damage.
TEST_F(RemadeFamiliesTest, TheExpiryIsFilledAgainAlsoIfTheProcessWasKilledWhenItWasMadeAnew) {
  if (test::SkipWithoutFaultPoints(); IsSkipped()) return;
  const TableId table = id();
  Damage(kExpiryFamily, [&](uint64_t row) { return ExpiryKey(table, 1, static_cast<int64_t>(row), "k"); });
  const std::optional<int> status =
      RunChild("RecoverChild.DISABLED_Accepts", {{kPathVariable, path_}, {"ARMATURE_FAULT_POINT", "recover.remade:1"}});
  ASSERT_TRUE(status.has_value() && WIFSIGNALED(*status) && WTERMSIG(*status) == SIGKILL);
  EXPECT_TRUE(FindDamagedFiles(LocalVolume(), path_)->empty());
  ASSERT_NO_FATAL_FAILURE(Open());
  EXPECT_TRUE(database_->damages().All().empty());
  EXPECT_FALSE(database_->expiry().ReadState(id())->has_value());
}

// Damage at the end of a file, where its index is: RocksDB opens no database with it.
TEST_F(RemadeFamiliesTest, AnIndexWithAFileThatCannotBeOpenedIsBuiltAgain) {
  for (const bool is_index : {true, false}) {
    const std::string name = is_index ? "index by_g of table t" : "table t";
    const std::string family =
        is_index ? GlobalIndexFamilyName(id(), Index("by_g").descriptor.id) : DataFamilyName(id());
    snapshot_.reset();
    database_.reset();
    EXPECT_TRUE(FindDamage(LocalVolume(), path_)->empty());
    const std::string file = FlushedFilesOf(family, path_).front();
    InvertByte(file, static_cast<int64_t>(std::filesystem::file_size(file)) - 5);
    EXPECT_FALSE(Database::Open(TestOptions(path_)).ok());
    const auto damage = FindDamage(LocalVolume(), path_);
    ASSERT_TRUE(damage.ok()) << damage.status();
    ASSERT_EQ(damage->size(), 1u);
    EXPECT_THAT(damage->front().fault, HasSubstr(name + ": file db" + file.substr(file.rfind('/'))));
    EXPECT_EQ(damage->front().loss.empty(), !is_index) << "a table is restored, or salvaged";
    if (!is_index) continue;
    const absl::Status accepted = AcceptLosses(LocalVolume(), path_, *damage);
    ASSERT_TRUE(accepted.ok()) << accepted;
    ASSERT_NO_FATAL_FAILURE(Open());
    EXPECT_EQ(ValueOf(*database_, TableNow().data, "k"), "v");
    EXPECT_EQ(ValueOf(*database_, Index("by_g").keyspace, "k"), "(none)");
    EXPECT_EQ(Index("by_g").descriptor.state, model::IndexState::kCreating);
    EXPECT_EQ(Index("by_h").descriptor.state, model::IndexState::kActive);
  }
}

TEST_F(RemadeFamiliesTest, IndexesThatCannotBeBuiltAgainAreNotGivenUp) {
  const TableId table = id();
  const std::string index = GlobalIndexFamilyName(id(), Index("by_g").descriptor.id);
  Damage(kLogFamily, [&](uint64_t row) { return LogKey(table, ChangeSequence(row)); });
  const auto loss_of = [&](std::string_view family) {
    const std::vector<DamagedFile> files = *FindDamagedFiles(LocalVolume(), path_);
    for (const DamagedFile& file : files) {
      if (file.family == family) return Cat(file.loss, "|", file.advice);
    }
    return std::string("whole");
  };
  InvertByte(FlushedFilesOf(index, path_).front(), 3);
  EXPECT_THAT(loss_of(kLogFamily), HasSubstr("builds all global indexes again|"));
  EXPECT_THAT(loss_of(index), HasSubstr("builds the index again|"));
  InvertByte(FlushedFilesOf(DataFamilyName(table), path_).front(), 3);
  EXPECT_THAT(loss_of(kLogFamily),
              MatchesRegex("\\|restore .*: index by_g of table t, index by_h of table t would .*"));
  EXPECT_THAT(loss_of(index), MatchesRegex("\\|restore the table .*: index by_g of table t would .*"));
  EXPECT_THAT(loss_of(DataFamilyName(table)), testing::StartsWith("|restore the table"));
}

// Nothing else would remove the files: the deletion is part of a start, which they prevent.
TEST_F(RemadeFamiliesTest, AnIndexThatIsBeingDeletedLosesItsFilesOnly) {
  model::TableDescriptor table = TableNow().descriptor;
  const IndexId index = table.global_indexes[0].id;
  const std::string family = GlobalIndexFamilyName(table.id, index);
  snapshot_.reset();
  database_.reset();
  table.state = model::TableState::kUpdating;
  table.global_indexes[0].state = model::IndexState::kDeleting;
  {
    const auto rocks = *RocksDb::Open(path_ + "/db", TestOptions(path_), RocksDb::IfMissing::kFail);
    const std::string record = EncodeTableRecord(table);
    ASSERT_TRUE(rocks->db()->Put({}, rocks->meta()->handle(), TableKey(table.id), record).ok());
  }
  const std::string file = FlushedFilesOf(family, path_).front();
  InvertByte(file, static_cast<int64_t>(std::filesystem::file_size(file)) - 5);
  const auto damage = FindDamage(LocalVolume(), path_);
  ASSERT_TRUE(damage.ok() && damage->size() == 1) << damage.status();
  ASSERT_TRUE(AcceptLosses(LocalVolume(), path_, *damage).ok());
  EXPECT_TRUE(FindDamage(LocalVolume(), path_)->empty());
  ASSERT_NO_FATAL_FAILURE(Open());
  ASSERT_EQ(TableNow().global_indexes.size(), 1u);
  EXPECT_EQ(TableNow().global_indexes[0].descriptor.name, "by_h");
  EXPECT_EQ(TableNow().descriptor.state, model::TableState::kActive);
  EXPECT_EQ(ValueOf(*database_, TableNow().data, "k"), "v");
}

// A database that is inspected opens some files only, a start opens all.
TEST_F(RemadeFamiliesTest, AFileThatCannotBeOpenedIsFoundAmongMany) {
  const std::string family = GlobalIndexFamilyName(id(), Index("by_g").descriptor.id);
  snapshot_.reset();
  database_.reset();
  AddFilesTo(family, path_, 30);
  const std::vector<std::string> files = FlushedFilesOf(family, path_);
  ASSERT_GT(files.size(), 30u);
  EXPECT_TRUE(FindDamage(LocalVolume(), path_)->empty());
  std::vector<armature::store::Damage> damage;
  for (const std::string& file : files) {
    const auto near_end = static_cast<int64_t>(std::filesystem::file_size(file)) - 5;
    InvertByte(file, near_end);
    damage = *FindDamage(LocalVolume(), path_);
    ASSERT_EQ(damage.size(), 1u) << file;
    EXPECT_THAT(damage.front().fault, HasSubstr(file.substr(file.rfind('/'))));
    EXPECT_EQ(damage.front().family, family);
    if (file != files.back()) InvertByte(file, near_end);
  }
  EXPECT_FALSE(Database::Open(TestOptions(path_)).ok());
  const absl::Status accepted = AcceptLosses(LocalVolume(), path_, damage);
  ASSERT_TRUE(accepted.ok()) << accepted;
  ASSERT_NO_FATAL_FAILURE(Open());
  EXPECT_EQ(ValueOf(*database_, TableNow().data, "k"), "v");
}

}  // namespace armature::store::remade_families_test
