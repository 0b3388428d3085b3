#include "daemon/message_json/item_reader.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "daemon/message_json/base64.h"
#include "daemon/message_json/json_dom.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/model/item_view.h"
#include "storage/model/limits.h"
#include "storage/model/wire.h"

namespace armature::daemon {
namespace {

using model::ValueType;
using model::WireTag;
using model::WireType;
using simdjson::dom::array;
using simdjson::dom::object;

constexpr std::string_view kShape = "AttributeValue";

// Field numbers of the messages inside an Item.
constexpr uint32_t kEntriesField = 1;  // Item.attributes, Map.entries
constexpr uint32_t kNameField = 1;
constexpr uint32_t kValueField = 2;
constexpr uint32_t kElementsField = 1;

constexpr auto kNoType = static_cast<ValueType>(0);

ValueType TypeOf(std::string_view member) {
  switch (member.size()) {
    case 1:
      switch (member[0]) {
        case 'S':
          return ValueType::kString;
        case 'N':
          return ValueType::kNumber;
        case 'B':
          return ValueType::kBinary;
        case 'L':
          return ValueType::kList;
        case 'M':
          return ValueType::kMap;
        default:
          return kNoType;
      }
    case 2:
      if (member[1] != 'S') return kNoType;
      if (member[0] == 'S') return ValueType::kStringSet;
      if (member[0] == 'N') return ValueType::kNumberSet;
      return member[0] == 'B' ? ValueType::kBinarySet : kNoType;
    case 4:
      if (member == "BOOL") return ValueType::kBool;
      return member == "NULL" ? ValueType::kNull : kNoType;
    default:
      return kNoType;
  }
}

// Distinguishes names that differ at the beginning, at the end or in length.
uint64_t HashOf(std::string_view name) {
  uint64_t first = 0;
  uint64_t last = 0;
  if (name.size() >= sizeof(first)) {
    std::memcpy(&first, name.data(), sizeof(first));
    std::memcpy(&last, name.data() + name.size() - sizeof(last), sizeof(last));
  } else {
    for (const char c : name) first = first << 8 | static_cast<uint8_t>(c);
  }
  return ((first ^ name.size()) * 0x9E3779B97F4A7C15 ^ last) * 0xC2B2AE3D27D4EB4F;
}

// True if a name may occur twice. A false positive only takes the slower path.
bool MayRepeatNames(const object& members) {
  if (members.size() < 2) return false;
  std::array<uint64_t, 32> seen{};
  bool repeated = false;
  for (const auto member : members) {
    const uint64_t hash = HashOf(member.key);
    const uint64_t bit = uint64_t{1} << (hash >> 58);
    uint64_t& word = seen[hash >> 53 & 31];
    repeated = repeated || (word & bit) != 0;
    word |= bit;
  }
  return repeated;
}

// Like model::AppendVarint and AppendBytesField, but writes to existing memory.
char* WriteVarint(uint64_t value, char* out) {
  for (; value >= 0x80; value >>= 7) *out++ = static_cast<char>(value | 0x80);
  *out++ = static_cast<char>(value);
  return out;
}
char* WriteHead(uint32_t field, size_t size, char* out) {
  *out++ = static_cast<char>(WireTag(field, WireType::kBytes));
  return WriteVarint(size, out);
}
char* WriteBytesField(uint32_t field, std::string_view bytes, char* out) {
  out = WriteHead(field, bytes.size(), out);
  if (!bytes.empty()) std::memcpy(out, bytes.data(), bytes.size());
  return out + bytes.size();
}

// Appends values to a string. Lengths of scalars are known in advance. Other lengths get a fixed-size varint, so that
// no bytes are moved, however deep the nesting.
class WireWriter {
 public:
  explicit WireWriter(std::string* out) : out_(*out) {}

  // Appends the body of an Item or Map.
  absl::Status Entries(const object& entries);
  // Appends the body of an AttributeValue.
  absl::Status Value(element value);

 private:
  // A varint of fixed size, which protobuf allows. It can hold the length of any document's encoding.
  static constexpr size_t kLengthBytes = 4;
  static_assert(4 * JsonDocument::kTextBytesMax <= size_t{1} << (7 * kLengthBytes));

  absl::Status LastEntries(const object& entries);
  absl::Status Entry(std::string_view name, element value);
  void TextEntry(std::string_view name, ValueType type, std::string_view text);
  absl::Status Members(const object& members);
  absl::Status Member(ValueType type, element value);
  absl::Status Flag(ValueType type, element value);
  absl::Status Bytes(uint32_t field, element value);
  absl::Status Set(ValueType type, element value);
  absl::Status List(element value);
  absl::Status Map(element value);

  void AppendTag(uint32_t field) { out_.push_back(static_cast<char>(WireTag(field, WireType::kBytes))); }
  // Reserves a length after the tag of `field`. Returns the start of the body.
  size_t Open(uint32_t field) {
    AppendTag(field);
    out_.append(kLengthBytes, '\0');
    return out_.size();
  }
  void Close(size_t body) {
    size_t length = out_.size() - body;
    for (size_t i = kLengthBytes; i > 0; --i, length >>= 7) {
      out_[body - i] = static_cast<char>(i > 1 ? length | 0x80 : length);
    }
  }

  std::string& out_;
  int depth_ = 0;  // nesting depth
};

absl::Status WireWriter::Entries(const object& entries) {
  if (MayRepeatNames(entries)) return LastEntries(entries);
  for (const auto entry : entries) ARM_RETURN_IF_ERROR(Entry(entry.key, entry.value));
  return absl::OkStatus();
}

// Keeps the last of several entries with one name. The others are validated, too.
absl::Status WireWriter::LastEntries(const object& entries) {
  absl::flat_hash_map<std::string_view, size_t, StringHash, std::equal_to<>> last;
  size_t position = 0;
  for (const auto entry : entries) last[entry.key] = position++;
  position = 0;
  for (const auto entry : entries) {
    const size_t begin = out_.size();
    ARM_RETURN_IF_ERROR(Entry(entry.key, entry.value));
    if (last[entry.key] != position++) out_.resize(begin);
  }
  return absl::OkStatus();
}

absl::Status WireWriter::Entry(std::string_view name, element value) {
  object members;
  if (value.get(members) == simdjson::SUCCESS && members.size() == 1) {
    // Nearly all values are a single text.
    const auto member = *members.begin();
    const ValueType type = TypeOf(member.key);
    if ((type == ValueType::kString || type == ValueType::kNumber) && member.value.is_string()) {
      TextEntry(name, type, GetText(member.value));
      return absl::OkStatus();
    }
  }
  const size_t entry = Open(kEntriesField);
  model::AppendBytesField(kNameField, name, &out_);
  const size_t body = Open(kValueField);
  ARM_RETURN_IF_ERROR(Value(value));
  Close(body);
  Close(entry);
  return absl::OkStatus();
}

void WireWriter::TextEntry(std::string_view name, ValueType type, std::string_view text) {
  const size_t value_size = model::BytesFieldSize(text.size());
  const size_t entry_size = model::BytesFieldSize(name.size()) + model::BytesFieldSize(value_size);
  const size_t begin = out_.size();
  out_.resize(begin + model::BytesFieldSize(entry_size));
  char* out = WriteHead(kEntriesField, entry_size, out_.data() + begin);
  out = WriteBytesField(kNameField, name, out);
  out = WriteHead(kValueField, value_size, out);
  WriteBytesField(static_cast<uint32_t>(type), text, out);
}

absl::Status WireWriter::Value(element value) {
  if (value.is_null()) return absl::OkStatus();
  if (value.is_array()) return NotStructureError(value, kShape);
  if (!value.is_object()) return SerializationError("Unexpected value type in payload");
  ++depth_;
  ARM_RETURN_IF_ERROR(Members(Get<object>(value)));
  --depth_;
  return absl::OkStatus();
}

// Keeps the last member of each type.
absl::Status WireWriter::Members(const object& members) {
  const size_t begin = out_.size();
  struct Written {
    size_t begin = 0;
    size_t end = 0;
  };
  std::array<Written, 11> of_type{};
  bool repeated = false;
  for (const auto member : members) {
    const ValueType type = TypeOf(member.key);
    if (type == kNoType || member.value.is_null()) continue;
    const size_t member_begin = out_.size();
    ARM_RETURN_IF_ERROR(Member(type, member.value));
    Written& written = of_type[static_cast<size_t>(type)];
    repeated = repeated || written.end != 0;
    written = {member_begin, out_.size()};
  }
  // Duplicates stay if the engine refuses the value for its depth, because copying at each level would add up.
  if (!repeated || depth_ > model::kNestingDepthMax) return absl::OkStatus();
  std::string kept;
  for (const Written& written : of_type) kept.append(out_, written.begin, written.end - written.begin);
  out_.replace(begin, std::string::npos, kept);
  return absl::OkStatus();
}

absl::Status WireWriter::Member(ValueType type, element value) {
  const auto field = static_cast<uint32_t>(type);
  switch (type) {
    case ValueType::kString:
    case ValueType::kNumber:
      if (!value.is_string()) return NotStringError(value);
      model::AppendBytesField(field, GetText(value), &out_);
      return absl::OkStatus();
    case ValueType::kBinary:
      return Bytes(field, value);
    case ValueType::kBool:
    case ValueType::kNull:
      return Flag(type, value);
    case ValueType::kStringSet:
    case ValueType::kNumberSet:
    case ValueType::kBinarySet:
      return Set(type, value);
    case ValueType::kList:
      return List(value);
    case ValueType::kMap:
      return Map(value);
  }
  return absl::OkStatus();
}

absl::Status WireWriter::Flag(ValueType type, element value) {
  bool flag = false;
  if (!GetFlag(value, &flag)) return NotBooleanError(value);
  out_.push_back(static_cast<char>(WireTag(static_cast<uint32_t>(type), WireType::kVarint)));
  out_.push_back(flag ? 1 : 0);
  return absl::OkStatus();
}

absl::Status WireWriter::Bytes(uint32_t field, element value) {
  if (value.is_array() || value.is_object()) return NotScalarError(value, "java.nio.ByteBuffer");
  if (!value.is_string()) return SerializationError("only base-64-encoded strings are convertible to bytes");
  const std::string_view text = GetText(value);
  if (text.size() % 4 != 0) {
    return SerializationError(Cat("Base64 encoded length is expected a multiple of 4 bytes but found: ", text.size()));
  }
  const size_t size = DecodedSize(text);
  AppendTag(field);
  model::AppendVarint(size, &out_);
  out_.resize(out_.size() + size);
  if (!DecodeBase64(text, out_.data() + out_.size() - size)) {
    return SerializationError("Invalid last non-pad Base64 character dectected");
  }
  return absl::OkStatus();
}

absl::Status WireWriter::Set(ValueType type, element value) {
  if (!value.is_array()) return NotListError(value);
  const size_t body = Open(static_cast<uint32_t>(type));
  for (const element member : Get<array>(value)) {
    if (type == ValueType::kBinarySet) {
      ARM_RETURN_IF_ERROR(Bytes(kElementsField, member));
      continue;
    }
    if (!member.is_string()) return NotStringError(member);
    model::AppendBytesField(kElementsField, GetText(member), &out_);
  }
  Close(body);
  return absl::OkStatus();
}

absl::Status WireWriter::List(element value) {
  if (!value.is_array()) return NotListError(value);
  const size_t body = Open(static_cast<uint32_t>(ValueType::kList));
  for (const element member : Get<array>(value)) {
    const size_t member_body = Open(kElementsField);
    ARM_RETURN_IF_ERROR(Value(member));
    Close(member_body);
  }
  Close(body);
  return absl::OkStatus();
}

absl::Status WireWriter::Map(element value) {
  if (!value.is_object()) return NotMapError(value, kShape);
  const size_t body = Open(static_cast<uint32_t>(ValueType::kMap));
  ARM_RETURN_IF_ERROR(Entries(Get<object>(value)));
  Close(body);
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadItem(JsonValue value, std::string* wire) {
  const element e = JsonDom::Element(value);
  if (!e.is_object()) return NotMapError(e, kShape);
  wire->clear();
  return WireWriter(wire).Entries(Get<object>(e));
}

absl::Status ReadAttributeValue(JsonValue value, std::string* wire) {
  wire->clear();
  return WireWriter(wire).Value(JsonDom::Element(value));
}

absl::Status ReadAttributeValueList(JsonValue value, std::vector<std::string>* wires) {
  wires->clear();
  return ReadList(value, [wires](JsonValue v) { return ReadAttributeValue(v, &wires->emplace_back()); });
}

}  // namespace armature::daemon
