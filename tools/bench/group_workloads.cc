#include "tools/bench/group_workloads.h"

#include <atomic>
#include <memory>
#include <random>
#include <utility>

#include "armature/api/v1/items.pb.h"
#include "tools/bench/request_template.h"
#include "tools/bench/workload.h"

namespace armature::bench {
namespace {

std::string NewKey() { return std::string("u") + kKeyPlaceholder; }

// Each call takes the next `keys` keys.
CallKind RunsOfKeys(std::string name, const std::string& method, RequestTemplate message, uint64_t keys) {
  CallKind kind;
  kind.name = std::move(name);
  kind.method = "/armature.api.v1.ItemService/" + method;
  auto next = std::make_shared<std::atomic<uint64_t>>(kFirstPutKey);
  // Tokens must differ from those of earlier runs of this program, too.
  auto token = std::make_shared<std::atomic<uint64_t>>(uint64_t{std::random_device{}()} << 32);
  kind.new_source = [next, token, message, keys](uint64_t) -> RequestSource {
    return [next, token, message, keys](grpc::ByteBuffer* request) mutable {
      *request = message.WithRun(next->fetch_add(keys, std::memory_order_relaxed),
                                 token->fetch_add(1, std::memory_order_relaxed));
      return true;
    };
  };
  return kind;
}

}  // namespace

CallKind BatchKind(const Options& options, const std::string& table) {
  api::v1::BatchWriteItemRequest request;
  auto& writes = *(*request.mutable_request_items())[table].mutable_requests();
  for (uint64_t i = 0; i < kBatchItems; ++i) {
    *writes.Add()->mutable_put_request()->mutable_item() = BenchItem(options, NewKey(), 0);
  }
  CallKind kind = RunsOfKeys("batch", "BatchWriteItem", RequestTemplate(request), kBatchItems * (1 + options.gsi));
  kind.check = [](const grpc::ByteBuffer& answer) -> std::string {
    api::v1::BatchWriteItemResponse response;
    if (!Parse(answer, &response)) return "not a BatchWriteItemResponse";
    return response.unprocessed_items().empty() ? "" : "unprocessed items";
  };
  return kind;
}

CallKind TransactKind(const Options& options, const std::string& table) {
  api::v1::TransactWriteItemsRequest request;
  request.set_client_request_token(kSecondPlaceholder);
  for (uint64_t i = 0; i < kTransactItems; ++i) {
    api::v1::Put* const put = request.add_transact_items()->mutable_put();
    put->set_table_name(table);
    *put->mutable_item() = BenchItem(options, NewKey(), 0);
  }
  CallKind kind =
      RunsOfKeys("transact", "TransactWriteItems", RequestTemplate(request), kTransactItems * (1 + options.gsi));
  kind.check = [](const grpc::ByteBuffer& answer) -> std::string {
    api::v1::TransactWriteItemsResponse response;
    return Parse(answer, &response) ? "" : "not a TransactWriteItemsResponse";
  };
  return kind;
}

}  // namespace armature::bench
