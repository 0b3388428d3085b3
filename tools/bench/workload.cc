#include "tools/bench/workload.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "armature/admin/v1/admin.pb.h"
#include "armature/api/v1/items.pb.h"

namespace armature::bench {
namespace {

constexpr uint64_t kFirstSortKey = 1000000000;
constexpr uint64_t kBatchItems = 25;
constexpr uint64_t kTransactItems = 4;

// Placeholders of the key, and of a second key, in a message.
constexpr char kKeyPlaceholder[] = "################";
constexpr char kSecondPlaceholder[] = "$$$$$$$$$$$$$$$$";
constexpr size_t kKeyLength = sizeof(kKeyPlaceholder) - 1;

// A bijection (the finaliser of splitmix64).
uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

void WriteKey(uint64_t number, char* out) {
  const uint64_t mixed = Mix(number);
  for (size_t i = 0; i < kKeyLength; ++i) {
    out[i] = "0123456789abcdef"[(mixed >> (60 - 4 * i)) & 15];
  }
}

// Serialises with maps in key order, so that equal messages have equal bytes.
std::string Serialize(const google::protobuf::Message& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

grpc::ByteBuffer ToByteBuffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

// A serialised request in which only the key changes from call to call. Not thread-safe. Copies are cheap.
class RequestTemplate {
 public:
  explicit RequestTemplate(const google::protobuf::Message& message)
      : bytes_(Serialize(message)), places_(PlacesOf(kKeyPlaceholder)), second_places_(PlacesOf(kSecondPlaceholder)) {}

  // True if the message has a placeholder for a second key.
  bool has_second() const { return !second_places_.empty(); }

  // The message with KeyText(number), KeyText(number + step), ... in the places of the key, and KeyText(second) in all
  // places of the second key.
  grpc::ByteBuffer With(uint64_t number, uint64_t second = 0, uint64_t step = 0) {
    for (const size_t place : second_places_) WriteKey(second, bytes_.data() + place);
    for (const size_t place : places_) {
      WriteKey(number, bytes_.data() + place);
      number += step;
    }
    return ToByteBuffer(bytes_);
  }

 private:
  std::vector<size_t> PlacesOf(std::string_view placeholder) const {
    std::vector<size_t> places;
    for (size_t place = bytes_.find(placeholder); place != std::string::npos;
         place = bytes_.find(placeholder, place + kKeyLength)) {
      places.push_back(place);
    }
    return places;
  }

  std::string bytes_;
  std::vector<size_t> places_;
  std::vector<size_t> second_places_;
};

std::string IndexAttribute(uint32_t i) { return "g" + std::to_string(i); }

api::v1::Item MakeKey(const std::string& pk, uint64_t sort_offset) {
  api::v1::Item key;
  (*key.mutable_attributes())["pk"].set_s(pk);
  (*key.mutable_attributes())["sk"].set_n(std::to_string(kFirstSortKey + sort_offset));
  return key;
}

RequestTemplate PutTemplate(const Options& options, const std::string& table, char prefix, uint64_t sort_offset) {
  api::v1::PutItemRequest request;
  request.set_table_name(table);
  *request.mutable_item() = BenchItem(options, std::string(1, prefix) + kKeyPlaceholder, sort_offset);
  return RequestTemplate(request);
}

// A put whose payload begins with the second key: puts of one key differ. The daemon writes nothing if an item does not
// change.
RequestTemplate OverwriteTemplate(const Options& options, const std::string& table) {
  api::v1::PutItemRequest request;
  request.set_table_name(table);
  *request.mutable_item() = BenchItem(options, std::string("u") + kKeyPlaceholder, 0);
  std::string& payload = *(*request.mutable_item()->mutable_attributes())["payload"].mutable_s();
  if (payload.size() < kKeyLength) {
    throw std::runtime_error("--item_bytes must be at least " +
                             std::to_string(options.item_bytes + kKeyLength - payload.size()));
  }
  payload.replace(0, kKeyLength, kSecondPlaceholder);
  return RequestTemplate(request);
}

// A check that parses the answer as a Response. `check` returns what is wrong with it, or an empty string.
template <class Response>
std::function<std::string(const grpc::ByteBuffer&)> CheckOf(std::function<std::string(const Response&)> check) {
  return [check = std::move(check)](const grpc::ByteBuffer& answer) -> std::string {
    grpc::ByteBuffer copy = answer;  // which Deserialize clears
    Response response;
    const bool is_parsed = grpc::SerializationTraits<Response>::Deserialize(&copy, &response).ok();
    return is_parsed ? check(response) : "not a " + Response::descriptor()->name();
  };
}

// The check of PutItemResponse and UpdateItemResponse.
template <class Response>
std::string HasNoAttributes(const Response& response) {
  return response.has_attributes() ? "attributes that were not asked for" : "";
}

CallKind ItemCall(std::string name, const std::string& method) {
  CallKind kind;
  kind.name = std::move(name);
  kind.method = "/armature.api.v1.ItemService/" + method;
  return kind;
}

// `count` puts in all. The n-th put has the key n / templates.size().
CallKind LoadKind(std::string name, std::vector<RequestTemplate> templates, uint64_t count) {
  CallKind kind = ItemCall(std::move(name), "PutItem");
  kind.check = CheckOf<api::v1::PutItemResponse>(HasNoAttributes<api::v1::PutItemResponse>);
  auto next = std::make_shared<std::atomic<uint64_t>>(0);
  kind.new_source = [next, templates, count](uint64_t) -> RequestSource {
    return [next, templates, count](grpc::ByteBuffer* request) mutable {
      const uint64_t n = next->fetch_add(1, std::memory_order_relaxed);
      if (n >= count) return false;
      *request = templates[n % templates.size()].With(n / templates.size());
      return true;
    };
  };
  return kind;
}

// Calls with keys drawn at random from [first_key, first_key + keys). They take the templates in turns.
CallKind RandomKind(std::string name, const std::string& method, std::vector<RequestTemplate> templates,
                    uint64_t first_key, uint64_t keys) {
  CallKind kind = ItemCall(std::move(name), method);
  kind.new_source = [templates, first_key, keys](uint64_t seed) -> RequestSource {
    std::uniform_int_distribution<uint64_t> key(first_key, first_key + keys - 1);
    return [templates, key, random = std::mt19937_64(seed), n = size_t{0}](grpc::ByteBuffer* request) mutable {
      RequestTemplate& message = templates[n++ % templates.size()];
      *request = message.has_second() ? message.With(key(random), random()) : message.With(key(random));
      return true;
    };
  };
  return kind;
}

// Calls with keys that no call has used before: one key in all places, or `keys` of them, one for each place.
CallKind NewKeysKind(std::string name, const std::string& method, RequestTemplate message, uint64_t keys) {
  CallKind kind = ItemCall(std::move(name), method);
  auto next = std::make_shared<std::atomic<uint64_t>>(kFirstPutKey);
  // Client tokens must differ from those of earlier runs of this program too.
  auto token = std::make_shared<std::atomic<uint64_t>>(uint64_t{std::random_device{}()} << 32);
  kind.new_source = [next, token, message, keys](uint64_t) -> RequestSource {
    return [next, token, message, keys, step = keys > 1 ? 1U : 0U](grpc::ByteBuffer* request) mutable {
      *request = message.With(next->fetch_add(keys, std::memory_order_relaxed),
                              token->fetch_add(1, std::memory_order_relaxed), step);
      return true;
    };
  };
  return kind;
}

CallKind PutKind(const Options& options, const std::string& table) {
  CallKind kind = options.key_space > 0 ? RandomKind("put", "PutItem", {OverwriteTemplate(options, table)},
                                                     kFirstPutKey, options.key_space)
                                        : NewKeysKind("put", "PutItem", PutTemplate(options, table, 'u', 0), 1);
  kind.check = CheckOf<api::v1::PutItemResponse>(HasNoAttributes<api::v1::PutItemResponse>);
  return kind;
}

// Puts over loaded items. Each differs from the stored item.
CallKind OverwriteKind(const Options& options, const std::string& table) {
  CallKind kind = RandomKind("overwrite", "PutItem", {OverwriteTemplate(options, table)}, 0, options.items);
  kind.check = CheckOf<api::v1::PutItemResponse>(HasNoAttributes<api::v1::PutItemResponse>);
  return kind;
}

// Each call adds 1 to a number of one loaded item, or of one of key_space loaded items.
CallKind HotKind(const Options& options, const std::string& table) {
  api::v1::UpdateItemRequest request;
  request.set_table_name(table);
  *request.mutable_key() = MakeKey(std::string("u") + kKeyPlaceholder, 0);
  request.set_update_expression("SET #n = #n + :one");
  (*request.mutable_expression_attribute_names())["#n"] = "count";
  (*request.mutable_expression_attribute_values())[":one"].set_n("1");
  const uint64_t keys = std::clamp(options.key_space, uint64_t{1}, options.items);
  CallKind kind = RandomKind("hot", "UpdateItem", {RequestTemplate(request)}, 0, keys);
  kind.shows_fairness = true;
  kind.check = CheckOf<api::v1::UpdateItemResponse>(HasNoAttributes<api::v1::UpdateItemResponse>);
  return kind;
}

// Each call changes the key of a random item in one global index. The calls take the indexes in turns.
CallKind UpdateKind(const Options& options, const std::string& table) {
  std::vector<RequestTemplate> templates;
  for (uint32_t i = 0; i < std::max(options.gsi, 1U); ++i) {
    api::v1::UpdateItemRequest request;
    request.set_table_name(table);
    *request.mutable_key() = MakeKey(std::string("u") + kKeyPlaceholder, 0);
    request.set_update_expression("SET " + IndexAttribute(i) + " = :moved");
    (*request.mutable_expression_attribute_values())[":moved"].set_s(std::string("u") + kSecondPlaceholder);
    templates.emplace_back(request);
  }
  CallKind kind = RandomKind("update", "UpdateItem", std::move(templates), 0, options.items);
  kind.check = CheckOf<api::v1::UpdateItemResponse>(HasNoAttributes<api::v1::UpdateItemResponse>);
  return kind;
}

// True if `item` is the item that BenchItem makes for its key.
bool IsWhole(const api::v1::Item& item, const Options& options, uint64_t sort_offset) {
  const auto pk = item.attributes().find("pk");
  if (pk == item.attributes().end()) return false;
  const api::v1::Item expected = BenchItem(options, pk->second.s(), sort_offset);
  return Serialize(item) == Serialize(expected);
}

CallKind GetKind(const Options& options, const std::string& table) {
  api::v1::GetItemRequest request;
  request.set_table_name(table);
  *request.mutable_key() = MakeKey(std::string("u") + kKeyPlaceholder, 0);
  CallKind kind = RandomKind("get", "GetItem", {RequestTemplate(request)}, 0, options.items);
  kind.answers_of_one_size = true;
  kind.check = CheckOf<api::v1::GetItemResponse>([options](const api::v1::GetItemResponse& response) {
    if (!response.has_item()) return "no item";
    return IsWhole(response.item(), options, 0) ? "" : "not the item that was put";
  });
  return kind;
}

CallKind QueryKind(const Options& options, const std::string& table) {
  api::v1::QueryRequest request;
  request.set_table_name(table);
  request.set_limit(static_cast<int32_t>(options.page_items));
  request.set_key_condition_expression("pk = :p");
  (*request.mutable_expression_attribute_values())[":p"].set_s(std::string("q") + kKeyPlaceholder);
  CallKind kind = RandomKind("query", "Query", {RequestTemplate(request)}, 0, kQueryPartitions);
  kind.answers_of_one_size = true;
  kind.check = CheckOf<api::v1::QueryResponse>([options](const api::v1::QueryResponse& response) -> std::string {
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
  });
  return kind;
}

// Each call reads a page from a random position. Pages at the end of the table are shorter.
CallKind ScanKind(const Options& options, const std::string& table) {
  api::v1::ScanRequest request;
  request.set_table_name(table);
  request.set_limit(static_cast<int32_t>(options.page_items));
  *request.mutable_exclusive_start_key() = MakeKey(std::string("u") + kKeyPlaceholder, 0);
  CallKind kind = RandomKind("scan", "Scan", {RequestTemplate(request)}, 0, options.items);
  kind.check = CheckOf<api::v1::ScanResponse>([options](const api::v1::ScanResponse& response) {
    if (response.count() != response.items_size()) return "count differs from the items";
    for (const api::v1::Item& item : response.items()) {
      if (!IsWhole(item, options, 0)) return "an item that was not put";
    }
    return "";
  });
  return kind;
}

// BatchWriteItem with kBatchItems puts of new keys. An answer with unprocessed items fails the check.
CallKind BatchKind(const Options& options, const std::string& table) {
  api::v1::BatchWriteItemRequest request;
  auto& writes = *(*request.mutable_request_items())[table].mutable_requests();
  for (uint64_t i = 0; i < kBatchItems; ++i) {
    *writes.Add()->mutable_put_request()->mutable_item() = BenchItem(options, std::string("u") + kKeyPlaceholder, 0);
  }
  CallKind kind = NewKeysKind("batch", "BatchWriteItem", RequestTemplate(request), kBatchItems * (1 + options.gsi));
  kind.check = CheckOf<api::v1::BatchWriteItemResponse>([](const api::v1::BatchWriteItemResponse& response) {
    return response.unprocessed_items().empty() ? "" : "unprocessed items";
  });
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
  CallKind kind =
      NewKeysKind("transact", "TransactWriteItems", RequestTemplate(request), kTransactItems * (1 + options.gsi));
  kind.check = CheckOf<api::v1::TransactWriteItemsResponse>([](const auto&) { return ""; });
  return kind;
}

}  // namespace

std::string KeyText(uint64_t number) {
  std::string text(kKeyLength, '0');
  WriteKey(number, text.data());
  return text;
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
  for (uint32_t i = 0; i < options.gsi; ++i) {
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
  for (uint32_t i = 0; i < options.gsi; ++i) {
    define(IndexAttribute(i), api::v1::SCALAR_ATTRIBUTE_TYPE_S);
    auto* index = request.add_global_secondary_indexes();
    index->set_index_name("by_" + IndexAttribute(i));
    add_key(index, IndexAttribute(i));
    index->mutable_projection()->set_projection_type(api::v1::PROJECTION_TYPE_ALL);
  }
  return request;
}

CallKind LoadItems(const Options& options, const std::string& table) {
  return LoadKind("load of items", {PutTemplate(options, table, 'u', 0)}, options.items);
}

CallKind LoadPages(const Options& options, const std::string& table) {
  std::vector<RequestTemplate> templates;
  for (uint64_t i = 0; i < options.page_items; ++i) {
    templates.push_back(PutTemplate(options, table, 'q', i));
  }
  return LoadKind("load of pages", std::move(templates), kQueryPartitions * options.page_items);
}

CallKind Workload(const std::string& name, const Options& options, const std::string& table) {
  constexpr std::pair<std::string_view, CallKind (*)(const Options&, const std::string&)> kKinds[] = {
      {"put", PutKind},          {"get", GetKind},     {"query", QueryKind},
      {"scan", ScanKind},        {"hot", HotKind},     {"overwrite", OverwriteKind},
      {"update", UpdateKind},    {"batch", BatchKind}, {"transact", TransactKind},
      {"pipeline", PipelineKind}};
  for (const auto& [known, kind] : kKinds) {
    if (known == name) return kind(options, table);
  }
  throw std::runtime_error("no workload " + name);
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
  kind.method = "/armature.admin.v1.AdminService/Echo";
  kind.answers_of_one_size = true;
  kind.new_source = [bytes = Serialize(request)](uint64_t) -> RequestSource {
    return [bytes](grpc::ByteBuffer* out) {
      *out = ToByteBuffer(bytes);  // copied for each call, as in the workloads
      return true;
    };
  };
  kind.check = CheckOf<admin::v1::EchoResponse>([answer_bytes](const admin::v1::EchoResponse& echoed) {
    return echoed.payload().size() == answer_bytes ? "" : std::to_string(echoed.payload().size()) + " bytes";
  });
  return kind;
}

}  // namespace armature::bench
