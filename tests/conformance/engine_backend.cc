#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "armature/api/v1/items.pb.h"
#include "armature/api/v1/tables.pb.h"
#include "daemon/api/group_messages.h"
#include "daemon/api/item_messages.h"
#include "daemon/api/setting_messages.h"
#include "daemon/api/table_backup_messages.h"
#include "daemon/api/table_messages.h"
#include "engine/engine.h"
#include "glog/logging.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"
#include "storage/base/throttling_error.h"
#include "storage/base/transaction_error.h"
#include "storage/model/wire.h"
#include "tests/conformance/backend.h"
#include "tests/conformance/request_message.h"
#include "tests/support/daemon_process.h"
#include "tools/armature/attribute_json.h"
#include "tools/armature/message_json.h"

namespace armature::conformance {
namespace {

namespace v1 = ::armature::api::v1;

constexpr std::chrono::seconds kPatience{120};
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
    if (!each.item.empty() && item.ParseFromString(each.item)) reason["Item"] = cli::ItemToJson(item);
    answer.body["CancellationReasons"].push_back(std::move(reason));
  }
  for (const ThrottlingReason& each : GetThrottlingReasons(status)) {
    answer.body[ReasonsMember(answer.error_type)].push_back({{"reason", each.reason}, {"resource", each.resource}});
  }
  v1::Item item;
  if (!error->item.empty() && item.ParseFromString(error->item)) answer.body["Item"] = cli::ItemToJson(item);
  return answer;
}

template <class Message>
Answer MessageAnswer(const Message& message) {
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
    if (future.wait_for(kPatience) != std::future_status::ready) return absl::InternalError("no answer");
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
    engine_options.backup.directory = directory_.path("backups");
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
    if (std::optional<Answer> answer = RunOnTables(call)) return *std::move(answer);
    if (std::optional<Answer> answer = RunOnSettings(call)) return *std::move(answer);
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

  // Asks the engine: `start(request, callback)` begins, `fill(result, response)` makes the answer.
  template <class Request, class Response, class Result, class Start, class Fill>
  Answer Ask(const Call& call, Start start, Fill fill) {
    Request request;
    if (const absl::Status said = ToRequestMessage(call.request, &request); !said.ok()) return CannotSay(said);
    Waiter<Result> waiter;
    start(request, waiter.Catch());
    const absl::StatusOr<Result> result = waiter.Wait();
    if (!result.ok()) return ErrorAnswer(result.status());
    Response response;
    fill(*result, &response);
    Answer answer = MessageAnswer(response);
    AddEmptyLists(call.operation, call.request, &answer.body);
    return answer;
  }

  template <class Request, class Response, class Start>
  Answer AskForTable(const Call& call, Start start) {
    return Ask<Request, Response, engine::TableDescription>(
        call, start, [](const engine::TableDescription& table, Response* response) {
          if constexpr (requires { response->mutable_table(); }) {
            daemon::Fill(table, response->mutable_table());
          } else {
            daemon::Fill(table, response->mutable_table_description());
          }
        });
  }

  std::optional<Answer> RunOnTables(const Call& call) {
    if (call.operation == "CreateTable") {
      return AskForTable<v1::CreateTableRequest, v1::CreateTableResponse>(call, [this](const auto& request, auto done) {
        engine_->CreateTable(daemon::ToTableDefinition(request), std::move(done));
      });
    }
    if (call.operation == "DeleteTable") {
      return AskForTable<v1::DeleteTableRequest, v1::DeleteTableResponse>(call, [this](const auto& request, auto done) {
        engine_->DeleteTable(request.table_name(), std::move(done));
      });
    }
    if (call.operation == "DescribeTable") {
      return AskForTable<v1::DescribeTableRequest, v1::DescribeTableResponse>(
          call,
          [this](const auto& request, auto done) { engine_->DescribeTable(request.table_name(), std::move(done)); });
    }
    if (call.operation == "UpdateTable") {
      return AskForTable<v1::UpdateTableRequest, v1::UpdateTableResponse>(call, [this](const auto& request, auto done) {
        engine_->UpdateTable(daemon::ToTableUpdate(request), std::move(done));
      });
    }
    if (call.operation == "ListTables") return ListTables(call);
    return std::nullopt;
  }

  Answer ListTables(const Call& call) {
    return Ask<v1::ListTablesRequest, v1::ListTablesResponse, engine::ListTablesResult>(
        call,
        [this](const auto& request, auto done) {
          std::optional<std::string> start_after;
          std::optional<int64_t> limit;
          if (request.has_exclusive_start_table_name()) start_after = request.exclusive_start_table_name();
          if (request.has_limit()) limit = request.limit();
          engine_->ListTables(start_after, limit, std::move(done));
        },
        [](const engine::ListTablesResult& result, v1::ListTablesResponse* response) {
          daemon::Fill(result, response);
        });
  }

  std::optional<Answer> RunOnSettings(const Call& call) {
    const auto fill = [](const auto& result, auto* response) { daemon::Fill(result, response); };
    const auto nothing = [](const engine::Nothing&, auto*) {};
    if (call.operation == "TagResource") {
      return Ask<v1::TagResourceRequest, v1::TagResourceResponse, engine::Nothing>(
          call,
          [this](const auto& request, auto done) {
            engine_->TagResource(daemon::ToTagResource(request), std::move(done));
          },
          nothing);
    }
    if (call.operation == "UntagResource") {
      return Ask<v1::UntagResourceRequest, v1::UntagResourceResponse, engine::Nothing>(
          call,
          [this](const auto& request, auto done) {
            engine_->UntagResource(daemon::ToUntagResource(request), std::move(done));
          },
          nothing);
    }
    if (call.operation == "ListTagsOfResource") {
      return Ask<v1::ListTagsOfResourceRequest, v1::ListTagsOfResourceResponse, engine::ListTagsOfResourceResult>(
          call,
          [this](const auto& request, auto done) {
            engine_->ListTagsOfResource(daemon::ToListTagsOfResource(request), std::move(done));
          },
          fill);
    }
    if (call.operation == "UpdateTimeToLive") {
      return Ask<v1::UpdateTimeToLiveRequest, v1::UpdateTimeToLiveResponse, engine::TimeToLiveSpecification>(
          call,
          [this](const auto& request, auto done) {
            engine_->UpdateTimeToLive(daemon::ToUpdateTimeToLive(request), std::move(done));
          },
          fill);
    }
    if (call.operation == "DescribeTimeToLive") {
      return Ask<v1::DescribeTimeToLiveRequest, v1::DescribeTimeToLiveResponse, engine::TimeToLiveDescription>(
          call,
          [this](const auto& request, auto done) {
            engine_->DescribeTimeToLive(request.table_name(), std::move(done));
          },
          fill);
    }
    if (std::optional<Answer> answer = RunOnContinuousBackups(call)) return answer;
    return RunOnBackups(call);
  }

  std::optional<Answer> RunOnContinuousBackups(const Call& call) {
    const auto fill = [](const engine::ContinuousBackupsDescription& result, auto* response) {
      daemon::Fill(result, response->mutable_continuous_backups_description());
    };
    if (call.operation == "DescribeContinuousBackups") {
      return Ask<v1::DescribeContinuousBackupsRequest, v1::DescribeContinuousBackupsResponse,
                 engine::ContinuousBackupsDescription>(
          call,
          [this](const auto& request, auto done) {
            engine_->DescribeContinuousBackups(request.table_name(), std::move(done));
          },
          fill);
    }
    if (call.operation == "UpdateContinuousBackups") {
      return Ask<v1::UpdateContinuousBackupsRequest, v1::UpdateContinuousBackupsResponse,
                 engine::ContinuousBackupsDescription>(
          call,
          [this](const auto& request, auto done) {
            engine_->UpdateContinuousBackups(daemon::ToUpdateContinuousBackups(request), std::move(done));
          },
          fill);
    }
    return std::nullopt;
  }

  std::optional<Answer> RunOnBackups(const Call& call) {
    const auto fill = [](const engine::TableBackup& backup, auto* response) {
      daemon::Fill(backup, response->mutable_backup_description());
    };
    if (call.operation == "CreateBackup") {
      return Ask<v1::CreateBackupRequest, v1::CreateBackupResponse, engine::TableBackup>(
          call,
          [this](const auto& request, auto done) {
            engine_->CreateBackup(daemon::ToCreateBackup(request), std::move(done));
          },
          [](const engine::TableBackup& backup, auto* response) {
            daemon::Fill(backup, response->mutable_backup_details());
          });
    }
    if (call.operation == "DescribeBackup") {
      return Ask<v1::DescribeBackupRequest, v1::DescribeBackupResponse, engine::TableBackup>(
          call,
          [this](const auto& request, auto done) { engine_->DescribeBackup(request.backup_arn(), std::move(done)); },
          fill);
    }
    if (call.operation == "DeleteBackup") {
      return Ask<v1::DeleteBackupRequest, v1::DeleteBackupResponse, engine::TableBackup>(
          call,
          [this](const auto& request, auto done) { engine_->DeleteBackup(request.backup_arn(), std::move(done)); },
          fill);
    }
    if (call.operation == "ListBackups") {
      return Ask<v1::ListBackupsRequest, v1::ListBackupsResponse, engine::ListTableBackupsResult>(
          call,
          [this](const auto& request, auto done) {
            engine_->ListTableBackups(daemon::ToListTableBackups(request), std::move(done));
          },
          [](const engine::ListTableBackupsResult& result, auto* response) { daemon::Fill(result, response); });
    }
    if (call.operation != "RestoreTableFromBackup") return std::nullopt;
    return AskForTable<v1::RestoreTableFromBackupRequest, v1::RestoreTableFromBackupResponse>(
        call, [this](const auto& request, auto done) {
          absl::StatusOr<engine::RestoreTableRequest> restore = daemon::ToRestoreTable(request);
          if (!restore.ok()) return std::move(done)(restore.status());
          engine_->RestoreTableFromBackup(*std::move(restore), std::move(done));
        });
  }

  test::TempDir directory_;
  std::unique_ptr<store::Database> database_;
  std::unique_ptr<engine::Engine> engine_;
};

}  // namespace

std::unique_ptr<Backend> MakeEngineBackend() { return std::make_unique<EngineBackend>(); }

}  // namespace armature::conformance
