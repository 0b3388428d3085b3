// Increments of one hot item, alone and in transactions, while the daemon is killed: each acknowledged one is there
// once.

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "armature/client/transaction.h"
#include "storage/base/strings.h"
#include "tests/crash/table_checker.h"
#include "tests/support/daemon_test.h"
#include "tests/unit/storage/model/random_seed.h"

namespace armature::test::hot_counter_test {

using client::ItemBuilder;
using client::N;
using client::S;

constexpr char kTable[] = "counters";
constexpr int kClients = 12;

// Number of kills.
int Kills() {
  const char* const text = std::getenv("ARMATURE_HOT_KILLS");
  return text == nullptr ? 3 : std::max(1, std::atoi(text));
}

client::Item KeyOf(const std::string& name) { return ItemBuilder().Set("id", S(name)).Build(); }

int64_t NumberIn(const client::Item& item, const std::string& attribute) {
  const auto found = item.attributes().find(attribute);
  return found == item.attributes().end() ? 0 : std::atoll(found->second.n().c_str());
}

class HotCounterTest : public DaemonTest {
 protected:
  HotCounterTest() : rng_(PrintedTestSeed()) {}

  // Increments "hot" and notes the value that it got. False if the daemon is unreachable.
  bool Increment(const client::Client& to) {
    api::v1::UpdateItemRequest request;
    request.set_table_name(kTable);
    *request.mutable_key() = KeyOf("hot");
    request.set_update_expression("ADD n :one");
    (*request.mutable_expression_attribute_values())[":one"] = N(1);
    request.set_return_values(api::v1::RETURN_VALUES_UPDATED_NEW);
    ++submitted_;
    const auto updated = to.UpdateItem(request);
    if (!updated.ok()) {
      EXPECT_TRUE(absl::IsUnavailable(updated.status())) << updated.status();
      return false;
    }
    const absl::MutexLock lock(&mutex_);
    const int64_t n = NumberIn(updated->attributes(), "n");
    EXPECT_TRUE(values_.insert(n).second) << "the value " << n << " was given twice";
    ++acknowledged_;
    return true;
  }

  // Increments "hot" and "warm". False if the daemon is unreachable.
  bool IncrementBoth(const client::Client& to) {
    client::Transaction both;
    for (const char* name : {"hot", "warm"}) both.Update(kTable, KeyOf(name), "ADD n :one").Value(":one", N(1));
    ++submitted_;
    ++submitted_both_;
    const absl::Status status = to.TransactWriteItems(both.request()).status();
    if (absl::IsAborted(status)) return true;
    EXPECT_TRUE(status.ok() || absl::IsUnavailable(status)) << status;
    if (!status.ok()) return false;
    const absl::MutexLock lock(&mutex_);
    ++acknowledged_;
    ++acknowledged_both_;
    return true;
  }

  void WorkAndKill() {
    const client::Client to = client();
    std::atomic<bool> stop = false;
    std::vector<std::thread> threads;
    for (int i = 0; i < kClients; ++i) {
      threads.emplace_back([&, i] {
        while (!stop && (i % 4 == 0 ? IncrementBoth(to) : Increment(to))) {
        }
      });
    }
    absl::Notification().WaitForNotificationWithTimeout(absl::Milliseconds(200 + static_cast<int64_t>(rng_() % 300)));
    daemon().Kill();
    stop = true;
    for (std::thread& thread : threads) thread.join();
  }

  int64_t Count(const std::string& name) {
    api::v1::GetItemRequest request;
    request.set_table_name(kTable);
    request.set_consistent_read(true);
    *request.mutable_key() = KeyOf(name);
    const auto got = client().GetItem(request);
    EXPECT_TRUE(got.ok()) << got.status();
    return got.ok() ? NumberIn(got->item(), "n") : -1;
  }

  std::mt19937_64 rng_;
  absl::Mutex mutex_;
  std::set<int64_t> values_;  // that clients were told of
  int64_t acknowledged_ = 0;  // increments of "hot"
  int64_t acknowledged_both_ = 0;
  std::atomic<int64_t> submitted_ = 0;
  std::atomic<int64_t> submitted_both_ = 0;
};

TEST_F(HotCounterTest, AcknowledgedIncrementsAreThereOnce) {
  Create(R"({"TableName": "counters", "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]})");
  for (int kill = 0; kill < Kills() && !HasFailure(); ++kill) {
    WorkAndKill();
    daemon().Restart();
    const int64_t hot = Count("hot");
    EXPECT_GE(hot, acknowledged_);
    EXPECT_LE(hot, submitted_);
    EXPECT_GE(Count("warm"), acknowledged_both_);
    EXPECT_LE(Count("warm"), submitted_both_);
    const int64_t largest = values_.empty() ? 0 : *values_.rbegin();
    EXPECT_LE(largest, hot) << "a value that a client knows is gone";
  }
  EXPECT_GT(acknowledged_, 0);
  EXPECT_GT(acknowledged_both_, 0);
}

}  // namespace armature::test::hot_counter_test
