// Transfers between accounts, while clients read them and the daemon is killed: the sum of the balances stays constant.

#include <atomic>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "armature/client/batch_writer.h"
#include "armature/client/transaction.h"
#include "storage/base/strings.h"
#include "tests/crash/table_checker.h"
#include "tests/support/daemon_test.h"
#include "tests/unit/storage/model/random_seed.h"

namespace armature::test::bank_test {

using client::ItemBuilder;
using client::N;
using client::S;

constexpr char kTable[] = "bank";
constexpr int kGroups = 20;
constexpr int kAccountsPerGroup = 50;  // read at once
constexpr int64_t kFirstBalance = 100;
constexpr int kWriters = 6;
constexpr int kReaders = 2;

// Number of kills.
int Kills() {
  const char* const text = std::getenv("ARMATURE_BANK_KILLS");
  return text == nullptr ? 2 : std::max(1, std::atoi(text));
}

void Pause(absl::Duration duration) { absl::Notification().WaitForNotificationWithTimeout(duration); }

client::Item AccountKey(int group, int account) {
  return ItemBuilder().Set("id", S(Cat("account-", group, "-", account))).Build();
}
client::Item CounterKey(int writer) { return ItemBuilder().Set("id", S(Cat("writer-", writer))).Build(); }

int64_t NumberIn(const client::Item& item, const std::string& attribute) {
  const auto found = item.attributes().find(attribute);
  return found == item.attributes().end() ? 0 : std::atoll(found->second.n().c_str());
}

// A client that makes transfers and counts those that succeed.
struct Writer {
  int id = 0;
  int64_t done = 0;
  // A transfer whose outcome is unknown.
  std::optional<api::v1::TransactWriteItemsRequest> open;
};

class BankTest : public DaemonTest {
 protected:
  BankTest() : rng_(PrintedTestSeed()) {}

  void CreateAccounts() {
    Create(R"({"TableName": "bank", "BillingMode": "PAY_PER_REQUEST",
      "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}, {"AttributeName": "group", "AttributeType": "N"}],
      "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
      "GlobalSecondaryIndexes": [{"IndexName": "by-group", "Projection": {"ProjectionType": "ALL"},
        "KeySchema": [{"AttributeName": "group", "KeyType": "HASH"}]}]})");
    client::BatchWriter writer(client());
    for (int group = 0; group < kGroups; ++group) {
      for (int account = 0; account < kAccountsPerGroup; ++account) {
        client::Item item = AccountKey(group, account);
        (*item.mutable_attributes())["group"] = N(group);
        (*item.mutable_attributes())["balance"] = N(kFirstBalance);
        const absl::Status put = writer.Put(kTable, std::move(item));
        ASSERT_TRUE(put.ok()) << put;
      }
    }
    const absl::Status flushed = writer.Flush();
    ASSERT_TRUE(flushed.ok()) << flushed;
  }

  // A transfer within a group, which also increments a counter of the writer.
  static api::v1::TransactWriteItemsRequest MakeTransfer(int writer, std::mt19937_64* rng) {
    const int group = static_cast<int>((*rng)() % kGroups);
    const int from = static_cast<int>((*rng)() % kAccountsPerGroup);
    const int to =
        static_cast<int>((static_cast<uint64_t>(from) + 1 + (*rng)() % (kAccountsPerGroup - 1)) % kAccountsPerGroup);
    const auto amount = static_cast<int64_t>(1 + (*rng)() % 40);
    client::Transaction transfer;
    transfer.Update(kTable, AccountKey(group, from), "SET balance = balance - :x")
        .If("balance >= :x")
        .Value(":x", N(amount));
    transfer.Update(kTable, AccountKey(group, to), "SET balance = balance + :x").Value(":x", N(amount));
    transfer.Update(kTable, CounterKey(writer), "ADD done :one").Value(":one", N(1));
    return transfer.request();
  }

  // Sends the transfer. False if the daemon is unreachable.
  static bool Send(const client::Client& to, Writer* writer) {
    const absl::Status status = to.TransactWriteItems(*writer->open).status();
    if (!status.ok() && !absl::IsAborted(status)) {
      EXPECT_TRUE(absl::IsUnavailable(status)) << status;
      return false;
    }
    writer->done += status.ok() ? 1 : 0;
    writer->open.reset();
    return true;
  }

  static void WriteUntilDead(const client::Client& to, Writer* writer, uint64_t seed, const std::atomic<bool>& stop) {
    std::mt19937_64 rng(seed);
    while (!stop) {
      writer->open = MakeTransfer(writer->id, &rng);
      if (!Send(to, writer)) return;
    }
  }

  void ReadUntilDead(const client::Client& to, uint64_t seed, const std::atomic<bool>& stop) {
    std::mt19937_64 rng(seed);
    while (!stop) {
      const int group = static_cast<int>(rng() % kGroups);
      api::v1::TransactGetItemsRequest request;
      for (int account = 0; account < kAccountsPerGroup; ++account) {
        api::v1::Get* const get = request.add_transact_items()->mutable_get();
        get->set_table_name(kTable);
        *get->mutable_key() = AccountKey(group, account);
      }
      const auto read = to.TransactGetItems(request);
      if (absl::IsAborted(read.status())) continue;  // too many writers
      if (!read.ok()) {
        EXPECT_TRUE(absl::IsUnavailable(read.status())) << read.status();
        return;
      }
      ++reads_;
      int64_t sum = 0;
      for (const api::v1::ItemResponse& response : read->responses()) sum += NumberIn(response.item(), "balance");
      EXPECT_EQ(sum, kAccountsPerGroup * kFirstBalance) << "group " << group;
    }
  }

  void WorkAndKill() {
    const client::Client to = client();
    std::atomic<bool> stop = false;
    std::vector<std::thread> threads;
    for (Writer& writer : writers_) {
      threads.emplace_back([&, seed = rng_()] { WriteUntilDead(to, &writer, seed, stop); });
    }
    for (int i = 0; i < kReaders; ++i) {
      threads.emplace_back([&, seed = rng_()] { ReadUntilDead(to, seed, stop); });
    }
    Pause(absl::Milliseconds(200 + static_cast<int64_t>(rng_() % 300)));
    daemon().Kill();
    stop = true;
    for (std::thread& thread : threads) thread.join();
  }

  // Repeats transfers of unknown outcome with the same token: each is executed once, now or before.
  void FinishOpenTransfers() {
    for (Writer& writer : writers_) {
      if (!writer.open.has_value()) continue;
      const api::v1::TransactWriteItemsRequest again = *writer.open;
      const int64_t before = writer.done;
      ASSERT_TRUE(Send(client(), &writer));
      if (writer.done == before) continue;
      const auto once_more = client().TransactWriteItems(again);
      EXPECT_TRUE(once_more.ok()) << once_more.status();
    }
  }

  void CheckBooks() {
    const absl::StatusOr<std::vector<client::Item>> items = ScanAll(client(), kTable);
    ASSERT_TRUE(items.ok()) << items.status();
    int64_t sum = 0;
    for (const client::Item& item : *items) {
      const int64_t balance = NumberIn(item, "balance");
      EXPECT_GE(balance, 0);
      sum += balance;
    }
    EXPECT_EQ(sum, kGroups * kAccountsPerGroup * kFirstBalance);
    for (const Writer& writer : writers_) {
      api::v1::GetItemRequest request;
      request.set_table_name(kTable);
      *request.mutable_key() = CounterKey(writer.id);
      const auto counter = client().GetItem(request);
      ASSERT_TRUE(counter.ok()) << counter.status();
      EXPECT_EQ(NumberIn(counter->item(), "done"), writer.done) << "writer " << writer.id;
    }
  }

  std::mt19937_64 rng_;
  std::vector<Writer> writers_;
  std::atomic<int64_t> reads_ = 0;  // successful reads of whole groups
};

TEST_F(BankTest, TheSumStaysOverKills) {
  CreateAccounts();
  for (int i = 0; i < kWriters; ++i) writers_.push_back({i, 0, std::nullopt});
  for (int kill = 0; kill < Kills() && !HasFailure(); ++kill) {
    WorkAndKill();
    daemon().Restart();
    FinishOpenTransfers();
    CheckBooks();
    EXPECT_THAT(FindDisagreements(client(), kTable), testing::IsEmpty());
  }
  int64_t done = 0;
  for (const Writer& writer : writers_) done += writer.done;
  EXPECT_GT(done, 0);
  EXPECT_GT(reads_, 0);
}

}  // namespace armature::test::bank_test
