// Indexes are built concurrently on several tables, one after another within a table, while clients write to all tables
// and the daemon is killed repeatedly. ARMATURE_INDEX_CRASH_ITEMS and _KILLS set the size.

#include <atomic>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "armature/client/wait.h"
#include "tests/crash/expected_rows.h"
#include "tests/crash/table_checker.h"
#include "tests/support/daemon_test.h"
#include "tests/unit/storage/model/random_seed.h"

namespace armature::test::index_build_crash_test {

using client::Client;
using testing::IsEmpty;

constexpr int kTables = 3;
constexpr int kWritersPerTable = 4;
constexpr int kIndexes = 3;
constexpr absl::Duration kPatience = absl::Minutes(20);

int64_t Setting(const char* name, int64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::max<int64_t>(1, std::atoll(text));
}

std::string TableName(int table) { return "building-" + std::to_string(table); }
std::string IndexName(int number) { return "index-" + std::to_string(number % kIndexes); }

// The definition of an index, for UpdateTable.
std::string IndexJson(int number) {
  const std::vector<std::string> shapes = {
      R"("Projection": {"ProjectionType": "ALL"}, "KeySchema": [{"AttributeName": "v", "KeyType": "HASH"},
         {"AttributeName": "g", "KeyType": "RANGE"}])",
      R"("Projection": {"ProjectionType": "KEYS_ONLY"}, "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}])",
      R"("Projection": {"ProjectionType": "ALL"}, "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"},
         {"AttributeName": "l", "KeyType": "RANGE"}])"};
  return R"({"IndexName": ")" + IndexName(number) + "\", " + shapes[static_cast<size_t>(number % kIndexes)] + "}";
}

class IndexBuildCrashTest : public DaemonTest {
 protected:
  IndexBuildCrashTest() : rng_(PrintedTestSeed()), serving_(client()) {
    for (int table = 0; table < kTables; ++table) {
      Create(R"({"TableName": ")" + TableName(table) + R"(", "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "sk", "AttributeType": "N"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}]})");
    }
  }

  // Repeats the call until the current daemon answers.
  template <class Call>
  absl::Status Persist(Call call) {
    while (true) {
      const auto [to, generation] = Serving();
      const absl::Status status = call(to);
      if (!absl::IsUnavailable(status) && !absl::IsDeadlineExceeded(status)) return status;
      const absl::MutexLock lock(&mutex_);
      const auto another = [&, known = generation]()
                               ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return generation_ != known; };
      if (!mutex_.AwaitWithTimeout(absl::Condition(&another), absl::Minutes(1))) return status;
    }
  }

  void KillAndRestart() {
    daemon().Kill();
    daemon().Restart();
    const absl::MutexLock lock(&mutex_);
    serving_ = client();
    ++generation_;
  }

  // Puts all items of all tables once.
  void Load() {
    std::vector<std::thread> threads;
    for (Writer& writer : writers_) {
      threads.emplace_back([this, &writer] {
        for (int64_t row = 0; row < items_ / kWritersPerTable; ++row) Write(&writer, row, ++last_version_);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  // A writer with its own rows in a shared table. Writers share the partitions.
  struct Writer {
    int table = 0;
    int number = 0;
    std::map<RowKey, Version> rows = {};  // as acknowledged; 0: none
  };

  static RowKey KeyOf(const Writer& writer, int64_t row) {
    return {"p" + std::to_string(row % 100), row * kWritersPerTable + writer.number};
  }

  void Write(Writer* writer, int64_t row, Version version) {
    const RowKey key = KeyOf(*writer, row);
    const absl::Status written = Persist([&](const Client& to) {
      if (version != 0) {
        api::v1::PutItemRequest request;
        request.set_table_name(TableName(writer->table));
        *request.mutable_item() = ItemOfVersion(key, version);
        return to.PutItem(request).status();
      }
      api::v1::DeleteItemRequest request;
      request.set_table_name(TableName(writer->table));
      *request.mutable_key() = KeyItem(key);
      return to.DeleteItem(request).status();
    });
    EXPECT_TRUE(written.ok()) << written;
    writer->rows[key] = version;
  }

  void WriteUntilDone(Writer* writer, uint64_t seed) {
    std::mt19937_64 rng(seed);
    while (!done_ && !HasFailure()) {
      const auto row = static_cast<int64_t>(rng() % static_cast<uint64_t>(items_ / kWritersPerTable));
      Write(writer, row, rng() % 4 == 0 ? 0 : ++last_version_);
    }
  }

  bool HasIndex(const Client& to, int table, const std::string& name) {
    api::v1::DescribeTableRequest request;
    request.set_table_name(TableName(table));
    const auto described = to.DescribeTable(request);
    if (!described.ok()) return false;
    for (const auto& index : described->table().global_secondary_indexes()) {
      if (index.index_name() == name) return true;
    }
    return false;
  }

  absl::Status UpdateIndexes(const Client& to, int table, const std::string& update) {
    return to
        .UpdateTable(FromJson<api::v1::UpdateTableRequest>(
            R"({"TableName": ")" + TableName(table) +
            R"(", "AttributeDefinitions": [{"AttributeName": "g", "AttributeType": "S"},
                {"AttributeName": "v", "AttributeType": "N"}, {"AttributeName": "l", "AttributeType": "S"}],
                "GlobalSecondaryIndexUpdates": [)" +
            update + "]}"))
        .status();
  }

  // Repeats until the table has the index, or no longer has it, and is ACTIVE. The daemon may die before it answers.
  void SetIndex(int table, int number, bool present) {
    const std::string name = IndexName(number);
    const absl::Status set = Persist([&](const Client& to) {
      if (HasIndex(to, table, name) != present) {
        const std::string update =
            present ? R"({"Create": )" + IndexJson(number) + "}" : R"({"Delete": {"IndexName": ")" + name + R"("}})";
        if (absl::Status updated = UpdateIndexes(to, table, update); !updated.ok()) return updated;
      }
      return client::WaitForTable(to, TableName(table), absl::Now() + kPatience);
    });
    EXPECT_TRUE(set.ok()) << set;
  }

  // Builds all indexes of a table, and starts again while kills are outstanding.
  void BuildIndexes(int table) {
    for (int number = 0; (number < kIndexes || !killed_) && !HasFailure(); ++number) {
      if (number >= kIndexes) SetIndex(table, number, false);
      SetIndex(table, number, true);
    }
  }

  void BuildWhileWritingAndDying(int64_t kills) {
    std::vector<std::thread> threads;
    for (Writer& writer : writers_) {
      threads.emplace_back([this, &writer, seed = rng_()] { WriteUntilDone(&writer, seed); });
    }
    std::vector<std::thread> builders;
    for (int table = 0; table < kTables; ++table) builders.emplace_back([this, table] { BuildIndexes(table); });
    for (int64_t kill = 0; kill < kills; ++kill) {
      // Long enough for several pages of each table, short enough to hit the middle of a build.
      const auto longest = static_cast<int64_t>(100 + items_ / 50);
      const int64_t pause = std::uniform_int_distribution<int64_t>(20, longest)(rng_);
      absl::Notification().WaitForNotificationWithTimeout(absl::Milliseconds(pause));
      KillAndRestart();
    }
    killed_ = true;
    for (std::thread& builder : builders) builder.join();
    done_ = true;
    for (std::thread& thread : threads) thread.join();
  }

  void CheckRows(int table) {
    std::map<RowKey, Version> expected;
    for (const Writer& writer : writers_) {
      if (writer.table != table) continue;
      for (const auto& [key, version] : writer.rows) {
        if (version != 0) expected[key] = version;
      }
    }
    const auto items = ScanAll(client(), TableName(table));
    ASSERT_TRUE(items.ok()) << items.status();
    ASSERT_EQ(items->size(), expected.size());
    for (const client::Item& item : *items) {
      const RowKey key = {item.attributes().at("pk").s(), std::atoll(item.attributes().at("sk").n().c_str())};
      ASSERT_EQ(VersionOf(item), expected[key]) << ToJson(item);
    }
  }

  void Verify(int table) {
    admin::v1::VerifyTableRequest request;
    request.set_table_name(TableName(table));
    do {
      const auto page = client().VerifyTable(request);
      ASSERT_TRUE(page.ok()) << page.status();
      ASSERT_EQ(page->differences_size(), 0) << page->differences(0).ShortDebugString();
      rows_verified_ += page->rows_checked();
      request.set_start_position(page->next_position());
    } while (!request.start_position().empty());
  }

  std::pair<Client, int> Serving() {
    const absl::MutexLock lock(&mutex_);
    return {serving_, generation_};
  }

  static std::vector<Writer> Writers() {
    std::vector<Writer> writers;
    for (int i = 0; i < kTables * kWritersPerTable; ++i) writers.push_back({i % kTables, i / kTables});
    return writers;
  }

  std::mt19937_64 rng_;
  const int64_t items_ = Setting("ARMATURE_INDEX_CRASH_ITEMS", 2'000);
  std::vector<Writer> writers_ = Writers();
  std::atomic<Version> last_version_{0};
  std::atomic<bool> killed_{false};  // all kills are done
  std::atomic<bool> done_{false};
  int64_t rows_verified_ = 0;

 private:
  absl::Mutex mutex_;
  Client serving_ ABSL_GUARDED_BY(mutex_);
  int generation_ ABSL_GUARDED_BY(mutex_) = 0;
};

TEST_F(IndexBuildCrashTest, IndexesAreWholeWhateverHappensMeanwhile) {
  ASSERT_NO_FATAL_FAILURE(Load());
  ASSERT_NO_FATAL_FAILURE(BuildWhileWritingAndDying(Setting("ARMATURE_INDEX_CRASH_KILLS", 3)));
  for (int table = 0; table < kTables && !HasFailure(); ++table) {
    SCOPED_TRACE(TableName(table));
    for (int number = 0; number < kIndexes; ++number) EXPECT_TRUE(HasIndex(client(), table, IndexName(number)));
    ASSERT_NO_FATAL_FAILURE(CheckRows(table));
    EXPECT_THAT(FindDisagreements(client(), TableName(table)), IsEmpty());
    ASSERT_NO_FATAL_FAILURE(Verify(table));
  }
  EXPECT_GT(rows_verified_, kTables * items_ / 2);
}

}  // namespace armature::test::index_build_crash_test
