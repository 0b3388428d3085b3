#include "storage/archive/table_past.h"

#include <optional>

#include "tests/unit/storage/archive/archive_test_util.h"

namespace armature::archive::table_past_test {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;
using testing::SizeIs;

class TablePastTest : public ArchiveTest {
 protected:
  TableId IdOf(std::string_view name) const { return database_->catalog()->Find(name)->descriptor.id; }
  absl::StatusOr<std::unique_ptr<TablePast>> OpenPast(int64_t at_ms, uint64_t checked_bytes = 0) const {
    return TablePast::Open(archive_path(), IdOf("t"), at_ms, checked_bytes);
  }

  // The rows of table `id` at that time: those of the base, and the changes over them.
  RowMap RowsAt(int64_t at_ms, TableId id) const {
    RowMap rows;
    const absl::StatusOr<std::unique_ptr<TablePast>> past = TablePast::Open(archive_path(), id, at_ms, 0);
    EXPECT_TRUE(past.ok()) << past.status();
    if (!past.ok()) return rows;
    const auto goes_on = [] { return true; };
    EXPECT_TRUE((*past)->CheckAll(goes_on).ok());
    EXPECT_TRUE((*past)
                    ->ReadBase([&rows](std::string_view key, std::string_view value) {
                      rows.emplace(key, value);
                      return store::RowVerdict::kContinue;
                    })
                    .ok());
    const auto apply = [&rows](std::string_view key, std::optional<std::string_view> value) {
      if (value.has_value()) {
        rows[std::string(key)] = std::string(*value);
      } else {
        rows.erase(std::string(key));
      }
      return absl::OkStatus();
    };
    const absl::Status read = (*past)->ReadChanges(apply, goes_on);
    EXPECT_TRUE(read.ok()) << read;
    return rows;
  }
  RowMap RowsAt(int64_t at_ms) const { return RowsAt(at_ms, IdOf("t")); }

  int64_t Erase(const std::string& key) {
    const auto catalog = database_->catalog();
    store::WriteUnit unit(catalog);
    unit.Delete(catalog->Find("t")->data, key);
    EXPECT_TRUE(store::CommitAndWait(database_.get(), std::move(unit)).ok());
    rows_.erase(key);
    return Moment();
  }
};

TEST_F(TablePastTest, EveryMomentBehindTheBaseIsRead) {
  Put({{"a", "before the base"}, {"gone", "soon"}});
  Begin();
  for (int i = 0; i < 6; ++i) {
    Put({{"a", Cat("a", i)}, {Cat("row", i), "x"}});
    if (i == 2) Erase("gone");
    if (i == 4) Erase("row1");
    if (i % 2 == 1) Ship();
  }
  Ship();
  for (size_t i = 1; i < models_.size(); ++i) {
    EXPECT_EQ(RowsAt(models_[i].first), models_[i].second) << TimeText(models_[i].first);
  }
}

// The base has the first changes of the segments already.
TEST_F(TablePastTest, ChangesThatTheBaseHasAreReadAgain) {
  Ship();
  Put({{"a", "1"}, {"b", "1"}});
  Erase("b");
  Put({{"a", "2"}});
  MakeBase();
  const int64_t at = Moment();
  Ship();
  EXPECT_EQ(RowsAt(at), (RowMap{{"a", "2"}}));
}

TEST_F(TablePastTest, ATableThatIsYoungerThanTheBaseIsInTheSegments) {
  Begin();
  store::CreateActive(database_.get(), store::PlainTable("u"));
  const int64_t empty = Moment();
  {
    const auto catalog = database_->catalog();
    store::WriteUnit unit(catalog);
    unit.Put(catalog->Find("u")->data, "k", "v");
    ASSERT_TRUE(store::CommitAndWait(database_.get(), std::move(unit)).ok());
  }
  const int64_t full = Moment();
  Ship();
  EXPECT_THAT(RowsAt(empty, IdOf("u")), IsEmpty());
  EXPECT_EQ(RowsAt(full, IdOf("u")), (RowMap{{"k", "v"}}));
}

TEST_F(TablePastTest, ABreakIsNamedAtOnceOrByTheCheckOfAll) {
  Begin();
  for (const std::string_view value : {"1", "2", "3"}) {
    Put({{"a", std::string(value)}});
    Ship();
  }
  const std::string path = SegmentPath(Surveyed().chains.back().last_segment() - 1);
  store::DamageByte(path, store::ReadBytes(path).size() / 2);
  const int64_t at = models_.back().first;
  const absl::Status refused = OpenPast(at, uint64_t{1} << 20).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_THAT(TextOf(refused), HasSubstr(path));
  EXPECT_THAT(TextOf(refused), HasSubstr("this archive can restore from "));
  const absl::StatusOr<std::unique_ptr<TablePast>> past = OpenPast(at);
  ASSERT_TRUE(past.ok()) << past.status();
  EXPECT_EQ((*past)->CheckAll([] { return true; }), refused);
  EXPECT_EQ(RowsAt(models_[1].first), models_[1].second);
}

TEST_F(TablePastTest, MomentsOutsideAreRefused) {
  Begin();
  Ship();
  EXPECT_TRUE(absl::IsFailedPrecondition(OpenPast(1'000'000).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(OpenPast(models_.back().first + 3'600'000, 1).status()));
}

TEST_F(TablePastTest, TheBaseAndItsSegmentsStay) {
  Begin();
  const int64_t at = Put({{"a", "1"}});
  Ship();
  absl::StatusOr<std::unique_ptr<TablePast>> past = OpenPast(at);
  ASSERT_TRUE(past.ok()) << past.status();
  MakeBase();
  const int64_t later = absl::ToUnixMillis(absl::Now()) + 1000 * 86'400'000LL;
  ASSERT_TRUE(shipper_->RemoveOld(later).ok());
  EXPECT_EQ(backups(), 2u);
  EXPECT_EQ(RowsAt(at), rows_);
  past->reset();
  ASSERT_TRUE(shipper_->RemoveOld(later).ok());
  EXPECT_EQ(backups(), 1u);
}

class RestorableTest : public ArchiveTest {
 protected:
  std::vector<Span> Spans() {
    EXPECT_TRUE(shipper_->FindRestorable().ok());
    return shipper_->restorable().value_or(std::vector<Span>());
  }
};

TEST_F(RestorableTest, GrowsWithTheArchive) {
  EXPECT_EQ(shipper_->restorable(), std::nullopt);
  Ship();
  EXPECT_THAT(Spans(), IsEmpty());
  // The base ends behind what is shipped.
  MakeBase();
  EXPECT_THAT(Spans(), IsEmpty());
  Moment();
  Ship();
  ASSERT_THAT(shipper_->restorable(), Optional(SizeIs(1)));
  ASSERT_THAT(Spans(), SizeIs(1));
  const Span first = Spans()[0];
  EXPECT_EQ(first.from_ms, Surveyed().windows[0].from_ms);
  const int64_t at = Put({{"a", "1"}});
  Ship();
  // Without another look at the files.
  ASSERT_THAT(shipper_->restorable(), Optional(SizeIs(1)));
  EXPECT_EQ((*shipper_->restorable())[0].from_ms, first.from_ms);
  EXPECT_GE((*shipper_->restorable())[0].until_ms, at);
  EXPECT_EQ(Spans(), *shipper_->restorable());
  MakeBase();
  Ship();
  EXPECT_THAT(Spans(), SizeIs(1));
}

TEST_F(RestorableTest, EndsBeforeSegmentsThatWereFoundDamaged) {
  Begin();
  std::vector<int64_t> moments;
  for (const std::string_view value : {"1", "2", "3"}) {
    moments.push_back(Put({{"a", std::string(value)}}));
    Ship();
  }
  const std::string path = SegmentPath(Surveyed().chains.back().last_segment() - 1);
  const std::string whole = store::ReadBytes(path);
  store::DamageByte(path, whole.size() / 2);
  EXPECT_GE(Spans().back().until_ms, moments[2]);
  ASSERT_TRUE(shipper_->VerifySome(100).ok());
  ASSERT_THAT(Spans(), SizeIs(1));
  EXPECT_GE(Spans()[0].until_ms, moments[0]);
  EXPECT_LT(Spans()[0].until_ms, moments[1]);
  // A new base is behind it.
  MakeBase();
  Moment();
  Ship();
  ASSERT_THAT(Spans(), SizeIs(2));
  EXPECT_GT(Spans()[1].from_ms, moments[2]);
  store::WriteBytes(path, whole);
  ASSERT_TRUE(shipper_->VerifySome(100).ok());
  EXPECT_THAT(Spans(), SizeIs(1));
}

TEST_F(RestorableTest, AwaitsTheMoment) {
  shipper_->Start();
  const int64_t at = absl::ToUnixMillis(absl::Now()) + 50;
  EXPECT_TRUE(shipper_->AwaitArchived(at, absl::Seconds(60)));
  EXPECT_GE(shipper_->stats().until_ms, at);
  EXPECT_NE(shipper_->restorable(), std::nullopt);
  EXPECT_FALSE(shipper_->AwaitArchived(at + 86'400'000, absl::Milliseconds(50)));
}

}  // namespace armature::archive::table_past_test
