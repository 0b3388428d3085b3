#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "armature/api/v1/items.pb.h"
#include "daemon/api/item_messages.h"
#include "daemon/api/unary_operation.h"
#include "daemon/item_files/json_item_files.h"
#include "engine/engine.h"
#include "glog/logging.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"
#include "storage/model/wire.h"
#include "tests/conformance/backend.h"
#include "tests/conformance/request_message.h"
#include "tests/conformance/transfer_directories.h"
#include "tests/support/daemon_process.h"
#include "tools/armature/message_json.h"

namespace armature::conformance {
namespace {

namespace v1 = ::armature::api::v1;

constexpr std::chrono::seconds kEnginePatience{120};
// Field 1 of every answer holds the item or items.
constexpr uint32_t kAnswerItemField = 1;

Answer ErrorAnswer(const absl::Status& status) {
  Answer answer;
  const std::optional<ApiError> error = GetApiError(status);
  if (!error.has_value()) {
    answer.error_type = "InternalServerError";
    answer.error_text = status.ToString();
    return answer;
  }
  answer.error_type = std::string(ApiErrorName(error->type));
  answer.error_text = error->message;
  for (const CancellationReason& each : GetCancellationReasons(status)) {
    Json reason = {{"Code", each.code}};
    if (!each.message.empty()) reason["Message"] = each.message;
    v1::Item item;
    if (!each.item.empty() && item.ParseFromString(each.item)) reason["Item"] = cli::MessageToJson(item);
    answer.body["CancellationReasons"].push_back(std::move(reason));
  }
  for (const ThrottlingReason& each : GetThrottlingReasons(status)) {
    answer.body[ReasonsMember(answer.error_type)].push_back({{"reason", each.reason}, {"resource", each.resource}});
  }
  v1::Item item;
  if (!error->item.empty() && item.ParseFromString(error->item)) answer.body["Item"] = cli::MessageToJson(item);
  return answer;
}

Answer MessageAnswer(const google::protobuf::Message& message) {
  Answer answer;
  answer.body = cli::MessageToJson(message);
  return answer;
}

template <class Message>
Answer ParsedAnswer(std::string_view bytes) {
  Message message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return ErrorAnswer(absl::InternalError("the answer is not a message"));
  }
  return MessageAnswer(message);
}

// Waits for the result of an engine call.
template <class T>
class Waiter {
 public:
  engine::Callback<T> Catch() {
    return [promise = promise_](absl::StatusOr<T> result) { promise->set_value(std::move(result)); };
  }
  absl::StatusOr<T> Wait() {
    std::future<absl::StatusOr<T>> future = promise_->get_future();
    if (future.wait_for(kEnginePatience) != std::future_status::ready) return absl::InternalError("no answer");
    return future.get();
  }

 private:
  std::shared_ptr<std::promise<absl::StatusOr<T>>> promise_ = std::make_shared<std::promise<absl::StatusOr<T>>>();
};

class PageBytes final : public engine::PageWriter {
 public:
  void Add(std::string_view item_bytes) override { model::AppendBytesField(kAnswerItemField, item_bytes, &bytes); }
  void Clear() override { bytes.clear(); }
  std::string bytes;
};

class EngineBackend final : public Backend {
 public:
  EngineBackend() {
    FLAGS_minloglevel = google::GLOG_WARNING;  // many tables are created and deleted
    store::DatabaseOptions options;
    options.path = directory_.path("data");
    options.durability = store::Durability::kOs;
    options.cache_bytes = size_t{16} << 20;
    absl::StatusOr<std::unique_ptr<store::Database>> database = store::Database::Open(options);
    if (!database.ok()) throw std::runtime_error(database.status().ToString());
    database_ = *std::move(database);
    engine::EngineOptions engine_options;
    engine_options.expiry_interval = absl::Milliseconds(20);
    engine_options.backup.directory = directory_.path("backups");
    engine_options.transfer = {transfers_.out(), transfers_.in(), std::make_shared<daemon::JsonItemFiles>()};
    engine_ = std::make_unique<engine::Engine>(database_.get(), engine_options);
  }

  std::string_view name() const override { return "engine"; }

  Answer Run(const Call& call) override {
    using Engine = engine::Engine;
    const std::string_view name = call.operation;
    if (name == "GetItem") return Get(call);
    if (name == "UpdateItem") return Write<v1::UpdateItemRequest>(call, daemon::ParseUpdateItem, &Engine::UpdateItem);
    if (name == "PutItem") return Write<v1::PutItemRequest>(call, daemon::ParsePutItem, &Engine::PutItem);
    if (name == "DeleteItem") return Write<v1::DeleteItemRequest>(call, daemon::ParseDeleteItem, &Engine::DeleteItem);
    if (name == "Query") return Read<v1::QueryRequest>(call, daemon::ParseQuery, &Engine::Query);
    if (name == "BatchGetItem") {
      return Group<v1::BatchGetItemRequest, v1::BatchGetItemResponse>(call, daemon::ParseBatchGetItem,
                                                                      &Engine::BatchGetItem);
    }
    if (name == "BatchWriteItem") {
      return Group<v1::BatchWriteItemRequest, v1::BatchWriteItemResponse>(call, daemon::ParseBatchWriteItem,
                                                                          &Engine::BatchWriteItem);
    }
    if (name == "TransactGetItems") {
      return Group<v1::TransactGetItemsRequest, v1::TransactGetItemsResponse>(call, daemon::ParseTransactGetItems,
                                                                              &Engine::TransactGetItems);
    }
    if (name == "TransactWriteItems") {
      return Group<v1::TransactWriteItemsRequest, v1::TransactWriteItemsResponse>(call, daemon::ParseTransactWriteItems,
                                                                                  &Engine::TransactWriteItems);
    }
    if (name == "Scan") return Read<v1::ScanRequest>(call, daemon::ParseScan, &Engine::Scan);
    const daemon::UnaryOperation* const on_messages = daemon::FindUnaryOperation(name);
    if (on_messages != nullptr) return OnTables(*on_messages, call);
    return ErrorAnswer(UnknownOperationError(Cat(name, " is not there yet")));
  }

 private:
  static Answer CannotSay(const absl::Status& status) {
    Answer answer;
    answer.inexpressible = std::string(status.message());
    return answer;
  }

  Answer Get(const Call& call) {
    v1::GetItemRequest message;
    if (const absl::Status said = ToRequestMessage(call.request, &message); !said.ok()) return CannotSay(said);
    absl::StatusOr<engine::GetItemRequest> request = daemon::ParseGetItem(message.SerializeAsString());
    if (!request.ok()) return ErrorAnswer(request.status());
    Waiter<engine::GetItemResult> waiter;
    engine_->GetItem({}, *std::move(request), waiter.Catch());
    const absl::StatusOr<engine::GetItemResult> result = waiter.Wait();
    if (!result.ok()) return ErrorAnswer(result.status());
    return ParsedAnswer<v1::GetItemResponse>(ItemAndRest(result->item, daemon::SerializeRest(*result)));
  }

  template <class Request, class Parse, class Method>
  Answer Write(const Call& call, Parse parse, Method method) {
    Request message;
    if (const absl::Status said = ToRequestMessage(call.request, &message); !said.ok()) return CannotSay(said);
    auto request = parse(message.SerializeAsString());
    if (!request.ok()) return ErrorAnswer(request.status());
    Waiter<engine::WriteResult> waiter;
    (engine_.get()->*method)({}, *std::move(request), waiter.Catch());
    const absl::StatusOr<engine::WriteResult> result = waiter.Wait();
    if (!result.ok()) return ErrorAnswer(result.status());
    // All writes have the same answer fields.
    Answer answer = ParsedAnswer<v1::PutItemResponse>(ItemAndRest(result->attributes, daemon::SerializeRest(*result)));
    answer.body.erase("ChangeSequence");
    answer.change_sequence = result->change_sequence;
    return answer;
  }

  // Runs a batch or transaction.
  template <class Request, class Response, class Parsed, class Result>
  Answer Group(const Call& call, absl::StatusOr<Parsed> (*parse)(std::string_view),
               void (engine::Engine::*method)(engine::RequestContext, Parsed, engine::Callback<Result>)) {
    Request message;
    if (const absl::Status said = ToRequestMessage(call.request, &message); !said.ok()) return CannotSay(said);
    absl::StatusOr<Parsed> request = parse(message.SerializeAsString());
    if (!request.ok()) return ErrorAnswer(request.status());
    Waiter<Result> waiter;
    (engine_.get()->*method)({}, *std::move(request), waiter.Catch());
    const absl::StatusOr<Result> result = waiter.Wait();
    if (!result.ok()) return ErrorAnswer(result.status());
    Answer answer = ParsedAnswer<Response>(daemon::Serialize(*result));
    if constexpr (requires { result->change_sequence; }) answer.change_sequence = result->change_sequence;
    answer.body.erase("ChangeSequence");
    AddEmptyLists(call.operation, call.request, &answer.body);
    return answer;
  }

  template <class Request, class Parse, class Method>
  Answer Read(const Call& call, Parse parse, Method method) {
    Request message;
    if (const absl::Status said = ToRequestMessage(call.request, &message); !said.ok()) return CannotSay(said);
    message.set_at_least_sequence(call.at_least_sequence);
    absl::StatusOr<engine::ReadRequest> request = parse(message.SerializeAsString());
    if (!request.ok()) return ErrorAnswer(request.status());
    PageBytes page;
    Waiter<engine::ReadResult> waiter;
    (engine_.get()->*method)({}, *std::move(request), &page, waiter.Catch());
    const absl::StatusOr<engine::ReadResult> result = waiter.Wait();
    if (!result.ok()) return ErrorAnswer(result.status());
    Answer answer = ParsedAnswer<v1::QueryResponse>(Cat(page.bytes, daemon::SerializeRest(*result)));
    AddEmptyLists(call.operation, call.request, &answer.body);
    return answer;
  }

  static std::string ItemAndRest(const std::optional<engine::ItemBytes>& item, const std::string& rest) {
    std::string bytes;
    if (item.has_value()) model::AppendBytesField(kAnswerItemField, item->view(), &bytes);
    return bytes + rest;
  }

  // Runs an operation on tables like both front ends.
  Answer OnTables(const daemon::UnaryOperation& operation, const Call& call) {
    const std::shared_ptr<daemon::UnaryOperation::Messages> messages = operation.NewMessages();
    if (const absl::Status said = ToRequestMessage(call.request, messages->request.get()); !said.ok()) {
      return CannotSay(said);
    }
    std::promise<absl::Status> promise;
    std::future<absl::Status> finished = promise.get_future();
    daemon::OperationContext context{.engine = engine_.get()};
    context.at_least_sequence = call.at_least_sequence;
    context.is_original_protocol = true;
    operation.Start(context, *messages,
                    [messages, &promise](const absl::Status& status) { promise.set_value(status); });
    // Local objects must live until the engine has answered.
    if (const absl::Status status = finished.get(); !status.ok()) return ErrorAnswer(status);
    const uint64_t sequence = daemon::TakeChangeSequence(messages->response.get());
    Answer answer = MessageAnswer(*messages->response);
    answer.change_sequence = sequence;
    AddEmptyLists(call.operation, call.request, &answer.body);
    return answer;
  }

  TransferDirectories transfers_;
  test::TempDir directory_;
  std::unique_ptr<store::Database> database_;
  std::unique_ptr<engine::Engine> engine_;
};

}  // namespace

std::unique_ptr<Backend> MakeEngineBackend() { return std::make_unique<EngineBackend>(); }

}  // namespace armature::conformance
