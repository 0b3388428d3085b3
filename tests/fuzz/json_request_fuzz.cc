// Requests of the JSON protocol, from the document to the answer, over a database of their own. Input: a letter for the
// operation, and the document.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "daemon/json/item_json.h"
#include "daemon/json/item_reader.h"
#include "daemon/json/item_requests.h"
#include "daemon/json/json_api.h"
#include "daemon/json/json_reader.h"
#include "daemon/json/table_requests.h"
#include "daemon/json/table_update_request.h"
#include "engine/engine.h"
#include "glog/logging.h"
#include "storage/codec/item_codec.h"
#include "storage/model/table_definition.h"
#include "tests/fuzz/fuzz_util.h"
#include "tests/support/temp_dir.h"

namespace armature::fuzz {
namespace {

using daemon::JsonAnswer;
using daemon::JsonDocument;

// After this many inputs a new database is made, because stored items slow scans down.
constexpr int kInputsPerDatabase = 5000;

constexpr std::string_view kTable = R"json({"TableName": "Tab", "BillingMode": "PAY_PER_REQUEST",
  "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}, {"AttributeName": "s", "AttributeType": "N"}],
  "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}],
  "GlobalSecondaryIndexes": [{"IndexName": "Idx", "KeySchema": [{"AttributeName": "s", "KeyType": "HASH"}],
    "Projection": {"ProjectionType": "ALL"}}]})json";

class Service {
 public:
  Service() { Open(); }
  ~Service() { Close(); }
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  void StartAnew() {
    Close();
    Open();
  }

  JsonAnswer Ask(std::string_view operation, std::string body) {
    daemon::JsonCall call;
    call.operation = operation;
    call.body = std::move(body);
    JsonAnswer given;
    absl::Notification answered;
    api_->Call(std::move(call), [&](JsonAnswer answer) {
      given = std::move(answer);
      answered.Notify();  // aborts if called twice
    });
    answered.WaitForNotification();
    return given;
  }

 private:
  void Open() {
    directory_.emplace();
    store::DatabaseOptions options;
    options.path = directory_->path();
    options.durability = store::Durability::kOs;
    options.cache_bytes = size_t{8} << 20;
    absl::StatusOr<std::unique_ptr<store::Database>> database = store::Database::Open(options);
    Check(database.ok(), "the database opens");
    database_ = *std::move(database);
    engine_ = std::make_unique<engine::Engine>(database_.get(), engine::EngineOptions());
    api_ = std::make_unique<daemon::JsonApi>(engine_.get());
    Check(Ask("CreateTable", std::string(kTable)).status == 200, "the table is created");
    const bool never = false;
    absl::Mutex mutex;
    while (Ask("DescribeTable", R"({"TableName":"Tab"})").body.find(R"("TableStatus":"ACTIVE")") == std::string::npos) {
      const absl::MutexLock lock(&mutex);
      mutex.AwaitWithTimeout(absl::Condition(&never), absl::Milliseconds(1));
    }
  }
  void Close() {
    engine_.reset();
    database_.reset();
    directory_.reset();
  }

  std::optional<test::TempDir> directory_;
  std::unique_ptr<store::Database> database_;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<daemon::JsonApi> api_;
};

std::string_view OperationOf(char letter) {
  switch (letter) {
    case 'g':
      return "GetItem";
    case 'p':
      return "PutItem";
    case 'u':
      return "UpdateItem";
    case 'd':
      return "DeleteItem";
    case 'q':
      return "Query";
    case 's':
      return "Scan";
    case 'l':
      return "ListTables";
    case 't':
      return "DescribeTable";
    case 'r':
      return "TagResource";
    case 'R':
      return "UntagResource";
    case 'y':
      return "UpdateTimeToLive";
    default:
      return {};
  }
}

// An accepted item can be printed and read back unchanged.
void CheckRoundTrip(const std::string& body) {
  const absl::StatusOr<engine::WriteRequest> put = daemon::ParsePutItem(body);
  if (!put.ok() || !put->item_wire.has_value()) return;
  const absl::StatusOr<codec::CanonicalItem> item = codec::CanonicalizeItem(*put->item_wire);
  if (!item.ok()) return;
  daemon::JsonWriter writer;
  daemon::WriteItem(item->bytes, &writer);
  const absl::StatusOr<JsonDocument> document = JsonDocument::Parse(writer.Take());
  Check(document.ok(), "an item is printed as JSON");
  std::string wire;
  Check(daemon::ReadItem(document->root(), &wire).ok(), "a printed item can be read");
  const absl::StatusOr<codec::CanonicalItem> again = codec::CanonicalizeItem(wire);
  Check(again.ok() && again->bytes == item->bytes, "a printed item reads back the same");
}

// Making and changing tables takes long; here it is what comes before.
void DefineTable(const std::string& body) {
  const absl::StatusOr<model::TableDefinition> definition = daemon::ParseCreateTable(body);
  if (definition.ok()) static_cast<void>(model::BuildTableDescriptor(*definition));
  static_cast<void>(daemon::ParseUpdateTable(body));
}

void Run(char letter, const std::string& body) {
  if (letter == 'c') return DefineTable(body);
  const std::string_view operation = OperationOf(letter);
  if (operation.empty()) return;
  FLAGS_minloglevel = google::GLOG_WARNING;
  static Service service;
  static int inputs = 0;
  if (++inputs % kInputsPerDatabase == 0) service.StartAnew();
  if (letter == 'p') CheckRoundTrip(body);
  const JsonAnswer answer = service.Ask(operation, body);
  Check(answer.status == 200 || answer.status == 400, "no document is an error of the server");
  // Operations on tags have empty answers.
  const bool nothing = answer.status == 200 && answer.body.empty();
  Check(nothing || JsonDocument::Parse(answer.body).ok(), "an answer is JSON");
}

}  // namespace
}  // namespace armature::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view input = armature::fuzz::Text(data, size);
  armature::fuzz::Run(input.front(), std::string(input.substr(1)));
  return 0;
}
