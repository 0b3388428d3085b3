#ifndef ARMATURE_TESTS_UNIT_ENGINE_ENGINE_TEST_UTIL_H_
#define ARMATURE_TESTS_UNIT_ENGINE_ENGINE_TEST_UTIL_H_

// An engine over a database in a temporary directory, with calls that wait for their answers.

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "engine/engine.h"
#include "storage/base/api_error.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/storage/codec/codec_test_util.h"

namespace armature::engine {

// Far longer than any wait, so that a test that hangs fails with its place.
inline constexpr absl::Duration kPatience = absl::Seconds(60);

// Receives the answer of a running call.
template <class T>
class Answer {
 public:
  Callback<T> Catch() {
    return [state = state_](absl::StatusOr<T> result) {
      const absl::MutexLock lock(&state->mutex);
      state->result = std::move(result);
      ++state->calls;
    };
  }
  bool IsThere() const {
    const absl::MutexLock lock(&state_->mutex);
    return state_->calls > 0;
  }
  absl::StatusOr<T> Take() {
    const absl::MutexLock lock(&state_->mutex);
    const auto called = [this]() { return state_->calls > 0; };
    if (!state_->mutex.AwaitWithTimeout(absl::Condition(&called), kPatience)) {
      return absl::InternalError("no answer in a minute");
    }
    if (state_->calls > 1) return absl::InternalError("answered more than once");
    return std::move(state_->result);
  }

 private:
  struct State {
    absl::Mutex mutex;
    int calls = 0;
    absl::StatusOr<T> result = absl::InternalError("no answer");
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

struct Page {
  std::vector<std::string> items;
  ReadResult result;
};

class ItemCollector final : public PageWriter {
 public:
  void Add(std::string_view item_bytes) override { items.emplace_back(item_bytes); }
  void Clear() override { items.clear(); }
  std::vector<std::string> items;
};

class TestEngine {
 public:
  // `adjust` changes the options of the database before each opening.
  explicit TestEngine(store::Durability durability = store::Durability::kOs, EngineOptions options = {},
                      std::function<void(store::DatabaseOptions*)> adjust = nullptr)
      : durability_(durability), options_(options), adjust_(std::move(adjust)) {
    Open();
  }

  // Destroys the engine. Only Reopen may be called after it.
  void StopEngine() { engine_.reset(); }
  // Options of the next opening.
  EngineOptions& options() { return options_; }
  // Simulates a clean restart of the daemon.
  void Reopen() {
    StopEngine();
    database_.reset();
    Open();
  }

  Engine& operator*() { return *engine_; }
  Engine* operator->() { return engine_.get(); }
  store::Database& database() { return *database_; }

  // Returns when the table is active.
  absl::Status CreateTable(const model::TableDefinition& definition) {
    Answer<TableDescription> answer;
    engine_->CreateTable(definition, answer.Catch());
    const absl::StatusOr<TableDescription> created = answer.Take();
    if (!created.ok()) return created.status();
    return WaitUntil([&] {
      const absl::StatusOr<TableDescription> described = Describe(definition.table_name);
      return described.ok() && described->descriptor.state == model::TableState::kActive;
    });
  }
  absl::StatusOr<TableDescription> DeleteTable(const std::string& name) {
    Answer<TableDescription> answer;
    engine_->DeleteTable(name, answer.Catch());
    return answer.Take();
  }
  absl::Status WaitForTableGone(const std::string& name) {
    return WaitUntil([&] { return absl::IsNotFound(Describe(name).status()); });
  }
  absl::StatusOr<TableDescription> Describe(const std::string& name) {
    Answer<TableDescription> answer;
    engine_->DescribeTable(name, answer.Catch());
    return answer.Take();
  }

  absl::StatusOr<WriteResult> Put(WriteRequest request, RequestContext context = {}) {
    Answer<WriteResult> answer;
    engine_->PutItem(std::move(context), std::move(request), answer.Catch());
    return answer.Take();
  }
  absl::StatusOr<WriteResult> Update(WriteRequest request, RequestContext context = {}) {
    Answer<WriteResult> answer;
    engine_->UpdateItem(std::move(context), std::move(request), answer.Catch());
    return answer.Take();
  }
  absl::StatusOr<WriteResult> Delete(WriteRequest request, RequestContext context = {}) {
    Answer<WriteResult> answer;
    engine_->DeleteItem(std::move(context), std::move(request), answer.Catch());
    return answer.Take();
  }
  absl::StatusOr<GetItemResult> Get(GetItemRequest request, const RequestContext& context = {}) {
    Answer<GetItemResult> answer;
    engine_->GetItem(context, std::move(request), answer.Catch());
    return answer.Take();
  }
  absl::StatusOr<Page> Query(ReadRequest request, RequestContext context = {}) {
    return Read(&Engine::Query, std::move(request), std::move(context));
  }
  absl::StatusOr<Page> Scan(ReadRequest request, RequestContext context = {}) {
    return Read(&Engine::Scan, std::move(request), std::move(context));
  }

  // Polls `holds`, because clients cannot be notified of the state.
  template <class Fn>
  static absl::Status WaitUntil(Fn holds) {
    const absl::Time give_up = absl::Now() + kPatience;
    absl::Mutex mutex;
    const bool never = false;
    while (!holds()) {
      if (absl::Now() > give_up) return absl::DeadlineExceededError("it never came true");
      const absl::MutexLock lock(&mutex);
      mutex.AwaitWithTimeout(absl::Condition(&never), absl::Milliseconds(2));
    }
    return absl::OkStatus();
  }

 private:
  using ReadMethod = void (Engine::*)(RequestContext, ReadRequest, PageWriter*, Callback<ReadResult>);

  absl::StatusOr<Page> Read(ReadMethod method, ReadRequest request, RequestContext context) {
    ItemCollector collector;
    Answer<ReadResult> answer;
    (engine_.get()->*method)(std::move(context), std::move(request), &collector, answer.Catch());
    absl::StatusOr<ReadResult> result = answer.Take();
    if (!result.ok()) return result.status();
    return Page{std::move(collector.items), *std::move(result)};
  }

  void Open() {
    store::DatabaseOptions database_options;
    database_options.path = directory_.path();
    database_options.durability = durability_;
    database_options.cache_bytes = size_t{16} << 20;
    // After Reopen, no row is in memory: the files of tests always are in the page cache.
    database_options.no_wait_read_bytes_max = 0;
    // Without the applier, tests look for what waits for it.
    if (!options_.apply_changes) database_options.index_updates = store::IndexUpdates::kLogged;
    if (adjust_) adjust_(&database_options);
    absl::StatusOr<std::unique_ptr<store::Database>> database = store::Database::Open(database_options);
    if (!database.ok()) {
      ADD_FAILURE() << database.status();
      std::abort();
    }
    database_ = *std::move(database);
    engine_ = std::make_unique<Engine>(database_.get(), options_);
  }

  test::TempDir directory_;
  const store::Durability durability_;
  EngineOptions options_;
  const std::function<void(store::DatabaseOptions*)> adjust_;
  std::unique_ptr<store::Database> database_;
  std::unique_ptr<Engine> engine_;
};

// Short builders of definitions.
inline model::IndexDefinition IndexOf(std::string name, std::vector<model::KeyElementDefinition> key,
                                      std::string projection, std::vector<std::string> included = {}) {
  model::IndexDefinition index;
  index.index_name = std::move(name);
  index.key_schema = std::move(key);
  index.projection.projection_type = std::move(projection);
  if (!included.empty()) index.projection.non_key_attributes = std::move(included);
  return index;
}

// Partition key "pk" (S), sort key "sk" (N), no indexes.
inline model::TableDefinition PlainTable(std::string name) {
  model::TableDefinition definition;
  definition.table_name = std::move(name);
  definition.attribute_definitions = {{"pk", "S"}, {"sk", "N"}};
  definition.key_schema = {{"pk", "HASH"}, {"sk", "RANGE"}};
  definition.billing_mode = "PAY_PER_REQUEST";
  return definition;
}

// A key or an item of PlainTable: the key and more attributes.
inline std::string PlainItem(std::string_view pk, std::string_view sk, codec::Attributes more = {}) {
  codec::Attributes all = {{"pk", codec::S(pk)}, {"sk", codec::N(sk)}};
  all.insert(all.end(), more.begin(), more.end());
  return codec::Item(all);
}

inline WriteRequest WriteTo(std::string table, std::string item_wire) {
  WriteRequest request;
  request.table_name = std::move(table);
  request.item_wire = std::move(item_wire);
  return request;
}

inline GetItemRequest GetFrom(std::string table, std::string key_wire) {
  GetItemRequest request;
  request.table_name = std::move(table);
  request.key_wire = std::move(key_wire);
  request.consistent_read = true;
  return request;
}

inline std::string ErrorNameOf(const absl::Status& status) {
  const std::optional<ApiError> error = GetApiError(status);
  return error.has_value() ? std::string(ApiErrorName(error->type)) : status.ToString();
}

}  // namespace armature::engine

#endif  // ARMATURE_TESTS_UNIT_ENGINE_ENGINE_TEST_UTIL_H_
