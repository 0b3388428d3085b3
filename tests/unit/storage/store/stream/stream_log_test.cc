#include "storage/store/stream/stream_log.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "storage/base/api_error.h"
#include "storage/store/meta_keys.h"
#include "storage/store/stream/stream_keeper.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::stream_log_test {

model::TableDescriptor StreamTable(std::string_view name, std::string_view view = "NEW_AND_OLD_IMAGES") {
  model::TableDescriptor table = PlainTable(name);
  table.settings.stream_enabled = true;
  table.settings.stream_view_type = std::string(view);
  return table;
}

class StreamLogTest : public testing::Test {
 protected:
  void SetUp() override {
    options_.streams.shards = 4;
    Open();
  }

  void Open() {
    snapshot_.reset();
    database_.reset();
    database_ = OpenDatabase(options_);
    snapshot_ = database_->catalog();
  }
  void Create(const model::TableDescriptor& descriptor) { snapshot_ = CreateActive(database_.get(), descriptor); }
  void SetStream(const std::string& name, bool enabled) {
    const auto changed = database_->tables().Update(name, [&](model::TableDescriptor* table) {
      table->settings.stream_enabled = enabled;
      table->settings.stream_view_type = enabled ? "KEYS_ONLY" : "";
      table->settings.latest_stream_label =
          enabled ? "2026-01-01T00:00:00.00" + std::to_string(next_label_++) : table->LatestStreamLabel();
      return absl::OkStatus();
    });
    ASSERT_TRUE(changed.ok() && changed->has_value()) << changed.status();
    snapshot_ = database_->catalog();
  }

  const Table& TableOf(std::string_view name) const { return *snapshot_->Find(name); }
  StreamLog& log() { return database_->streams(); }
  // Writes a record, if the table has a stream, as the engine does.
  absl::StatusOr<ChangeSequence> Write(std::string_view name, const std::string& record, uint8_t slot = 0) {
    WriteUnit unit(snapshot_);
    unit.Put(TableOf(name).data, record, "v");
    const StreamSwitch::State stream = TableOf(name).stream->state();
    if (stream.stream != StreamId(0)) unit.SetStreamRecord(stream.stream, slot, record);
    return CommitAndWait(database_.get(), std::move(unit));
  }
  // The records of a slot in all segments.
  std::vector<std::string> Records(StreamId stream, uint8_t slot = 0) {
    std::vector<std::string> all;
    ChangeSequence last;
    for (const StreamSegment& segment : log().segments()) {
      const absl::StatusOr<bool> read = log().Read(segment.id, stream, slot, ChangeSequence(0),
                                                   [&](ChangeSequence sequence, std::string_view record) {
                                                     EXPECT_GT(sequence, last);
                                                     EXPECT_GE(sequence, segment.first_sequence);
                                                     last = sequence;
                                                     all.emplace_back(record);
                                                     return true;
                                                   });
      EXPECT_TRUE(read.ok() && *read) << read.status();
    }
    return all;
  }
  model::StreamDescriptor Only(std::string_view table) {
    const std::vector<model::StreamDescriptor> streams = log().StreamsOf(table);
    EXPECT_EQ(streams.size(), 1u);
    return streams.empty() ? model::StreamDescriptor() : streams.front();
  }

  using Strings = std::vector<std::string>;

  const test::TempDir dir_;
  DatabaseOptions options_ = TestOptions(dir_.path("data"));
  std::unique_ptr<Database> database_;
  std::shared_ptr<const CatalogSnapshot> snapshot_;
  int next_label_ = 1;
};

TEST_F(StreamLogTest, KeepsTheRecordsOfEachSlotInOrderAlsoAfterAReopen) {
  Create(StreamTable("t"));
  Create(PlainTable("plain"));
  for (const char* const record : {"a", "b", "c"}) ASSERT_TRUE(Write("t", record, 1).ok());
  ASSERT_TRUE(Write("t", "d", 3).ok());
  const absl::StatusOr<ChangeSequence> last = Write("plain", "e");
  ASSERT_TRUE(last.ok());
  const StreamId id = Only("t").id;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Records(id, 1), (Strings{"a", "b", "c"}));
    EXPECT_EQ(Records(id, 3), Strings{"d"});
    EXPECT_TRUE(Records(id, 0).empty());
    EXPECT_EQ(log().streams().size(), 1u);
    Open();
  }
  const absl::StatusOr<ChangeSequence> next = Write("t", "f", 3);
  ASSERT_TRUE(next.ok());
  EXPECT_GT(*next, *last) << "sequences go on";
  EXPECT_EQ(Records(id, 3), (Strings{"d", "f"}));
}

TEST_F(StreamLogTest, AUnitWithBothRecordsHasOneSequence) {
  Create(StreamTable("t"));
  WriteUnit unit(snapshot_);
  unit.Put(TableOf("t").data, "k", "v");
  unit.SetChangeRecord(TableOf("t").descriptor.id, "change");
  unit.SetStreamRecord(TableOf("t").stream->state().stream, 0, "stream");
  const absl::StatusOr<ChangeSequence> first = CommitAndWait(database_.get(), std::move(unit));
  ASSERT_TRUE(first.ok());
  const absl::StatusOr<ChangeSequence> second = Write("t", "next");
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->value(), first->value() + 1);
}

TEST_F(StreamLogTest, ADisabledStreamGetsNoMoreRecordsAndIsKept) {
  Create(StreamTable("t"));
  const absl::StatusOr<ChangeSequence> first = Write("t", "a");
  ASSERT_TRUE(first.ok());
  const StreamSwitch::State before = TableOf("t").stream->state();
  const std::shared_ptr<const CatalogSnapshot> earlier = snapshot_;
  SetStream("t", false);
  EXPECT_EQ(earlier->Find("t")->stream->state().stream, StreamId(0)) << "all states of a table share the switch";
  // A request that had made its record before.
  WriteUnit late(snapshot_);
  late.Put(TableOf("t").data, "k", "v");
  late.SetStreamRecord(before.stream, 0, "late");
  ASSERT_TRUE(CommitAndWait(database_.get(), std::move(late)).ok());
  ASSERT_TRUE(Write("t", "b").ok());
  const model::StreamDescriptor stream = Only("t");
  EXPECT_FALSE(stream.is_enabled());
  EXPECT_EQ(stream.last_sequence, *first);
  EXPECT_EQ(Records(stream.id), Strings{"a"});

  SetStream("t", true);
  ASSERT_TRUE(Write("t", "c").ok());
  Open();
  const std::vector<model::StreamDescriptor> streams = log().StreamsOf("t");
  ASSERT_EQ(streams.size(), 2u);
  EXPECT_NE(streams[0].label, streams[1].label);
  EXPECT_EQ(streams[1].view, model::StreamView::kKeysOnly);
  EXPECT_EQ(Records(streams[0].id), Strings{"a"});
  EXPECT_EQ(Records(streams[1].id), Strings{"c"});
  EXPECT_GT(streams[1].first_sequence, streams[0].last_sequence);
}

TEST_F(StreamLogTest, TheStreamOfADeletedTableStays) {
  Create(StreamTable("t"));
  ASSERT_TRUE(Write("t", "a").ok());
  const model::StreamDescriptor before = Only("t");
  ASSERT_TRUE(database_->tables().Delete("t").ok());
  snapshot_.reset();
  ASSERT_TRUE(Eventually([&] { return database_->catalog()->Find("t") == nullptr; }));
  Open();
  EXPECT_FALSE(Only("t").is_enabled());
  EXPECT_EQ(Records(before.id), Strings{"a"});
  Create(StreamTable("t"));
  ASSERT_TRUE(Write("t", "b").ok());
  ASSERT_EQ(log().StreamsOf("t").size(), 2u);
  EXPECT_EQ(Records(before.id), Strings{"a"});
  EXPECT_EQ(Records(log().StreamsOf("t")[1].id), Strings{"b"});
}

TEST_F(StreamLogTest, SegmentsAreTrimmedWhenTheyAreOldAndStreamsWithTheirLastRecord) {
  Create(StreamTable("t"));
  constexpr int64_t kRetention = 6000;
  int64_t now_ms = absl::ToUnixMillis(absl::Now());
  StreamKeeper keeper(&log(), {.retention_ms = kRetention, .bytes_max = uint64_t{1} << 30}, [&] { return now_ms; });
  const StreamId id = Only("t").id;
  ASSERT_TRUE(Write("t", "a").ok());
  now_ms += kRetention / 6;
  ASSERT_TRUE(keeper.RunOnce().ok());
  ASSERT_EQ(log().segments().size(), 2u);
  ASSERT_TRUE(keeper.RunOnce().ok());
  now_ms += kRetention / 6;
  ASSERT_TRUE(keeper.RunOnce().ok());
  EXPECT_EQ(log().segments().size(), 2u) << "an empty segment goes on";
  ASSERT_TRUE(Write("t", "b").ok());
  EXPECT_EQ(Records(id), (Strings{"a", "b"}));
  now_ms += kRetention - kRetention / 6 - 1;
  ASSERT_TRUE(keeper.RunOnce().ok());
  EXPECT_EQ(Records(id), (Strings{"a", "b"})) << "the first segment ended less than the retention ago";
  now_ms += 1;
  ASSERT_TRUE(keeper.RunOnce().ok());
  EXPECT_EQ(Records(id), Strings{"b"});
  SetStream("t", false);
  now_ms = log().streams().front().ended_ms + kRetention - 1;
  ASSERT_TRUE(keeper.RunOnce().ok());
  EXPECT_EQ(log().streams().size(), 1u);
  now_ms += 1;
  ASSERT_TRUE(keeper.RunOnce().ok());
  EXPECT_TRUE(log().streams().empty());
  EXPECT_EQ(keeper.trimmed_early(), 0u);
}

TEST_F(StreamLogTest, BeyondTheirSpaceTheOldestRecordsGo) {
  Create(StreamTable("t"));
  constexpr uint64_t kBytesMax = 160'000;
  const int64_t now_ms = absl::ToUnixMillis(absl::Now());
  StreamKeeper keeper(&log(), {.retention_ms = 1'000'000, .bytes_max = kBytesMax}, [&] { return now_ms; });
  for (int i = 0; i < 400; ++i) {
    ASSERT_TRUE(Write("t", std::string(1000, static_cast<char>('a' + i % 26))).ok());
    ASSERT_TRUE(keeper.RunOnce().ok());
    ASSERT_LE(log().bytes(), kBytesMax + kBytesMax / 16 + 2000);
  }
  EXPECT_GT(keeper.trimmed_early(), 0u);
  const Strings kept = Records(Only("t").id);
  EXPECT_GT(kept.size(), 100u);
  EXPECT_EQ(kept.back()[0], static_cast<char>('a' + 399 % 26));
}

TEST_F(StreamLogTest, SequencesNeverRepeatAfterASegmentBegan) {
  Create(StreamTable("t"));
  ASSERT_TRUE(Write("t", "a").ok());
  // A batch that fails takes sequences, too; here, one that is lost.
  ASSERT_TRUE(log().BeginSegment(absl::ToUnixMillis(absl::Now())).ok());
  const ChangeSequence first = log().segments().back().first_sequence;
  Open();
  const absl::StatusOr<ChangeSequence> next = Write("t", "b");
  ASSERT_TRUE(next.ok());
  EXPECT_GE(*next, first);
  EXPECT_EQ(Records(Only("t").id), (Strings{"a", "b"}));
}

TEST_F(StreamLogTest, WritersAndSegmentsAtTheSameTimeLoseNothing) {
  Create(StreamTable("t"));
  constexpr int kWrites = 400;
  std::atomic<bool> done = false;
  std::thread roller([&] {
    while (!done) EXPECT_TRUE(log().BeginSegment(absl::ToUnixMillis(absl::Now())).ok());
  });
  std::vector<std::thread> writers;
  for (uint8_t slot = 0; slot < 2; ++slot) {
    writers.emplace_back([&, slot] {
      for (int i = 0; i < kWrites; ++i) EXPECT_TRUE(Write("t", std::to_string(i), slot).ok());
    });
  }
  for (std::thread& writer : writers) writer.join();
  done = true;
  roller.join();
  const StreamId id = Only("t").id;
  for (uint8_t slot = 0; slot < 2; ++slot) {
    const Strings records = Records(id, slot);
    ASSERT_EQ(records.size(), size_t{kWrites});
    for (int i = 0; i < kWrites; ++i) ASSERT_EQ(records[static_cast<size_t>(i)], std::to_string(i));
  }
}

TEST_F(StreamLogTest, TagsAndPolicyAreKept) {
  Create(StreamTable("t"));
  const std::string label = Only("t").label;
  const auto tag = [](model::StreamDescriptor* stream) {
    stream->tags.emplace_back("k", "v");
    stream->resource_policy = {"{}", "1"};
    return absl::OkStatus();
  };
  EXPECT_TRUE(*log().ChangeSettings("t", label, tag));
  EXPECT_FALSE(*log().ChangeSettings("t", "2020-01-01T00:00:00.000", tag));
  EXPECT_FALSE(log().ChangeSettings("t", label, [](model::StreamDescriptor*) { return ValidationError("no"); }).ok());
  Open();
  EXPECT_EQ(Only("t").tags, (model::Tags{{"k", "v"}}));
  EXPECT_EQ(Only("t").resource_policy, (model::ResourcePolicy{"{}", "1"}));
}

}  // namespace armature::store::stream_log_test
