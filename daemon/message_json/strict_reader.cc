#include "daemon/message_json/strict_reader.h"

#include <cstdint>
#include <limits>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "armature/api/v1/types.pb.h"
#include "daemon/message_json/base64.h"
#include "daemon/message_json/json_dom.h"
#include "daemon/message_json/message_documents.h"
#include "daemon/message_json/message_names.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/item_view.h"
#include "storage/model/limits.h"

namespace armature::daemon {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using model::ValueType;

std::string_view TypeName(element e) {
  switch (e.type()) {
    case element_type::ARRAY:
      return "array";
    case element_type::OBJECT:
      return "object";
    case element_type::STRING:
      return "string";
    case element_type::BOOL:
      return "boolean";
    case element_type::NULL_VALUE:
      return "null";
    default:
      return "number";
  }
}

// Finds the first fault of a value, before it is read.
class StrictCheck {
 public:
  explicit StrictCheck(std::string_view path) : path_(path) {}

  // Checks the members of a message, or what stands for it.
  absl::Status Check(element e, const Descriptor& type) {
    if (&type == api::v1::AttributeValue::descriptor()) return Value(e, 1);
    if (&type == api::v1::Item::descriptor()) return Values(e, 1);
    if (const FieldDescriptor* const list = WrappedList(type); list != nullptr) return Field(e, *list);
    const JsonShape& shape = ShapeOf(type, Dialect::kTools);
    return Members(e, [&](std::string_view name, element member) {
      const auto found = shape.by_name.find(name);
      if (found == shape.by_name.end()) return Wrong(Cat("unknown member \"", name, "\""));
      return Inside(Step(name), [&] { return Field(member, *shape.members[found->second].field); });
    });
  }

 private:
  using CheckMember = absl::FunctionRef<absl::Status(std::string_view name, element member)>;
  using CheckElement = absl::FunctionRef<absl::Status(element e)>;

  absl::Status Wrong(std::string_view what) const {
    return absl::InvalidArgumentError(path_.empty() ? std::string(what) : Cat(path_, ": ", what));
  }
  absl::Status WrongType(std::string_view expected, element e) const {
    return Wrong(Cat("must be ", expected, ", not ", TypeName(e)));
  }

  // The part of the path for a member.
  std::string Step(std::string_view name) const { return Cat(path_.empty() ? "" : ".", name); }
  template <class Check>
  absl::Status Inside(const std::string& step, Check check) {
    const size_t outside = path_.size();
    path_ += step;
    absl::Status status = check();
    path_.resize(outside);
    return status;
  }

  absl::Status Members(element e, CheckMember check) {
    if (!e.is_object()) return WrongType("an object", e);
    absl::flat_hash_set<std::string_view, StringHash, std::equal_to<>> names;
    for (const auto member : Get<simdjson::dom::object>(e)) {
      if (!names.insert(member.key).second) return Wrong(Cat("member \"", member.key, "\" occurs twice"));
      ARM_RETURN_IF_ERROR(check(member.key, member.value));
    }
    return absl::OkStatus();
  }

  absl::Status Elements(element e, CheckElement check) {
    if (!e.is_array()) return WrongType("an array", e);
    size_t i = 0;
    for (const element each : Get<simdjson::dom::array>(e)) {
      ARM_RETURN_IF_ERROR(Inside(Cat("[", i++, "]"), [&] { return check(each); }));
    }
    return absl::OkStatus();
  }

  absl::Status Field(element e, const FieldDescriptor& field) {
    if (field.is_map()) {
      return Members(e, [&](std::string_view name, element entry) {
        return Inside(Step(name), [&] { return Single(entry, *field.message_type()->map_value()); });
      });
    }
    if (field.is_repeated()) return Elements(e, [&](element each) { return Single(each, field); });
    return Single(e, field);
  }

  absl::Status Single(element e, const FieldDescriptor& field) {
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING:
        return e.is_string() ? absl::OkStatus() : WrongType("a string", e);
      case FieldDescriptor::CPPTYPE_BOOL:
        return Flag(e);
      case FieldDescriptor::CPPTYPE_ENUM:
        return Word(e, *field.enum_type());
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return Check(e, *field.message_type());
      case FieldDescriptor::CPPTYPE_INT32:
        return Integer(e, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
      case FieldDescriptor::CPPTYPE_INT64:
        if (IsTime(field)) return e.is_number() ? absl::OkStatus() : WrongType("a number of seconds", e);
        return Integer(e, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max());
      case FieldDescriptor::CPPTYPE_UINT64:
        return Integer(e, 0, std::numeric_limits<int64_t>::max());
      default:
        return Wrong("cannot be set");
    }
  }

  absl::Status Flag(element e) const { return e.is_bool() ? absl::OkStatus() : WrongType("true or false", e); }

  absl::Status Word(element e, const EnumDescriptor& type) const {
    if (!e.is_string()) return WrongType("a string", e);
    if (FindEnumValue(type, GetText(e)) != nullptr) return absl::OkStatus();
    std::string known;
    for (int i = 1; i < type.value_count(); ++i) known += Cat(i == 1 ? "" : ", ", EnumText(*type.value(i)));
    return Wrong(Cat("\"", GetText(e), "\" is not one of ", known));
  }

  absl::Status Integer(element e, int64_t min, int64_t max) const {
    // A number of another type is beyond 64 bits with a sign.
    if (!e.is_int64()) return e.is_uint64() ? Wrong("is out of range") : WrongType("an integer", e);
    const auto value = Get<int64_t>(e);
    return value < min || value > max ? Wrong("is out of range") : absl::OkStatus();
  }

  // Checks the attributes of an item, or the entries of a map.
  absl::Status Values(element e, int depth) {
    return Members(e, [&](std::string_view name, element value) {
      return Inside(Step(name), [&] { return Value(value, depth); });
    });
  }

  absl::Status Value(element e, int depth) {
    if (depth > model::kNestingDepthMax) return Wrong(Cat("nests deeper than ", model::kNestingDepthMax, " levels"));
    simdjson::dom::object members;
    if (e.get(members) != simdjson::SUCCESS || members.size() != 1) {
      return Wrong(R"(must be an object with one member that names the type, such as {"S": "text"})");
    }
    const auto member = *members.begin();
    for (int i = 1; i <= static_cast<int>(ValueType::kMap); ++i) {
      const auto type = static_cast<ValueType>(i);
      if (ValueTypeName(type) != member.key) continue;
      return Inside(Step(member.key), [&] { return Content(member.value, type, depth); });
    }
    return Wrong(Cat("\"", std::string_view(member.key),
                     "\" is no type; the types are S, N, B, BOOL, NULL, SS, NS, BS, L and M"));
  }

  absl::Status Content(element e, ValueType type, int depth) {
    switch (type) {
      case ValueType::kString:
      case ValueType::kNumber:
        return Text(e);
      case ValueType::kBinary:
        return Binary(e);
      case ValueType::kBool:
      case ValueType::kNull:
        return Flag(e);
      case ValueType::kStringSet:
      case ValueType::kNumberSet:
        return Elements(e, [&](element each) { return Text(each); });
      case ValueType::kBinarySet:
        return Elements(e, [&](element each) { return Binary(each); });
      case ValueType::kList:
        return Elements(e, [&](element each) { return Value(each, depth + 1); });
      case ValueType::kMap:
        return Values(e, depth + 1);
    }
    return absl::OkStatus();
  }

  absl::Status Text(element e) const {
    if (e.is_string()) return absl::OkStatus();
    return Wrong(Cat("must be a string, not ", TypeName(e), e.is_number() ? "; write numbers in quotes" : ""));
  }

  absl::Status Binary(element e) const {
    ARM_RETURN_IF_ERROR(Text(e));
    const std::string_view text = GetText(e);
    const bool is_whole = text.size() % 4 == 0;
    std::string bytes(is_whole ? DecodedSize(text) : 0, '\0');
    return is_whole && DecodeBase64(text, bytes.data()) ? absl::OkStatus() : Wrong("must be base64 with padding");
  }

  std::string path_;
};

}  // namespace

absl::Status ReadStrictly(JsonValue value, std::string_view path, google::protobuf::Message* message) {
  ARM_RETURN_IF_ERROR(StrictCheck(path).Check(JsonDom::Element(value), *message->GetDescriptor()));
  return ReadChecked(value, message);
}

}  // namespace armature::daemon
