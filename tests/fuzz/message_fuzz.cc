// Messages of gRPC, from bytes to answer, over a database of their own. Input: the name of an operation, a line feed,
// and the encoded request.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/synchronization/notification.h"
#include "armature/api/v1/items.pb.h"
#include "daemon/api/item_messages.h"
#include "daemon/api/unary_operation.h"
#include "engine/engine.h"
#include "engine/operations.h"
#include "glog/logging.h"
#include "storage/base/api_error.h"
#include "storage/model/wire.h"
#include "tests/fuzz/fuzz_engine.h"
#include "tests/fuzz/fuzz_util.h"

namespace armature::fuzz {
namespace {

using engine::Engine;

void CheckStatus(const absl::Status& status) {
  if (status.ok()) return;
  const std::optional<ApiError> error = GetApiError(status);
  Check(error.has_value() && error->type != ApiErrorType::kServiceUnavailable, "no message is an error of the server");
}

// The items of a page as they stand in an answer.
class AnswerItems final : public engine::PageWriter {
 public:
  void Add(std::string_view item) override { model::AppendBytesField(1, item, &bytes); }
  void Clear() override { bytes.clear(); }
  std::string bytes;
};

std::string Complete(const engine::GetItemResult& result) {
  std::string bytes;
  if (result.item.has_value()) model::AppendBytesField(1, result.item->view(), &bytes);
  return bytes + daemon::SerializeRest(result);
}
std::string Complete(const engine::WriteResult& result) {
  std::string bytes;
  if (result.attributes.has_value()) model::AppendBytesField(1, result.attributes->view(), &bytes);
  return bytes + daemon::SerializeRest(result);
}
template <class GroupResult>
std::string Complete(const GroupResult& result) {
  return daemon::Serialize(result);
}

template <class Message, class Result, class Parsed, class Method>
void RunItems(Engine* engine, absl::StatusOr<Parsed> parsed, Method method) {
  CheckStatus(parsed.status());
  if (!parsed.ok()) return;
  absl::Notification answered;
  (engine->*method)({}, *std::move(parsed), [&](const absl::StatusOr<Result>& result) {
    CheckStatus(result.status());
    if (result.ok()) Check(Message().ParseFromString(Complete(*result)), "an answer is a message");
    answered.Notify();  // aborts if called twice
  });
  answered.WaitForNotification();
}

template <class Message, class Method>
void RunPage(Engine* engine, absl::StatusOr<engine::ReadRequest> parsed, Method method) {
  CheckStatus(parsed.status());
  if (!parsed.ok()) return;
  // Waits for an index would last as long as their deadline.
  parsed->at_least_sequence = 0;
  AnswerItems page;
  absl::Notification answered;
  (engine->*method)({}, *std::move(parsed), &page, [&](const absl::StatusOr<engine::ReadResult>& result) {
    CheckStatus(result.status());
    if (result.ok())
      Check(Message().ParseFromString(page.bytes + daemon::SerializeRest(*result)), "a page is a message");
    answered.Notify();
  });
  answered.WaitForNotification();
}

bool RunItemOperation(Engine* engine, std::string_view name, std::string_view bytes) {
  namespace v1 = api::v1;
  if (name == "GetItem") {
    RunItems<v1::GetItemResponse, engine::GetItemResult>(engine, daemon::ParseGetItem(bytes), &Engine::GetItem);
  } else if (name == "PutItem") {
    RunItems<v1::PutItemResponse, engine::WriteResult>(engine, daemon::ParsePutItem(bytes), &Engine::PutItem);
  } else if (name == "UpdateItem") {
    RunItems<v1::UpdateItemResponse, engine::WriteResult>(engine, daemon::ParseUpdateItem(bytes), &Engine::UpdateItem);
  } else if (name == "DeleteItem") {
    RunItems<v1::DeleteItemResponse, engine::WriteResult>(engine, daemon::ParseDeleteItem(bytes), &Engine::DeleteItem);
  } else if (name == "Query") {
    RunPage<v1::QueryResponse>(engine, daemon::ParseQuery(bytes), &Engine::Query);
  } else if (name == "Scan") {
    RunPage<v1::ScanResponse>(engine, daemon::ParseScan(bytes), &Engine::Scan);
  } else if (name == "BatchGetItem") {
    RunItems<v1::BatchGetItemResponse, engine::BatchGetResult>(engine, daemon::ParseBatchGetItem(bytes),
                                                               &Engine::BatchGetItem);
  } else if (name == "BatchWriteItem") {
    RunItems<v1::BatchWriteItemResponse, engine::BatchWriteResult>(engine, daemon::ParseBatchWriteItem(bytes),
                                                                   &Engine::BatchWriteItem);
  } else if (name == "TransactGetItems") {
    RunItems<v1::TransactGetItemsResponse, engine::TransactGetResult>(engine, daemon::ParseTransactGetItems(bytes),
                                                                      &Engine::TransactGetItems);
  } else if (name == "TransactWriteItems") {
    RunItems<v1::TransactWriteItemsResponse, engine::TransactWriteResult>(
        engine, daemon::ParseTransactWriteItems(bytes), &Engine::TransactWriteItems);
  } else {
    return false;
  }
  return true;
}

// Operations that create, change or delete tables and backups are slow, and later inputs need the table.
bool IsRun(const engine::Operation& operation) {
  return operation.subject != "backup_arn" && operation.source != "backup_arn" && operation.name != "CreateBackup" &&
         operation.name != "CreateTable" && operation.name != "UpdateTable" && operation.name != "DeleteTable";
}

void RunUnary(Engine* engine, std::string_view name, const std::string& bytes) {
  const daemon::UnaryOperation* const operation = daemon::FindUnaryOperation(name);
  if (operation == nullptr || !IsRun(operation->facts())) return;
  const auto messages = operation->NewMessages();
  if (!messages->request->ParseFromString(bytes)) return;
  operation->FindSubject(messages.get());
  absl::Notification answered;
  operation->Start({.engine = engine, .authority = "localhost:1"}, *messages, [&](const absl::Status& status) {
    CheckStatus(status);
    answered.Notify();
  });
  answered.WaitForNotification();
}

}  // namespace
}  // namespace armature::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view input = armature::fuzz::Text(data, size);
  const size_t line = input.find('\n');
  if (line == std::string_view::npos) return 0;
  const std::string_view name = input.substr(0, line);
  if (armature::engine::FindOperation(name) == nullptr) return 0;
  FLAGS_minloglevel = google::GLOG_WARNING;
  static armature::fuzz::FuzzEngine engine;
  engine.Renew();
  const std::string bytes(input.substr(line + 1));
  if (!armature::fuzz::RunItemOperation(engine.get(), name, bytes)) {
    armature::fuzz::RunUnary(engine.get(), name, bytes);
  }
  return 0;
}
