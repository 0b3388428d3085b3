// Watches: their order, positions, filters, ends and limits.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "engine/streams/stream_shards.h"
#include "engine/watch/table_watch.h"
#include "storage/store/stream/stream_log.h"
#include "tests/support/fault_points.h"
#include "tests/unit/engine/engine_test_util.h"
#include "tests/unit/engine/items/group_test_util.h"
#include "tests/unit/storage/model/random_seed.h"

namespace armature::engine::watch_test {

using codec::Item;
using codec::L;
using codec::N;
using codec::S;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kTable[] = "things";

class WatchTest : public testing::Test {
 protected:
  WatchTest() : engine_(store::Durability::kOs, SmallOptions()) {}

  static EngineOptions SmallOptions() {
    EngineOptions options;
    options.watches_max = 4;
    return options;
  }
  void Create(const std::string& view = "NEW_AND_OLD_IMAGES") {
    model::TableDefinition definition = PlainTable(kTable);
    definition.stream = {true, view};
    ASSERT_TRUE(engine_.CreateTable(definition).ok());
  }
  static WatchRequest Request(WatchStart start = WatchStart::kNow) {
    WatchRequest request;
    request.table_name = kTable;
    request.start = start;
    request.heartbeat_ms = 1000;
    return request;
  }
  static WatchRequest After(ChangeSequence sequence) {
    WatchRequest request = Request(WatchStart::kAfterSequence);
    request.after_sequence = SequenceText(sequence);
    return request;
  }
  std::shared_ptr<TableWatch> Open(const WatchRequest& request) {
    absl::StatusOr<std::shared_ptr<TableWatch>> watch = engine_->OpenWatch(request);
    EXPECT_TRUE(watch.ok()) << watch.status();
    return watch.ok() ? *std::move(watch) : nullptr;
  }
  std::string ErrorOf(const WatchRequest& request) {
    const auto watch = engine_->OpenWatch(request);
    return watch.ok() ? "" : ErrorText(watch.status());
  }
  static std::string ErrorText(const absl::Status& status) {
    const std::optional<ApiError> error = GetApiError(status);
    return error.has_value() ? error->message : status.ToString();
  }
  static absl::StatusOr<WatchPage> Next(TableWatch* watch) {
    Answer<WatchPage> answer;
    watch->Next(answer.Catch());
    return answer.Take();
  }
  // The first `count` changes.
  static std::vector<ChangeOfItem> Take(TableWatch* watch, size_t count, ChangeSequence* position = nullptr) {
    std::vector<ChangeOfItem> all;
    while (all.size() < count) {
      absl::StatusOr<WatchPage> page = Next(watch);
      EXPECT_TRUE(page.ok()) << page.status();
      if (!page.ok()) break;
      if (position != nullptr) *position = page->position;
      for (ChangeOfItem& change : page->changes) all.push_back(std::move(change));
    }
    return all;
  }
  void SetStream(bool enabled) {
    model::TableUpdate update;
    update.table_name = kTable;
    update.stream = {enabled, enabled ? "NEW_AND_OLD_IMAGES" : ""};
    Answer<TableDescription> answer;
    engine_->UpdateTable(update, answer.Catch());
    const auto updated = answer.Take();
    ASSERT_TRUE(updated.ok()) << updated.status();
  }
  store::StreamLog& log() { return engine_.database().streams(); }
  void Roll() { ASSERT_TRUE(log().BeginSegment(1).ok()); }
  void Put(std::string_view pk, std::string_view sk, int64_t n) {
    ASSERT_TRUE(engine_.Put(WriteTo(kTable, PlainItem(pk, sk, {{"n", N(std::to_string(n))}}))).ok());
  }
  static std::string PkOf(const ChangeOfItem& change) {
    return std::string(model::ItemView(change.keys).Find("pk")->scalar());
  }
  static std::string NumberOf(const std::optional<std::string>& image) {
    if (!image.has_value()) return "none";
    return std::string(model::ItemView(*image).Find("n")->scalar());
  }

  TestEngine engine_;
};

TEST_F(WatchTest, DeliversTheChangesOfAllPartitionsInOneOrder) {
  Create();
  const auto watch = Open(Request());
  ASSERT_TRUE(Next(watch.get()).ok());
  for (int i = 0; i < 200; ++i) Put(std::to_string(i % 17), "1", i);
  const std::vector<ChangeOfItem> changes = Take(watch.get(), 200);
  ASSERT_EQ(changes.size(), 200U);
  for (size_t i = 0; i < changes.size(); ++i) {
    EXPECT_EQ(NumberOf(changes[i].new_image), std::to_string(i));
    if (i > 0) {
      EXPECT_LT(changes[i - 1].sequence, changes[i].sequence);
    }
  }
}

TEST_F(WatchTest, BeginsNowWithTheNextChangeAndAtTheOldestWithTheFirst) {
  Create();
  Put("a", "1", 1);
  const auto now = Open(Request());
  const auto oldest = Open(Request(WatchStart::kOldest));
  Put("a", "1", 2);
  EXPECT_EQ(NumberOf(Take(now.get(), 1)[0].new_image), "2");
  const std::vector<ChangeOfItem> all = Take(oldest.get(), 2);
  EXPECT_EQ(NumberOf(all[0].new_image), "1");
  EXPECT_EQ(NumberOf(all[1].old_image), "1");
}

TEST_F(WatchTest, TellsItsPositionWhenNothingHappens) {
  Create();
  const auto watch = Open(Request());
  ChangeSequence before;
  for (int i = 0; i < 3; ++i) {
    const absl::StatusOr<WatchPage> page = Next(watch.get());
    ASSERT_TRUE(page.ok()) << page.status();
    EXPECT_THAT(page->changes, IsEmpty());
    EXPECT_GE(page->position, before);
    before = page->position;
  }
}

TEST_F(WatchTest, ResumesBehindAnyPositionWithoutLossOrRepetition) {
  Create();
  std::mt19937_64 random(PrintedTestSeed());
  for (int i = 0; i < 300; ++i) {
    Put(std::to_string(random() % 9), "1", i);
    if (random() % 40 == 0) Roll();
  }
  int64_t expected = 0;
  ChangeSequence position;
  WatchRequest request = Request(WatchStart::kOldest);
  while (expected < 300) {
    std::shared_ptr<TableWatch> watch = Open(request);
    ASSERT_NE(watch, nullptr);
    const absl::StatusOr<WatchPage> page = Next(watch.get());
    ASSERT_TRUE(page.ok()) << page.status();
    // A client that has handled a part of the page resumes behind its last change.
    const size_t handled = page->changes.empty() ? 0 : 1 + random() % page->changes.size();
    for (size_t i = 0; i < handled; ++i) EXPECT_EQ(NumberOf(page->changes[i].new_image), std::to_string(expected++));
    position = handled > 0 ? page->changes[handled - 1].sequence : page->position;
    request = After(position);
    watch->Cancel(CancelledError("over"));
    if (random() % 10 == 0) {
      watch.reset();
      engine_.Reopen();
    }
  }
}

TEST_F(WatchTest, FiltersByPartitionAndByExpressionAndMovesOn) {
  Create();
  WatchRequest request = Request();
  request.key_wire = Item({{"pk", S("a")}});
  request.expressions.filter = "n > :n";
  request.expressions.values_wire = Item({{":n", N("10")}});
  const auto watch = Open(request);
  for (int i = 0; i < 10; ++i) Put("b", std::to_string(i), 100);
  Put("a", "1", 5);
  Put("a", "2", 11);
  Put("a", "3", 12);
  ChangeSequence position;
  const std::vector<ChangeOfItem> changes = Take(watch.get(), 2, &position);
  EXPECT_EQ(NumberOf(changes[0].new_image), "11");
  EXPECT_EQ(NumberOf(changes[1].new_image), "12");
  EXPECT_EQ(position, changes[1].sequence);
}

TEST_F(WatchTest, FiltersARemovedItemByWhatItWas) {
  Create();
  Put("a", "1", 1);
  Put("b", "1", 20);
  WatchRequest request = Request();
  request.expressions.filter = "n > :n";
  request.expressions.values_wire = Item({{":n", N("10")}});
  const auto watch = Open(request);
  ASSERT_TRUE(engine_.Delete(WriteTo(kTable, PlainItem("a", "1"))).ok());
  ASSERT_TRUE(engine_.Delete(WriteTo(kTable, PlainItem("b", "1"))).ok());
  const std::vector<ChangeOfItem> changes = Take(watch.get(), 1);
  EXPECT_EQ(PkOf(changes[0]), "b");
  EXPECT_EQ(NumberOf(changes[0].new_image), "none");
}

TEST_F(WatchTest, PagesAreBoundedAsTheyAreAnswered) {
  Create("NEW_IMAGE");
  constexpr int kItems = 40;
  const auto watch = Open(Request());
  for (int i = 0; i < kItems; ++i) {
    std::vector<std::string> values(1000, N("1e125"));
    ASSERT_TRUE(
        engine_.Put(WriteTo(kTable, PlainItem(Cat("p", i % 8), "1", {{"n", N(std::to_string(i))}, {"l", L(values)}})))
            .ok());
  }
  int seen = 0;
  while (seen < kItems) {
    const absl::StatusOr<WatchPage> page = Next(watch.get());
    ASSERT_TRUE(page.ok()) << page.status();
    size_t bytes = 0;
    for (const ChangeOfItem& change : page->changes) {
      EXPECT_EQ(NumberOf(change.new_image), std::to_string(seen++));
      bytes += change.new_image->size();
    }
    EXPECT_LT(bytes, (size_t{1} << 20) + (size_t{1} << 17));
  }
}

TEST_F(WatchTest, NarrowsTheViewButDoesNotWidenIt) {
  Create("NEW_IMAGE");
  WatchRequest request = Request();
  request.view = "OLD_IMAGE";
  EXPECT_THAT(ErrorOf(request), HasSubstr("has the view type NEW_IMAGE, which does not contain OLD_IMAGE"));
  request.view = "KEYS_ONLY";
  const auto watch = Open(request);
  Put("a", "1", 1);
  const std::vector<ChangeOfItem> changes = Take(watch.get(), 1);
  EXPECT_EQ(PkOf(changes[0]), "a");
  EXPECT_FALSE(changes[0].new_image.has_value());
}

TEST_F(WatchTest, RefusesBadRequests) {
  ASSERT_TRUE(engine_.CreateTable(PlainTable("still")).ok());
  Create();
  WatchRequest request = Request();
  request.table_name = "still";
  EXPECT_THAT(ErrorOf(request), HasSubstr("Table still has no stream"));
  request.table_name = "missing";
  EXPECT_EQ(ErrorOf(request), "Requested resource not found");
  request.table_name = std::nullopt;
  EXPECT_THAT(ErrorOf(request), HasSubstr("tableName"));
  request = Request();
  request.key_wire = Item({{"pk", S("a")}, {"sk", S("1")}});
  EXPECT_THAT(ErrorOf(request), HasSubstr("does not match the schema"));
  request.key_wire = Item({{"pk", N("1")}});
  EXPECT_THAT(ErrorOf(request), HasSubstr("does not match the schema"));
  request.key_wire = Item({{"pk", S("")}});
  EXPECT_THAT(ErrorOf(request), HasSubstr("empty string"));
  request = Request();
  request.expressions.filter = "n >";
  EXPECT_THAT(ErrorOf(request), HasSubstr("Invalid FilterExpression"));
  request = Request();
  request.view = "ALL";
  EXPECT_THAT(ErrorOf(request), HasSubstr("viewType"));
  request = Request();
  request.heartbeat_ms = 10;
  EXPECT_THAT(ErrorOf(request), HasSubstr("heartbeatMs"));
  request = Request(WatchStart::kAfterSequence);
  request.after_sequence = "1";
  EXPECT_EQ(ErrorOf(request), "Invalid SequenceNumber");
  EXPECT_THAT(ErrorOf(After(ChangeSequence(log().watermark().value() + 1))), HasSubstr("is none of table things"));
  EXPECT_EQ(engine_->stats().watches.open, 0U);
}

TEST_F(WatchTest, APositionThatIsNoLongerKeptIsAnError) {
  Create();
  Put("a", "1", 1);
  const ChangeSequence first = Take(Open(Request(WatchStart::kOldest)).get(), 1)[0].sequence;
  Put("a", "1", 2);
  Roll();
  const auto behind = Open(After(first));
  ASSERT_TRUE(log().TrimOldest().ok());
  EXPECT_THAT(ErrorText(Next(behind.get()).status()), HasSubstr("fell behind"));
  EXPECT_THAT(ErrorOf(After(first)), HasSubstr("no longer kept"));
  EXPECT_EQ(engine_->stats().watches.fell_behind, 1U);
  // Writes between two streams of the table are in neither.
  Put("a", "1", 3);
  const ChangeSequence last = Take(Open(Request(WatchStart::kOldest)).get(), 1)[0].sequence;
  SetStream(false);
  Put("a", "1", 4);
  SetStream(true);
  EXPECT_THAT(ErrorOf(After(last)), HasSubstr("changes between them were not recorded"));
  Put("a", "1", 5);
  EXPECT_EQ(NumberOf(Take(Open(Request(WatchStart::kOldest)).get(), 1)[0].new_image), "5");
}

constexpr char kHoldVariable[] = "ARMATURE_TEST_HELD_TRIM";

// Runs in a child process whose fault point stops a trim between the removal of the records and its end.
TEST_F(WatchTest, DISABLED_ReadsDuringATrim) {
  const char* const file = getenv(kHoldVariable);
  if (file == nullptr) GTEST_SKIP() << "not started by a test";
  Create();
  const ChangeSequence before = log().watermark();
  for (int i = 0; i < 4; ++i) Put(std::to_string(i), "1", i);
  Roll();
  Put("a", "1", 5);
  const model::StreamDescriptor stream = log().StreamsOf(kTable).front();
  const SegmentId oldest = log().segments().front().id;
  const int held = open(file, O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(flock(held, LOCK_EX), 0);
  std::thread trimmer([this] { EXPECT_TRUE(log().TrimOldest().ok()); });
  size_t left = 0;
  const absl::Time deadline = absl::Now() + absl::Seconds(30);
  do {
    left = 0;
    for (uint8_t slot = 0; slot < store::kStreamSlotsMax; ++slot) {
      const auto count = [&left](ChangeSequence, std::string_view) -> absl::StatusOr<bool> { return ++left > 0; };
      ASSERT_TRUE(log().Read(oldest, stream.id, slot, ChangeSequence(0), count).ok());
    }
  } while (left > 0 && absl::Now() < deadline);
  EXPECT_EQ(left, 0U);
  WatchReader reader(&log(), stream, std::nullopt, before);
  EXPECT_THAT(ErrorText(reader.Read(1 << 20).status()), HasSubstr("fell behind"));
  close(held);
  trimmer.join();
}

TEST_F(WatchTest, RecordsThatAreBeingTrimmedAreNotPassedOver) {
  test::SkipWithoutFaultPoints();
  if (IsSkipped()) return;
  const std::string file = testing::TempDir() + "/held_trim_" + std::to_string(getpid());
  close(open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  setenv(kHoldVariable, file.c_str(), 1);
  setenv("ARMATURE_FAULT_POINT", ("stream.trimmed@" + file).c_str(), 1);
  std::string arguments[] = {"engine_test", "--gtest_filter=WatchTest.DISABLED_ReadsDuringATrim",
                             "--gtest_also_run_disabled_tests", "--gtest_brief=1"};
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  const int spawned = posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, argv.data(), environ);
  unsetenv("ARMATURE_FAULT_POINT");
  unsetenv(kHoldVariable);
  int status = -1;
  EXPECT_TRUE(spawned == 0 && waitpid(child, &status, 0) == child);
  EXPECT_EQ(status, 0);
  std::remove(file.c_str());
}

TEST_F(WatchTest, AWatchWithoutChangesSurvivesTheTrimOfOtherTablesRecords) {
  Create();
  model::TableDefinition busy = PlainTable("busy");
  busy.stream = {true, "KEYS_ONLY"};
  ASSERT_TRUE(engine_.CreateTable(busy).ok());
  Put("a", "1", 1);
  const auto watch = Open(Request(WatchStart::kOldest));
  Take(watch.get(), 1);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(engine_.Put(WriteTo("busy", PlainItem("b", "1", {{"n", N(std::to_string(i))}}))).ok());
    EXPECT_THAT(Next(watch.get())->changes, IsEmpty());
    Roll();
    ASSERT_TRUE(log().TrimOldest().ok());
  }
  Put("a", "1", 2);
  EXPECT_EQ(NumberOf(Take(watch.get(), 1)[0].new_image), "2");
}

TEST_F(WatchTest, EndsWithTheStreamAfterItsLastChange) {
  Create();
  const auto disabled = Open(Request());
  Put("a", "1", 1);
  SetStream(false);
  EXPECT_EQ(Take(disabled.get(), 1).size(), 1U);
  EXPECT_THAT(ErrorText(Next(disabled.get()).status()), HasSubstr("has ended, and all its changes were delivered"));
  SetStream(true);
  const auto deleted = Open(Request());
  ASSERT_TRUE(Next(deleted.get()).ok());
  Answer<WatchPage> waiting;
  deleted->Next(waiting.Catch());
  ASSERT_TRUE(engine_.DeleteTable(kTable).ok());
  EXPECT_TRUE(GetApiError(waiting.Take().status()).has_value());
}

TEST_F(WatchTest, NumbersOfWatchesAreLimitedInAllAndByClient) {
  Create();
  WatchRequest request = Request();
  request.client = "one";
  std::vector<std::shared_ptr<TableWatch>> watches = {Open(request), Open(request)};
  EXPECT_THAT(ErrorOf(request), HasSubstr("The client has 2 watches"));
  request.client = "two";
  watches.push_back(Open(request));
  request.client = "three";
  watches.push_back(Open(request));
  request.client = "four";
  EXPECT_THAT(ErrorOf(request), HasSubstr("There are 4 watches"));
  watches.pop_back();
  EXPECT_EQ(engine_->stats().watches.open, 3U);
  EXPECT_NE(Open(request), nullptr);
}

TEST_F(WatchTest, CancelAnswersTheCallThatWaitsAndAllLaterOnes) {
  Create();
  const auto watch = Open(Request());
  ASSERT_TRUE(Next(watch.get()).ok());
  Answer<WatchPage> waiting;
  watch->Next(waiting.Catch());
  watch->Cancel(CancelledError("over"));
  EXPECT_EQ(ErrorText(waiting.Take().status()), "over");
  EXPECT_EQ(ErrorText(Next(watch.get()).status()), "over");
}

TEST_F(WatchTest, EndsWhenTheServerStops) {
  Create();
  const auto watch = Open(Request());
  ASSERT_TRUE(Next(watch.get()).ok());
  Answer<WatchPage> waiting;
  watch->Next(waiting.Catch());
  engine_->EndWaits();
  EXPECT_EQ(ErrorText(waiting.Take().status()), "The server is stopping");
  EXPECT_EQ(ErrorOf(Request()), "The server is stopping");
}

// Writers on several threads; each item's changes must arrive in their order, and none may be missing.
TEST_F(WatchTest, ConcurrentWritersAndWatchersLoseNothing) {
  Create();
  constexpr int kWriters = 3;
  constexpr int kWrites = 300;
  std::vector<std::shared_ptr<TableWatch>> watches;
  for (const char* client : {"a", "b", "c"}) {
    WatchRequest request = Request();
    request.client = client;
    watches.push_back(Open(request));
  }
  std::vector<std::thread> threads;
  for (int writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([this, writer] {
      for (int i = 0; i < kWrites; ++i) Put(Cat("w", writer), "1", i);
    });
  }
  threads.emplace_back([this] {
    for (int i = 0; i < 10; ++i) Roll();
  });
  for (const std::shared_ptr<TableWatch>& watch : watches) {
    std::map<std::string, int64_t> next;
    for (const ChangeOfItem& change : Take(watch.get(), size_t{kWriters} * kWrites)) {
      EXPECT_EQ(NumberOf(change.new_image), std::to_string(next[PkOf(change)]++));
    }
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace armature::engine::watch_test
