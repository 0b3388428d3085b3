#include "daemon/json/item_operations.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "daemon/api/caller.h"
#include "daemon/api/item_operations.h"
#include "daemon/json/error_json.h"
#include "daemon/json/item_answers.h"
#include "daemon/json/item_requests.h"

namespace armature::daemon {
namespace {

// Part of the bytes of its items by which a document is longer, if they are long.
constexpr size_t kDocumentPart = 16;

// Receives the end of an operation.
class DocumentAnswer {
 public:
  DocumentAnswer(std::string request_id, MemorySource memory, JsonApi::Done done)
      : request_id_(std::move(request_id)), memory_(memory), done_(std::move(done)) {}

  void Fail(const absl::Status& error) && { std::move(done_)(ErrorAnswer(error, request_id_, memory_)); }

  template <class Result>
  void Send(Result* result) && {
    constexpr bool kOnlyReads = !requires { result->change_sequence; };
    HeldMemory held{memory_};
    size_t item_bytes = 0;
    if constexpr (requires { result->memory; }) {
      item_bytes = result->item_bytes;
      if (result->memory.is_counted()) held = std::move(result->memory);
    }
    JsonWriter writer(std::move(held), item_bytes, kOnlyReads);
    // A buffer that grows is there twice meanwhile.
    if (HeldMemory::Counts(item_bytes)) writer.Reserve(item_bytes + item_bytes / kDocumentPart);
    WriteAnswer(*result, &writer);
    JsonAnswer answer = AnswerOf(&writer, kOnlyReads, request_id_);
    if constexpr (!kOnlyReads) answer.change_sequence = result->change_sequence;
    std::move(done_)(std::move(answer));
  }

  void SendPage(JsonPage* page, const engine::ReadResult& result) && {
    std::move(done_)(AnswerOf(page->Finish(result), /*may_refuse=*/true, request_id_));
  }

 private:
  std::string request_id_;
  MemorySource memory_;
  JsonApi::Done done_;
};

struct DocumentCall {
  Caller caller;
  engine::RequestContext context;
  DocumentAnswer answer;
  uint64_t at_least_sequence;
};

struct DocumentEncoding {
  using Bytes = const std::string&;
  using Call = DocumentCall;
  static constexpr ItemParsers<Bytes> kParsers = {
      ParseGetItem, ParsePutItem,      ParseUpdateItem,     ParseDeleteItem,       ParseQuery,
      ParseScan,    ParseBatchGetItem, ParseBatchWriteItem, ParseTransactGetItems, ParseTransactWriteItems};

  static std::shared_ptr<JsonPage> NewPage(const engine::ReadRequest& request, const MemorySource& memory) {
    return std::make_shared<JsonPage>(request.limit, request.select != "COUNT", memory);
  }
};

constexpr auto kDocumentOperations = MakeItemOperations<DocumentEncoding>();

}  // namespace

bool RunItemOperation(engine::Engine* engine, JsonCall& call, JsonApi::Done& done) {
  const auto* const found =
      std::ranges::find(kDocumentOperations, call.operation, &ItemOperation<DocumentEncoding>::name);
  if (found == kDocumentOperations.end()) return false;
  const MemorySource memory = call.context.memory;
  DocumentCall running{Caller(engine, std::move(call.access)), std::move(call.context),
                       DocumentAnswer(std::move(call.request_id), memory, std::move(done)), call.at_least_sequence};
  found->run(found->name, running, call.body);
  return true;
}

}  // namespace armature::daemon
