#include "daemon/api/wire_source.h"

#include "glog/logging.h"
#include "storage/base/api_error.h"
#include "storage/codec/canonical_text.h"

namespace armature::daemon {
namespace {

using model::WireField;
using model::WireType;

absl::Status MalformedError(std::string_view what) {
  return SerializationError(Cat("Malformed ", what, " in the request"));
}

}  // namespace

KnownFields::KnownFields(const google::protobuf::Descriptor& message) {
  using google::protobuf::FieldDescriptor;
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    CHECK_LT(field.number(), 32) << field.full_name();
    const bool is_bytes =
        field.cpp_type() == FieldDescriptor::CPPTYPE_STRING || field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    (is_bytes ? bytes : varints) |= uint32_t{1} << field.number();
  }
}

absl::Status WireSource::Fault() const {
  if (operation_.empty()) return MalformedError("legacy parameter");
  return SerializationError(
      Cat("The request is not a valid ", operation_, " message: malformed, or text that is not UTF-8"));
}

absl::Status WireSource::Text(const WireValue& value, std::string* to) const {
  *to = value.field.bytes;
  return codec::IsValidUtf8(*to) ? absl::OkStatus() : Fault();
}

absl::Status WireSource::RequiredText(const WireValue& value, std::optional<std::string>* to) const {
  absl::Status status = Text(value, to);
  if ((*to)->empty()) to->reset();
  return status;
}

absl::Status WireSource::Names(const WireValue& value, std::optional<StringMap<std::string>>* to) const {
  MapEntry entry;
  if (!entry.Read(value.field.bytes) || !codec::IsValidUtf8(entry.value)) return Fault();
  (*Present(to))[std::string(entry.name)] = std::string(entry.value);
  return absl::OkStatus();
}

absl::Status WireSource::AttributeValue(const WireValue& value, std::optional<std::string>* to) const {
  if (to->has_value()) return MalformedError("legacy parameter: two values");
  return Set(std::string(value.field.bytes), to);
}

size_t WireSource::Count(const WireValue& value, size_t max) {
  size_t count = 0;
  std::string_view rest = value.rest;
  WireField field;
  while (count < max && !rest.empty() && model::TakeField(&rest, &field)) {
    if (field.number == value.field.number) ++count;
  }
  return count;
}

bool WireSource::MapEntry::Read(std::string_view bytes) {
  WireField field;
  while (!bytes.empty()) {
    if (!model::TakeField(&bytes, &field)) return false;
    if (field.number != kMapKeyField && field.number != kMapValueField) continue;
    if (field.type != WireType::kBytes) return false;
    if (field.number == kMapKeyField) {
      name = field.bytes;
      continue;
    }
    if (++values == 2) joined = value;
    if (values > 1) joined.append(field.bytes);
    value = field.bytes;
  }
  return codec::IsValidUtf8(name);
}

absl::Status WireSource::TakeEntries(const WireValue& value, std::map<std::string_view, std::string_view>* entries) {
  WireField field = value.field;
  std::string_view rest = value.rest;
  do {
    if (field.number != value.field.number || field.type != WireType::kBytes) continue;
    MapEntry entry;
    if (!entry.Read(field.bytes)) {
      return codec::IsValidUtf8(entry.name) ? MalformedError("map entry")
                                            : SerializationError("Invalid UTF-8 in an attribute name");
    }
    // Two values would have to be merged, which no client intends.
    if (entry.values > 1) return MalformedError("map entry: two values");
    (*entries)[entry.name] = entry.value;
  } while (!rest.empty() && model::TakeField(&rest, &field));
  return absl::OkStatus();
}

}  // namespace armature::daemon
