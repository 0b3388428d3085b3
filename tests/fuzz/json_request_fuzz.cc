// Requests of the JSON protocol, from document to answer, over a database of their own. Input: the name of an
// operation, a line feed, and the document.

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/synchronization/notification.h"
#include "armature/api/v1/tables.pb.h"
#include "daemon/api/table_messages.h"
#include "daemon/api/unary_operation.h"
#include "daemon/json/item_requests.h"
#include "daemon/json/json_api.h"
#include "daemon/message_json/item_json.h"
#include "daemon/message_json/item_reader.h"
#include "daemon/message_json/json_reader.h"
#include "daemon/message_json/message_documents.h"
#include "engine/engine.h"
#include "engine/operations.h"
#include "glog/logging.h"
#include "storage/codec/item_codec.h"
#include "storage/model/table_definition.h"
#include "storage/model/table_update.h"
#include "tests/fuzz/fuzz_engine.h"
#include "tests/fuzz/fuzz_util.h"

namespace armature::fuzz {
namespace {

using daemon::JsonAnswer;
using daemon::JsonDocument;

class Service {
 public:
  void Renew() {
    if (engine_.Renew()) api_.emplace(engine_.get());
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
  FuzzEngine engine_{FuzzTables::kKeysOfAllTypes};
  std::optional<daemon::JsonApi> api_{engine_.get()};
};

// Operations that create, change or delete tables and backups are slow, and later inputs need the table. Only their
// documents are parsed.
bool IsOnlyRead(const engine::Operation& operation) {
  return operation.subject == "backup_arn" || operation.source == "backup_arn" || operation.name == "CreateBackup" ||
         operation.name == "CreateTable" || operation.name == "UpdateTable" || operation.name == "DeleteTable";
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

void CheckDefinition(const std::string& body) {
  api::v1::CreateTableRequest create;
  if (daemon::ReadRequest(body, &create).ok()) {
    static_cast<void>(model::BuildTableDescriptor(daemon::ToTableDefinition(create)));
  }
}

void CheckUpdate(const std::string& body) {
  api::v1::UpdateTableRequest update;
  if (daemon::ReadRequest(body, &update).ok()) {
    static_cast<void>(model::CheckTableUpdate(daemon::ToTableUpdate(update)));
  }
}

void ReadOnly(const engine::Operation& operation, const std::string& body) {
  if (operation.name == "CreateTable") return CheckDefinition(body);
  if (operation.name == "UpdateTable") return CheckUpdate(body);
  const auto messages = daemon::FindUnaryOperation(operation.name)->NewMessages();
  static_cast<void>(daemon::ReadRequest(body, messages->request.get()));
}

void Run(std::string_view name, const std::string& body) {
  const engine::Operation* const operation = engine::FindOperation(name);
  std::string_view served;
  if (operation == nullptr || !daemon::JsonApi(nullptr).Knows(Cat("DynamoDB_20120810.", name), &served)) return;
  if (IsOnlyRead(*operation)) return ReadOnly(*operation, body);
  FLAGS_minloglevel = google::GLOG_WARNING;
  static Service service;
  service.Renew();
  if (name == "PutItem") CheckRoundTrip(body);
  const JsonAnswer answer = service.Ask(operation->name, body);
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
  const size_t line = input.find('\n');
  if (line == std::string_view::npos) return 0;
  armature::fuzz::Run(input.substr(0, line), std::string(input.substr(line + 1)));
  return 0;
}
