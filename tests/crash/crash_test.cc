// SIGKILL at random moments and at every fault point, then a comparison of the database with the acknowledged writes.

#include <stdlib.h>

#include <atomic>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "armature/client/transaction.h"
#include "armature/client/wait.h"
#include "tests/crash/expected_rows.h"
#include "tests/crash/table_checker.h"
#include "tests/support/daemon_test.h"
#include "tests/support/fault_points.h"
#include "tests/unit/storage/model/random_seed.h"

namespace armature::test::crash_test {

using testing::IsEmpty;

constexpr char kTable[] = "crash";
constexpr absl::Duration kPatience = absl::Seconds(30);
constexpr int kWriters = 8;
constexpr int64_t kKeysPerWriter = 40;

// Number of rounds, as a multiple of the fast run.
int Rounds() {
  const char* const text = std::getenv("ARMATURE_CRASH_ROUNDS");
  return text == nullptr ? 1 : std::max(1, std::atoi(text));
}

void Pause(absl::Duration duration) { absl::Notification().WaitForNotificationWithTimeout(duration); }

// While it exists, new daemons kill themselves at a point of storage/base/fault_points.h.
class FaultPoint {
 public:
  FaultPoint(const std::string& point, int passing) {
    setenv("ARMATURE_FAULT_POINT", (point + ":" + std::to_string(passing)).c_str(), 1);
  }
  ~FaultPoint() { unsetenv("ARMATURE_FAULT_POINT"); }
};

class CrashTest : public DaemonTest {
 protected:
  explicit CrashTest(const std::vector<std::string>& flags = {}) : DaemonTest(flags), rng_(PrintedTestSeed()) {}

  int64_t Between(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(rng_); }

  void CreateCrashTable() {
    Create(R"({"TableName": "crash", "BillingMode": "PAY_PER_REQUEST",
      "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "sk", "AttributeType": "N"},
        {"AttributeName": "l", "AttributeType": "S"}, {"AttributeName": "g", "AttributeType": "S"},
        {"AttributeName": "v", "AttributeType": "N"}],
      "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
      "LocalSecondaryIndexes": [{"IndexName": "local", "Projection": {"ProjectionType": "ALL"},
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "l", "KeyType": "RANGE"}]}],
      "GlobalSecondaryIndexes": [
        {"IndexName": "global", "Projection": {"ProjectionType": "ALL"},
         "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}, {"AttributeName": "v", "KeyType": "RANGE"}]},
        {"IndexName": "keys", "Projection": {"ProjectionType": "KEYS_ONLY"},
         "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}]}]})");
  }

  // Writes to the keys of `writer` until the daemon is dead or `stop` is set.
  void WriteUntilDead(const client::Client& to, int writer, uint64_t seed, const std::atomic<bool>& stop) {
    std::mt19937_64 rng(seed);
    while (!stop) {
      // Writers share partitions, but not keys.
      const RowKey key{"p" + std::to_string(rng() % 3),
                       writer * kKeysPerWriter + static_cast<int64_t>(rng() % kKeysPerWriter)};
      const bool put = rng() % 4 != 0;
      const Version version = put ? ++last_version_ : 0;
      expected_.Begin(key, version);
      absl::Status status;
      if (put) {
        api::v1::PutItemRequest request;
        request.set_table_name(kTable);
        *request.mutable_item() = ItemOfVersion(key, version);
        status = to.PutItem(request).status();
      } else {
        api::v1::DeleteItemRequest request;
        request.set_table_name(kTable);
        *request.mutable_key() = KeyItem(key);
        status = to.DeleteItem(request).status();
      }
      if (status.ok()) {
        expected_.Acknowledge(key);
        continue;
      }
      if (client::CertainlyNotApplied(status)) expected_.Withdraw(key);
      EXPECT_TRUE(stop || absl::IsUnavailable(status)) << status;
      return;
    }
  }

  // Runs all writers until the daemon is dead: killed by `kill`, or by its fault point.
  template <class Kill>
  void WriteAnd(Kill kill) {
    const client::Client to = client();
    std::atomic<bool> stop = false;
    std::vector<std::thread> writers;
    for (int writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back([&, writer, seed = rng_()] { WriteUntilDead(to, writer, seed, stop); });
    }
    kill();
    stop = true;
    for (std::thread& writer : writers) writer.join();
  }

  // Waits until the daemon has killed itself.
  void WaitUntilDead() {
    const client::Client to = client();
    const absl::Time give_up = absl::Now() + kPatience;
    client::CallOptions options;
    options.timeout = absl::Seconds(1);
    while (to.GetServerInfo({}, options).ok()) {
      ASSERT_LT(absl::Now(), give_up) << "the fault point is not passed that often";
      Pause(absl::Milliseconds(5));
    }
  }

  void CheckPromises() {
    std::map<RowKey, Version> rows;
    const absl::StatusOr<std::vector<client::Item>> items = ScanAll(client(), kTable);
    ASSERT_TRUE(items.ok()) << items.status();
    for (const client::Item& item : *items) {
      const Version version = VersionOf(item);
      EXPECT_NE(version, 0) << "nobody wrote " << ToJson(item);
      rows[{item.attributes().at("pk").s(), std::atoll(item.attributes().at("sk").n().c_str())}] = version;
    }
    for (const auto& [key, acknowledged] : expected_.Acknowledged()) {
      const auto row = rows.find(key);
      const Version found = row == rows.end() ? 0 : row->second;
      EXPECT_TRUE(expected_.Settle(key, found))
          << ToJson(KeyItem(key)) << " has version " << found << ", acknowledged was " << acknowledged;
      if (row != rows.end()) rows.erase(row);
    }
    EXPECT_THAT(rows, IsEmpty()) << "keys that nobody wrote";
    EXPECT_THAT(FindDisagreements(client(), kTable), IsEmpty());
  }

  std::mt19937_64 rng_;
  ExpectedRows expected_;
  std::atomic<Version> last_version_{0};
};

TEST_F(CrashTest, KeepsEveryAcknowledgedWriteWhenKilledAtRandom) {
  CreateCrashTable();
  for (int round = 0; round < 3 * Rounds(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const int64_t before = expected_.acknowledged_writes();
    ASSERT_NO_FATAL_FAILURE(WriteAnd([&] {
      Pause(absl::Milliseconds(Between(100, 400)));
      daemon().Kill();
    }));
    EXPECT_GT(expected_.acknowledged_writes(), before);
    daemon().Restart();
    ASSERT_NO_FATAL_FAILURE(CheckPromises());
    if (HasFailure()) return;
  }
}

class FaultPointTest : public CrashTest, public testing::WithParamInterface<const char*> {
 protected:
  FaultPointTest() : CrashTest(FlagsFor(GetParam())) {}
  // The applier has work while changes of indexes are logged.
  static std::vector<std::string> FlagsFor(std::string_view point) {
    if (point.starts_with("applier.")) return {"--index_updates=logged"};
    return {};
  }
  void SetUp() override { SkipWithoutFaultPoints(); }
};

TEST_P(FaultPointTest, KeepsEveryAcknowledgedWrite) {
  CreateCrashTable();
  for (int round = 0; round < Rounds(); ++round) {
    const int passing = static_cast<int>(Between(1, 80));
    SCOPED_TRACE("passing " + std::to_string(passing));
    daemon().Kill();
    {
      const FaultPoint armed(GetParam(), passing);
      daemon().Restart();
    }
    // Writers end when the daemon is dead. If it does not die, they are stopped and the test fails.
    ASSERT_NO_FATAL_FAILURE(WriteAnd([&] { WaitUntilDead(); }));
    daemon().Kill();  // reaps the dead process
    daemon().Restart();
    ASSERT_NO_FATAL_FAILURE(CheckPromises());
    if (HasFailure()) return;
  }
}

// Only one transaction is written. The daemon dies while it runs, and the client repeats it.
class TransactionFaultPointTest : public CrashTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override { SkipWithoutFaultPoints(); }

  std::string CountOf(const client::Item& key) {
    api::v1::GetItemRequest request;
    request.set_table_name(kTable);
    *request.mutable_key() = key;
    const auto got = client().GetItem(request);
    if (!got.ok()) return got.status().ToString();
    return got->has_item() ? got->item().attributes().at("v").n() : "none";
  }
};

TEST_P(TransactionFaultPointTest, IsCarriedOutOnceOnAllItsItems) {
  CreateCrashTable();
  const client::Item from = KeyItem({"from", 1});
  const client::Item to = KeyItem({"to", 1});
  client::Transaction transaction;
  for (const client::Item& key : {from, to}) {
    transaction.Update(kTable, key, "SET g = :g ADD v :one").Value(":g", client::S("g")).Value(":one", client::N(1));
  }
  const api::v1::TransactWriteItemsRequest request = transaction.request();
  ASSERT_FALSE(request.client_request_token().empty());
  daemon().Kill();
  {
    const FaultPoint armed(GetParam(), 1);
    daemon().Restart();
  }
  const absl::Status cut_off = client().TransactWriteItems(request).status();
  EXPECT_TRUE(absl::IsUnavailable(cut_off)) << cut_off;
  WaitUntilDead();
  daemon().Kill();  // reaps the dead process
  daemon().Restart();
  const std::string found = CountOf(from);
  EXPECT_EQ(found, CountOf(to)) << "all or nothing";
  if (GetParam() != std::string_view("committer.after_write")) {
    EXPECT_EQ(found, "none");
  }
  for (int repeat = 0; repeat < 2; ++repeat) {
    const absl::Status again = client().TransactWriteItems(request).status();
    EXPECT_TRUE(again.ok()) << again;
    EXPECT_EQ(CountOf(from), "1");
    EXPECT_EQ(CountOf(to), "1");
  }
  EXPECT_THAT(FindDisagreements(client(), kTable), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(All, TransactionFaultPointTest,
                         testing::Values("families.before_make", "families.after_make", "committer.before_write",
                                         "committer.after_write"),
                         [](const auto& point) {
                           std::string name = point.param;
                           name[name.find('.')] = '_';
                           return name;
                         });

INSTANTIATE_TEST_SUITE_P(All, FaultPointTest,
                         testing::Values("committer.before_write", "committer.after_write", "applier.before_write",
                                         "applier.after_write"),
                         [](const auto& point) {
                           std::string name = point.param;
                           name[name.find('.')] = '_';
                           return name;
                         });

// Indexes are created and deleted while clients write and the daemon is killed.
class IndexCrashTest : public CrashTest {
 protected:
  absl::Status UpdateIndexes(const std::string& update) {
    return client()
        .UpdateTable(FromJson<api::v1::UpdateTableRequest>(
            R"({"TableName": "crash", "AttributeDefinitions": [{"AttributeName": "g", "AttributeType": "S"},
                {"AttributeName": "v", "AttributeType": "N"}], "GlobalSecondaryIndexUpdates": [)" +
            update + "]}"))
        .status();
  }
  absl::Status CreateIndex(const std::string& name) {
    return UpdateIndexes(R"({"Create": {"IndexName": ")" + name +
                         R"(", "Projection": {"ProjectionType": "ALL"}, "KeySchema": [
                             {"AttributeName": "v", "KeyType": "HASH"}, {"AttributeName": "g", "KeyType": "RANGE"}]}})");
  }
  absl::Status RemoveIndex(const std::string& name) {
    return UpdateIndexes(R"({"Delete": {"IndexName": ")" + name + R"("}})");
  }
  // Waits until no index is being created or deleted.
  void WaitUntilSettled() {
    const absl::Status settled = client::WaitForTable(client(), kTable, absl::Now() + kPatience);
    ASSERT_TRUE(settled.ok()) << settled;
  }
};

TEST_F(IndexCrashTest, GoesOnWithIndexesThatComeAndGo) {
  CreateCrashTable();
  ASSERT_NO_FATAL_FAILURE(WriteAnd([&] { Pause(absl::Milliseconds(200)); }));
  const int64_t families = client().GetServerInfo({})->column_family_count();
  for (int round = 0; round < 4 * Rounds(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    ASSERT_NO_FATAL_FAILURE(WriteAnd([&] {
      const absl::Status changed = round % 2 == 0 ? CreateIndex("added") : RemoveIndex("added");
      EXPECT_TRUE(changed.ok()) << changed;
      Pause(absl::Milliseconds(Between(0, 30)));
      daemon().Kill();
    }));
    daemon().Restart();
    ASSERT_NO_FATAL_FAILURE(WaitUntilSettled());
    EXPECT_EQ(client().GetServerInfo({})->column_family_count(), families + (round % 2 == 0 ? 1 : 0));
    ASSERT_NO_FATAL_FAILURE(CheckPromises());
    if (HasFailure()) return;
  }
}

class IndexFaultPointTest : public IndexCrashTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override { SkipWithoutFaultPoints(); }
};

TEST_P(IndexFaultPointTest, GoesOnWithTheFilling) {
  CreateCrashTable();
  ASSERT_NO_FATAL_FAILURE(WriteAnd([&] { Pause(absl::Milliseconds(300)); }));
  daemon().Kill();
  {
    const FaultPoint armed(GetParam(), 1);
    daemon().Restart();
  }
  ASSERT_NO_FATAL_FAILURE(WriteAnd([&] {
    const absl::Status created = CreateIndex("added");
    EXPECT_TRUE(created.ok() || absl::IsUnavailable(created)) << created;
    WaitUntilDead();
  }));
  daemon().Kill();  // reaps the dead process
  daemon().Restart();
  ASSERT_NO_FATAL_FAILURE(WaitUntilSettled());
  ASSERT_NO_FATAL_FAILURE(CheckPromises());
}

INSTANTIATE_TEST_SUITE_P(All, IndexFaultPointTest, testing::Values("builder.before_write", "builder.after_write"),
                         [](const auto& point) {
                           std::string name = point.param;
                           name[name.find('.')] = '_';
                           return name;
                         });

// The state promised by the last answer about a table.
enum class Promise { kExists, kGone, kUnknown };

class TableCrashTest : public CrashTest {
 protected:
  // Creates and deletes tables until the daemon is dead. Returns the last promise.
  static Promise CycleTable(const client::Client& to, const std::string& name) {
    Promise promise = Promise::kGone;
    while (true) {
      api::v1::CreateTableRequest create = FromJson<api::v1::CreateTableRequest>(R"({"BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
          {"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "g", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "GlobalSecondaryIndexes": [{"IndexName": "global", "Projection": {"ProjectionType": "ALL"},
          "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}]}]})");
      create.set_table_name(name);
      if (const absl::Status status = to.CreateTable(create).status(); !status.ok()) {
        EXPECT_TRUE(absl::IsUnavailable(status)) << status;
        return Promise::kUnknown;
      }
      promise = Promise::kExists;
      if (!client::WaitForTable(to, name, absl::Now() + kPatience).ok()) return promise;
      api::v1::PutItemRequest put;
      put.set_table_name(name);
      *put.mutable_item() = client::ItemBuilder().Set("pk", client::S("a")).Set("g", client::S("b")).Build();
      if (!to.PutItem(put).ok()) return promise;
      api::v1::DeleteTableRequest remove;
      remove.set_table_name(name);
      if (const absl::Status status = to.DeleteTable(remove).status(); !status.ok()) {
        EXPECT_TRUE(absl::IsUnavailable(status)) << status;
        return Promise::kUnknown;
      }
      promise = Promise::kGone;
      if (!client::WaitForTableGone(to, name, absl::Now() + kPatience).ok()) return promise;
    }
  }

  int64_t Families() { return client().GetServerInfo({})->column_family_count(); }

  // Waits until a started creation or deletion of `name` has ended, then deletes the table.
  void CheckAndRemove(const std::string& name, Promise promise) {
    SCOPED_TRACE(name);
    api::v1::DescribeTableRequest describe;
    describe.set_table_name(name);
    const absl::StatusOr<api::v1::DescribeTableResponse> found = client().DescribeTable(describe);
    const bool goes = !found.ok() || found->table().table_status() == api::v1::TABLE_STATUS_DELETING;
    EXPECT_FALSE(goes && promise == Promise::kExists) << found.status();
    EXPECT_FALSE(!goes && promise == Promise::kGone) << found->ShortDebugString();
    if (!goes) {
      const absl::Status active = client::WaitForTable(client(), name, absl::Now() + kPatience);
      ASSERT_TRUE(active.ok()) << active;
      EXPECT_THAT(FindDisagreements(client(), name), IsEmpty());
      api::v1::DeleteTableRequest remove;
      remove.set_table_name(name);
      const absl::Status removed = client().DeleteTable(remove).status();
      ASSERT_TRUE(removed.ok()) << removed;
    }
    const absl::Status gone = client::WaitForTableGone(client(), name, absl::Now() + kPatience);
    EXPECT_TRUE(gone.ok()) << gone;
  }
};

TEST_F(TableCrashTest, LeavesTablesWholeOrGoneAndNoFamilyBehind) {
  constexpr size_t kCyclers = 3;
  const int64_t families = Families();
  for (int round = 0; round < 2 * Rounds(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const client::Client to = client();
    std::vector<Promise> promises(kCyclers);
    std::vector<std::thread> cyclers;
    for (size_t i = 0; i < kCyclers; ++i) {
      cyclers.emplace_back([&, i] { promises[i] = CycleTable(to, "cycled" + std::to_string(i)); });
    }
    Pause(absl::Milliseconds(Between(50, 400)));
    daemon().Kill();
    for (std::thread& cycler : cyclers) cycler.join();
    daemon().Restart();
    for (size_t i = 0; i < kCyclers; ++i) {
      ASSERT_NO_FATAL_FAILURE(CheckAndRemove("cycled" + std::to_string(i), promises[i]));
    }
    EXPECT_EQ(Families(), families) << "orphans";
    if (HasFailure()) return;
  }
}

}  // namespace armature::test::crash_test
