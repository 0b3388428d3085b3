#include "storage/archive/shipper.h"

#include "storage/store/data_directory.h"
#include "tests/support/wall_clock.h"
#include "tests/unit/storage/archive/archive_test_util.h"

namespace armature::archive::shipper_test {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class ShipperTest : public ArchiveTest {
 protected:
  // Makes the archive one that cannot be written, and back.
  void TakeAway() { std::filesystem::rename(archive_path(), dir_.path("away")); }
  void GiveBack() { std::filesystem::rename(dir_.path("away"), archive_path()); }
};

TEST_F(ShipperTest, NothingIsKeptWithoutAnArchive) {
  Close();
  is_archived_ = false;
  Open();
  EXPECT_EQ(database_->committed_log(), nullptr);
  EXPECT_FALSE(std::filesystem::exists(dir_.path("data/archiving")));
}

TEST_F(ShipperTest, AnIdleDatabaseMakesNoSegments) {
  Begin();
  Put({{"a", "1"}});
  Ship();
  const uint64_t segments = shipper_->stats().segments_total;
  const int64_t until = shipper_->stats().until_ms;
  const int64_t later = Moment();
  Ship();
  EXPECT_EQ(shipper_->stats().segments_total, segments);
  EXPECT_GT(shipper_->stats().until_ms, until);
  // A moment without writes can be restored, too.
  ExpectRestored(later, rows_);
}

TEST_F(ShipperTest, ARestartContinuesTheChain) {
  Begin();
  Put({{"a", "1"}});
  Ship();
  Put({{"a", "2"}});
  Kill();
  Put({{"a", "3"}});
  Ship();
  EXPECT_EQ(chains(), 1u);
  for (size_t i = 1; i < models_.size(); ++i) ExpectRestored(models_[i].first, models_[i].second);
}

TEST_F(ShipperTest, LogsThatTheDatabaseDeletesWaitAndGo) {
  Begin();
  Put({{"a", "1"}});
  TakeAway();
  EXPECT_FALSE(shipper_->Ship().ok());
  FlushBySize();
  // Each opening writes the rows of the log to files, and deletes it.
  GiveBack();
  Kill();
  EXPECT_THAT(Waiting(), testing::Not(IsEmpty()));
  Ship();
  EXPECT_EQ(chains(), 1u);
  EXPECT_THAT(Waiting(), IsEmpty());
  EXPECT_EQ(shipper_->stats().waiting_bytes, 0u);
  for (size_t i = 1; i < models_.size(); ++i) ExpectRestored(models_[i].first, models_[i].second);
}

TEST_F(ShipperTest, AStartWithoutTheArchiveEndsTheChain) {
  Begin();
  Put({{"a", "1"}});
  Ship();
  Close();
  is_archived_ = false;
  Open();
  Put({{"a", "not archived"}});
  Close();
  is_archived_ = true;
  Open();
  Ship();
  ASSERT_EQ(chains(), 2u);
  EXPECT_THAT(last_reason(), HasSubstr("not archived before"));
  MakeBase();
  const int64_t at = Put({{"b", "2"}});
  Ship();
  ExpectRestored(at, rows_);
}

// As a start of a build that knows no archives: it leaves the state, but marks the place anew.
TEST_F(ShipperTest, AStartThatKnowsNoArchiveEndsTheChain) {
  Begin();
  Close();
  const std::string state = store::ReadBytes(dir_.path("data/archiving/state"));
  is_archived_ = false;
  Open();
  Close();
  std::filesystem::create_directories(dir_.path("data/archiving"));
  store::WriteBytes(dir_.path("data/archiving/state"), state);
  is_archived_ = true;
  Open();
  Ship();
  ASSERT_EQ(chains(), 2u);
  EXPECT_THAT(last_reason(), HasSubstr("another start"));
}

TEST_F(ShipperTest, AnotherArchiveBeginsAChain) {
  Begin();
  TakeAway();
  std::filesystem::create_directories(archive_path());
  std::filesystem::copy(dir_.path("away/armature.archive"), archive_path());
  NewShipper();
  Ship();
  ASSERT_EQ(chains(), 1u);
  EXPECT_THAT(last_reason(), HasSubstr("does not have the chain"));
}

TEST_F(ShipperTest, AnArchiveOfAnotherDatabaseIsRefused) {
  Begin();
  shipper_.reset();
  const store::DatabaseOptions other = [&] {
    store::DatabaseOptions options = Options();
    options.path = dir_.path("other");
    return options;
  }();
  const std::unique_ptr<store::Database> database = store::OpenDatabase(other);
  Shipper shipper(database.get(), {.directory = archive_path()});
  const absl::Status refused = shipper.Ship();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_THAT(TextOf(refused), HasSubstr("of another database"));
}

TEST_F(ShipperTest, AnArchiveInUseIsRefused) {
  Begin();
  Shipper second(database_.get(), {.directory = archive_path()});
  EXPECT_THAT(TextOf(second.Ship()), HasSubstr("in use"));
}

TEST_F(ShipperTest, AnArchiveThatCannotBeWrittenHoldsNothingUpAndResumes) {
  Begin();
  TakeAway();
  Put({{"a", "1"}});
  shipper_->Start();
  ASSERT_TRUE(store::Eventually([&] { return shipper_->stats().paused_since_ms != 0; }));
  Put({{"a", "2"}});
  GiveBack();
  NewShipper();  // whose first turn is at once
  shipper_->Start();
  ASSERT_TRUE(store::Eventually([&] { return shipper_->stats().until_ms > models_.back().first; }));
  EXPECT_EQ(shipper_->stats().paused_since_ms, 0);
  shipper_.reset();
  EXPECT_EQ(chains(), 1u);
  ExpectRestored(models_.back().first, rows_);
}

class SmallWaitTest : public ShipperTest {
 protected:
  void SetUp() override {
    wait_bytes_max_ = 100'000;
    ShipperTest::SetUp();
  }
};

TEST_F(SmallWaitTest, WhatWaitsHasABoundAndANewChainBegins) {
  Begin();
  const int64_t before = Put({{"a", "1"}});
  const RowMap rows = rows_;
  Ship();
  TakeAway();
  FlushBySize();
  GiveBack();
  Kill();
  EXPECT_THAT(Waiting(), IsEmpty());
  Ship();
  ASSERT_EQ(chains(), 2u);
  EXPECT_THAT(last_reason(), HasSubstr("--archive_wait_mb"));
  EXPECT_EQ(shipper_->stats().chains_total, 1u);
  MakeBase();
  const int64_t after = Put({{"b", "2"}});
  Ship();
  ExpectRestored(after, rows_);
  ExpectRestored(before, rows);
  // Between the two nothing can be restored, and that is said.
  const absl::StatusOr<RestoreReport> report = RestoreAt(models_[models_.size() - 2].first);
  EXPECT_TRUE(absl::IsFailedPrecondition(report.status())) << report.status();
  EXPECT_THAT(TextOf(report.status()), HasSubstr("ends before it"));
  EXPECT_THAT(TextOf(report.status()), HasSubstr(", and from "));
}

TEST_F(ShipperTest, TheBackgroundReaderFindsABreakAndAsksForABase) {
  Begin();
  Put({{"a", "1"}});
  Ship();
  Put({{"a", "2"}});
  Ship();
  ASSERT_TRUE(shipper_->VerifySome(100).ok());
  EXPECT_EQ(shipper_->stats().breaks, 0u);
  EXPECT_GT(shipper_->stats().last_verified_ms, 0);
  store::DamageByte(SegmentPath(Surveyed().chains[0].last_segment() - 1), 300);
  ASSERT_TRUE(shipper_->VerifySome(100).ok());
  EXPECT_EQ(shipper_->stats().breaks, 1u);
  shipper_->Start();
  ASSERT_TRUE(store::Eventually([&] { return shipper_->stats().bases_total == 2; }));
  const int64_t at = Put({{"a", "3"}});
  shipper_.reset();
  ExpectRestored(at, rows_);
}

TEST_F(ShipperTest, ARemovalDoesNotBeginTheVerificationAnew) {
  Begin();
  for (const std::string_view value : {"1", "2", "3", "4"}) {
    Put({{"a", std::string(value)}});
    Ship();
  }
  store::DamageByte(SegmentPath(Surveyed().chains[0].last_segment()), 300);
  for (int turn = 0; turn < 20 && shipper_->stats().last_verified_ms == 0; ++turn) {
    ASSERT_TRUE(shipper_->VerifySome(2).ok());
    ASSERT_TRUE(shipper_->RemoveOld(models_.back().first).ok());
  }
  EXPECT_GT(shipper_->stats().last_verified_ms, 0);
  EXPECT_EQ(shipper_->stats().breaks, 1u);
}

TEST_F(ShipperTest, WhatIsOldGoesWithItsSegments) {
  Begin();
  const int64_t first = Put({{"a", "1"}});
  Ship();
  MakeBase();
  const int64_t second = Put({{"a", "2"}});
  const RowMap second_rows = rows_;
  Ship();
  MakeBase();
  const int64_t third = Put({{"a", "3"}});
  Ship();
  const size_t segments = Surveyed().chains[0].segments.size();
  const int64_t keep_ms = absl::ToInt64Milliseconds(ShipperOptions().keep);
  // The first base is still the way back to a moment that is kept.
  ASSERT_TRUE(shipper_->RemoveOld(first + keep_ms).ok());
  EXPECT_THAT(Surveyed().windows, SizeIs(3));
  EXPECT_EQ(Surveyed().chains[0].segments.size(), segments);
  ASSERT_TRUE(shipper_->RemoveOld(second + keep_ms).ok());
  EXPECT_THAT(Surveyed().windows, SizeIs(2));
  EXPECT_LT(Surveyed().chains[0].segments.size(), segments);
  ExpectRestored(second, second_rows);
  EXPECT_TRUE(absl::IsFailedPrecondition(RestoreAt(first).status()));
  // The last base is never removed.
  ASSERT_TRUE(shipper_->RemoveOld(third + 10 * keep_ms).ok());
  EXPECT_THAT(Surveyed().windows, SizeIs(1));
  ExpectRestored(third, rows_);
  EXPECT_THAT(Verified().breaks, IsEmpty());
}

TEST_F(ShipperTest, TheLastSegmentStaysThoughNoBaseNeedsIt) {
  Begin();
  Put({{"a", "1"}});
  Ship();
  MakeBase();
  const int64_t later = Moment() + 10 * absl::ToInt64Milliseconds(ShipperOptions().keep);
  ASSERT_TRUE(shipper_->RemoveOld(later).ok());
  ASSERT_THAT(Surveyed().chains[0].bases, SizeIs(1));
  EXPECT_THAT(Surveyed().chains[0].segments, SizeIs(1));
  Kill();
  const int64_t at = Put({{"a", "2"}});
  Ship();
  EXPECT_EQ(chains(), 1u) << last_reason();
  ExpectRestored(at, rows_);
  EXPECT_THAT(Verified().breaks, IsEmpty());
}

// A file that cannot be read now: no user, not even root, follows a link to itself.
class UnreadableFileTest : public ShipperTest {
 protected:
  void MakeUnreadable(const std::string& path) {
    path_ = path;
    std::filesystem::rename(path_, dir_.path("whole"));
    std::filesystem::create_symlink(path_, path_);
  }
  void MakeReadable() { std::filesystem::rename(dir_.path("whole"), path_); }
  std::string ChainFile(std::string_view name) const { return Cat(archive_path(), "/chains/00000001/", name); }

  std::string path_;
};

TEST_F(UnreadableFileTest, ARecordOfABaseThatCannotBeReadKeepsItsChain) {
  Begin();
  const int64_t first = Put({{"a", "1"}});
  const RowMap rows = rows_;
  Ship();
  Put({{"a", "2"}});
  Ship();
  MakeBase();
  const size_t segments = Surveyed().chains[0].segments.size();
  MakeUnreadable(ChainFile("base.1"));
  EXPECT_THAT(Surveyed().breaks, testing::Contains(HasSubstr(ChainFile("base.1"))));
  ASSERT_TRUE(shipper_->RemoveOld(models_.back().first + 10 * absl::ToInt64Milliseconds(ShipperOptions().keep)).ok());
  EXPECT_EQ(Surveyed().chains[0].segments.size(), segments);
  MakeReadable();
  ExpectRestored(first, rows);
}

TEST_F(UnreadableFileTest, AChainIsContinuedOnceItCanBeRead) {
  Begin();
  for (const std::string_view name : {"chain", "head", "000000000001.segment"}) {
    Put({{"a", std::string(name)}});
    Ship();
    const std::string last = SegmentPath(Surveyed().chains[0].last_segment());
    MakeUnreadable(name.ends_with("segment") ? last : ChainFile(name));
    Kill();
    EXPECT_TRUE(absl::IsUnavailable(shipper_->Ship())) << name;
    MakeReadable();
    Ship();
    EXPECT_EQ(chains(), 1u) << name;
  }
  for (size_t i = 1; i < models_.size(); ++i) ExpectRestored(models_[i].first, models_[i].second);
}

TEST_F(UnreadableFileTest, ABackupWithoutARecordGoes) {
  Begin();
  // Its name is taken.
  std::filesystem::create_directory(ChainFile("base.2.new"));
  EXPECT_FALSE(shipper_->MakeBase().ok());
  EXPECT_EQ(backups(), 1u);
  std::filesystem::remove(ChainFile("base.2.new"));
  MakeBase();
  ASSERT_EQ(backups(), 2u);
  // As a kill between the two leaves it.
  const std::string record = Cat("base.", Surveyed().chains[0].bases.back().backup);
  std::filesystem::remove(ChainFile(record));
  // It is not known whether that is the record.
  MakeUnreadable(ChainFile("base.1"));
  const int64_t now_ms = absl::ToUnixMillis(absl::Now());
  ASSERT_TRUE(shipper_->RemoveOld(now_ms).ok());
  EXPECT_EQ(backups(), 2u);
  MakeReadable();
  ASSERT_TRUE(shipper_->RemoveOld(now_ms).ok());
  EXPECT_EQ(backups(), 1u);
  const int64_t at = Put({{"a", "1"}});
  Ship();
  ExpectRestored(at, rows_);
}

TEST_F(ShipperTest, ABaseThatIsReadStaysWithItsSegments) {
  Begin();
  const int64_t first = Put({{"a", "1"}});
  const RowMap rows = rows_;
  Ship();
  MakeBase();
  Put({{"a", "2"}});
  Ship();
  // As a restore in another process.
  absl::StatusOr<std::unique_ptr<store::VolumeLock>> held = OpenArchive()->HoldBase(1);
  ASSERT_TRUE(held.ok()) << held.status();
  const int64_t later = models_.back().first + 10 * absl::ToInt64Milliseconds(ShipperOptions().keep);
  ASSERT_TRUE(shipper_->RemoveOld(later).ok());
  ExpectRestored(first, rows);
  held->reset();
  ASSERT_TRUE(shipper_->RemoveOld(later).ok());
  EXPECT_THAT(Surveyed().windows, SizeIs(1));
}

TEST_F(ShipperTest, AClockThatGoesBackKeepsTheOrder) {
  Begin();
  const int64_t first = Put({{"a", "1"}});
  const RowMap first_rows = rows_;
  Ship();
  {
    const test::WallClockSet back(-absl::Hours(1));
    // Abseil reads the clock of the system only now and then.
    while (absl::ToUnixMillis(absl::Now()) > first) {
    }
    Put({{"a", "2"}});
    Put({{"b", "3"}});
    Ship();
    EXPECT_EQ(shipper_->stats().clock_steps_total, 1u);
  }
  while (absl::ToUnixMillis(absl::Now()) < first) {
  }
  const int64_t last = Put({{"a", "4"}});
  Ship();
  ExpectRestored(last, rows_);
  // The moment before is as it was.
  ExpectRestored(first, first_rows);
  EXPECT_THAT(Verified().breaks, IsEmpty());
}

TEST_F(ShipperTest, ALongLogMakesSeveralSegments) {
  Begin();
  const uint64_t before = shipper_->stats().segments_total;
  for (unsigned i = 0; i < 50; ++i) Put({{Cat("row", i), store::RandomBytes(400'000, i)}});
  Ship();
  EXPECT_GE(shipper_->stats().segments_total, before + 2);
  ExpectRestored(models_.back().first, rows_);
  ExpectRestored(models_[models_.size() - 25].first, models_[models_.size() - 25].second);
}

// Each commit is synced, and the log is not synced again while they come.
TEST_F(ShipperTest, SyncedCommitsAreShippedToo) {
  Close();
  durability_ = store::Durability::kSync;
  Open();
  Begin();
  for (int i = 0; i < 5; ++i) {
    Put({{"a", Cat(i)}});
    Ship();
  }
  Kill();
  Ship();
  EXPECT_EQ(chains(), 1u);
  for (size_t i = 1; i < models_.size(); ++i) ExpectRestored(models_[i].first, models_[i].second);
}

TEST_F(ShipperTest, ADamagedLastSegmentEndsTheChainAtTheNextStart) {
  Begin();
  Put({{"a", "1"}});
  Ship();
  store::DamageByte(SegmentPath(Surveyed().chains[0].last_segment()), 300);
  Kill();
  Ship();
  ASSERT_EQ(chains(), 2u);
  EXPECT_THAT(last_reason(), HasSubstr("last segment cannot be used"));
}

// As on a volume that was set back to an earlier state, or whose disk has lied.
TEST_F(ShipperTest, ADatabaseThatIsBehindItsArchiveBeginsAChain) {
  Begin();
  Put({{"a", "1"}});
  const RowMap early = rows_;
  Ship();
  Close();
  std::filesystem::copy(data_dir_, dir_.path("early"), std::filesystem::copy_options::recursive);
  Open();
  for (int i = 0; i < 5; ++i) Put({{"a", Cat("later", i)}});
  const int64_t late = models_.back().first;
  const RowMap late_rows = rows_;
  Ship();
  Close();
  // The files that would tell are of the same time.
  for (const auto& entry : std::filesystem::directory_iterator(dir_.path("early"))) {
    const std::string name = entry.path().filename().string();
    if (name == "armature.place" || name == "archiving") continue;
    std::filesystem::remove_all(data_dir_ + "/" + name);
    std::filesystem::rename(entry.path(), data_dir_ + "/" + name);
  }
  Open();
  rows_ = early;
  // The numbers of the lost writes come again before the archive is attached.
  for (int i = 0; i < 9; ++i) Put({{Cat("b", i), "2"}});
  Ship();
  ASSERT_EQ(chains(), 2u);
  EXPECT_THAT(last_reason(), HasSubstr("is behind its archive"));
  MakeBase();
  const int64_t at = Put({{"c", "3"}});
  Ship();
  ExpectRestored(at, rows_);
  ExpectRestored(late, late_rows);
}

TEST_F(ShipperTest, APlaceThatTheLogHasNotReachedIsALoss) {
  Begin();
  const absl::Status read = database_->committed_log()->Read({1'000'000, 0}, 1).status();
  EXPECT_TRUE(absl::IsDataLoss(read)) << read;
}

// A copy takes long, and half a one would be taken for the file.
TEST_F(ShipperTest, ALogThatCannotBeLinkedIsNotKept) {
  const test::TempDir elsewhere;
  const std::string archiving = data_dir_ + "/archiving";
  Begin();
  FlushBySize();
  Ship();
  std::filesystem::copy(archiving, elsewhere.path("archiving"));
  std::error_code error;
  std::filesystem::create_hard_link(archiving + "/state", elsewhere.path("linked"), error);
  if (!error) GTEST_SKIP() << "there is no second file system";
  std::filesystem::remove_all(archiving);
  std::filesystem::create_directory_symlink(elsewhere.path("archiving"), archiving);
  Put({{"a", "1"}});
  Kill();
  EXPECT_THAT(Waiting(), IsEmpty());
  Ship();
  ASSERT_EQ(chains(), 2u);
  EXPECT_THAT(last_reason(), HasSubstr("cannot be linked"));
}

// Times of two chains do not overlap: a moment is in one of them.
TEST_F(ShipperTest, ANewChainGoesOnBehindTheTimesOfTheLast) {
  Begin();
  const int64_t first = Put({{"a", "1"}});
  Ship();
  Close();
  is_archived_ = false;
  Open();
  Close();
  is_archived_ = true;
  {
    const test::WallClockSet back(-absl::Hours(1));
    while (absl::ToUnixMillis(absl::Now()) > first) {
    }
    Open();
    Begin();
    Put({{"a", "2"}});
    Ship();
    const std::vector<KnownChain> chains = Surveyed().chains;
    ASSERT_THAT(chains, SizeIs(2));
    EXPECT_GT(chains[1].bases[0].from_ms, chains[0].head->until_ms);
    // The time of a base is not that of the clock.
    EXPECT_LE(shipper_->stats().last_base_ms, absl::ToUnixMillis(absl::Now()));
    EXPECT_TRUE(absl::IsFailedPrecondition(RestoreAt(absl::ToUnixMillis(absl::Now())).status()));
  }
  while (absl::ToUnixMillis(absl::Now()) < first) {
  }
  const int64_t last = Put({{"a", "3"}});
  Ship();
  ExpectRestored(last, rows_);
}

// The mount point of an archive that is not mounted.
TEST_F(ShipperTest, AnArchiveThatIsNotThereAtAStartIsNotMadeAnew) {
  Begin();
  const int64_t at = Put({{"a", "1"}});
  Ship();
  Close();
  TakeAway();
  std::filesystem::create_directories(archive_path());
  Open();
  const absl::Status away = shipper_->Ship();
  EXPECT_TRUE(absl::IsUnavailable(away)) << away;
  EXPECT_THAT(TextOf(away), HasSubstr("is away"));
  EXPECT_TRUE(std::filesystem::is_empty(archive_path()));
  GiveBack();
  Ship();
  EXPECT_EQ(chains(), 1u);
  ExpectRestored(at, rows_);
}

}  // namespace armature::archive::shipper_test
