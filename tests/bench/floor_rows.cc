#include "tests/bench/floor_rows.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "armature/api/v1/items.pb.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"
#include "rocksdb/iterator.h"

namespace armature::bench {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedOutputStream;

constexpr size_t kSortBytes = 8;
constexpr size_t kLengthBytesMax = 5;

std::string KeyOf(const std::string& pk, uint64_t sk) {
  std::string key = pk;
  key.push_back('\0');
  for (size_t i = 0; i < kSortBytes; ++i) key.push_back(static_cast<char>(sk >> (8 * (kSortBytes - 1 - i))));
  return key;
}

std::optional<std::string> KeyOf(const api::v1::Item& item) {
  const auto pk = item.attributes().find("pk");
  const auto sk = item.attributes().find("sk");
  uint64_t number = 0;
  if (pk == item.attributes().end() || sk == item.attributes().end()) return std::nullopt;
  if (!absl::SimpleAtoi(sk->second.n(), &number)) return std::nullopt;
  return KeyOf(pk->second.s(), number);
}

api::v1::Item ItemOf(std::string_view key) {
  const std::string_view pk = key.substr(0, key.size() - kSortBytes - 1);
  uint64_t sk = 0;
  for (const char byte : key.substr(pk.size() + 1)) sk = sk << 8 | static_cast<uint8_t>(byte);
  api::v1::Item item;
  (*item.mutable_attributes())["pk"].set_s(std::string(pk));
  (*item.mutable_attributes())["sk"].set_n(std::to_string(sk));
  return item;
}

// As field `number` of the answer.
void AppendItem(int number, std::string_view item, std::string* answer) {
  uint8_t head[1 + kLengthBytesMax];
  head[0] = static_cast<uint8_t>(WireFormatLite::MakeTag(number, WireFormatLite::WIRETYPE_LENGTH_DELIMITED));
  const uint8_t* const end = CodedOutputStream::WriteVarint32ToArray(static_cast<uint32_t>(item.size()), head + 1);
  answer->append(reinterpret_cast<const char*>(head), static_cast<size_t>(end - head));
  answer->append(item);
}

// A page in the form of both a QueryResponse and a ScanResponse.
std::string Page(rocksdb::DB* db, const std::string& from, const std::string& end, bool from_is_read, int32_t limit) {
  rocksdb::ReadOptions options;
  options.total_order_seek = true;
  const rocksdb::Slice bound(end);
  if (!end.empty()) options.iterate_upper_bound = &bound;
  const std::unique_ptr<rocksdb::Iterator> rows(db->NewIterator(options));
  rows->Seek(from);
  if (!from_is_read && rows->Valid() && rows->key() == rocksdb::Slice(from)) rows->Next();
  thread_local size_t bytes_before = 0;
  std::string answer;
  answer.reserve(bytes_before);
  std::string last;
  int32_t count = 0;
  for (; count < limit && rows->Valid(); rows->Next()) {
    AppendItem(api::v1::QueryResponse::kItemsFieldNumber, rows->value().ToStringView(), &answer);
    if (++count == limit) last = rows->key().ToString();
  }
  api::v1::QueryResponse rest;
  rest.set_count(count);
  rest.set_scanned_count(count);
  if (!last.empty()) *rest.mutable_last_evaluated_key() = ItemOf(last);
  rest.AppendToString(&answer);
  bytes_before = std::max(bytes_before, answer.size());
  return answer;
}

std::optional<FloorRow> RowOf(const api::v1::Item& item) {
  std::optional<std::string> key = KeyOf(item);
  if (!key.has_value()) return std::nullopt;
  return FloorRow{*std::move(key), item.SerializeAsString()};
}

}  // namespace

std::optional<FloorRow> RowOfPut(std::string_view request) {
  api::v1::PutItemRequest put;
  if (!put.ParseFromArray(request.data(), static_cast<int>(request.size()))) return std::nullopt;
  return RowOf(put.item());
}

std::optional<std::vector<FloorRow>> RowsOfBatch(std::string_view request) {
  api::v1::BatchWriteItemRequest batch;
  if (!batch.ParseFromArray(request.data(), static_cast<int>(request.size()))) return std::nullopt;
  std::vector<FloorRow> rows;
  for (const auto& [table, writes] : batch.request_items()) {
    for (const api::v1::WriteRequest& write : writes.requests()) {
      std::optional<FloorRow> row = RowOf(write.put_request().item());
      if (!row.has_value()) return std::nullopt;
      rows.push_back(*std::move(row));
    }
  }
  return rows;
}

std::string AnswerGet(rocksdb::DB* db, std::string_view request) {
  api::v1::GetItemRequest get;
  if (!get.ParseFromArray(request.data(), static_cast<int>(request.size()))) return {};
  const std::optional<std::string> key = KeyOf(get.key());
  rocksdb::PinnableSlice value;
  if (!key.has_value() || !db->Get({}, db->DefaultColumnFamily(), *key, &value).ok()) return {};
  std::string answer;
  answer.reserve(1 + kLengthBytesMax + value.size());
  AppendItem(api::v1::GetItemResponse::kItemFieldNumber, value.ToStringView(), &answer);
  return answer;
}

std::string AnswerQuery(rocksdb::DB* db, std::string_view request) {
  api::v1::QueryRequest query;
  if (!query.ParseFromArray(request.data(), static_cast<int>(request.size()))) return {};
  const auto pk = query.expression_attribute_values().find(":p");
  if (pk == query.expression_attribute_values().end()) return {};
  const std::string& partition = pk->second.s();
  return Page(db, KeyOf(partition, 0), partition + '\x01', /*from_is_read=*/true, query.limit());
}

std::string AnswerScan(rocksdb::DB* db, std::string_view request) {
  api::v1::ScanRequest scan;
  if (!scan.ParseFromArray(request.data(), static_cast<int>(request.size()))) return {};
  const std::optional<std::string> from = KeyOf(scan.exclusive_start_key());
  return Page(db, from.value_or(""), "", /*from_is_read=*/false, scan.limit());
}

}  // namespace armature::bench
