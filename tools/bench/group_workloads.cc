#include <atomic>
#include <memory>

#include "armature/api/v1/items.pb.h"
#include "tools/bench/answer_check.h"
#include "tools/bench/workload.h"

namespace armature::bench {
namespace {

constexpr uint64_t kBatchItems = 25;
constexpr uint64_t kTransactItems = 4;

// An answer with unprocessed items fails.
CallType BatchType(const Options& options) {
  const auto check = [](const api::v1::BatchWriteItemResponse& response) {
    return response.unprocessed_items().empty() ? "" : "unprocessed items";
  };
  return {.operation = "BatchWriteItem",
          .check = CheckOf<api::v1::BatchWriteItemResponse>(options.wire(), check),
          .checks_each = true};
}

RequestTemplate BatchTemplate(const Options& options, const std::string& table, uint64_t items) {
  api::v1::BatchWriteItemRequest request;
  auto& writes = *(*request.mutable_request_items())[table].mutable_requests();
  for (uint64_t i = 0; i < items; ++i) {
    *writes.Add()->mutable_put_request()->mutable_item() = BenchItem(options, std::string("u") + kKeyPlaceholder, 0);
  }
  return {request, options.wire()};
}

}  // namespace

CallKind QueryKind(const Options& options, const std::string& table) {
  api::v1::QueryRequest request;
  request.set_table_name(table);
  request.set_limit(static_cast<int32_t>(options.page_items));
  request.set_key_condition_expression("pk = :p");
  (*request.mutable_expression_attribute_values())[":p"].set_s(std::string("q") + kKeyPlaceholder);
  const auto check = [options](const api::v1::QueryResponse& response) -> std::string {
    if (response.items_size() != static_cast<int>(options.page_items)) {
      return std::to_string(response.items_size()) + " items (a page ends at 1 MB)";
    }
    if (response.count() != response.items_size()) return "count differs from the items";
    for (int i = 0; i < response.items_size(); ++i) {
      if (!IsWhole(response.items(i), options, static_cast<uint64_t>(i))) {
        return "item " + std::to_string(i) + " is not the one that was put";
      }
    }
    return "";
  };
  const CallType type = {.operation = "Query",
                         .check = CheckOf<api::v1::QueryResponse>(options.wire(), check),
                         .answers_of_one_size = true};
  return RandomKind("query", type, {RequestTemplate(request, options.wire())}, 0, kQueryPartitions);
}

// Each call reads a page from a random position. Pages at the end of the table are shorter.
CallKind ScanKind(const Options& options, const std::string& table) {
  api::v1::ScanRequest request;
  request.set_table_name(table);
  request.set_limit(static_cast<int32_t>(options.page_items));
  *request.mutable_exclusive_start_key() = MakeKey(std::string("u") + kKeyPlaceholder, 0);
  const auto check = [options](const api::v1::ScanResponse& response) {
    if (response.count() != response.items_size()) return "count differs from the items";
    for (const api::v1::Item& item : response.items()) {
      if (!IsWhole(item, options, 0)) return "an item that was not put";
    }
    return "";
  };
  const CallType type = {.operation = "Scan", .check = CheckOf<api::v1::ScanResponse>(options.wire(), check)};
  return RandomKind("scan", type, {RequestTemplate(request, options.wire())}, 0, options.items);
}

// BatchWriteItem with kBatchItems puts of new keys.
CallKind BatchKind(const Options& options, const std::string& table) {
  return NewKeysKind("batch", BatchType(options), BatchTemplate(options, table, kBatchItems),
                     kBatchItems * (1 + options.gsi_count()));
}

CallKind BatchLoadKind(const Options& options, const std::string& table) {
  const uint64_t items = options.items;
  const size_t places = 1 + options.gsi_count();
  CallKind kind;
  kind.name = "load";
  kind.types = {BatchType(options)};
  auto next = std::make_shared<std::atomic<uint64_t>>(0);
  const RequestTemplate whole = BatchTemplate(options, table, kBatchItems);
  const RequestTemplate rest = BatchTemplate(options, table, items % kBatchItems);
  kind.new_source = [=](uint64_t) -> RequestSource {
    return [=, whole = whole, rest = rest](Request* request) mutable {
      const uint64_t first = next->fetch_add(kBatchItems, std::memory_order_relaxed);
      if (first >= items) return false;
      request->bytes = (items - first < kBatchItems ? rest : whole).With(first, 0, 1, places);
      return true;
    };
  };
  return kind;
}

// TransactWriteItems with kTransactItems puts of new keys and a client token of its own.
CallKind TransactKind(const Options& options, const std::string& table) {
  api::v1::TransactWriteItemsRequest request;
  request.set_client_request_token(kSecondPlaceholder);
  for (uint64_t i = 0; i < kTransactItems; ++i) {
    api::v1::Put* const put = request.add_transact_items()->mutable_put();
    put->set_table_name(table);
    *put->mutable_item() = BenchItem(options, std::string("u") + kKeyPlaceholder, 0);
  }
  const CallType type = {.operation = "TransactWriteItems"};
  return NewKeysKind("transact", type, RequestTemplate(request, options.wire()),
                     kTransactItems * (1 + options.gsi_count()));
}

}  // namespace armature::bench
