// A fixed set of operations on an engine in this process, one after another, without gRPC and sockets: from the bytes
// of the request to the bytes of the answer. Under callgrind, it dumps the instructions of each operation, of all
// threads; instructions.py runs it so and compares the counts with instructions.txt. By itself, it checks that the
// operations work.
//
// Every call waits for its answer, data and keys are the same in each run, and nothing runs in the background, so that
// the counts of two runs differ by less than 1 %.

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <semaphore.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "armature/api/v1/items.pb.h"
#include "daemon/api/answer_page.h"
#include "daemon/api/item_messages.h"
#include "daemon/json/json_api.h"
#include "engine/engine.h"
#include "engine/expr/parser.h"
#include "index/gsi_applier.h"
#include "storage/base/lock_checks.h"
#include "storage/store/database.h"
#include "tests/support/temp_dir.h"

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_ZERO_STATS
#define CALLGRIND_DUMP_STATS_AT(name)
#endif

namespace armature::bench {
namespace {

namespace v1 = api::v1;

constexpr size_t kRows = 2000;          // of each table
constexpr size_t kPartitionRows = 100;  // of the partitions that queries read
constexpr size_t kWarmCalls = 20;
constexpr size_t kChanges = 200;
constexpr char kPlain[] = "plain";
constexpr char kIndexed[] = "indexed";  // one local and two global indexes

[[noreturn]] void Die(std::string_view what, const std::string& why) {
  std::fprintf(stderr, "instruction_bench: %.*s: %s\n", static_cast<int>(what.size()), what.data(), why.c_str());
  std::exit(1);
}

// A wait that does not spin: spinning would make the counts depend on the machine.
class Signal {
 public:
  Signal() { sem_init(&semaphore_, 0, 0); }
  ~Signal() { sem_destroy(&semaphore_); }
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;
  void Give() { sem_post(&semaphore_); }
  void Take() {
    while (sem_wait(&semaphore_) != 0) {
    }
  }

 private:
  sem_t semaphore_;
};

std::string Number(size_t n) {
  std::string text = std::to_string(n);
  return std::string(8 - text.size(), '0') + text;
}

v1::Item Key(std::string_view partition, size_t row) {
  v1::Item key;
  (*key.mutable_attributes())["pk"].set_s(std::string(partition) + Number(row / kPartitionRows));
  (*key.mutable_attributes())["sk"].set_n(std::to_string(1'000'000 + row % kPartitionRows));
  return key;
}

// About 300 bytes. `version` changes the payload and the keys of indexes.
v1::Item Row(std::string_view partition, size_t row, size_t version) {
  v1::Item item = Key(partition, row);
  auto& attributes = *item.mutable_attributes();
  attributes["active"].set_bool_(true);
  attributes["amount"].set_n("12345.67");
  attributes["status"].set_s("open");
  attributes["customer"].set_s("customer-" + Number(row + 7 * version));
  attributes["city"].set_s("city-" + Number(row % 50 + version));
  attributes["day"].set_n(std::to_string(20'240'000 + row % 300 + version));
  auto& lines = *attributes["lines"].mutable_l();
  for (int i = 0; i < 3; ++i) {
    auto& line = *lines.add_values()->mutable_m()->mutable_entries();
    line["sku"].set_s("sku-" + Number(row));
    line["count"].set_n(std::to_string(i + 1));
  }
  attributes["payload"].set_s(Number(version) + std::string(80, 'x'));
  return item;
}

// Maps in the order of their keys: their own order differs from run to run.
std::string Bytes(const google::protobuf::Message& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

std::string PutMessage(const std::string& table, v1::Item item) {
  v1::PutItemRequest put;
  put.set_table_name(table);
  *put.mutable_item() = std::move(item);
  return Bytes(put);
}

model::TableDefinition Definition(const std::string& name, bool has_indexes) {
  model::TableDefinition table;
  table.table_name = name;
  table.attribute_definitions = {{"pk", "S"}, {"sk", "N"}};
  table.key_schema = {{"pk", "HASH"}, {"sk", "RANGE"}};
  table.billing_mode = "PAY_PER_REQUEST";
  if (!has_indexes) return table;
  table.attribute_definitions.insert(table.attribute_definitions.end(),
                                     {{"customer", "S"}, {"city", "S"}, {"day", "N"}});
  const auto index = [](const char* index_name, std::vector<model::KeyElementDefinition> key) {
    model::IndexDefinition definition;
    definition.index_name = index_name;
    definition.key_schema = std::move(key);
    definition.projection.projection_type = "ALL";
    return definition;
  };
  table.local_indexes = {index("by_day", {{"pk", "HASH"}, {"day", "RANGE"}})};
  table.global_indexes = {index("by_customer", {{"customer", "HASH"}}),
                          index("by_city", {{"city", "HASH"}, {"day", "RANGE"}})};
  return table;
}

// The database, its engine, and calls that wait.
class Subject {
 public:
  Subject() {
    Open();
    Create(Definition(kPlain, false));
    Create(Definition(kIndexed, true));
    for (size_t row = 0; row < kRows; ++row) {
      for (const char* table : {kPlain, kIndexed}) Put(PutMessage(table, Row("p", row, 0)));
    }
    Apply();
    // From now on, the rows are in files and are read through the block cache.
    Close();
    Open();
  }
  ~Subject() { Close(); }
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  void Put(const std::string& message) { Write(&engine::Engine::PutItem, daemon::ParsePutItem(message), true); }
  using WriteCall = void (engine::Engine::*)(engine::RequestContext, engine::WriteRequest,
                                             engine::Callback<engine::WriteResult>);
  void Write(WriteCall call, absl::StatusOr<engine::WriteRequest> request, bool succeeds) {
    const auto result =
        Wait<engine::WriteResult>([&](auto done) { (engine_.get()->*call)({}, *std::move(request), std::move(done)); });
    if (result.ok() != succeeds) Die("write", result.status().ToString());
    if (result.ok()) Use(daemon::SerializeRest(*result));
  }
  void Get(const std::string& message) {
    const auto result = Wait<engine::GetItemResult>(
        [&](auto done) { engine_->GetItem({}, *daemon::ParseGetItem(message), std::move(done)); });
    if (!result.ok() || !result->item.has_value()) Die("get", result.status().ToString());
    Use(daemon::SerializeRest(*result));
  }
  // A page of kPartitionRows rows, as gRPC answers it.
  void Read(bool is_scan, const std::string& message) {
    auto request = is_scan ? daemon::ParseScan(message) : daemon::ParseQuery(message);
    daemon::AnswerPage page(request->limit);
    const auto call = is_scan ? &engine::Engine::Scan : &engine::Engine::Query;
    const auto result = Wait<engine::ReadResult>(
        [&](auto done) { (engine_.get()->*call)({}, *std::move(request), &page, std::move(done)); });
    if (!result.ok() || result->count != kPartitionRows) Die("read", result.status().ToString());
    Use(page.Take(daemon::SerializeRest(*result)));
  }
  template <class Result, class Request>
  void Group(void (engine::Engine::*call)(engine::RequestContext, Request, engine::Callback<Result>),
             absl::StatusOr<Request> request) {
    const auto result =
        Wait<Result>([&](auto done) { (engine_.get()->*call)({}, *std::move(request), std::move(done)); });
    if (!result.ok()) Die("group", result.status().ToString());
    Use(daemon::Serialize(*result));
  }
  void Json(std::string_view operation, std::string document) {
    Signal signal;
    daemon::JsonAnswer answer;
    daemon::JsonCall call;
    call.operation = operation;
    call.body = std::move(document);
    json_->Call(std::move(call), [&](daemon::JsonAnswer given) {
      answer = std::move(given);
      signal.Give();
    });
    signal.Take();
    if (answer.status != 200) Die("JSON", answer.body);
  }
  // From now on, changes of global indexes are left to Apply.
  void LogIndexUpdates() {
    Close();
    updates_ = store::IndexUpdates::kLogged;
    Open();
  }
  // Brings the global indexes up to date.
  void Apply() {
    const auto table = database_->catalog()->Hold(kIndexed);
    if (table == nullptr) Die("index", "no table");
    while (true) {
      const absl::StatusOr<bool> drained = applier_->RunOnce(table->descriptor.id);
      if (!drained.ok()) Die("index", drained.status().ToString());
      if (*drained) return;
    }
  }
  // Keeps the compiler from leaving out what makes `bytes`.
  void Use(const std::string& bytes) { used_ = used_ + bytes.size(); }

 private:
  template <class Result, class Fn>
  absl::StatusOr<Result> Wait(Fn call) {
    Signal signal;
    absl::StatusOr<Result> result = absl::InternalError("no answer");
    call([&](absl::StatusOr<Result> given) {
      result = std::move(given);
      signal.Give();
    });
    signal.Take();
    return result;
  }

  void Open() {
    store::DatabaseOptions options;
    options.path = directory_.path();
    options.durability = store::Durability::kOs;
    options.index_updates = updates_;
    absl::StatusOr<std::unique_ptr<store::Database>> database = store::Database::Open(options);
    if (!database.ok()) Die("open", database.status().ToString());
    database_ = *std::move(database);
    engine::EngineOptions engine_options;
    engine_options.apply_changes = false;
    engine_options.expiry_interval = absl::Hours(1);
    engine_options.describe_wait = absl::Seconds(30);
    engine_ = std::make_unique<engine::Engine>(database_.get(), engine_options);
    applier_ = std::make_unique<index::GsiApplier>(database_.get());
    json_ = std::make_unique<daemon::JsonApi>(engine_.get());
  }
  void Close() {
    json_.reset();
    applier_.reset();
    engine_.reset();
    database_.reset();
  }
  void Create(const model::TableDefinition& definition) {
    auto created =
        Wait<engine::TableDescription>([&](auto done) { engine_->CreateTable(definition, std::move(done)); });
    if (!created.ok()) Die("create", created.status().ToString());
    // Waits for the end of the creation.
    created = Wait<engine::TableDescription>(
        [&](auto done) { engine_->DescribeTable(definition.table_name, std::move(done)); });
    if (!created.ok() || created->descriptor.state != model::TableState::kActive) Die("create", "not active");
  }

  test::TempDir directory_;
  store::IndexUpdates updates_ = store::IndexUpdates::kWithItem;
  std::unique_ptr<store::Database> database_;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<index::GsiApplier> applier_;
  std::unique_ptr<daemon::JsonApi> json_;
  volatile size_t used_ = 0;
};

struct Operation {
  std::string name;
  size_t calls;
  // The n-th request, made before the measured calls.
  std::function<std::string(size_t n)> request;
  std::function<void(const std::string& request)> run;
};

std::string GetMessage(size_t n) {
  v1::GetItemRequest get;
  get.set_table_name(kPlain);
  *get.mutable_key() = Key("p", n % kRows);
  return Bytes(get);
}

std::string UpdateMessage(size_t n) {
  v1::UpdateItemRequest update;
  update.set_table_name(kPlain);
  *update.mutable_key() = Key("p", n % kRows);
  update.set_update_expression("SET amount = amount + :one, payload = :payload");
  update.set_condition_expression("attribute_exists(pk) AND #s = :open");
  (*update.mutable_expression_attribute_names())["#s"] = "status";
  auto& values = *update.mutable_expression_attribute_values();
  values[":one"].set_n("1");
  values[":open"].set_s("open");
  values[":payload"].set_s("updated-" + Number(n));
  return Bytes(update);
}

std::string DeleteMessage(size_t n) {
  v1::DeleteItemRequest request;
  request.set_table_name(kPlain);
  *request.mutable_key() = Key("new", n);
  return Bytes(request);
}

std::string FailingMessage(size_t n) {
  v1::PutItemRequest put;
  put.set_table_name(kPlain);
  *put.mutable_item() = Row("p", n % kRows, 1);
  put.set_condition_expression("attribute_not_exists(pk)");
  return Bytes(put);
}

std::string QueryMessage(size_t n) {
  v1::QueryRequest query;
  query.set_table_name(kPlain);
  query.set_key_condition_expression("pk = :p");
  (*query.mutable_expression_attribute_values())[":p"].set_s("p" + Number(n % (kRows / kPartitionRows)));
  return Bytes(query);
}

std::string ScanMessage(size_t /*n*/) {
  v1::ScanRequest scan;
  scan.set_table_name(kPlain);
  scan.set_limit(static_cast<int>(kPartitionRows));
  return Bytes(scan);
}

std::string BatchGetMessage(size_t n) {
  v1::BatchGetItemRequest batch;
  auto& keys = (*batch.mutable_request_items())[kPlain];
  for (size_t i = 0; i < 25; ++i) *keys.add_keys() = Key("p", (n * 25 + i * 7) % kRows);
  return Bytes(batch);
}

std::string BatchWriteMessage(size_t n) {
  v1::BatchWriteItemRequest batch;
  auto& writes = (*batch.mutable_request_items())[kPlain];
  for (size_t i = 0; i < 25; ++i) {
    *writes.add_requests()->mutable_put_request()->mutable_item() = Row("batch", n * 25 + i, 0);
  }
  return Bytes(batch);
}

std::string TransactMessage(size_t n) {
  v1::TransactWriteItemsRequest transaction;
  for (size_t i = 0; i < 4; ++i) {
    v1::Put& put = *transaction.add_transact_items()->mutable_put();
    put.set_table_name(kPlain);
    *put.mutable_item() = Row("transaction", n * 4 + i, 0);
  }
  return Bytes(transaction);
}

std::string KeyDocument(size_t n) {
  return R"({"TableName":"plain","Key":{"pk":{"S":"p)" + Number(n % kRows / kPartitionRows) + R"("},"sk":{"N":")" +
         std::to_string(1'000'000 + n % kPartitionRows) + R"("}}})";
}

std::string PutDocument(size_t n) {
  return R"({"TableName":"plain","Item":{"pk":{"S":"json)" + Number(n) +
         R"("},"sk":{"N":"1"},"active":{"BOOL":true},)" +
         R"("amount":{"N":"12345.67"},"status":{"S":"open"},"customer":{"S":"customer-00000001"},"lines":{"L":[)" +
         R"({"M":{"sku":{"S":"sku-1"},"count":{"N":"1"}}},{"M":{"sku":{"S":"sku-2"},"count":{"N":"2"}}}]},)" +
         R"("payload":{"S":")" + std::string(88, 'x') + R"("}}})";
}

std::string QueryDocument(size_t n) {
  return R"({"TableName":"plain","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"p)" +
         Number(n % (kRows / kPartitionRows)) + R"("}}})";
}

std::string ScanDocument(size_t /*n*/) {
  return R"({"TableName":"plain","Limit":)" + std::to_string(kPartitionRows) + "}";
}

void ParseExpressions() {
  expr::FaultLog faults;
  if (!expr::ParseCondition(expr::ExpressionKind::kCondition,
                            "attribute_exists(pk) AND (#s = :open OR begins_with(customer, :c)) AND size(payload) < :n",
                            &faults)
           .ok() ||
      !expr::ParseUpdate("SET amount = if_not_exists(amount, :zero) + :one, lines[1].#c = :c REMOVE note ADD tags :t",
                         &faults)
           .ok() ||
      !expr::ParseProjection("pk, sk, lines[0].sku, #s, payload", &faults).ok()) {
    Die("expressions", "not parsed");
  }
}

// The names are those of instructions.txt.
std::vector<Operation> Operations(Subject* s) {
  using E = engine::Engine;
  const auto put = [s](const std::string& bytes) { s->Put(bytes); };
  return {
      {"get", 200, GetMessage, [s](const std::string& bytes) { s->Get(bytes); }},
      {"put_new", 200, [](size_t n) { return PutMessage(kPlain, Row("new", n, 0)); }, put},
      {"put_over", 200, [](size_t n) { return PutMessage(kPlain, Row("p", n, n + 1)); }, put},
      {"put_indexed", 200, [](size_t n) { return PutMessage(kIndexed, Row("p", n, n + 1)); }, put},
      {"update", 200, UpdateMessage,
       [s](const std::string& bytes) { s->Write(&E::UpdateItem, daemon::ParseUpdateItem(bytes), true); }},
      {"delete", 200, DeleteMessage,
       [s](const std::string& bytes) { s->Write(&E::DeleteItem, daemon::ParseDeleteItem(bytes), true); }},
      {"failed_condition", 200, FailingMessage,
       [s](const std::string& bytes) { s->Write(&E::PutItem, daemon::ParsePutItem(bytes), false); }},
      {"query_100", 40, QueryMessage, [s](const std::string& bytes) { s->Read(false, bytes); }},
      {"scan_100", 40, ScanMessage, [s](const std::string& bytes) { s->Read(true, bytes); }},
      {"batch_get_25", 40, BatchGetMessage,
       [s](const std::string& bytes) { s->Group(&E::BatchGetItem, daemon::ParseBatchGetItem(bytes)); }},
      {"batch_write_25", 40, BatchWriteMessage,
       [s](const std::string& bytes) { s->Group(&E::BatchWriteItem, daemon::ParseBatchWriteItem(bytes)); }},
      {"transaction_4", 100, TransactMessage,
       [s](const std::string& bytes) { s->Group(&E::TransactWriteItems, daemon::ParseTransactWriteItems(bytes)); }},
      {"json_get", 200, KeyDocument, [s](const std::string& bytes) { s->Json("GetItem", bytes); }},
      {"json_put", 200, PutDocument, [s](const std::string& bytes) { s->Json("PutItem", bytes); }},
      {"json_query_100", 40, QueryDocument, [s](const std::string& bytes) { s->Json("Query", bytes); }},
      {"json_scan_100", 40, ScanDocument, [s](const std::string& bytes) { s->Json("Scan", bytes); }},
      {"parse_put", 5000, [](size_t n) { return PutMessage(kPlain, Row("p", n, 0)); },
       [s](const std::string& bytes) { s->Use(*daemon::ParsePutItem(bytes)->item_wire); }},
      {"parse_expressions", 200, [](size_t) { return std::string(); }, [](const auto&) { ParseExpressions(); }},
  };
}

// Prints the number of measured calls of each operation.
void Measure(const std::string& name, size_t calls, const std::function<void()>& run) {
  CALLGRIND_ZERO_STATS;
  run();
  CALLGRIND_DUMP_STATS_AT(name.c_str());
  std::printf("%s %zu\n", name.c_str(), calls);
}

void Run() {
  Subject subject;
  subject.Apply();  // from then on, index rows are written with their items
  const std::vector<Operation> operations = Operations(&subject);
  std::vector<std::vector<std::string>> requests(operations.size());
  for (size_t i = 0; i < operations.size(); ++i) {
    for (size_t n = 0; n < kWarmCalls + operations[i].calls; ++n) requests[i].push_back(operations[i].request(n));
  }
  // Changes of 200 rows, each with an entry to remove and one to write in two indexes.
  std::vector<std::string> changes;
  for (size_t n = 0; n < kChanges; ++n) changes.push_back(PutMessage(kIndexed, Row("p", n, n + 1000)));

  CALLGRIND_START_INSTRUMENTATION;
  for (size_t i = 0; i < operations.size(); ++i) {
    const auto measured = requests[i].begin() + kWarmCalls;
    std::for_each(requests[i].begin(), measured, operations[i].run);
    Measure(operations[i].name, operations[i].calls,
            [&] { std::for_each(measured, requests[i].end(), operations[i].run); });
  }
  subject.LogIndexUpdates();
  subject.Apply();
  for (const std::string& change : changes) subject.Put(change);
  Measure("apply_change", kChanges, [&] { subject.Apply(); });
}

}  // namespace
}  // namespace armature::bench

int main() {
  armature::SkipLockChecks();
  armature::bench::Run();
}
