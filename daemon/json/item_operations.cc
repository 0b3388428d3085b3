#include "daemon/json/item_operations.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "daemon/json/error_json.h"
#include "daemon/json/item_answers.h"
#include "daemon/json/item_requests.h"

namespace armature::daemon {
namespace {

using engine::Engine;

// Part of the bytes of its items by which a document is longer, if they are long.
constexpr size_t kDocumentPart = 16;

// The error of a parsed request: a fault of the document, or missing access rights.
template <class Request>
absl::Status Admit(const Engine& engine, const JsonCall& call, const absl::StatusOr<Request>& request) {
  if (!request.ok()) return request.status();
  access::MatchWork work;
  return engine::CheckRights(call.operation, *request,
                             [&](const engine::NeededRight& right) { return call.CheckAccess(engine, right, &work); });
}

// Runs an operation: `kParse(document)` makes the request.
template <auto kParse, auto kMethod, class Result>
void Run(Engine* engine, const JsonCall& call, JsonApi::Done done) {
  auto request = kParse(call.body);
  if (const absl::Status status = Admit(*engine, call, request); !status.ok()) {
    return std::move(done)(ErrorAnswer(status, call.request_id));
  }
  if constexpr (requires { request->token_scope; }) {
    if (call.access != nullptr) request->token_scope = call.access->principal();
  }
  (engine->*kMethod)(call.context, *std::move(request),
                     [request_id = call.request_id, memory = call.context.memory,
                      done = std::move(done)](absl::StatusOr<Result> result) mutable {
                       if (!result.ok()) return std::move(done)(ErrorAnswer(result.status(), request_id, memory));
                       constexpr bool kOnlyReads = !requires { result->change_sequence; };
                       HeldMemory held{memory};
                       size_t item_bytes = 0;
                       if constexpr (requires { result->memory; }) {
                         item_bytes = result->item_bytes;
                         if (result->memory.is_counted()) held = std::move(result->memory);
                       }
                       JsonWriter writer(std::move(held), item_bytes, kOnlyReads);
                       // A buffer that grows is there twice meanwhile.
                       if (HeldMemory::Counts(item_bytes)) writer.Reserve(item_bytes + item_bytes / kDocumentPart);
                       WriteAnswer(*result, &writer);
                       JsonAnswer answer = AnswerOf(&writer, kOnlyReads, request_id);
                       if constexpr (!kOnlyReads) answer.change_sequence = result->change_sequence;
                       std::move(done)(std::move(answer));
                     });
}

// Runs Query or Scan.
template <auto kParse, auto kMethod>
void RunPage(Engine* engine, const JsonCall& call, JsonApi::Done done) {
  absl::StatusOr<engine::ReadRequest> request = kParse(call.body);
  if (const absl::Status status = Admit(*engine, call, request); !status.ok()) {
    return std::move(done)(ErrorAnswer(status, call.request_id));
  }
  request->at_least_sequence = call.at_least_sequence;
  auto page = std::make_shared<JsonPage>(request->limit, request->select != "COUNT", call.context.memory);
  JsonPage* const writer = page.get();
  (engine->*kMethod)(call.context, *std::move(request), writer,
                     [page = std::move(page), request_id = call.request_id,
                      done = std::move(done)](const absl::StatusOr<engine::ReadResult>& result) mutable {
                       if (!result.ok()) return std::move(done)(ErrorAnswer(result.status(), request_id));
                       std::move(done)(AnswerOf(page->Finish(*result), /*may_refuse=*/true, request_id));
                     });
}

constexpr JsonOperation kItemOperations[] = {
    {"GetItem", Run<ParseGetItem, &Engine::GetItem, engine::GetItemResult>},
    {"PutItem", Run<ParsePutItem, &Engine::PutItem, engine::WriteResult>},
    {"UpdateItem", Run<ParseUpdateItem, &Engine::UpdateItem, engine::WriteResult>},
    {"DeleteItem", Run<ParseDeleteItem, &Engine::DeleteItem, engine::WriteResult>},
    {"Query", RunPage<ParseQuery, &Engine::Query>},
    {"Scan", RunPage<ParseScan, &Engine::Scan>},
    {"BatchGetItem", Run<ParseBatchGetItem, &Engine::BatchGetItem, engine::BatchGetResult>},
    {"BatchWriteItem", Run<ParseBatchWriteItem, &Engine::BatchWriteItem, engine::BatchWriteResult>},
    {"TransactGetItems", Run<ParseTransactGetItems, &Engine::TransactGetItems, engine::TransactGetResult>},
    {"TransactWriteItems", Run<ParseTransactWriteItems, &Engine::TransactWriteItems, engine::TransactWriteResult>},
};

}  // namespace

const JsonOperation* FindItemOperation(std::string_view name) {
  const auto* const found = std::ranges::find(kItemOperations, name, &JsonOperation::name);
  return found == std::end(kItemOperations) ? nullptr : found;
}

}  // namespace armature::daemon
