// Many concurrent clients: there must be a serial order that explains what they saw.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/base/strings.h"
#include "tests/unit/engine/items/group_test_util.h"
#include "tests/unit/engine/serial_clients.h"
#include "tests/unit/storage/model/random_seed.h"

namespace armature::engine::serial_test {

using codec::N;

constexpr char kTable[] = "states";

// Number of rounds, as a multiple of the fast run.
int Rounds() {
  const char* const text = std::getenv("ARMATURE_SERIAL_ROUNDS");
  return text == nullptr ? 1 : std::max(1, std::atoi(text));
}

std::string Key(int item) { return PlainItem(Cat("i", item), "1"); }
std::string Item(int item, int64_t state) { return PlainItem(Cat("i", item), "1", {{"v", N(std::to_string(state))}}); }

// The state of an item, 0 if there is none.
int64_t StateOf(std::string_view item_bytes) {
  if (item_bytes.empty()) return 0;
  const auto value = model::ItemView(item_bytes).Find("v");
  return value.has_value() ? std::stoll(std::string(value->scalar())) : 0;
}
template <class ItemBytes>
int64_t StateOf(const std::optional<ItemBytes>& item) {
  return item.has_value() ? StateOf(item->view()) : 0;
}

class EngineBackend : public SerialBackend {
 public:
  explicit EngineBackend(Engine* engine) : engine_(engine) {}

  absl::StatusOr<int64_t> Get(int item) override {
    Answer<GetItemResult> answer;
    engine_->GetItem({}, GetFrom(kTable, Key(item)), answer.Catch());
    const absl::StatusOr<GetItemResult> got = answer.Take();
    if (!got.ok()) return got.status();
    return StateOf(got->item);
  }

  absl::StatusOr<Found> Put(const Change& change) override {
    WriteRequest request = RequestFor(change);
    request.return_values = "ALL_OLD";
    const auto put = Ask(engine_, &Engine::PutItem, std::move(request));
    if (put.ok()) return Found{true, {StateOf(put->attributes)}};
    if (ErrorNameOf(put.status()) != "ConditionalCheckFailedException") return put.status();
    return Found{false, {StateOf(GetApiError(put.status())->item)}};
  }

  absl::StatusOr<std::vector<int64_t>> TransactRead(const std::vector<int>& items) override {
    std::vector<std::string> keys;
    for (const int item : items) keys.push_back(Key(item));
    const auto read = Ask(engine_, &Engine::TransactGetItems, ReadOf(kTable, keys));
    if (!read.ok()) return ConflictOr(read.status());
    std::vector<int64_t> states;
    for (const auto& item : read->items) states.push_back(StateOf(item));
    return states;
  }

  absl::StatusOr<Found> TransactWrite(const std::vector<Change>& changes) override {
    TransactWriteRequest request;
    for (const Change& change : changes) {
      TransactAction& action = request.actions.emplace_back();
      action.given = 1;
      action.kind = change.written == 0 ? WriteKind::kConditionCheck : WriteKind::kPut;
      action.write = RequestFor(change);
    }
    const auto written = Ask(engine_, &Engine::TransactWriteItems, std::move(request));
    const std::vector<CancellationReason> reasons = GetCancellationReasons(written.status());
    if (!written.ok() && reasons.empty()) return written.status();
    Found found{written.ok(), {}};
    for (size_t i = 0; i < changes.size(); ++i) {
      if (!written.ok() && reasons[i].code == "TransactionConflict") return ConflictOr(written.status());
      const bool differs = !written.ok() && reasons[i].code == "ConditionalCheckFailed";
      found.states.push_back(differs ? StateOf(reasons[i].item) : *changes[i].expected);
    }
    return found;
  }

 private:
  static WriteRequest RequestFor(const Change& change) {
    WriteRequest request = WriteTo(kTable, change.written == 0 ? Key(change.item) : Item(change.item, change.written));
    if (!change.expected.has_value()) return request;
    request.expressions.condition = *change.expected == 0 ? "attribute_not_exists(v)" : "v = :old";
    if (*change.expected != 0) {
      request.expressions.values_wire = codec::Item({{":old", N(std::to_string(*change.expected))}});
    }
    request.return_values_on_condition_check_failure = "ALL_OLD";
    return request;
  }

  static absl::Status ConflictOr(const absl::Status& status) {
    for (const CancellationReason& reason : GetCancellationReasons(status)) {
      if (reason.code == "TransactionConflict") return absl::AbortedError("conflict");
    }
    return status;
  }

  Engine* const engine_;
};

TEST(Serial, AnOrderExplainsWhatClientsSaw) {
  const uint64_t seed = PrintedTestSeed();
  for (int round = 0; round < Rounds(); ++round) {
    TestEngine engine;
    ASSERT_TRUE(engine.CreateTable(PlainTable(kTable)).ok());
    EngineBackend backend(&*engine);
    SerialClients clients(/*write_blindly=*/true);
    clients.Run({&backend}, seed + 1000 * static_cast<uint64_t>(round), 250);
    EXPECT_GT(clients.history().size(), size_t{SerialClients::kClients} * 200);
    EXPECT_EQ(clients.FindContradiction(), "") << "round " << round;
  }
}

// With so few items, most writes are decided on values that are not durable yet, alone and in transactions.
TEST(Serial, AnOrderExplainsWhatClientsOfHotItemsSaw) {
  const uint64_t seed = PrintedTestSeed();
  for (int round = 0; round < Rounds(); ++round) {
    EngineOptions options;
    options.transaction_wait = kPatience;
    TestEngine engine(store::Durability::kSync, options);
    ASSERT_TRUE(engine.CreateTable(PlainTable(kTable)).ok());
    EngineBackend backend(&*engine);
    SerialClients clients(/*write_blindly=*/true, /*items=*/4);
    clients.Run({&backend}, seed + 1000 * static_cast<uint64_t>(round), 150);
    EXPECT_GT(clients.history().size(), size_t{SerialClients::kClients} * 120);
    EXPECT_EQ(clients.FindContradiction(), "") << "round " << round;
  }
}

// Two engines over one database do not share locks. The checker must detect this.
TEST(Serial, LocksThatDoNotLockAreFoundOut) {
  const uint64_t seed = PrintedTestSeed();
  TestEngine engine;
  ASSERT_TRUE(engine.CreateTable(PlainTable(kTable)).ok());
  EngineOptions options;
  options.apply_changes = false;
  Engine other(&engine.database(), options);
  std::string contradiction;
  for (uint64_t round = 0; round < 50 && contradiction.empty(); ++round) {
    EngineBackend backend(&*engine);
    EngineBackend other_backend(&other);
    SerialClients clients(/*write_blindly=*/true);
    clients.Run({&backend, &other_backend}, seed + 1000 * round, 250);
    contradiction = clients.FindContradiction();
    // The next round needs items without states of this one.
    for (int item = 0; item < SerialClients::kItems; ++item)
      ASSERT_TRUE(engine.Delete(WriteTo(kTable, Key(item))).ok());
  }
  EXPECT_NE(contradiction, "");
}

}  // namespace armature::engine::serial_test
