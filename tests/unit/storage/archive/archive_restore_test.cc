#include "storage/archive/archive_restore.h"

#include <limits>

#include "storage/store/data_directory.h"
#include "tests/unit/storage/archive/archive_test_util.h"

namespace armature::archive::archive_restore_test {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class ArchiveRestoreTest : public ArchiveTest {};

TEST_F(ArchiveRestoreTest, EveryMomentBehindTheBaseIsRestored) {
  Put({{"a", "before the base"}});
  Begin();
  for (int i = 0; i < 6; ++i) {
    Put({{"a", Cat("a", i)}, {Cat("row", i), "x"}});
    if (i % 2 == 1) Ship();
  }
  Ship();
  for (size_t i = 1; i < models_.size(); ++i) ExpectRestored(models_[i].first, models_[i].second);
}

TEST_F(ArchiveRestoreTest, ALaterBaseIsTakenForLaterMoments) {
  Begin();
  const int64_t early = Put({{"a", "early"}});
  const RowMap early_rows = rows_;
  Ship();
  MakeBase();
  const int64_t late = Put({{"a", "late"}});
  Ship();
  absl::StatusOr<RestoreReport> report = RestoreAt(early);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->base, 1u);
  EXPECT_EQ(RestoredRows(), early_rows);
  report = RestoreAt(late);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->base, 2u);
  EXPECT_EQ(RestoredRows(), rows_);
}

TEST_F(ArchiveRestoreTest, TablesThatWereMadeAndDroppedAreThereInBetween) {
  Begin();
  store::CreateActive(database_.get(), store::PlainTable("u"));
  {
    const auto catalog = database_->catalog();
    store::WriteUnit unit(catalog);
    unit.Put(catalog->Find("u")->data, "k", "v");
    ASSERT_TRUE(store::CommitAndWait(database_.get(), std::move(unit)).ok());
  }
  const int64_t between = Moment();
  ASSERT_TRUE(database_->tables().Delete("u").ok());
  ASSERT_TRUE(store::Eventually([&] { return database_->catalog()->Find("u") == nullptr; }));
  const int64_t after = Moment();
  // Its families are gone when the segment is made, also behind a kill.
  Kill();
  Ship();
  const absl::StatusOr<RestoreReport> report = RestoreAt(between);
  ASSERT_TRUE(report.ok()) << report.status();
  {
    const std::unique_ptr<store::Database> restored = store::OpenDatabase(store::TestOptions(restored_));
    ASSERT_NE(restored, nullptr);
    EXPECT_EQ(store::RowsOf(*restored, "u"), (RowMap{{"k", "v"}}));
  }
  ASSERT_TRUE(RestoreAt(after).ok());
  const std::unique_ptr<store::Database> restored = store::OpenDatabase(store::TestOptions(restored_));
  ASSERT_NE(restored, nullptr);
  EXPECT_EQ(restored->catalog()->Find("u"), nullptr);
}

TEST_F(ArchiveRestoreTest, ASequenceIsATargetToo) {
  Begin();
  Put({{"a", "1"}});
  const RowMap rows = rows_;
  const uint64_t sequence = database_->committed_log()->last_sequence();
  Put({{"a", "2"}});
  Ship();
  const absl::StatusOr<RestoreReport> report = Restore({.at_sequence = sequence});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(RestoredRows(), rows);
}

TEST_F(ArchiveRestoreTest, ARestoredDirectoryBeginsAnEpochAndAChain) {
  Begin();
  const int64_t at = Put({{"a", "1"}});
  Ship();
  Close();
  ASSERT_TRUE(RestoreAt(at).ok());
  EXPECT_EQ(store::ReadBytes(restored_ + "/armature.place"), store::kForeignPlace);
  // The restored database goes on in the archive.
  std::filesystem::remove_all(dir_.path("data"));
  std::filesystem::rename(restored_, dir_.path("data"));
  Open();
  Ship();
  const Survey survey = Surveyed();
  ASSERT_THAT(survey.chains, SizeIs(2));
  EXPECT_THAT(survey.chains[1].chain.reason, HasSubstr("restored"));
  MakeBase();
  const int64_t later = Put({{"b", "2"}});
  Ship();
  ExpectRestored(later, rows_);
  rows_.erase("b");
  ExpectRestored(at, rows_);
}

TEST_F(ArchiveRestoreTest, MomentsOutsideAreRefusedWithTheWindow) {
  Begin();
  Put({{"a", "1"}});
  Ship();
  const std::string window = WindowsText(Surveyed().windows);
  for (const int64_t at : {int64_t{1'000'000}, absl::ToUnixMillis(absl::Now()) + 3'600'000}) {
    const absl::StatusOr<RestoreReport> report = RestoreAt(at);
    EXPECT_TRUE(absl::IsFailedPrecondition(report.status())) << report.status();
    EXPECT_THAT(TextOf(report.status()), HasSubstr(window));
    EXPECT_FALSE(std::filesystem::exists(restored_));
  }
}

// Two chains of one database, the second of which goes on from an earlier write of the first.
class TwoChainsTest : public ArchiveRestoreTest {
 protected:
  void SetUp() override {
    ArchiveRestoreTest::SetUp();
    Begin();
    const int64_t at = Put({{"a", "1"}});
    for (int i = 0; i < 40; ++i) Put({{Cat("first", i), "x"}});
    Ship();
    first_rows_ = rows_;
    Close();
    ASSERT_TRUE(RestoreAt(at).ok());
    std::filesystem::remove_all(data_dir_);
    std::filesystem::rename(restored_, data_dir_);
    Open();
    Begin();
    rows_ = store::RowsOf(*database_);
    for (int i = 0; i < 60; ++i) Put({{Cat("second", i), "x"}});
    Ship();
  }

  RowMap first_rows_;
};

TEST_F(TwoChainsTest, ASequenceOfBothNeedsTheChain) {
  const std::vector<Window> windows = Surveyed().windows;
  ASSERT_THAT(windows, SizeIs(2));
  const uint64_t sequence = windows[0].until_sequence;
  ASSERT_LT(windows[1].from_sequence, sequence);
  ASSERT_GT(windows[1].until_sequence, sequence);
  const absl::StatusOr<RestoreReport> refused = Restore({.at_sequence = sequence});
  EXPECT_TRUE(absl::IsFailedPrecondition(refused.status())) << refused.status();
  EXPECT_THAT(TextOf(refused.status()), HasSubstr("chains 1 and 2"));
  absl::StatusOr<RestoreReport> report = Restore({.at_sequence = sequence, .chain = 1});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(RestoredRows(), first_rows_);
  report = Restore({.at_sequence = sequence, .chain = 2});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->chain, 2u);
  EXPECT_TRUE(RestoredRows().contains("second0"));
  report = Restore({.at_sequence = windows[1].until_sequence});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(RestoredRows(), rows_);
}

// As in archives of builds whose chains began with the clock.
TEST_F(TwoChainsTest, ALaterChainIsTakenForWhatItHas) {
  const Survey survey = Surveyed();
  Base base = survey.chains[0].bases[0];
  base.from_ms = survey.chains[1].bases[0].from_ms + 1;
  ASSERT_TRUE(OpenArchive()->WriteBase(1, base).ok());
  ExpectRestored(models_.back().first, rows_);
}

// Damages of the second of four segments.
class BrokenArchiveTest : public ArchiveTest {
 protected:
  void SetUp() override {
    ArchiveTest::SetUp();
    Begin();
    Put({{"a", "1"}});
    Ship();
    good_rows_ = rows_;
    good_ms_ = models_.back().first;
    broken_ = SurveyedLast() + 1;
    for (const std::string_view value : {"2", "3", "4"}) {
      Put({{"a", std::string(value)}});
      Ship();
    }
  }
  uint64_t SurveyedLast() const { return Surveyed().chains.back().last_segment(); }

  void ExpectRefused(std::string_view why) {
    const std::string path = SegmentPath(broken_);
    const absl::StatusOr<RestoreReport> refused = RestoreAt(models_.back().first);
    EXPECT_TRUE(absl::IsFailedPrecondition(refused.status())) << refused.status();
    EXPECT_THAT(TextOf(refused.status()), HasSubstr(path));
    EXPECT_THAT(TextOf(refused.status()), HasSubstr(std::string(why)));
    EXPECT_THAT(TextOf(refused.status()), HasSubstr("this archive can restore from "));
    EXPECT_FALSE(std::filesystem::exists(restored_));
    const Survey verified = Verified();
    ASSERT_THAT(verified.breaks, SizeIs(1));
    EXPECT_THAT(verified.breaks[0], HasSubstr(path));
    ASSERT_THAT(verified.windows, SizeIs(1));
    EXPECT_LT(verified.windows[0].until_ms, models_.back().first);
    // The text has that window.
    EXPECT_THAT(TextOf(refused.status()), HasSubstr(WindowsText(verified.windows)));
    ExpectRestored(good_ms_, good_rows_);
    const absl::StatusOr<RestoreReport> report = Restore({.at_ms = models_.back().first, .is_up_to_break = true});
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_THAT(report->broken, HasSubstr(path));
    EXPECT_EQ(RestoredRows(), good_rows_);
  }

  uint64_t broken_ = 0;
  int64_t good_ms_ = 0;
  RowMap good_rows_;
};

TEST_F(BrokenArchiveTest, AMissingSegmentIsNamed) {
  std::filesystem::remove(SegmentPath(broken_));
  ASSERT_THAT(Surveyed().breaks, SizeIs(1));
  EXPECT_THAT(Surveyed().breaks[0], HasSubstr(SegmentPath(broken_)));
  ExpectRefused("is missing");
}

TEST_F(BrokenArchiveTest, ATornSegmentIsNamed) {
  const std::string bytes = store::ReadBytes(SegmentPath(broken_));
  store::WriteBytes(SegmentPath(broken_), bytes.substr(0, bytes.size() - 1));
  ExpectRefused("has a body of");
}

TEST_F(BrokenArchiveTest, AFlippedBitIsNamed) {
  store::DamageByte(SegmentPath(broken_), store::ReadBytes(SegmentPath(broken_)).size() / 2);
  ExpectRefused("checksum");
}

TEST_F(BrokenArchiveTest, AnotherWholeSegmentInItsPlaceIsNamed) {
  store::WriteBytes(SegmentPath(broken_), store::ReadBytes(SegmentPath(broken_ + 1)));
  ExpectRefused("is segment");
}

TEST_F(BrokenArchiveTest, TheLastSegmentIsMissedToo) {
  const uint64_t last = SurveyedLast();
  std::filesystem::remove(SegmentPath(last));
  ASSERT_THAT(Surveyed().breaks, SizeIs(1));
  const absl::StatusOr<RestoreReport> refused = RestoreAt(models_.back().first);
  EXPECT_THAT(TextOf(refused.status()), HasSubstr(SegmentPath(last)));
}

// The window ends before it, and is not gone with it.
TEST_F(BrokenArchiveTest, ATornLastSegmentLeavesTheMomentsBeforeIt) {
  const uint64_t last = SurveyedLast();
  const std::string bytes = store::ReadBytes(SegmentPath(last));
  store::WriteBytes(SegmentPath(last), bytes.substr(0, bytes.size() - 1));
  ASSERT_THAT(Surveyed().windows, SizeIs(1));
  EXPECT_LT(Surveyed().windows[0].until_ms, models_.back().first);
  const absl::StatusOr<RestoreReport> refused = RestoreAt(models_.back().first);
  EXPECT_THAT(TextOf(refused.status()), HasSubstr("this archive can restore from "));
  ExpectRestored(good_ms_, good_rows_);
}

TEST_F(BrokenArchiveTest, SegmentsThatAreMissingTogetherAreOneBreak) {
  std::unique_ptr<ArchiveDirectory> archive = OpenArchive();
  const ChainHead head = *Surveyed().chains[0].head;
  ASSERT_TRUE(archive->WriteHead(1, {head.segments + 20'000, head.sequence, head.until_ms}).ok());
  const Survey survey = Verified();
  ASSERT_THAT(survey.breaks, SizeIs(1));
  EXPECT_THAT(survey.breaks[0], HasSubstr(Cat(SegmentPath(head.segments + 1), " to ",
                                              SegmentPath(head.segments + 20'000), " are missing")));
  EXPECT_THAT(Surveyed().breaks, testing::Contains(survey.breaks[0]));
  ASSERT_TRUE(shipper_->VerifySome(100).ok());
  EXPECT_EQ(shipper_->stats().breaks, 1u);
  EXPECT_GT(shipper_->stats().last_verified_ms, 0);
}

TEST_F(BrokenArchiveTest, ABaseWhoseSegmentsAreMissingTooHasNoWindow) {
  const uint64_t last = SurveyedLast();
  MakeBase();
  for (const std::string_view value : {"5", "6"}) {
    Put({{"a", std::string(value)}});
    Ship();
  }
  std::filesystem::remove(SegmentPath(last));
  std::filesystem::remove(SegmentPath(last + 1));
  const Survey survey = Verified();
  EXPECT_THAT(survey.breaks, SizeIs(1));
  ASSERT_THAT(survey.windows, SizeIs(1));
  EXPECT_EQ(survey.windows[0].base.backup, 1u);
}

TEST_F(BrokenArchiveTest, NumbersThatCannotBeAreDamage) {
  const ChainHead head = *Surveyed().chains[0].head;
  for (const ChainHead& wrong : {ChainHead{1'000'000'000'000, head.sequence, head.until_ms},
                                 ChainHead{head.segments, head.sequence, std::numeric_limits<int64_t>::max()}}) {
    ASSERT_TRUE(OpenArchive()->WriteHead(1, wrong).ok());
    const Survey survey = Surveyed();
    ASSERT_THAT(survey.breaks, SizeIs(1));
    EXPECT_THAT(survey.breaks[0], HasSubstr("/head"));
    EXPECT_FALSE(survey.chains[0].head.has_value());
  }
}

TEST_F(BrokenArchiveTest, ADirectoryWithAnotherNameIsNoChain) {
  std::filesystem::copy(archive_path() + "/chains/00000001", archive_path() + "/chains/1");
  EXPECT_EQ(chains(), 1u);
  EXPECT_THAT(Surveyed().breaks, IsEmpty());
}

TEST_F(BrokenArchiveTest, ABaseBehindTheBreakRestoresWhatFollows) {
  store::DamageByte(SegmentPath(broken_), 200);
  MakeBase();
  const int64_t at = Put({{"a", "5"}});
  Ship();
  ExpectRestored(at, rows_);
  EXPECT_THAT(Verified().windows, SizeIs(2));
}

TEST_F(BrokenArchiveTest, ADamagedBaseIsPassedForTheOneBefore) {
  MakeBase();
  const int64_t at = Put({{"a", "5"}});
  Ship();
  for (const std::string& file : store::FilesIn(archive_path() + "/bases")) {
    if (file == "manifests/2") store::DamageByte(archive_path() + "/bases/" + file, 30);
  }
  const absl::StatusOr<RestoreReport> report = RestoreAt(at);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->base, 1u);
  EXPECT_EQ(RestoredRows(), rows_);
}

// Every place of a segment that a restore needs.
TEST_F(BrokenArchiveTest, NoDamageIsReadAsGood) {
  const std::string path = SegmentPath(broken_);
  const std::string bytes = store::ReadBytes(path);
  const std::unique_ptr<ArchiveDirectory> archive = OpenArchive();
  for (size_t at = 0; at < bytes.size(); at += 7) {
    store::DamageByte(path, at);
    EXPECT_FALSE(archive->ReadSegment(1, broken_).ok()) << at;
    store::WriteBytes(path, bytes.substr(0, at));
    EXPECT_FALSE(archive->ReadSegment(1, broken_).ok()) << at;
    store::WriteBytes(path, bytes);
  }
  EXPECT_THAT(Verified().breaks, IsEmpty());
}

}  // namespace armature::archive::archive_restore_test
