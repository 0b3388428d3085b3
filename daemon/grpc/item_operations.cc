#include "daemon/grpc/item_operations.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "daemon/api/answer_page.h"
#include "daemon/api/item_messages.h"
#include "engine/engine.h"
#include "engine/items/access_facts.h"
#include "storage/base/status_macros.h"
#include "storage/model/wire.h"

namespace armature::daemon {
namespace {

using engine::Engine;

// A response with at most one item, whose bytes are sent from where they were read.
OutMessage ItemAndRest(std::optional<engine::ItemBytes>* item, std::string rest) {
  OutMessage message;
  if (item->has_value()) {
    message.bytes = std::move(**item).Take();
    message.head.push_back(static_cast<char>(model::WireTag(kAnswerItemField, model::WireType::kBytes)));
    model::AppendVarint(message.bytes.size(), &message.head);
    message.bytes.append(rest);
  } else {
    message.bytes = std::move(rest);
  }
  return message;
}

OutMessage Encode(engine::GetItemResult* result) { return ItemAndRest(&result->item, SerializeRest(*result)); }
OutMessage Encode(engine::WriteResult* result) { return ItemAndRest(&result->attributes, SerializeRest(*result)); }
template <class GroupResult>
OutMessage Encode(GroupResult* result) {
  return {.head = {}, .bytes = Serialize(*result)};
}

// The engine, if the request could be parsed and the caller has all rights that it needs. Errors: those of the parser,
// AccessDeniedException.
template <class Request>
absl::StatusOr<Engine*> Admit(std::string_view name, const ItemCall& call, const absl::StatusOr<Request>& request) {
  ARM_RETURN_IF_ERROR(request.status());
  Engine* engine = nullptr;
  access::MatchWork work;
  ARM_RETURN_IF_ERROR(engine::CheckRights(name, *request, [&](const engine::NeededRight& right) -> absl::Status {
    if (call.context.trace != nullptr) call.context.trace->set_table(right.table);
    ARM_ASSIGN_OR_RETURN(engine, call.caller.Allow(right, &work));
    return absl::OkStatus();
  }));
  return engine;
}

void Fail(ItemAnswer answer, const absl::Status& status) { std::move(answer)(status, {}); }

template <auto kParse, auto kMethod, class Result>
void Run(std::string_view name, ItemCall call, std::string_view request) {
  auto parsed = kParse(request);
  const absl::StatusOr<Engine*> engine = Admit(name, call, parsed);
  if (!engine.ok()) return Fail(std::move(call.answer), engine.status());
  if constexpr (requires { parsed->token_scope; }) parsed->token_scope = call.caller.principal();
  ((*engine)->*kMethod)(std::move(call.context), *std::move(parsed),
                        [answer = std::move(call.answer)](absl::StatusOr<Result> result) mutable {
                          if (!result.ok()) return Fail(std::move(answer), result.status());
                          OutMessage message = Encode(&*result);
                          if constexpr (requires { result->memory; }) message.memory = std::move(result->memory);
                          std::move(answer)(absl::OkStatus(), std::move(message));
                        });
}

// Runs Query or Scan.
template <auto kParse, auto kMethod>
void RunPage(std::string_view name, ItemCall call, std::string_view request) {
  absl::StatusOr<engine::ReadRequest> parsed = kParse(request);
  const absl::StatusOr<Engine*> engine = Admit(name, call, parsed);
  if (!engine.ok()) return Fail(std::move(call.answer), engine.status());
  auto page = std::make_shared<AnswerPage>(parsed->limit, call.context.memory);
  AnswerPage* const writer = page.get();
  ((*engine)->*kMethod)(std::move(call.context), *std::move(parsed), writer,
                        [answer = std::move(call.answer),
                         page = std::move(page)](const absl::StatusOr<engine::ReadResult>& result) mutable {
                          if (!result.ok()) return Fail(std::move(answer), result.status());
                          if (page->is_refused()) return Fail(std::move(answer), NoMemoryForAnswerError());
                          std::string bytes = page->Take(SerializeRest(*result));
                          std::move(answer)(absl::OkStatus(),
                                            {.head = {}, .bytes = std::move(bytes), .memory = page->TakeMemory()});
                        });
}

constexpr uint32_t kItem = 1;
constexpr uint32_t kPage = 8;
constexpr uint32_t kGroup = 32;

constexpr auto kItemOperations = std::to_array<ItemOperation>({
    {"GetItem", kItem, Run<ParseGetItem, &Engine::GetItem, engine::GetItemResult>},
    {"PutItem", kItem, Run<ParsePutItem, &Engine::PutItem, engine::WriteResult>},
    {"UpdateItem", kItem, Run<ParseUpdateItem, &Engine::UpdateItem, engine::WriteResult>},
    {"DeleteItem", kItem, Run<ParseDeleteItem, &Engine::DeleteItem, engine::WriteResult>},
    {"Query", kPage, RunPage<ParseQuery, &Engine::Query>},
    {"Scan", kPage, RunPage<ParseScan, &Engine::Scan>},
    {"BatchGetItem", kGroup, Run<ParseBatchGetItem, &Engine::BatchGetItem, engine::BatchGetResult>},
    {"BatchWriteItem", kGroup, Run<ParseBatchWriteItem, &Engine::BatchWriteItem, engine::BatchWriteResult>},
    {"TransactGetItems", kGroup, Run<ParseTransactGetItems, &Engine::TransactGetItems, engine::TransactGetResult>},
    {"TransactWriteItems", kGroup,
     Run<ParseTransactWriteItems, &Engine::TransactWriteItems, engine::TransactWriteResult>},
});
static_assert(kItemOperations.size() == kPipelineNumberLast - kPipelineNumberFirst + 1);

}  // namespace

Deadline DeadlineOf(const RpcCall& call) {
  const std::optional<int64_t> due_ns = call.deadline_ns();
  return due_ns.has_value() ? Deadline::At(*due_ns) : Deadline::Never();
}

engine::RequestContext MakeRequestContext(const RpcCall* call, std::shared_ptr<engine::RequestTrace> trace) {
  engine::RequestContext made;
  made.memory = call->memory();
  made.trace = std::move(trace);
  made.deadline = DeadlineOf(*call);
  made.cancelled = [call] { return call->is_cancelled(); };
  return made;
}

std::span<const ItemOperation> ItemOperations() { return kItemOperations; }

}  // namespace armature::daemon
