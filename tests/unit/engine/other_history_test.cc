// Positions that clients keep, in a database that was restored, copied or made anew: they are of another history of the
// table, and are refused in place of skipping its changes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "engine/streams/stream_ops.h"
#include "engine/watch/table_watch.h"
#include "storage/model/table_name.h"
#include "storage/store/backup/backup_repository.h"
#include "storage/store/database_copy.h"
#include "storage/store/recovery.h"
#include "storage/store/salvage.h"
#include "storage/store/stream/stream_log.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/engine/engine_test_util.h"
#include "tests/unit/engine/items/group_test_util.h"

namespace armature::engine::other_history_test {

using codec::Item;
using codec::N;
using codec::S;
using testing::HasSubstr;

constexpr char kTable[] = "things";
constexpr int kBefore = 50;  // changes that both histories have
constexpr int kLost = 30;    // changes of the first history only
constexpr int kNew = 80;     // changes of the second history only

// The daemon's parts over one data directory.
class Daemon {
 public:
  explicit Daemon(const std::string& path) {
    store::DatabaseOptions options;
    options.path = path;
    options.durability = store::Durability::kOs;
    auto opened = store::Database::Open(options);
    EXPECT_TRUE(opened.ok()) << opened.status();
    if (!opened.ok()) return;
    database_ = *std::move(opened);
    engine_ = std::make_unique<Engine>(database_.get(), EngineOptions());
  }

  store::Database& database() { return *database_; }
  Engine& engine() { return *engine_; }

  void Create() {
    model::TableDefinition definition = PlainTable(kTable);
    definition.stream = {true, "NEW_AND_OLD_IMAGES"};
    definition.attribute_definitions.push_back({"g", "S"});
    definition.global_indexes = {IndexOf("by_g", {{"g", "HASH"}}, "ALL")};
    Answer<TableDescription> answer;
    engine_->CreateTable(definition, answer.Catch());
    const auto created = answer.Take();
    ASSERT_TRUE(created.ok()) << created.status();
    ASSERT_TRUE(TestEngine::WaitUntil([&] {
                  const auto snapshot = database_->catalog();
                  const store::Table* const table = snapshot->Find(kTable);
                  return table != nullptr && table->descriptor.state == model::TableState::kActive;
                }).ok());
  }
  // Returns the change sequence of the last one.
  uint64_t Put(int count, const std::string& kind) {
    uint64_t last = 0;
    for (int i = 0; i < count; ++i) {
      Answer<WriteResult> answer;
      engine_->PutItem({}, WriteTo(kTable, PlainItem("p", std::to_string(i), {{"kind", S(kind)}, {"g", S("g")}})),
                       answer.Catch());
      const auto written = answer.Take();
      EXPECT_TRUE(written.ok()) << written.status();
      last = written.ok() ? written->change_sequence : 0;
    }
    return last;
  }
  std::string Arn() {
    const auto streams = database_->streams().StreamsOf(kTable);
    return streams.empty() ? "" : model::StreamArn(kTable, streams.back().label);
  }
  std::vector<ShardRange> Shards(const std::string& arn) {
    const auto described = DescribeStream(*database_, {arn, {}, {}, {}});
    EXPECT_TRUE(described.ok()) << described.status();
    return described.ok() ? described->shards : std::vector<ShardRange>();
  }
  absl::StatusOr<GetRecordsResult> Get(const std::string& iterator) { return GetRecords(*database_, {iterator, {}}); }
  // Numbers of changes by kind that a consumer gets that begins at the oldest record.
  std::map<std::string, int> ReadAll(const std::string& arn) {
    std::map<std::string, int> kinds;
    for (const ShardRange& shard : Shards(arn)) {
      auto iterator = GetShardIterator(*database_, {arn, ShardIdText(shard.key), "TRIM_HORIZON", {}});
      EXPECT_TRUE(iterator.ok()) << iterator.status();
      if (!iterator.ok()) continue;
      std::optional<std::string> next = *iterator;
      while (next.has_value()) {
        const auto page = Get(*next);
        EXPECT_TRUE(page.ok()) << page.status();
        if (!page.ok() || page->records.empty()) break;
        for (const ChangeOfItem& change : page->records) {
          for (const char* const kind : {"first", "lost", "new"}) {
            if (change.new_image->find(kind) != std::string::npos) ++kinds[kind];
          }
        }
        next = page->next_shard_iterator;
      }
    }
    return kinds;
  }
  absl::Status Read(uint64_t at_least) {
    ReadRequest request;
    request.table_name = kTable;
    request.index_name = "by_g";
    request.at_least_sequence = at_least;
    ItemCollector items;
    Answer<ReadResult> answer;
    engine_->Scan({}, std::move(request), &items, answer.Catch());
    return answer.Take().status();
  }
  absl::Status Watch(uint64_t after) {
    WatchRequest request;
    request.table_name = kTable;
    request.start = WatchStart::kAfterSequence;
    request.after_sequence = SequenceText(ChangeSequence(after));
    return engine_->OpenWatch(request).status();
  }

 private:
  std::unique_ptr<store::Database> database_;
  std::unique_ptr<Engine> engine_;
};

// Positions of the first history, as its clients keep them.
struct Positions {
  std::string arn;
  std::vector<std::string> iterators;
  std::vector<std::pair<std::string, std::string>> sequences;  // shard and sequence number of its last record
  std::vector<std::pair<std::string, std::string>> begins;
  uint64_t change = 0;
};

Positions Take(Daemon* daemon, uint64_t change) {
  Positions positions;
  positions.arn = daemon->Arn();
  positions.change = change;
  for (const ShardRange& shard : daemon->Shards(positions.arn)) {
    auto first = GetShardIterator(daemon->database(), {positions.arn, ShardIdText(shard.key), "TRIM_HORIZON", {}});
    EXPECT_TRUE(first.ok()) << first.status();
    const auto page = daemon->Get(first.value_or(""));
    EXPECT_TRUE(page.ok()) << page.status();
    if (!page.ok()) continue;
    // None behind the end of a closed shard.
    if (page->next_shard_iterator.has_value()) positions.iterators.push_back(*page->next_shard_iterator);
    positions.begins.emplace_back(ShardIdText(shard.key), SequenceText(shard.first));
    if (page->records.empty()) continue;
    positions.sequences.emplace_back(ShardIdText(shard.key), SequenceText(page->records.back().sequence));
  }
  return positions;
}

std::string Error(const absl::Status& status) {
  const std::optional<ApiError> error = GetApiError(status);
  return error.has_value() ? Cat(ErrorNameOf(status), ": ", error->message) : status.ToString();
}

class OtherHistoryTest : public testing::Test {
 protected:
  // The first history: in `data`, and up to its first changes in a backup and in a copy.
  void SetUp() override {
    {
      Daemon daemon(data_);
      daemon.Create();
      daemon.Put(kBefore, "first");
      auto backups =
          store::BackupRepository::Open(dir_.path("backups"), {.mode = store::BackupRepositoryOptions::Mode::kWrite});
      ASSERT_TRUE(backups.ok()) << backups.status();
      const auto made = (*backups)->Create(&daemon.database(), "", nullptr);
      ASSERT_TRUE(made.ok()) << made.status();
    }
    std::filesystem::copy(data_, dir_.path("copied"), std::filesystem::copy_options::recursive);
    Daemon daemon(data_);
    old_ = Take(&daemon, daemon.Put(kLost, "lost"));
  }

  absl::Status Restore(const std::string& to) {
    auto backups = store::BackupRepository::Open(dir_.path("backups"), {});
    return backups.ok() ? (*backups)->Restore(1, store::LocalVolume(), to, nullptr) : backups.status();
  }

  // Every position is refused before and behind new changes, and a consumer that begins anew gets all of these.
  void ExpectRefused(const std::string& path, int lost = 0) {
    Daemon daemon(path);
    ExpectErrors(&daemon);
    const uint64_t now = daemon.Put(kNew, "new");
    ExpectErrors(&daemon);
    EXPECT_GT(now, old_.change) << "sequences only increase";
    const std::vector<ShardRange> shards = daemon.Shards(daemon.Arn());
    EXPECT_FALSE(shards.back().parent.has_value()) << "a consumer that waits for the parent's end would wait for ever";
    auto kinds = daemon.ReadAll(daemon.Arn());
    EXPECT_EQ(kinds["new"], kNew);
    EXPECT_EQ(kinds["lost"], lost);
    EXPECT_EQ(kinds["first"], kBefore);
    EXPECT_TRUE(daemon.Read(now).ok());
    EXPECT_TRUE(daemon.Watch(now).ok());
    ExpectOwnPositions(&daemon, now);
  }

  void ExpectErrors(Daemon* daemon, bool has_index = true) {
    for (const std::string& iterator : old_.iterators) {
      EXPECT_THAT(Error(daemon->Get(iterator).status()), HasSubstr("TrimmedDataAccessException"));
    }
    EXPECT_FALSE(old_.sequences.empty());
    for (const auto& [shard, sequence] : old_.sequences) {
      for (const char* const type : {"AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"}) {
        EXPECT_THAT(Error(GetShardIterator(daemon->database(), {old_.arn, shard, type, sequence}).status()),
                    HasSubstr("TrimmedDataAccessException"));
      }
    }
    if (has_index) {
      EXPECT_THAT(Error(daemon->Read(old_.change)), HasSubstr("is of another history"));
    }
    EXPECT_THAT(Error(daemon->Watch(old_.change)), HasSubstr("TrimmedDataAccessException"));
  }

  // The new history is one like any other: its positions outlast a restart.
  void ExpectOwnPositions(Daemon* daemon, uint64_t now) {
    const Positions own = Take(daemon, now);
    EXPECT_FALSE(own.iterators.empty());
    for (const std::string& iterator : own.iterators) EXPECT_TRUE(daemon->Get(iterator).ok());
    for (const auto& [shard, sequence] : own.begins) {
      EXPECT_TRUE(GetShardIterator(daemon->database(), {own.arn, shard, "AT_SEQUENCE_NUMBER", sequence}).ok());
    }
  }

  test::TempDir dir_;
  const std::string data_ = dir_.path("data");
  Positions old_;
};

TEST_F(OtherHistoryTest, ARestoredDirectoryRefusesPositionsOfBefore) {
  ASSERT_TRUE(Restore(dir_.path("restored")).ok());
  ExpectRefused(dir_.path("restored"));
}

TEST_F(OtherHistoryTest, AnOlderBackupInPlaceOfTheDirectoryRefusesThem) {
  std::filesystem::remove_all(data_);
  ASSERT_TRUE(Restore(data_).ok());
  ExpectRefused(data_);
}

TEST_F(OtherHistoryTest, TwoRestoresDoNotTakeEachOthersPositions) {
  ASSERT_TRUE(Restore(dir_.path("a")).ok());
  ASSERT_TRUE(Restore(dir_.path("b")).ok());
  {
    Daemon daemon(dir_.path("a"));
    old_ = Take(&daemon, daemon.Put(kLost, "lost"));
  }
  Daemon daemon(dir_.path("b"));
  daemon.Put(kNew, "new");
  for (const std::string& iterator : old_.iterators) EXPECT_FALSE(daemon.Get(iterator).ok());
  for (const auto& [shard, sequence] : old_.sequences) {
    EXPECT_FALSE(GetShardIterator(daemon.database(), {old_.arn, shard, "AFTER_SEQUENCE_NUMBER", sequence}).ok());
  }
  EXPECT_FALSE(daemon.Read(old_.change).ok());
  EXPECT_FALSE(daemon.Watch(old_.change).ok());
}

TEST_F(OtherHistoryTest, ACopiedDirectoryRefusesThem) { ExpectRefused(dir_.path("copied")); }

TEST_F(OtherHistoryTest, FilesOfAnOlderCopyInTheDirectoryRefuseThem) {
  // As `cp -a copy/. data/`: existing files are overwritten, and stay the same files.
  std::filesystem::remove_all(Cat(data_, "/db"));
  std::filesystem::copy(dir_.path("copied"), data_,
                        std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
  ExpectRefused(data_);
}

TEST_F(OtherHistoryTest, ACopyByTheStoreRefusesThem) {
  const absl::Status copied =
      store::CopyDatabase(store::LocalVolume(), dir_.path("copied"), store::LocalVolume(), dir_.path("moved"), nullptr);
  ASSERT_TRUE(copied.ok()) << copied;
  ExpectRefused(dir_.path("moved"));
}

TEST_F(OtherHistoryTest, ASalvagedDirectoryRefusesThem) {
  const auto salvaged = store::Salvage(store::LocalVolume(), dir_.path("copied"), dir_.path("salvaged"));
  ASSERT_TRUE(salvaged.ok()) << salvaged.status();
  Daemon daemon(dir_.path("salvaged"));
  daemon.Put(kNew, "new");
  ExpectErrors(&daemon, /*has_index=*/false);  // it is being filled
}

TEST_F(OtherHistoryTest, AStartWithoutLostWritesRefusesThem) {
  ASSERT_TRUE(store::AcceptLosses(store::LocalVolume(), data_, {}).ok());
  ExpectRefused(data_, kLost);
}

TEST_F(OtherHistoryTest, ATableInADatabaseMadeAnewRefusesThem) {
  Daemon daemon(dir_.path("new"));
  daemon.Create();
  daemon.Put(kNew, "new");
  EXPECT_FALSE(daemon.Read(old_.change).ok());
  EXPECT_FALSE(daemon.Watch(old_.change).ok());
  for (const std::string& iterator : old_.iterators) EXPECT_FALSE(daemon.Get(iterator).ok());
}

TEST_F(OtherHistoryTest, ARestartAndAMoveKeepThem) {
  for (const char* const path : {"data", "moved"}) {
    if (std::string(path) == "moved") std::filesystem::rename(data_, dir_.path("moved"));
    Daemon daemon(dir_.path(path));
    for (const std::string& iterator : old_.iterators) EXPECT_TRUE(daemon.Get(iterator).ok());
    for (const auto& [shard, sequence] : old_.sequences) {
      EXPECT_TRUE(GetShardIterator(daemon.database(), {old_.arn, shard, "AFTER_SEQUENCE_NUMBER", sequence}).ok());
    }
    EXPECT_TRUE(daemon.Read(old_.change).ok());
    EXPECT_TRUE(daemon.Watch(old_.change).ok());
  }
}

}  // namespace armature::engine::other_history_test
