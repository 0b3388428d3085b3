// Many clients at once: what they saw must have happened in some order, one operation after the other.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "storage/base/strings.h"
#include "tests/unit/engine/group_test_util.h"
#include "tests/unit/engine/serial_checker.h"
#include "tests/unit/model/random_seed.h"

namespace armature::engine {
namespace {

using codec::N;

constexpr char kTable[] = "states";
constexpr int kItems = 50;
constexpr int kClients = 16;

// How many times more to do than the fast run does.
int Rounds() {
  const char* const text = std::getenv("ARMATURE_SERIAL_ROUNDS");
  return text == nullptr ? 1 : std::max(1, std::atoi(text));
}

std::string Key(int item) { return PlainItem(Cat("i", item), "1"); }
std::string Item(int item, int64_t state) { return PlainItem(Cat("i", item), "1", {{"v", N(std::to_string(state))}}); }

int64_t StateOf(std::string_view item_bytes) {
  const auto value = model::ItemView(item_bytes).Find("v");
  return value.has_value() ? std::stoll(std::string(value->scalar())) : 0;
}

// Clients that do random operations, and what they saw.
class Clients {
 public:
  // Client i works with engine i modulo their number.
  explicit Clients(std::vector<Engine*> engines) : engines_(std::move(engines)) {}

  std::vector<Operation> Run(uint64_t seed, int operations) {
    std::vector<std::vector<Operation>> seen(kClients);
    std::vector<std::thread> threads;
    for (int i = 0; i < kClients; ++i) {
      threads.emplace_back([this, i, operations, seed, to = &seen[static_cast<size_t>(i)]] {
        std::mt19937_64 rng(seed + static_cast<uint64_t>(i));
        Engine* const engine = engines_[static_cast<size_t>(i) % engines_.size()];
        for (int done = 0; done < operations; ++done) {
          if (std::optional<Operation> one = Do(engine, &rng)) to->push_back(*std::move(one));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::vector<Operation> all;
    for (std::vector<Operation>& part : seen) all.insert(all.end(), part.begin(), part.end());
    return all;
  }

 private:
  static int Pick(std::mt19937_64* rng, int below) { return static_cast<int>((*rng)() % static_cast<uint64_t>(below)); }

  std::optional<Operation> Do(Engine* engine, std::mt19937_64* rng) {
    Operation operation;
    operation.began = ++time_;
    bool known = false;
    switch (Pick(rng, 5)) {
      case 0:
        known = Get(engine, Pick(rng, kItems), &operation);
        break;
      case 1:
        known = Put(engine, Pick(rng, kItems), &operation);
        break;
      case 2:
        known = PutIfUnchanged(engine, Pick(rng, kItems), &operation);
        break;
      case 3:
        known = TransactRead(engine, PickItems(rng), &operation);
        break;
      default:
        known = TransactWrite(engine, PickItems(rng), Pick(rng, 2) == 0, &operation);
    }
    operation.ended = ++time_;
    if (!known) return std::nullopt;
    return operation;
  }

  std::vector<int> PickItems(std::mt19937_64* rng) {
    std::vector<int> items;
    const int first = Pick(rng, kItems);
    const int count = 2 + Pick(rng, 3);
    for (int i = 0; i < count; ++i) items.push_back((first + i * 7) % kItems);
    return items;
  }

  std::optional<int64_t> Peek(Engine* engine, int item) {
    const auto got = Ask<GetItemRequest, GetItemResult>(
        engine, [](Engine* e, auto request, auto done) { e->GetItem({}, std::move(request), std::move(done)); },
        GetFrom(kTable, Key(item)));
    if (!got.ok()) return std::nullopt;
    return got->item.has_value() ? StateOf(got->item->view()) : 0;
  }

  bool Get(Engine* engine, int item, Operation* operation) {
    const std::optional<int64_t> state = Peek(engine, item);
    if (state.has_value()) operation->accesses.push_back({item, *state, 0});
    return state.has_value();
  }

  bool Put(Engine* engine, int item, Operation* operation) {
    const int64_t state = ++state_;
    WriteRequest request = WriteTo(kTable, Item(item, state));
    request.return_values = "ALL_OLD";
    const auto put = engine::Ask(engine, &Engine::PutItem, std::move(request));
    EXPECT_TRUE(put.ok()) << put.status();
    if (!put.ok()) return false;
    operation->accesses.push_back({item, put->attributes.has_value() ? StateOf(put->attributes->view()) : 0, state});
    return true;
  }

  // The condition that the item is still as it was when it was last looked at; values for it.
  static void ExpectState(int64_t state, WriteRequest* write) {
    write->expressions.condition = state == 0 ? "attribute_not_exists(v)" : "v = :old";
    if (state != 0) write->expressions.values_wire = codec::Item({{":old", N(std::to_string(state))}});
    write->return_values_on_condition_check_failure = "ALL_OLD";
  }

  bool PutIfUnchanged(Engine* engine, int item, Operation* operation) {
    const std::optional<int64_t> old = Peek(engine, item);
    if (!old.has_value()) return false;
    const int64_t state = ++state_;
    WriteRequest request = WriteTo(kTable, Item(item, state));
    ExpectState(*old, &request);
    const auto put = engine::Ask(engine, &Engine::PutItem, std::move(request));
    if (put.ok()) {
      operation->accesses.push_back({item, *old, state});
      return true;
    }
    const std::optional<ApiError> error = GetApiError(put.status());
    EXPECT_EQ(ErrorNameOf(put.status()), "ConditionalCheckFailedException");
    operation->accesses.push_back({item, error->item.empty() ? 0 : StateOf(error->item), 0});
    return true;
  }

  bool TransactRead(Engine* engine, const std::vector<int>& items, Operation* operation) {
    std::vector<std::string> keys;
    for (const int item : items) keys.push_back(Key(item));
    const auto read = engine::Ask(engine, &Engine::TransactGetItems, ReadOf(kTable, keys));
    if (!read.ok()) return false;
    for (size_t i = 0; i < items.size(); ++i) {
      operation->accesses.push_back({items[i], read->items[i].has_value() ? StateOf(read->items[i]->view()) : 0, 0});
    }
    return true;
  }

  // Replaces all items, or all but the first, which is only checked.
  bool TransactWrite(Engine* engine, const std::vector<int>& items, bool check_first, Operation* operation) {
    TransactWriteRequest request;
    std::vector<Access> accesses;
    for (size_t i = 0; i < items.size(); ++i) {
      const std::optional<int64_t> old = Peek(engine, items[i]);
      if (!old.has_value()) return false;
      const bool check = check_first && i == 0;
      const int64_t state = check ? 0 : ++state_;
      TransactAction& action = request.actions.emplace_back();
      action.given = 1;
      action.kind = check ? TransactKind::kConditionCheck : TransactKind::kPut;
      action.write = WriteTo(kTable, check ? Key(items[i]) : Item(items[i], state));
      ExpectState(*old, &action.write);
      accesses.push_back({items[i], *old, state});
    }
    const auto written = engine::Ask(engine, &Engine::TransactWriteItems, std::move(request));
    if (written.ok()) {
      operation->accesses = std::move(accesses);
      return true;
    }
    // Those whose condition failed were seen at one moment.
    const std::vector<CancellationReason> reasons = GetCancellationReasons(written.status());
    EXPECT_FALSE(reasons.empty()) << written.status();
    for (size_t i = 0; i < reasons.size(); ++i) {
      if (reasons[i].code == "TransactionConflict") return false;
      Access seen = accesses[i];
      seen.written = 0;
      if (reasons[i].code == "ConditionalCheckFailed")
        seen.seen = reasons[i].item.empty() ? 0 : StateOf(reasons[i].item);
      operation->accesses.push_back(seen);
    }
    return !operation->accesses.empty();
  }

  template <class Request, class Result, class Start>
  static absl::StatusOr<Result> Ask(Engine* engine, Start start, Request request) {
    Answer<Result> answer;
    start(engine, std::move(request), answer.Catch());
    return answer.Take();
  }

  const std::vector<Engine*> engines_;
  std::atomic<int64_t> time_ = 0;
  std::atomic<int64_t> state_ = 0;
};

TEST(Serial, AnOrderExplainsWhatClientsSaw) {
  const uint64_t seed = PrintedTestSeed();
  for (int round = 0; round < Rounds(); ++round) {
    TestEngine engine;
    ASSERT_TRUE(engine.CreateTable(PlainTable(kTable)).ok());
    const std::vector<Operation> history = Clients({&*engine}).Run(seed + 1000 * static_cast<uint64_t>(round), 250);
    EXPECT_GT(history.size(), size_t{kClients} * 200);
    EXPECT_EQ(FindContradiction(history), "") << "round " << round;
  }
}

// Two engines over one database do not know of each other's locks. If that is not found out, nothing is.
TEST(Serial, LocksThatDoNotLockAreFoundOut) {
  const uint64_t seed = PrintedTestSeed();
  TestEngine engine;
  ASSERT_TRUE(engine.CreateTable(PlainTable(kTable)).ok());
  EngineOptions options;
  options.apply_changes = false;
  Engine other(&engine.database(), options);
  std::string contradiction;
  for (uint64_t round = 0; round < 50 && contradiction.empty(); ++round) {
    contradiction = FindContradiction(Clients({&*engine, &other}).Run(seed + 1000 * round, 250));
    // The items are those of the round before, which the next one would not understand.
    for (int item = 0; item < kItems; ++item) ASSERT_TRUE(engine.Delete(WriteTo(kTable, Key(item))).ok());
  }
  EXPECT_NE(contradiction, "");
}

}  // namespace
}  // namespace armature::engine
