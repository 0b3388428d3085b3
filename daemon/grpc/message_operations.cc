#include "daemon/grpc/message_operations.h"

#include <optional>
#include <vector>

#include "daemon/api/item_messages.h"
#include "daemon/api/item_operations.h"
#include "storage/base/api_error.h"
#include "storage/model/wire.h"

namespace armature::daemon {
namespace {

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

struct MessageEncoding {
  using Bytes = std::string_view;
  using Call = MessageCall;
  static constexpr ItemParsers<Bytes> kParsers = {
      ParseGetItem, ParsePutItem,      ParseUpdateItem,     ParseDeleteItem,       ParseQuery,
      ParseScan,    ParseBatchGetItem, ParseBatchWriteItem, ParseTransactGetItems, ParseTransactWriteItems};

  static std::shared_ptr<AnswerPage> NewPage(const engine::ReadRequest& request, const MemorySource& memory) {
    return std::make_shared<AnswerPage>(request.limit, memory);
  }
};

constexpr auto kItemMessageOperations = MakeItemOperations<MessageEncoding>();
static_assert(kItemMessageOperations.size() == kPipelineNumberLast - kPipelineNumberFirst + 1);

void RunOnMessages(const CallGate* gate, const UnaryOperation& operation, MessageCall& call, std::string_view request) {
  std::shared_ptr<UnaryOperation::Messages> messages = operation.NewMessages();
  if (!messages->request->ParseFromArray(request.data(), static_cast<int>(request.size()))) {
    return std::move(call.answer).Fail(SerializationError("The request cannot be read"));
  }
  messages->request->DiscardUnknownFields();
  OperationContext context{
      .authority = call.authority, .deadline = call.context.deadline, .memory = call.context.memory};
  auto answer = [gate, messages, facts = &operation.facts(), memory = call.context.memory,
                 answer = std::move(call.answer)](const absl::Status& status) mutable {
    // A refusal is about what was refused.
    const bool is_of_source = !status.ok() && messages->checked.data() == messages->source.data();
    if (!status.ok()) return std::move(answer).Fail(status, is_of_source ? &messages->source : &messages->subject);
    messages->response->DiscardUnknownFields();
    const size_t bytes = messages->response->ByteSizeLong();
    HeldMemory held(memory);
    if (!held.Cover(bytes)) {
      if (OnlyRead(*facts, ChangeSequenceOf(*messages->response))) {
        return std::move(answer).Fail(gate->Refused(), &messages->subject);
      }
      held.Set(bytes);
    }
    OutMessage response{.head = {}, .bytes = messages->response->SerializeAsString(), .memory = std::move(held)};
    std::move(answer).Send(std::move(response), &messages->subject);
  };
  operation.Serve(call.caller, call.context.trace, std::move(context), messages.get(), std::move(answer));
}

}  // namespace

template <class Result>
void MessageAnswer::Send(Result* result) && {
  OutMessage message = Encode(result);
  if constexpr (requires { result->memory; }) message.memory = std::move(result->memory);
  std::move(*this).Send(std::move(message));
}

void MessageAnswer::SendPage(AnswerPage* page, const engine::ReadResult& result) && {
  if (page->is_refused()) return std::move(*this).Fail(NoMemoryForAnswerError());
  std::string bytes = page->Take(SerializeRest(result));
  std::move(*this).Send(OutMessage{.head = {}, .bytes = std::move(bytes), .memory = page->TakeMemory()});
}

engine::RequestContext MakeRequestContext(const RpcCall* call, std::shared_ptr<engine::RequestTrace> trace) {
  engine::RequestContext made;
  made.memory = call->memory();
  made.trace = std::move(trace);
  const std::optional<int64_t> due_ns = call->deadline_ns();
  made.deadline = due_ns.has_value() ? Deadline::At(*due_ns) : Deadline::Never();
  made.cancelled = [call] { return call->is_cancelled(); };
  return made;
}

std::span<const MessageOperation> ItemMessageOperations() {
  static const auto* const kAll = [] {
    auto* const all = new std::vector<MessageOperation>;
    for (const ItemOperation<MessageEncoding>& each : kItemMessageOperations) {
      const auto run = [&each](MessageCall& call, std::string_view request) { each.run(each.name, call, request); };
      all->push_back({engine::FindOperation(each.name), run, each.weight});
    }
    return all;
  }();
  return *kAll;
}

MessageOperation MessageOperationOf(const CallGate* gate, const UnaryOperation& operation) {
  return {&operation.facts(), [gate, &operation](MessageCall& call, std::string_view request) {
            RunOnMessages(gate, operation, call, request);
          }};
}

}  // namespace armature::daemon
