#include "tools/armature/message_json.h"

#include "daemon/message_json/json_reader.h"
#include "daemon/message_json/json_writer.h"
#include "daemon/message_json/message_documents.h"
#include "daemon/message_json/strict_reader.h"
#include "storage/base/status_macros.h"

namespace armature::cli {
namespace {

template <class Message>
absl::StatusOr<Message> FromJson(const Json& json, std::string_view path) {
  Message message;
  ARM_RETURN_IF_ERROR(MessageFromJson(json, path, &message));
  return message;
}

}  // namespace

absl::Status MessageFromJson(const Json& json, std::string_view path, google::protobuf::Message* message) {
  const absl::StatusOr<daemon::JsonDocument> document = daemon::JsonDocument::ParseAny(CompactJson(json));
  if (!document.ok()) return absl::InvalidArgumentError("the JSON is too large or nests too deeply");
  return daemon::ReadStrictly(document->root(), path, message);
}

absl::StatusOr<api::v1::AttributeValue> AttributeValueFromJson(const Json& json, std::string_view path) {
  return FromJson<api::v1::AttributeValue>(json, path);
}

absl::StatusOr<api::v1::Item> ItemFromJson(const Json& json, std::string_view path) {
  return FromJson<api::v1::Item>(json, path);
}

Json MessageToJson(const google::protobuf::Message& message) {
  daemon::JsonWriter writer;
  daemon::WriteForTools(message, &writer);
  return Json::parse(writer.text());
}

}  // namespace armature::cli
