// A daemon whose global indexes no longer apply changes: refused requests, requests that still work, and recovery.

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "armature/client/wait.h"
#include "tests/crash/table_checker.h"
#include "tests/support/daemon_test.h"
#include "tests/support/fault_points.h"

namespace armature::test::stalled_applier_test {

using testing::IsEmpty;

constexpr int kBacklogMax = 400;
constexpr int kWriters = 8;

// Blocks the daemon's appliers while it is locked.
class Barrier {
 public:
  Barrier() {
    std::ofstream(path()).flush();
    descriptor_ = open(path().c_str(), O_RDONLY | O_CLOEXEC);
    BlockAt("applier.before_write");
  }
  ~Barrier() {
    unsetenv("ARMATURE_FAULT_POINT");
    close(descriptor_);
  }

  // From the next start of the daemon.
  void BlockAt(const std::string& point) { setenv("ARMATURE_FAULT_POINT", (point + "@" + path()).c_str(), 1); }
  void Close() { flock(descriptor_, LOCK_EX); }
  void Open() { flock(descriptor_, LOCK_UN); }

 private:
  std::string path() const { return directory_.path("barrier"); }

  TempDir directory_;
  int descriptor_ = -1;
};

class StalledApplierTest : public Barrier, public DaemonTest {
 protected:
  StalledApplierTest() : DaemonTest({"--index_updates=logged", "--gsi_backlog_max=" + std::to_string(kBacklogMax)}) {
    for (const char* const table : {"indexed", "another"}) {
      Create(std::string(R"({"TableName": ")") + table + R"(", "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}, {"AttributeName": "color", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "GlobalSecondaryIndexes": [{"IndexName": "colors", "Projection": {"ProjectionType": "ALL"},
          "KeySchema": [{"AttributeName": "color", "KeyType": "HASH"}]}]})");
    }
  }

  void SetUp() override { SkipWithoutFaultPoints(); }

  absl::Status TryPutColored(const std::string& id) {
    return TryPut("indexed", R"({"id": {"S": ")" + id + R"("}, "color": {"S": "c)" + id + R"("}, "text": {"S": ")" +
                                 std::string(1'000, 't') + R"("}})");
  }

  int64_t ResidentBytes() {
    const auto info = client().GetServerInfo({});
    EXPECT_TRUE(info.ok()) << info.status();
    return info.ok() ? info->resident_bytes() : 0;
  }
};

TEST_F(StalledApplierTest, WritesToTheIndexAreThrottledAndNothingIsLost) {
  Close();
  std::vector<std::set<std::string>> acknowledged(kWriters);
  std::atomic<int> next = 0;
  std::atomic<int> refused = 0;
  const auto write = [&](int writer, int attempts) {
    for (int i = 0; i < attempts; ++i) {
      const std::string id = std::to_string(next++);
      const absl::Status written = TryPutColored(id);
      if (written.ok()) {
        acknowledged[static_cast<size_t>(writer)].insert(id);
        continue;
      }
      ASSERT_EQ(client::ErrorName(written), "ThrottlingException") << written;
      EXPECT_GT(client::RetryAfter(written), absl::ZeroDuration()) << written;
      ++refused;
    }
  };
  const auto write_in_threads = [&](int attempts) {
    std::vector<std::thread> threads;
    for (int writer = 0; writer < kWriters; ++writer) {
      threads.emplace_back([&, writer, attempts] { write(writer, attempts); });
    }
    for (std::thread& thread : threads) thread.join();
  };
  write_in_threads(200);
  EXPECT_GT(refused, 0);
  const int64_t resident_before = ResidentBytes();
  const int refused_before = refused;
  write_in_threads(1'000);
  EXPECT_EQ(refused - refused_before, kWriters * 1'000) << "the bound holds";
  EXPECT_LT(ResidentBytes() - resident_before, 16 << 20) << "what is refused leaves nothing behind";
  std::set<std::string> expected;
  for (const auto& ids : acknowledged) expected.insert(ids.begin(), ids.end());
  EXPECT_GE(expected.size(), size_t{kBacklogMax});
  EXPECT_LE(expected.size(), size_t{kBacklogMax + kWriters});

  EXPECT_TRUE(TryPut("indexed", R"({"id": {"S": "colorless"}})").ok()) << "does not touch the index";
  EXPECT_TRUE(TryPut("another", R"({"id": {"S": "x"}, "color": {"S": "red"}})").ok()) << "another index";
  admin::v1::ListIndexStatusRequest request;
  request.set_table_name("indexed");
  const auto status = client().ListIndexStatus(request);
  ASSERT_TRUE(status.ok()) << status.status();
  EXPECT_EQ(status->indexes(0).backlog_records(), expected.size());
  EXPECT_GT(status->indexes(0).backlog_bytes(), expected.size() * 1'000);

  api::v1::DescribeTableRequest describe;
  describe.set_table_name("indexed");
  const auto described = client().DescribeTable(describe);
  ASSERT_TRUE(described.ok()) << described.status();
  EXPECT_EQ(described->table().global_secondary_indexes(0).backlog().records(), expected.size());

  Open();
  const absl::Time give_up = absl::Now() + absl::Seconds(30);
  absl::Status written = TryPutColored("after");
  while (!written.ok() && absl::Now() < give_up) written = TryPutColored("after");
  EXPECT_TRUE(written.ok()) << written;
  expected.insert("after");
  expected.insert("colorless");
  std::set<std::string> found;
  const absl::StatusOr<std::vector<client::Item>> items = ScanAll(client(), "indexed");
  ASSERT_TRUE(items.ok()) << items.status();
  for (const client::Item& item : *items) found.insert(item.attributes().at("id").s());
  EXPECT_EQ(found, expected);
  EXPECT_THAT(FindDisagreements(client(), "indexed"), IsEmpty());
}

TEST_F(StalledApplierTest, ABacklogSurvivesAKill) {
  Close();
  while (TryPutColored(std::to_string(absl::GetCurrentTimeNanos())).ok()) {
  }
  daemon().Kill();
  daemon().Restart();
  // It is counted anew, while requests are served.
  absl::Status refused = TryPutColored("refused");
  while (refused.ok()) refused = TryPutColored("refused");
  EXPECT_EQ(client::ErrorName(refused), "ThrottlingException") << refused;
  Open();
  EXPECT_THAT(FindDisagreements(client(), "indexed"), IsEmpty());
}

TEST_F(StalledApplierTest, ADaemonServesBeforeItHasCountedTheBacklog) {
  Close();
  while (TryPutColored(std::to_string(absl::GetCurrentTimeNanos())).ok()) {
  }
  daemon().Kill();
  BlockAt("backlog.count");
  daemon().Restart();
  EXPECT_TRUE(TryPutColored("served").ok());
  EXPECT_THAT(FindDisagreements(client(), "indexed"), IsEmpty()) << "the applier does not wait for the count either";
  Open();
  admin::v1::ListIndexStatusRequest request;
  request.set_table_name("indexed");
  const auto status = client().ListIndexStatus(request);
  ASSERT_TRUE(status.ok()) << status.status();
  EXPECT_EQ(status->indexes(0).backlog_records(), 0);
}

}  // namespace armature::test::stalled_applier_test
