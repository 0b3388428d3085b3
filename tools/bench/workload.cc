#include "tools/bench/workload.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <stdexcept>
#include <utility>

#include "armature/admin/v1/admin.pb.h"
#include "armature/api/v1/items.pb.h"
#include "tools/bench/answer_check.h"

namespace armature::bench {
namespace {

std::string IndexAttribute(uint32_t i) { return "g" + std::to_string(i); }

CallType PutType(const Options& options) {
  return {.operation = "PutItem",
          .check = CheckOf<api::v1::PutItemResponse>(options.wire(), HasNoAttributes<api::v1::PutItemResponse>)};
}

CallType UpdateType(const Options& options) {
  return {.operation = "UpdateItem",
          .check = CheckOf<api::v1::UpdateItemResponse>(options.wire(), HasNoAttributes<api::v1::UpdateItemResponse>)};
}

RequestTemplate PutTemplate(const Options& options, const std::string& table, char prefix, uint64_t sort_offset) {
  api::v1::PutItemRequest request;
  request.set_table_name(table);
  *request.mutable_item() = BenchItem(options, std::string(1, prefix) + kKeyPlaceholder, sort_offset);
  return {request, options.wire()};
}

RequestTemplate OverwriteTemplate(const Options& options, const std::string& table) {
  api::v1::PutItemRequest request;
  request.set_table_name(table);
  *request.mutable_item() = BenchItem(options, std::string("u") + kKeyPlaceholder, 0);
  VaryPayload(options, request.mutable_item());
  return {request, options.wire()};
}

CallKind PutKind(const Options& options, const std::string& table) {
  if (options.key_space == 0) {
    return NewKeysKind("put", PutType(options), PutTemplate(options, table, 'u', 0), 1);
  }
  return RandomKind("put", PutType(options), {OverwriteTemplate(options, table)}, kFirstPutKey, options.key_space);
}

// Puts over loaded items. Each differs from the stored item.
CallKind OverwriteKind(const Options& options, const std::string& table) {
  return RandomKind("overwrite", PutType(options), {OverwriteTemplate(options, table)}, 0, options.items);
}

// Puts over loaded items under a condition that no stored item fulfils.
CallKind FailureKind(const Options& options, const std::string& table) {
  api::v1::PutItemRequest request;
  request.set_table_name(table);
  *request.mutable_item() = BenchItem(options, std::string("u") + kKeyPlaceholder, 0);
  request.set_condition_expression("attribute_not_exists(pk)");
  const CallType type = {.operation = "PutItem", .expected_error = "ConditionalCheckFailedException"};
  return RandomKind("condition-failure", type, {RequestTemplate(request, options.wire())}, 0, options.items);
}

// `expression` changes a loaded item, with `value` as :v.
RequestTemplate UpdateTemplate(const Options& options, const std::string& table, const std::string& expression,
                               const std::string& name, const api::v1::AttributeValue& value) {
  api::v1::UpdateItemRequest request;
  request.set_table_name(table);
  *request.mutable_key() = MakeKey(std::string("u") + kKeyPlaceholder, 0);
  request.set_update_expression(expression);
  (*request.mutable_expression_attribute_names())["#n"] = name;
  (*request.mutable_expression_attribute_values())[":v"] = value;
  return {request, options.wire()};
}

api::v1::AttributeValue TextValue(const std::string& text) {
  api::v1::AttributeValue value;
  value.set_s(text);
  return value;
}

// Each call adds 1 to a number of one loaded item, or of one of key_space loaded items.
CallKind HotKind(const Options& options, const std::string& table) {
  api::v1::AttributeValue one;
  one.set_n("1");
  const uint64_t keys = std::clamp(options.key_space, uint64_t{1}, options.items);
  CallKind kind = RandomKind("hot", UpdateType(options),
                             {UpdateTemplate(options, table, "SET #n = #n + :v", "count", one)}, 0, keys);
  kind.shows_fairness = true;
  return kind;
}

// Each call changes a text of a random item that is in no key.
CallKind UpdateKind(const Options& options, const std::string& table) {
  const api::v1::AttributeValue text = TextValue(kSecondPlaceholder);
  return RandomKind("update", UpdateType(options), {UpdateTemplate(options, table, "SET #n = :v", "kind", text)}, 0,
                    options.items);
}

// Each call changes the key of a random item in one global index. The calls take the indexes in turns.
CallKind GsiMoveKind(const Options& options, const std::string& table) {
  std::vector<RequestTemplate> templates;
  const api::v1::AttributeValue moved = TextValue(std::string("u") + kSecondPlaceholder);
  for (uint32_t i = 0; i < std::max(options.gsi_count(), 1U); ++i) {
    templates.push_back(UpdateTemplate(options, table, "SET #n = :v", IndexAttribute(i), moved));
  }
  return RandomKind("gsi-move", UpdateType(options), std::move(templates), 0, options.items);
}

CallKind GetKind(const Options& options, const std::string& table) {
  api::v1::GetItemRequest request;
  request.set_table_name(table);
  *request.mutable_key() = MakeKey(std::string("u") + kKeyPlaceholder, 0);
  const auto check = [options](const api::v1::GetItemResponse& response) {
    if (!response.has_item()) return "no item";
    return IsWhole(response.item(), options, 0) ? "" : "not the item that was put";
  };
  const CallType type = {.operation = "GetItem",
                         .check = CheckOf<api::v1::GetItemResponse>(options.wire(), check),
                         .answers_of_one_size = true};
  return RandomKind("get", type, {RequestTemplate(request, options.wire())}, 0, options.items);
}

// Puts of `count` items. `next_request` makes the n-th.
CallKind CountedKind(const Options& options, uint64_t count, std::vector<RequestTemplate> templates,
                     std::string_view (*next_request)(std::vector<RequestTemplate>* templates, uint64_t n)) {
  CallKind kind;
  kind.name = "load";
  kind.types = {PutType(options)};
  auto next = std::make_shared<std::atomic<uint64_t>>(0);
  kind.new_source = [=](uint64_t) -> RequestSource {
    return [=, own = templates](Request* request) mutable {
      const uint64_t n = next->fetch_add(1, std::memory_order_relaxed);
      if (n >= count) return false;
      request->bytes = next_request(&own, n);
      return true;
    };
  };
  return kind;
}

}  // namespace

const std::vector<WorkloadInfo>& Workloads() {
  static const std::vector<WorkloadInfo>* const kAll = new std::vector<WorkloadInfo>{
      {"put", true, Loaded::kNothing, PutKind},
      {"get", true, Loaded::kItems, GetKind},
      {"query", true, Loaded::kPages, QueryKind},
      {"scan", false, Loaded::kItems, ScanKind},
      {"overwrite", false, Loaded::kItems, OverwriteKind},
      {"hot", false, Loaded::kItems, HotKind},
      {"update", false, Loaded::kItems, UpdateKind},
      {"gsi-move", false, Loaded::kItems, GsiMoveKind},
      {"condition-failure", false, Loaded::kItems, FailureKind},
      {"batch", false, Loaded::kNothing, BatchKind},
      {"transact", false, Loaded::kNothing, TransactKind},
      {"pipeline", false, Loaded::kNothing, PipelineKind},
      {"ycsb-a", false, Loaded::kYcsb, YcsbKind<'a'>},
      {"ycsb-b", false, Loaded::kYcsb, YcsbKind<'b'>},
      {"ycsb-c", false, Loaded::kYcsb, YcsbKind<'c'>},
      {"ycsb-d", false, Loaded::kYcsb, YcsbKind<'d'>},
      {"ycsb-e", false, Loaded::kYcsb, YcsbKind<'e'>},
      {"ycsb-f", false, Loaded::kYcsb, YcsbKind<'f'>},
  };
  return *kAll;
}

api::v1::Item MakeKey(const std::string& pk, uint64_t sort_offset) {
  api::v1::Item key;
  (*key.mutable_attributes())["pk"].set_s(pk);
  (*key.mutable_attributes())["sk"].set_n(std::to_string(kFirstSortKey + sort_offset));
  return key;
}

// The sizes of names and values follow the rules of the API.
api::v1::Item BenchItem(const Options& options, const std::string& pk, uint64_t sort_offset) {
  api::v1::Item item = MakeKey(pk, sort_offset);
  auto& attributes = *item.mutable_attributes();
  attributes["active"].set_bool_(true);
  attributes["count"].set_n("1234567");
  attributes["kind"].set_s("benchmark");
  const size_t number_sk = 2 + 5 + 1;  // two digits a byte, and one byte
  const size_t number_count = 5 + 4 + 1;
  size_t size = 2 + pk.size() + number_sk + 6 + 1 + number_count + 4 + 9;
  for (uint32_t i = 0; i < options.gsi_count(); ++i) {
    const std::string name = IndexAttribute(i);
    attributes[name].set_s(pk);
    size += name.size() + pk.size();
  }
  const std::string payload = "payload";
  size += payload.size();
  if (size > options.item_bytes) {
    throw std::runtime_error("--item_bytes must be at least " + std::to_string(size));
  }
  attributes[payload].set_s(std::string(options.item_bytes - size, 'x'));
  return item;
}

void VaryPayload(const Options& options, api::v1::Item* item) {
  std::string& payload = *(*item->mutable_attributes())["payload"].mutable_s();
  if (payload.size() < kKeyLength) {
    throw std::runtime_error("--item_bytes must be at least " +
                             std::to_string(options.item_bytes + kKeyLength - payload.size()));
  }
  payload.replace(0, kKeyLength, kSecondPlaceholder);
}

bool IsWhole(const api::v1::Item& item, const Options& options, uint64_t sort_offset) {
  const auto pk = item.attributes().find("pk");
  if (pk == item.attributes().end()) return false;
  const api::v1::Item expected = BenchItem(options, pk->second.s(), sort_offset);
  return Serialize(item) == Serialize(expected);
}

api::v1::CreateTableRequest TableSchema(const Options& options, const std::string& table) {
  api::v1::CreateTableRequest request;
  request.set_table_name(table);
  request.set_billing_mode(api::v1::BILLING_MODE_PAY_PER_REQUEST);
  const auto define = [&request](const std::string& name, api::v1::ScalarAttributeType type) {
    auto* definition = request.add_attribute_definitions();
    definition->set_attribute_name(name);
    definition->set_attribute_type(type);
  };
  const auto add_key = [](auto* owner, const std::string& hash) {
    auto* element = owner->add_key_schema();
    element->set_attribute_name(hash);
    element->set_key_type(api::v1::KEY_TYPE_HASH);
    element = owner->add_key_schema();
    element->set_attribute_name("sk");
    element->set_key_type(api::v1::KEY_TYPE_RANGE);
  };
  define("pk", api::v1::SCALAR_ATTRIBUTE_TYPE_S);
  define("sk", api::v1::SCALAR_ATTRIBUTE_TYPE_N);
  add_key(&request, "pk");
  if (options.stream) {
    auto* stream = request.mutable_stream_specification();
    stream->set_stream_enabled(true);
    stream->set_stream_view_type(api::v1::STREAM_VIEW_TYPE_NEW_AND_OLD_IMAGES);
  }
  for (uint32_t i = 0; i < options.gsi_count(); ++i) {
    define(IndexAttribute(i), api::v1::SCALAR_ATTRIBUTE_TYPE_S);
    auto* index = request.add_global_secondary_indexes();
    index->set_index_name("by_" + IndexAttribute(i));
    add_key(index, IndexAttribute(i));
    index->mutable_projection()->set_projection_type(api::v1::PROJECTION_TYPE_ALL);
  }
  return request;
}

CallKind LoadKind(Loaded what, const Options& options, const std::string& table) {
  if (what == Loaded::kPages) {
    std::vector<RequestTemplate> templates;
    for (uint64_t i = 0; i < options.page_items; ++i) templates.push_back(PutTemplate(options, table, 'q', i));
    return CountedKind(options, kQueryPartitions * options.page_items, templates,
                       [](auto* all, uint64_t n) { return (*all)[n % all->size()].With(n / all->size()); });
  }
  if (what == Loaded::kItems) return BatchLoadKind(options, table);
  api::v1::PutItemRequest request;
  request.set_table_name(table);
  *request.mutable_item() = BenchItem(options, std::string("y") + kKeyPlaceholder, 0);
  (*request.mutable_item()->mutable_attributes())["sk"].set_n(kSortPlaceholder);
  return CountedKind(options, options.items, {RequestTemplate(request, options.wire())},
                     [](auto* all, uint64_t n) { return (*all)[0].WithRow(n / kYcsbPartition, n % kYcsbPartition); });
}

CallKind Echo(uint64_t request_bytes, uint64_t response_bytes) {
  admin::v1::EchoResponse response;
  uint64_t payload = std::max(response_bytes, uint64_t{1});  // 0 would ask for the request's payload
  do {
    response.set_payload(std::string(payload, 'x'));
  } while (response.ByteSizeLong() > response_bytes && payload-- > 1);
  const size_t answer_bytes = response.payload().size();

  admin::v1::EchoRequest request;
  request.set_response_bytes(static_cast<uint32_t>(answer_bytes));
  payload = request_bytes;
  do {
    request.set_payload(std::string(payload, 'x'));
  } while (request.ByteSizeLong() > request_bytes && payload-- > 0);

  CallKind kind;
  kind.name = "echo";
  const auto check = [answer_bytes](const admin::v1::EchoResponse& echoed) {
    return echoed.payload().size() == answer_bytes ? "" : std::to_string(echoed.payload().size()) + " bytes";
  };
  kind.types = {{.service = "armature.admin.v1.AdminService",
                 .operation = "Echo",
                 .check = CheckOf<admin::v1::EchoResponse>(Protocol::kGrpc, check),
                 .answers_of_one_size = true}};
  kind.new_source = [bytes = Serialize(request)](uint64_t) -> RequestSource {
    return [bytes](Request* out) {
      out->bytes = bytes;
      return true;
    };
  };
  return kind;
}

CallKind RandomKind(std::string name, CallType type, std::vector<RequestTemplate> templates, uint64_t first_key,
                    uint64_t keys) {
  CallKind kind;
  kind.name = std::move(name);
  kind.types = {std::move(type)};
  kind.new_source = [templates, first_key, keys](uint64_t seed) -> RequestSource {
    std::uniform_int_distribution<uint64_t> key(first_key, first_key + keys - 1);
    return [templates, key, random = std::mt19937_64(seed), n = size_t{0}](Request* request) mutable {
      RequestTemplate& message = templates[n++ % templates.size()];
      const uint64_t drawn = key(random);
      request->bytes = message.With(drawn, message.has_second() ? random() : 0);
      return true;
    };
  };
  return kind;
}

CallKind NewKeysKind(std::string name, CallType type, RequestTemplate message, uint64_t keys) {
  CallKind kind;
  kind.name = std::move(name);
  kind.types = {std::move(type)};
  auto next = std::make_shared<std::atomic<uint64_t>>(kFirstPutKey);
  // Client tokens must differ from those of earlier runs of this program too.
  auto token = std::make_shared<std::atomic<uint64_t>>(uint64_t{std::random_device{}()} << 32);
  kind.new_source = [next, token, message, keys](uint64_t) -> RequestSource {
    return [next, token, message, keys, step = keys > 1 ? 1U : 0U](Request* request) mutable {
      request->bytes = message.With(next->fetch_add(keys, std::memory_order_relaxed),
                                    token->fetch_add(1, std::memory_order_relaxed), step);
      return true;
    };
  };
  return kind;
}

}  // namespace armature::bench
