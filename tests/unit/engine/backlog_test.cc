// The backlog of global indexes: how it is counted, and how it throttles writes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "index/gsi_applier.h"
#include "tests/unit/engine/engine_test_util.h"
#include "tests/unit/storage/model/random_seed.h"

namespace armature::engine::backlog_test {

using codec::S;
using testing::HasSubstr;

constexpr char kTable[] = "things";

EngineOptions Stalled(uint64_t records_max, uint64_t bytes_max) {
  EngineOptions options;
  options.apply_changes = false;
  options.gsi_backlog_records_max = records_max;
  options.gsi_backlog_bytes_max = bytes_max;
  return options;
}

// A table with the global indexes "colors" and "sizes". Only Apply applies changes.
class BacklogTest : public testing::Test {
 protected:
  explicit BacklogTest(const EngineOptions& options = Stalled(3, 1u << 20))
      : engine_(store::Durability::kOs, options) {}

  void SetUp() override {
    model::TableDefinition definition = PlainTable(kTable);
    definition.attribute_definitions.push_back({"color", "S"});
    definition.attribute_definitions.push_back({"size", "S"});
    definition.global_indexes = {IndexOf("colors", {{"color", "HASH"}}, "ALL"),
                                 IndexOf("sizes", {{"size", "HASH"}}, "KEYS_ONLY")};
    ASSERT_TRUE(engine_.CreateTable(definition).ok());
  }

  absl::Status Put(std::string_view pk, codec::Attributes more = {}) {
    return engine_.Put(WriteTo(kTable, PlainItem(pk, "1", std::move(more)))).status();
  }
  IndexStatus StatusOf(const std::string& index) {
    Answer<std::vector<IndexStatus>> answer;
    engine_->ListIndexStatus(kTable, answer.Catch());
    const absl::StatusOr<std::vector<IndexStatus>> statuses = answer.Take();
    EXPECT_TRUE(statuses.ok()) << statuses.status();
    for (const IndexStatus& status : statuses.value_or(std::vector<IndexStatus>())) {
      if (status.descriptor.name == index) return status;
    }
    ADD_FAILURE() << "no index " << index;
    return {};
  }
  // Opens the database again and waits until the records of the earlier run are counted.
  void Reopen() {
    engine_.Reopen();
    const auto is_counted = [this] {
      for (const store::Index& index : engine_.database().catalog()->Find(kTable)->global_indexes) {
        if (!index.progress->backlog().is_counted()) return false;
      }
      return true;
    };
    ASSERT_TRUE(TestEngine::WaitUntil(is_counted).ok());
  }
  uint64_t RecordsFor(const std::string& index) { return StatusOf(index).backlog.records; }
  // Applies the backlog in runs of at most some thousand records.
  void Apply() {
    index::GsiApplier applier(&engine_.database());
    const TableId table = engine_.database().catalog()->Find(kTable)->descriptor.id;
    absl::StatusOr<bool> drained = false;
    while (drained.ok() && !*drained) drained = applier.RunOnce(table);
    EXPECT_TRUE(drained.ok()) << drained.status();
  }
  // Value of `attribute` and partition key of each item that has it, in an index or, for "", in the table.
  std::set<std::pair<std::string, std::string>> EntriesOf(const std::string& index, const std::string& attribute) {
    std::set<std::pair<std::string, std::string>> entries;
    ReadRequest request;
    request.table_name = kTable;
    if (!index.empty()) request.index_name = index;
    const absl::StatusOr<Page> page = engine_.Scan(request);
    EXPECT_TRUE(page.ok()) << page.status();
    if (!page.ok()) return entries;
    for (const std::string& bytes : page->items) {
      const model::ItemView item(bytes);
      const auto key = item.Find(attribute);
      if (key.has_value()) entries.emplace(key->scalar(), item.Find("pk")->scalar());
    }
    return entries;
  }

  TestEngine engine_;
};

TEST_F(BacklogTest, AnIndexThatStandsStillThrottlesNobody) {
  int writes = 0;
  while (Put(std::to_string(writes), {{"color", S("red")}}).ok()) ASSERT_LT(++writes, 100);
  const auto snapshot = engine_.database().catalog();
  snapshot->Find(kTable)->global_indexes[0].progress->set_stalled(true);
  EXPECT_TRUE(StatusOf("colors").is_stalled);
  EXPECT_FALSE(StatusOf("sizes").is_stalled);
  EXPECT_TRUE(Put("more", {{"color", S("red")}}).ok());
  snapshot->Find(kTable)->global_indexes[0].progress->set_stalled(false);
  EXPECT_FALSE(Put("still more", {{"color", S("red")}}).ok());
}

TEST_F(BacklogTest, CountsForEachIndexWhatTouchesIt) {
  ASSERT_TRUE(Put("a", {{"color", S("red")}}).ok());
  ASSERT_TRUE(Put("b", {{"color", S("red")}, {"size", S("big")}}).ok());
  ASSERT_TRUE(Put("c").ok());
  ASSERT_TRUE(Put("b", {{"color", S("blue")}, {"size", S("big")}}).ok());
  const IndexStatus colors = StatusOf("colors");
  EXPECT_EQ(colors.backlog.records, 3u) << "an entry that moves is one change";
  EXPECT_GT(colors.backlog.bytes, 3u * 20);
  EXPECT_EQ(RecordsFor("sizes"), 1u);
  Apply();
  for (const char* const index : {"colors", "sizes"}) {
    EXPECT_EQ(RecordsFor(index), 0u);
    EXPECT_EQ(StatusOf(index).backlog.bytes, 0u);
    EXPECT_EQ(StatusOf(index).backlog.age_ms, 0);
  }
}

EngineOptions Settled(absl::Duration wait) {
  EngineOptions options = Stalled(1000, 1u << 20);
  options.index_read_wait = wait;
  return options;
}

class SettledReadTest : public BacklogTest {
 protected:
  explicit SettledReadTest(absl::Duration wait = kPatience) : BacklogTest(Settled(wait)) {}
};

TEST_F(SettledReadTest, WaitsForTheWritesThatWereAcknowledged) {
  ASSERT_TRUE(Put("a", {{"color", S("red")}}).ok());
  ReadRequest request;
  request.table_name = kTable;
  request.index_name = "colors";
  ItemCollector page;
  Answer<ReadResult> answer;
  engine_->Scan({}, request, &page, answer.Catch());
  EXPECT_FALSE(answer.IsThere());
  // It does not wait for an index that no write has touched.
  EXPECT_TRUE(EntriesOf("sizes", "size").empty());
  Apply();
  ASSERT_TRUE(answer.Take().ok());
  EXPECT_EQ(page.items.size(), 1u);
}

TEST_F(SettledReadTest, LeavesItsClientHalfOfTheTime) {
  ASSERT_TRUE(Put("a", {{"color", S("red")}}).ok());
  ReadRequest request;
  request.table_name = kTable;
  request.index_name = "colors";
  RequestContext context;
  context.deadline = Deadline::After(absl::Milliseconds(500));
  const absl::StatusOr<Page> page = engine_.Scan(request, context);
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_TRUE(page->items.empty());
}

class BrieflySettledReadTest : public SettledReadTest {
 protected:
  BrieflySettledReadTest() : SettledReadTest(absl::Milliseconds(5)) {}
};

TEST_F(BrieflySettledReadTest, ReadsWhatIsThereAfterTheLongestWait) {
  ASSERT_TRUE(Put("a", {{"color", S("red")}}).ok());
  EXPECT_TRUE(EntriesOf("colors", "color").empty());
}

TEST_F(BacklogTest, IsCountedAnewAfterARestart) {
  ASSERT_TRUE(Put("a", {{"color", S("red")}}).ok());
  ASSERT_TRUE(Put("b", {{"color", S("red")}, {"size", S("big")}}).ok());
  const uint64_t bytes = StatusOf("colors").backlog.bytes;
  Reopen();
  EXPECT_EQ(RecordsFor("colors"), 2u);
  EXPECT_EQ(RecordsFor("sizes"), 1u);
  EXPECT_EQ(StatusOf("colors").backlog.bytes, bytes);
  Apply();
  ASSERT_TRUE(Put("c", {{"color", S("red")}}).ok());
  Reopen();
  EXPECT_EQ(RecordsFor("colors"), 1u) << "what was applied is not counted again";
  EXPECT_EQ(RecordsFor("sizes"), 0u);
}

TEST_F(BacklogTest, BeyondTheBoundOnlyWhatTouchesTheIndexIsRefused) {
  for (const char* const pk : {"a", "b", "c"}) ASSERT_TRUE(Put(pk, {{"color", S("red")}}).ok());
  const absl::Status refused = Put("d", {{"color", S("red")}});
  EXPECT_EQ(ErrorNameOf(refused), "ThrottlingException");
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("global secondary index colors is too far behind"));
  EXPECT_GT(GetApiError(refused)->retry_after_ms, 0);

  EXPECT_TRUE(Put("d").ok()) << "has no color";
  EXPECT_TRUE(Put("e", {{"size", S("big")}}).ok()) << "another index";
  EXPECT_TRUE(Put("a", {{"color", S("red")}}).ok()) << "changes nothing";
  EXPECT_EQ(ErrorNameOf(engine_.Delete(WriteTo(kTable, PlainItem("a", "1"))).status()), "ThrottlingException");
  EXPECT_TRUE(engine_.Get(GetFrom(kTable, PlainItem("a", "1")))->item.has_value()) << "nothing of it was done";

  Apply();
  EXPECT_TRUE(Put("d", {{"color", S("red")}}).ok());
  Apply();
  EXPECT_EQ(EntriesOf("colors", "color"), EntriesOf("", "color"));
}

TEST_F(BacklogTest, AnIndexThatIsBeingFilledThrottlesNobody) {
  model::TableUpdate update;
  update.table_name = kTable;
  update.attribute_definitions = {{"shape", "S"}};
  update.global_index_updates = {{.update = {}, .create = IndexOf("shapes", {{"shape", "HASH"}}, "ALL"), .remove = {}}};
  // The build of the index starts only when no snapshot without the index is held.
  std::shared_ptr<const store::CatalogSnapshot> earlier = engine_.database().catalog();
  Answer<TableDescription> answer;
  engine_->UpdateTable(update, answer.Catch());
  ASSERT_TRUE(answer.Take().ok());
  const auto find = [this] { return StatusOf("shapes").descriptor; };
  ASSERT_TRUE(TestEngine::WaitUntil([&] { return find().backfilling; }).ok());
  for (int i = 0; i < 10; ++i) {
    const absl::Status written = Put(std::to_string(i), {{"shape", S("round")}});
    EXPECT_TRUE(written.ok()) << written;
  }
  earlier.reset();
  ASSERT_TRUE(TestEngine::WaitUntil([&] {
                Apply();
                return find().state == model::IndexState::kActive;
              }).ok());
  EXPECT_EQ(RecordsFor("shapes"), 0u);
  EXPECT_EQ(EntriesOf("shapes", "shape"), EntriesOf("", "shape"));
  for (const char* const pk : {"a", "b", "c"}) EXPECT_TRUE(Put(pk, {{"shape", S("round")}}).ok());
  EXPECT_EQ(ErrorNameOf(Put("d", {{"shape", S("round")}})), "ThrottlingException") << "now it does";
}

class BacklogBytesTest : public BacklogTest {
 protected:
  BacklogBytesTest() : BacklogTest(Stalled(1'000'000, 10'000)) {}
};

TEST_F(BacklogBytesTest, TheBoundOnBytesIsOneOfRows) {
  ASSERT_TRUE(Put("a", {{"color", S("red")}, {"size", S("big")}, {"note", S(std::string(12'000, 'n'))}}).ok());
  EXPECT_EQ(ErrorNameOf(Put("b", {{"color", S("red")}})), "ThrottlingException");
  EXPECT_TRUE(Put("b", {{"size", S("big")}}).ok()) << "its rows have keys only";
  Apply();
  EXPECT_TRUE(Put("b", {{"color", S("red")}}).ok());
}

class BacklogRandomTest : public BacklogTest {
 protected:
  BacklogRandomTest() : BacklogTest(Stalled(20, 1u << 20)) {}
};

TEST_F(BacklogRandomTest, IndexesEqualTheTableWheneverTheyHaveCaughtUp) {
  std::mt19937_64 random(PrintedTestSeed());
  const auto below = [&random](uint64_t end) { return random() % end; };
  size_t refused = 0;
  for (int i = 0; i < 1000; ++i) {
    codec::Attributes more;
    if (below(2) == 0) more.emplace_back("color", S(std::string(1, static_cast<char>('a' + below(4)))));
    if (below(2) == 0) more.emplace_back("size", S(std::string(1, static_cast<char>('a' + below(4)))));
    const std::string pk = std::to_string(below(30));
    const absl::Status status =
        below(4) == 0 ? engine_.Delete(WriteTo(kTable, PlainItem(pk, "1"))).status() : Put(pk, std::move(more));
    if (!status.ok()) {
      ASSERT_EQ(ErrorNameOf(status), "ThrottlingException");
      ++refused;
    }
    ASSERT_LE(RecordsFor("colors"), 20u);
    if (below(100) == 0) Reopen();
    if (below(60) != 0) continue;
    Apply();
    ASSERT_EQ(RecordsFor("colors"), 0u);
    ASSERT_EQ(EntriesOf("colors", "color"), EntriesOf("", "color"));
    ASSERT_EQ(EntriesOf("sizes", "size"), EntriesOf("", "size"));
  }
  EXPECT_GT(refused, 10u);
}

}  // namespace armature::engine::backlog_test
