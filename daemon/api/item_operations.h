#ifndef ARMATURE_DAEMON_API_ITEM_OPERATIONS_H_
#define ARMATURE_DAEMON_API_ITEM_OPERATIONS_H_

// The operations on items, single and in batches and transactions: how each runs, whatever encoding its request and its
// answer have. A call over gRPC, a message in a stream and a document run by this table.
//
// An Encoding has these members:
//
//   Bytes     of a request
//   kParsers  its parsers, ItemParsers<Bytes>
//   Call      a running operation: `caller`, `context`, and `answer`, which receives its end, once, on any thread, by
//             Fail(status), Send(result) or SendPage(page, result). `at_least_sequence` is beside that of the request.
//   NewPage   makes the PageWriter of a Query or Scan from the request and the memory of the answer

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/api/caller.h"
#include "engine/engine.h"
#include "engine/items/access_facts.h"
#include "engine/items/request.h"
#include "storage/base/status_macros.h"

namespace armature::daemon {

template <class Bytes>
struct ItemParsers {
  template <class Request>
  using Parser = absl::StatusOr<Request> (*)(Bytes);

  Parser<engine::GetItemRequest> get_item;
  Parser<engine::WriteRequest> put_item;
  Parser<engine::WriteRequest> update_item;
  Parser<engine::WriteRequest> delete_item;
  Parser<engine::ReadRequest> query;
  Parser<engine::ReadRequest> scan;
  Parser<engine::BatchGetRequest> batch_get_item;
  Parser<engine::BatchWriteRequest> batch_write_item;
  Parser<engine::TransactGetRequest> transact_get_items;
  Parser<engine::TransactWriteRequest> transact_write_items;
};

template <class Encoding>
struct ItemOperation {
  std::string_view name;
  uint32_t weight;  // of its work and its answer, in operations on a single item
  // Parses the request, authorises the caller for the operation `name`, and starts. Does not block. The call is moved
  // from; `request` is used during the call only. Errors, through the answer: SerializationException,
  // AccessDeniedException, and those of the engine.
  void (*run)(std::string_view name, typename Encoding::Call& call, typename Encoding::Bytes request);
};

// The engine, if the request could be parsed and the caller has all rights that it needs. Errors: those of the parser,
// AccessDeniedException.
template <class Call, class Request>
absl::StatusOr<engine::Engine*> AdmitItems(std::string_view name, const Call& call,
                                           const absl::StatusOr<Request>& request) {
  ARM_RETURN_IF_ERROR(request.status());
  engine::Engine* engine = nullptr;
  access::MatchWork work;
  ARM_RETURN_IF_ERROR(engine::CheckRights(name, *request, [&](const engine::NeededRight& right) -> absl::Status {
    ARM_ASSIGN_OR_RETURN(engine, call.caller.Allow(right, &work, call.context.trace.get()));
    return absl::OkStatus();
  }));
  return engine;
}

template <class Encoding, auto kParser, auto kMethod, class Result>
void RunItems(std::string_view name, typename Encoding::Call& call, typename Encoding::Bytes request) {
  auto parsed = (Encoding::kParsers.*kParser)(request);
  const absl::StatusOr<engine::Engine*> engine = AdmitItems(name, call, parsed);
  if (!engine.ok()) return std::move(call.answer).Fail(engine.status());
  if constexpr (requires { parsed->token_scope; }) parsed->token_scope = call.caller.principal();
  ((*engine)->*kMethod)(std::move(call.context), *std::move(parsed),
                        [answer = std::move(call.answer)](absl::StatusOr<Result> result) mutable {
                          if (!result.ok()) return std::move(answer).Fail(result.status());
                          std::move(answer).Send(&*result);
                        });
}

// Runs Query or Scan.
template <class Encoding, auto kParser, auto kMethod>
void RunPage(std::string_view name, typename Encoding::Call& call, typename Encoding::Bytes request) {
  absl::StatusOr<engine::ReadRequest> parsed = (Encoding::kParsers.*kParser)(request);
  const absl::StatusOr<engine::Engine*> engine = AdmitItems(name, call, parsed);
  if (!engine.ok()) return std::move(call.answer).Fail(engine.status());
  parsed->at_least_sequence = std::max(parsed->at_least_sequence, call.at_least_sequence);
  auto page = Encoding::NewPage(*parsed, call.context.memory);
  auto* const writer = page.get();
  ((*engine)->*kMethod)(std::move(call.context), *std::move(parsed), writer,
                        [answer = std::move(call.answer),
                         page = std::move(page)](const absl::StatusOr<engine::ReadResult>& result) mutable {
                          if (!result.ok()) return std::move(answer).Fail(result.status());
                          std::move(answer).SendPage(page.get(), *result);
                        });
}

// In the order of their fields in PipelineRequest.
template <class E, class P = ItemParsers<typename E::Bytes>>
constexpr auto MakeItemOperations() {
  using engine::Engine;
  constexpr uint32_t kItem = 1;
  constexpr uint32_t kPage = 8;
  constexpr uint32_t kGroup = 32;
  return std::to_array<ItemOperation<E>>({
      {"GetItem", kItem, RunItems<E, &P::get_item, &Engine::GetItem, engine::GetItemResult>},
      {"PutItem", kItem, RunItems<E, &P::put_item, &Engine::PutItem, engine::WriteResult>},
      {"UpdateItem", kItem, RunItems<E, &P::update_item, &Engine::UpdateItem, engine::WriteResult>},
      {"DeleteItem", kItem, RunItems<E, &P::delete_item, &Engine::DeleteItem, engine::WriteResult>},
      {"Query", kPage, RunPage<E, &P::query, &Engine::Query>},
      {"Scan", kPage, RunPage<E, &P::scan, &Engine::Scan>},
      {"BatchGetItem", kGroup, RunItems<E, &P::batch_get_item, &Engine::BatchGetItem, engine::BatchGetResult>},
      {"BatchWriteItem", kGroup, RunItems<E, &P::batch_write_item, &Engine::BatchWriteItem, engine::BatchWriteResult>},
      {"TransactGetItems", kGroup,
       RunItems<E, &P::transact_get_items, &Engine::TransactGetItems, engine::TransactGetResult>},
      {"TransactWriteItems", kGroup,
       RunItems<E, &P::transact_write_items, &Engine::TransactWriteItems, engine::TransactWriteResult>},
  });
}

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_API_ITEM_OPERATIONS_H_
