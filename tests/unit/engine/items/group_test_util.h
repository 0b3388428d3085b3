#ifndef ARMATURE_TESTS_UNIT_ENGINE_ITEMS_GROUP_TEST_UTIL_H_
#define ARMATURE_TESTS_UNIT_ENGINE_ITEMS_GROUP_TEST_UTIL_H_

// Short calls of batches and transactions, and requests that block while they hold their row locks.

#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "storage/base/api_error.h"
#include "storage/store/log/change_log.h"
#include "tests/unit/engine/engine_test_util.h"

namespace armature::engine {

// Calls a method of the engine and waits for its answer.
template <class Request, class Result>
absl::StatusOr<Result> Ask(Engine* engine, void (Engine::*method)(RequestContext, Request, Callback<Result>),
                           Request request, RequestContext context = {}) {
  Answer<Result> answer;
  (engine->*method)(std::move(context), std::move(request), answer.Catch());
  return answer.Take();
}

inline absl::StatusOr<BatchGetResult> BatchGet(TestEngine& engine, BatchGetRequest request) {
  return Ask(&*engine, &Engine::BatchGetItem, std::move(request));
}
inline absl::StatusOr<BatchWriteResult> BatchWriteTo(TestEngine& engine, BatchWriteRequest request,
                                                     RequestContext context = {}) {
  return Ask(&*engine, &Engine::BatchWriteItem, std::move(request), std::move(context));
}
inline absl::StatusOr<TransactWriteResult> Transact(TestEngine& engine, TransactWriteRequest request,
                                                    RequestContext context = {}) {
  return Ask(&*engine, &Engine::TransactWriteItems, std::move(request), std::move(context));
}
inline absl::StatusOr<TransactGetResult> TransactRead(TestEngine& engine, TransactGetRequest request,
                                                      RequestContext context = {}) {
  return Ask(&*engine, &Engine::TransactGetItems, std::move(request), std::move(context));
}

inline BatchWrite PutOf(std::string item_wire) {
  BatchWrite write;
  write.is_put = true;
  write.put_wire = std::move(item_wire);
  return write;
}
inline BatchWrite DeleteOf(std::string key_wire) {
  BatchWrite write;
  write.is_delete = true;
  write.delete_wire = std::move(key_wire);
  return write;
}
inline BatchWriteRequest BatchOf(std::string table, std::vector<BatchWrite> writes) {
  BatchWriteRequest request;
  request.tables.push_back({std::move(table), std::move(writes)});
  return request;
}

inline BatchGetRequest BatchOfKeys(std::string table, std::vector<std::string> keys) {
  BatchGetRequest request;
  TableKeys& entry = request.tables.emplace_back();
  entry.table_name = std::move(table);
  entry.key_wires = std::move(keys);
  entry.consistent_read = true;
  return request;
}

// An action. `condition` and `update` are expressions or empty; `values` is an item of placeholders or empty.
inline TransactAction ActionOf(WriteKind kind, std::string table, std::string wire, std::string condition = "",
                               std::string update = "", std::string values = "") {
  TransactAction action;
  action.given = 1;
  action.kind = kind;
  action.write = WriteTo(std::move(table), std::move(wire));
  if (!condition.empty()) action.write.expressions.condition = std::move(condition);
  if (!update.empty()) action.write.expressions.update = std::move(update);
  if (!values.empty()) action.write.expressions.values_wire = std::move(values);
  return action;
}

inline TransactWriteRequest TransactionOf(std::vector<TransactAction> actions, std::string token = "") {
  TransactWriteRequest request;
  request.actions = std::move(actions);
  if (!token.empty()) request.client_request_token = std::move(token);
  return request;
}

inline TransactGetRequest ReadOf(const std::string& table, const std::vector<std::string>& keys) {
  TransactGetRequest request;
  for (const std::string& key : keys) request.gets.push_back({true, GetFrom(table, key)});
  return request;
}

// The codes of a cancelled transaction, such as "None ConditionalCheckFailed"; name and text of any other status.
inline std::string ReasonsOf(const absl::Status& status) {
  const std::vector<CancellationReason> reasons = GetCancellationReasons(status);
  if (reasons.empty()) return Cat(ErrorNameOf(status), ": ", Sv(status.message()));
  std::string codes;
  for (const CancellationReason& reason : reasons) codes += Cat(codes.empty() ? "" : " ", reason.code);
  return codes;
}

// A request that holds its row locks until it is released. The engine asks if the client is still connected when the
// rows are locked, and the answer blocks.
template <class Result>
class HeldRequest {
 public:
  // `run(RequestContext)` makes the call and waits for its answer.
  template <class Run>
  explicit HeldRequest(Run run) {
    RequestContext context;
    context.cancelled = [state = state_] {
      if (!state->holds.HasBeenNotified()) state->holds.Notify();
      state->release.WaitForNotification();
      return false;
    };
    thread_ = std::thread([run, context, state = state_] { state->result = run(context); });
    state_->holds.WaitForNotification();
  }
  ~HeldRequest() {
    if (thread_.joinable()) static_cast<void>(Finish());
  }
  HeldRequest(const HeldRequest&) = delete;
  HeldRequest& operator=(const HeldRequest&) = delete;

  // Releases the request and waits for its answer.
  absl::StatusOr<Result> Finish() {
    state_->release.Notify();
    thread_.join();
    return std::move(state_->result);
  }

 private:
  struct State {
    absl::Notification holds;
    absl::Notification release;
    absl::StatusOr<Result> result = absl::InternalError("no answer");
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
  std::thread thread_;
};

// Blocks the commit thread from the first commit with change records until released. For engines that do not apply
// changes and have no consumer of their own.
class StuckConsumer final : public store::ChangeConsumer {
 public:
  void OnAppended(const std::vector<TableId>&) override {
    if (!stuck.HasBeenNotified()) stuck.Notify();
    release.WaitForNotification();
  }
  absl::Notification stuck;
  absl::Notification release;
};

}  // namespace armature::engine

#endif  // ARMATURE_TESTS_UNIT_ENGINE_ITEMS_GROUP_TEST_UTIL_H_
