#include "tests/support/daemon_test.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "armature/client/wait.h"
#include "storage/base/strings.h"
#include "tools/armature/json_text.h"
#include "tools/armature/message_json.h"

namespace armature::test {
namespace {

void Require(const absl::Status& status, std::string_view what) {
  if (!status.ok()) throw std::runtime_error(Cat(what, ": ", client::ErrorName(status), ": ", Sv(status.message())));
}

template <class T>
T Take(absl::StatusOr<T> value, std::string_view what) {
  Require(value.status(), what);
  return *std::move(value);
}

cli::Json Parse(std::string_view json) { return Take(cli::ParseJson(json), json); }

client::Item ItemOf(std::string_view json) { return Take(cli::ItemFromJson(Parse(json), ""), json); }

absl::Time Deadline() { return absl::Now() + absl::Seconds(30); }

}  // namespace

void ReadMessage(std::string_view json, google::protobuf::Message* message) {
  Require(cli::MessageFromJson(Parse(json), "", message), json);
}

std::string ToJson(const client::Item& item) { return cli::CompactJson(cli::MessageToJson(item)); }

std::string Canonical(std::string_view item_json) { return ToJson(ItemOf(item_json)); }

std::vector<std::string> Column(const google::protobuf::RepeatedPtrField<client::Item>& items, std::string_view name) {
  std::vector<std::string> column;
  for (const client::Item& item : items) {
    const auto found = item.attributes().find(std::string(name));
    if (found == item.attributes().end()) {
      column.push_back("-");
    } else {
      column.push_back(found->second.has_n() ? found->second.n() : found->second.s());
    }
  }
  return column;
}

std::vector<std::string> Names(const client::Item& item) {
  std::vector<std::string> names;
  for (const auto& [name, value] : item.attributes()) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

std::string SampleFile(std::string_view name) {
  const std::string path = Cat(ARMATURE_SAMPLES, "/", name);
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void DaemonTest::Create(std::string_view table_json) {
  const auto request = FromJson<api::v1::CreateTableRequest>(table_json);
  Require(client().CreateTable(request).status(), request.table_name());
  Require(client::WaitForTable(client(), request.table_name(), Deadline()), request.table_name());
}

uint64_t DaemonTest::Put(std::string_view table, const client::Item& item) {
  api::v1::PutItemRequest request;
  request.set_table_name(std::string(table));
  *request.mutable_item() = item;
  return Take(client().PutItem(request), table).change_sequence();
}

uint64_t DaemonTest::Put(std::string_view table, std::string_view item_json) { return Put(table, ItemOf(item_json)); }

uint64_t DaemonTest::Delete(std::string_view table, std::string_view key_json) {
  api::v1::DeleteItemRequest request;
  request.set_table_name(std::string(table));
  *request.mutable_key() = ItemOf(key_json);
  return Take(client().DeleteItem(request), key_json).change_sequence();
}

api::v1::QueryResponse DaemonTest::Query(std::string_view json) {
  return Take(client().Query(FromJson<api::v1::QueryRequest>(json)), json);
}

api::v1::ScanResponse DaemonTest::Scan(std::string_view json) {
  return Take(client().Scan(FromJson<api::v1::ScanRequest>(json)), json);
}

void DaemonTest::WaitForIndexes(std::string_view table, uint64_t change_sequence) {
  Require(client::WaitForIndexes(client(), table, change_sequence, Deadline()), table);
}

void DaemonTest::CreateSample(const std::string& table) {
  Create(SampleFile(table + ".table.json"));
  std::istringstream items(SampleFile(table + ".items.jsonl"));
  uint64_t last = 0;
  for (std::string line; std::getline(items, line);) last = Put(table, line);
  WaitForIndexes(table, last);
}

absl::Status DaemonTest::TryCreate(std::string_view table_json) {
  return client().CreateTable(FromJson<api::v1::CreateTableRequest>(table_json)).status();
}

absl::Status DaemonTest::TryPut(std::string_view table, std::string_view item_json) {
  api::v1::PutItemRequest request;
  request.set_table_name(std::string(table));
  *request.mutable_item() = ItemOf(item_json);
  return client().PutItem(request).status();
}

absl::Status DaemonTest::TryQuery(std::string_view json) {
  return client().Query(FromJson<api::v1::QueryRequest>(json)).status();
}

absl::Status DaemonTest::TryScan(std::string_view json) {
  return client().Scan(FromJson<api::v1::ScanRequest>(json)).status();
}

}  // namespace armature::test
