#include "tools/armature/schema/schema_table.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "google/protobuf/descriptor.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/message_json.h"

namespace armature::cli {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// A text as a number or a boolean, if the field is one.
void TypeScalar(const FieldDescriptor& field, Json* value) {
  if (!value->is_string()) return;
  const auto text = value->get<std::string>();  // a copy: *value changes
  int64_t number = 0;
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_BOOL) {
    if (text == "true" || text == "True") *value = true;
    if (text == "false" || text == "False") *value = false;
  } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT64 || field.cpp_type() == FieldDescriptor::CPPTYPE_INT32) {
    if (absl::SimpleAtoi(text, &number)) *value = number;
  }
}

void TypeMembers(const Descriptor& type, bool prune, Json* json);

void TypeValue(const FieldDescriptor& field, bool prune, Json* value) {
  if (value->is_array()) {
    for (Json& element : *value) TypeValue(field, prune, &element);
  } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    TypeMembers(*field.message_type(), prune, value);
  } else {
    TypeScalar(field, value);
  }
}

// Recursion: as deep as the types of a request, which is four levels.
void TypeMembers(const Descriptor& type, bool prune, Json* json) {
  if (!json->is_object()) return;
  Json made = Json::object();
  for (auto& [name, value] : json->items()) {
    const FieldDescriptor* found = nullptr;
    for (int i = 0; i < type.field_count() && found == nullptr; ++i) {
      if (JsonName(type.field(i)->name()) == name) found = type.field(i);
    }
    if (found == nullptr && prune) continue;
    if (found != nullptr) TypeValue(*found, prune, &value);
    made[name] = std::move(value);
  }
  *json = std::move(made);
}

}  // namespace

absl::Status SchemaFault(std::string_view path, std::string_view what) {
  return absl::InvalidArgumentError(path.empty() ? std::string(what) : Cat(path, ": ", what));
}

Json MemberOf(const Json& json, const char* name) {
  return json.is_object() ? json.value(name, Json(nullptr)) : Json(nullptr);
}

absl::StatusOr<api::v1::CreateTableRequest> DefinitionFromJson(Json json, std::string_view path, bool prune) {
  TypeMembers(*api::v1::CreateTableRequest::descriptor(), prune, &json);
  api::v1::CreateTableRequest definition;
  ARM_RETURN_IF_ERROR(MessageFromJson(json, path, &definition));
  return definition;
}

}  // namespace armature::cli
