// Random operations of many clients while the daemon is killed: there must be a serial order that explains what they
// saw before and after.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "armature/client/transaction.h"
#include "storage/base/strings.h"
#include "tests/support/daemon_test.h"
#include "tests/unit/engine/serial_clients.h"
#include "tests/unit/storage/model/random_seed.h"

namespace armature::test::serial_crash_test {

using client::ItemBuilder;
using client::N;
using client::S;
using engine::Change;
using engine::Found;
using engine::SerialClients;

// A number from the environment variable, or `otherwise`.
int NumberOf(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::max(1, std::atoi(text));
}

client::Item Key(int item) { return ItemBuilder().Set("id", S(Cat("i", item))).Build(); }
client::Item WithState(int item, int64_t state) {
  return ItemBuilder().Set("id", S(Cat("i", item))).Set("v", N(state)).Build();
}

// The state of an item, 0 if there is none.
int64_t StateOf(const client::Item& item) {
  const auto found = item.attributes().find("v");
  return found == item.attributes().end() ? 0 : std::stoll(found->second.n());
}

class DaemonBackend : public engine::SerialBackend {
 public:
  DaemonBackend(const client::Client& daemon, std::string table) : client_(daemon), table_(std::move(table)) {}

  absl::StatusOr<int64_t> Get(int item) override {
    api::v1::GetItemRequest request;
    request.set_table_name(table_);
    *request.mutable_key() = Key(item);
    request.set_consistent_read(true);
    const auto got = client_.GetItem(request);
    if (!got.ok()) return got.status();
    return StateOf(got->item());
  }

  absl::StatusOr<Found> Put(const Change& change) override {
    api::v1::PutItemRequest request;
    request.set_table_name(table_);
    *request.mutable_item() = WithState(change.item, change.written);
    request.set_return_values(api::v1::RETURN_VALUES_ALL_OLD);
    if (change.expected.has_value()) {
      request.set_condition_expression(ConditionOf(change));
      if (*change.expected != 0) (*request.mutable_expression_attribute_values())[":old"] = N(*change.expected);
      request.set_return_values_on_condition_check_failure(api::v1::RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD);
    }
    const auto put = client_.PutItem(request);
    if (put.ok()) return Found{true, {StateOf(put->attributes())}};
    if (client::ErrorName(put.status()) != "ConditionalCheckFailedException") return put.status();
    return Found{false, {StateOf(client::ErrorDetailOf(put.status())->item())}};
  }

  absl::StatusOr<std::vector<int64_t>> TransactRead(const std::vector<int>& items) override {
    api::v1::TransactGetItemsRequest request;
    for (const int item : items) {
      api::v1::Get* const get = request.add_transact_items()->mutable_get();
      get->set_table_name(table_);
      *get->mutable_key() = Key(item);
    }
    const auto read = client_.TransactGetItems(request);
    if (!read.ok()) return read.status();
    std::vector<int64_t> states;
    for (const api::v1::ItemResponse& response : read->responses()) states.push_back(StateOf(response.item()));
    return states;
  }

  absl::StatusOr<Found> TransactWrite(const std::vector<Change>& changes) override {
    client::Transaction transaction;
    for (const Change& change : changes) {
      client::TransactionAction action = change.written == 0
                                             ? transaction.Check(table_, Key(change.item), ConditionOf(change))
                                             : transaction.Put(table_, WithState(change.item, change.written));
      action.If(ConditionOf(change)).ShowItemOnFailure();
      if (*change.expected != 0) action.Value(":old", N(*change.expected));
    }
    const auto written = client_.TransactWriteItems(transaction.request());
    Found found{written.ok(), {}};
    for (const Change& change : changes) found.states.push_back(*change.expected);
    if (written.ok()) return found;
    const std::optional<api::v1::ErrorDetail> detail = client::ErrorDetailOf(written.status());
    if (!detail.has_value() || detail->cancellation_reasons().empty()) return written.status();
    for (size_t i = 0; i < changes.size(); ++i) {
      const api::v1::CancellationReason& reason = detail->cancellation_reasons(static_cast<int>(i));
      if (reason.code() == "ConditionalCheckFailed") {
        found.states[i] = StateOf(reason.item());
      } else if (reason.code() != "None") {
        return written.status();
      }
    }
    return found;
  }

 private:
  static std::string ConditionOf(const Change& change) {
    return *change.expected == 0 ? "attribute_not_exists(v)" : "v = :old";
  }

  const client::Client client_;
  const std::string table_;
};

class SerialCrashTest : public DaemonTest {
 protected:
  // A history without a write that a kill has met shows nothing, so more kills follow then, up to this many.
  static constexpr int kKillsMax = 30;

  // Runs all kills as one history.
  void WorkAndKill(const std::string& table, int kills) {
    Create(Cat(R"({"TableName": ")", table, R"(", "BillingMode": "PAY_PER_REQUEST",
      "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
      "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]})"));
    SerialClients clients(/*write_blindly=*/false);
    const auto is_over = [&](int kill) {
      const bool has_met_a_write = unanswered_ + clients.unanswered().size() > 0;
      return HasFailure() || (kill >= kills && has_met_a_write) || kill >= std::max(kills, kKillsMax);
    };
    for (int kill = 0; !is_over(kill); ++kill) {
      ++kills_;
      DaemonBackend backend(client(), table);
      const absl::Duration until_kill = absl::Milliseconds(200 + static_cast<int64_t>(rng_() % 1000));
      clients.Run({&backend}, rng_(), std::numeric_limits<int>::max(), [&] {
        absl::Notification().WaitForNotificationWithTimeout(until_kill);
        daemon().Kill();
      });
      daemon().Restart();
      DaemonBackend restarted(client(), table);
      clients.ReadAll(&restarted);
    }
    operations_ += clients.history().size();
    unanswered_ += clients.unanswered().size();
    EXPECT_EQ(clients.FindContradiction(), "") << table;
  }

  std::mt19937_64 rng_{PrintedTestSeed()};
  int kills_ = 0;
  size_t operations_ = 0;
  size_t unanswered_ = 0;
};

TEST_F(SerialCrashTest, AnOrderExplainsWhatClientsSawOverKills) {
  const int kills = NumberOf("ARMATURE_SERIAL_KILLS", 2);
  const int rounds = NumberOf("ARMATURE_SERIAL_ROUNDS", 1);
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    const std::string table = Cat("states-", round);
    WorkAndKill(table, kills);
    api::v1::DeleteTableRequest request;
    request.set_table_name(table);
    const auto deleted = client().DeleteTable(request);
    ASSERT_TRUE(deleted.ok()) << deleted.status();
  }
  EXPECT_GT(unanswered_, 0U) << "no kill met a write";
  std::cout << operations_ << " operations and " << unanswered_ << " without an answer, over " << kills_ << " kills"
            << std::endl;
}

}  // namespace armature::test::serial_crash_test
