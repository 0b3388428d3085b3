#include "daemon/grpc/item_operations.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "daemon/api/item_messages.h"
#include "daemon/api/message_parts.h"
#include "daemon/grpc/byte_buffers.h"
#include "engine/engine.h"
#include "engine/items/access_facts.h"
#include "storage/base/status_macros.h"
#include "storage/model/wire.h"

namespace armature::daemon {
namespace {

using engine::Engine;

// Field 1 of every answer holds the item or items.
constexpr uint32_t kAnswerItemField = 1;

// Writes the items of a page directly into the answer.
class AnswerPage final : public engine::PageWriter {
 public:
  // `limit`: the limit of the request.
  AnswerPage(std::optional<int64_t> limit, const MemorySource& memory) : limit_(limit), memory_(memory) {}

  void Add(std::string_view item_bytes) override {
    // Room for another item is room for the rest of the answer.
    const size_t framed_bytes = item_bytes.size() + kFrameBytes;
    if (bytes_.size() + framed_bytes > bytes_.capacity()) Grow(framed_bytes);
    if (is_refused_) return;
    model::AppendBytesField(kAnswerItemField, item_bytes, &bytes_);
  }
  void Clear() override { bytes_.clear(); }
  // True if there was no memory for the page.
  bool is_refused() const { return is_refused_; }
  std::string Take(std::string_view rest) {
    bytes_.append(rest);
    return std::move(bytes_);
  }
  HeldMemory TakeMemory() { return std::move(memory_); }

 private:
  static constexpr size_t kFrameBytes = 16;

  void Grow(size_t bytes) {
    const size_t wanted = bytes_.empty() ? PageReserve(limit_, bytes) + bytes : 2 * bytes_.capacity() + bytes;
    is_refused_ = is_refused_ || !memory_.Cover(wanted);
    if (!is_refused_) bytes_.reserve(wanted);
  }

  const std::optional<int64_t> limit_;
  std::string bytes_;
  HeldMemory memory_;
  bool is_refused_ = false;
};

// A response with at most one item.
grpc::ByteBuffer ItemAndRest(const std::optional<engine::ItemBytes>& item, std::string rest) {
  return item.has_value() ? FieldAndRest(kAnswerItemField, item->view(), rest) : TakeBytes(std::move(rest));
}

grpc::ByteBuffer Encode(const engine::GetItemResult& result) { return ItemAndRest(result.item, SerializeRest(result)); }
grpc::ByteBuffer Encode(const engine::WriteResult& result) {
  return ItemAndRest(result.attributes, SerializeRest(result));
}
template <class GroupResult>
grpc::ByteBuffer Encode(const GroupResult& result) {
  return TakeBytes(Serialize(result));
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

void Fail(ItemAnswer answer, const absl::Status& status) { std::move(answer)(status, grpc::ByteBuffer(), {}); }

template <auto kParse, auto kMethod, class Result>
void Run(std::string_view name, ItemCall call, std::string_view request) {
  auto parsed = kParse(request);
  const absl::StatusOr<Engine*> engine = Admit(name, call, parsed);
  if (!engine.ok()) return Fail(std::move(call.answer), engine.status());
  if constexpr (requires { parsed->token_scope; }) parsed->token_scope = call.caller.principal();
  ((*engine)->*kMethod)(std::move(call.context), *std::move(parsed),
                        [answer = std::move(call.answer)](absl::StatusOr<Result> result) mutable {
                          if (!result.ok()) return Fail(std::move(answer), result.status());
                          HeldMemory memory;
                          if constexpr (requires { result->memory; }) memory = std::move(result->memory);
                          std::move(answer)(absl::OkStatus(), Encode(*result), std::move(memory));
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
                          std::move(answer)(absl::OkStatus(), TakeBytes(page->Take(SerializeRest(*result))),
                                            page->TakeMemory());
                        });
}

constexpr size_t kItem = 1;
constexpr size_t kPage = 8;
constexpr size_t kGroup = 32;

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

engine::RequestContext MakeRequestContext(grpc::CallbackServerContext* context,
                                          std::shared_ptr<engine::RequestTrace> trace, const MemorySource& memory) {
  engine::RequestContext made;
  made.memory = memory;
  made.trace = std::move(trace);
  if (context->deadline() != std::chrono::system_clock::time_point::max()) {
    made.deadline = Deadline::After(absl::FromChrono(context->deadline()) - absl::Now());
  }
  made.cancelled = [context] { return context->IsCancelled(); };
  return made;
}

std::span<const ItemOperation> ItemOperations() { return kItemOperations; }

}  // namespace armature::daemon
