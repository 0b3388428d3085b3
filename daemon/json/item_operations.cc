#include <memory>
#include <utility>

#include "daemon/json/item_answers.h"
#include "daemon/json/item_json.h"
#include "daemon/json/item_requests.h"
#include "daemon/json/operations.h"
#include "engine/engine.h"

namespace armature::daemon {
namespace {

void WriteGotItem(const engine::GetItemResult& result, JsonWriter* writer) {
  writer->BeginObject();
  if (result.item.has_value()) WriteItem(result.item->view(), &writer->Key("Item"));
  WriteCapacityMember(result.capacity, writer);
  writer->EndObject();
}

void GetItem(engine::Engine* engine, const JsonCall& call, JsonApi::Done done) {
  absl::StatusOr<engine::GetItemRequest> request = ParseGetItem(call.body);
  if (const absl::Status status = Admit(call, request); !status.ok()) return Fail(call, status, std::move(done));
  engine->GetItem(call.context, *std::move(request),
                  AnswerWith<engine::GetItemResult>(call, std::move(done), WriteGotItem));
}

engine::Callback<engine::WriteResult> AnswerWrite(const JsonCall& call, JsonApi::Done done) {
  return [request_id = call.request_id,
          done = std::move(done)](const absl::StatusOr<engine::WriteResult>& result) mutable {
    if (!result.ok()) return std::move(done)(ErrorAnswer(result.status(), request_id));
    JsonWriter writer;
    writer.BeginObject();
    if (result->attributes.has_value()) WriteItem(result->attributes->view(), &writer.Key("Attributes"));
    WriteCapacityMember(result->capacity, &writer);
    WriteCollectionMember(result->collection, &writer);
    writer.EndObject();
    JsonAnswer answer;
    answer.body = writer.Take();
    answer.change_sequence = result->change_sequence;
    std::move(done)(std::move(answer));
  };
}

using WriteMethod = void (engine::Engine::*)(engine::RequestContext, engine::WriteRequest,
                                             engine::Callback<engine::WriteResult>);

void Write(engine::Engine* engine, WriteMethod method, absl::StatusOr<engine::WriteRequest> request,
           const JsonCall& call, JsonApi::Done done) {
  if (const absl::Status status = Admit(call, request); !status.ok()) return Fail(call, status, std::move(done));
  auto answer = AnswerWrite(call, std::move(done));
  (engine->*method)(call.context, *std::move(request), std::move(answer));
}

void PutItem(engine::Engine* engine, const JsonCall& call, JsonApi::Done done) {
  auto request = ParsePutItem(call.body);
  Write(engine, &engine::Engine::PutItem, std::move(request), call, std::move(done));
}

void UpdateItem(engine::Engine* engine, const JsonCall& call, JsonApi::Done done) {
  auto request = ParseUpdateItem(call.body);
  Write(engine, &engine::Engine::UpdateItem, std::move(request), call, std::move(done));
}

void DeleteItem(engine::Engine* engine, const JsonCall& call, JsonApi::Done done) {
  auto request = ParseDeleteItem(call.body);
  Write(engine, &engine::Engine::DeleteItem, std::move(request), call, std::move(done));
}

using ReadMethod = void (engine::Engine::*)(engine::RequestContext, engine::ReadRequest, engine::PageWriter*,
                                            engine::Callback<engine::ReadResult>);

void Read(engine::Engine* engine, ReadMethod method, absl::StatusOr<engine::ReadRequest> request, const JsonCall& call,
          JsonApi::Done done) {
  if (const absl::Status status = Admit(call, request); !status.ok()) return Fail(call, status, std::move(done));
  request->at_least_sequence = call.at_least_sequence;
  auto page = std::make_shared<JsonPage>(request->limit, request->select != "COUNT");
  JsonPage* const writer = page.get();
  (engine->*method)(call.context, *std::move(request), writer,
                    [page = std::move(page), request_id = call.request_id,
                     done = std::move(done)](const absl::StatusOr<engine::ReadResult>& result) mutable {
                      if (!result.ok()) return std::move(done)(ErrorAnswer(result.status(), request_id));
                      JsonAnswer answer;
                      answer.body = page->Finish(*result);
                      std::move(done)(std::move(answer));
                    });
}

void Query(engine::Engine* engine, const JsonCall& call, JsonApi::Done done) {
  auto request = ParseQuery(call.body);
  Read(engine, &engine::Engine::Query, std::move(request), call, std::move(done));
}

void Scan(engine::Engine* engine, const JsonCall& call, JsonApi::Done done) {
  auto request = ParseScan(call.body);
  Read(engine, &engine::Engine::Scan, std::move(request), call, std::move(done));
}

constexpr JsonOperation kItemJsonOperations[] = {
    {"DeleteItem", DeleteItem}, {"GetItem", GetItem}, {"PutItem", PutItem},
    {"Query", Query},           {"Scan", Scan},       {"UpdateItem", UpdateItem},
};

}  // namespace

std::span<const JsonOperation> ItemOperations() { return kItemJsonOperations; }

}  // namespace armature::daemon
