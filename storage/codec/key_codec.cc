#include "storage/codec/key_codec.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "storage/base/status_macros.h"
#include "storage/model/limits.h"
#include "storage/model/wire.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace armature::codec {
namespace {

using model::ScalarType;

// Type codes: the first byte of every component. The values are on disk: never renumber. docs/reference/format.md holds
// the same register with the status of each code. The codes define the order between types, and gaps leave room on both
// sides of each type.
constexpr uint8_t kTypeNegativeNumber = 0x20;
constexpr uint8_t kTypeZero = 0x21;
constexpr uint8_t kTypePositiveNumber = 0x22;
constexpr uint8_t kTypeString = 0x30;
constexpr uint8_t kTypeBinary = 0x38;

// A zero byte inside a string or binary body is followed by one of these.
constexpr uint8_t kBodyEnd = 0x01;
constexpr uint8_t kBodyZero = 0xFF;

// Room for a key, so that most keys are allocated once.
constexpr size_t kUsualKeyBytes = 62;
constexpr size_t kSmallItemBytes = 32;

constexpr int kExponentBias = 130;
constexpr uint8_t kPairMax = 99;

static_assert(model::kNumberExponentMin + kExponentBias == 0);
static_assert(model::kNumberExponentMax + kExponentBias == 0xFF);

// Appends type code and escaped bytes, without the terminator.
void AppendOpenBody(uint8_t code, std::string_view bytes, std::string* out) {
  out->push_back(static_cast<char>(code));
  while (true) {
    const size_t zero = bytes.find('\0');
    if (zero == std::string_view::npos) break;
    out->append(bytes.substr(0, zero + 1));
    out->push_back(static_cast<char>(kBodyZero));
    bytes.remove_prefix(zero + 1);
  }
  out->append(bytes);
}

uint8_t BodyCode(ScalarType type) { return type == ScalarType::kString ? kTypeString : kTypeBinary; }

// Takes an escaped body with its terminator. Returns false if the bytes are malformed.
bool TakeBody(std::string_view* in, std::string* bytes) {
  while (true) {
    const size_t zero = in->find('\0');
    if (zero == std::string_view::npos || zero + 1 == in->size()) return false;
    const auto mark = static_cast<uint8_t>((*in)[zero + 1]);
    bytes->append(in->substr(0, zero));
    in->remove_prefix(zero + 2);
    if (mark == kBodyEnd) return true;
    if (mark != kBodyZero) return false;
    bytes->push_back('\0');
  }
}

// Removes one component from the front of `in`. Returns false if it has no end.
bool SkipComponent(std::string_view* in) {
  if (in->empty()) return false;
  const auto code = static_cast<uint8_t>(in->front());
  in->remove_prefix(1);
  if (code == kTypeZero) return true;
  if (code == kTypeNegativeNumber || code == kTypePositiveNumber) {
    const uint8_t flip = code == kTypeNegativeNumber ? 0xFF : 0x00;
    for (size_t i = 1; i < in->size(); ++i) {
      if (((static_cast<uint8_t>((*in)[i]) ^ flip) & 1) != 0) continue;
      in->remove_prefix(i + 1);
      return true;
    }
    return false;
  }
  while (true) {
    const size_t zero = in->find('\0');
    if (zero == std::string_view::npos || zero + 1 == in->size()) return false;
    const bool is_end = static_cast<uint8_t>((*in)[zero + 1]) == kBodyEnd;
    in->remove_prefix(zero + 2);
    if (is_end) return true;
  }
}

// Writes the hash in its order of bytes, most significant first.
void StoreHash(uint32_t hash, char* bytes) {
  for (int shift = 24; shift >= 0; shift -= 8) *bytes++ = static_cast<char>(static_cast<uint8_t>(hash >> shift));
}

// As AppendKeyComponents.
bool AppendFound(const std::vector<model::KeyAttribute>& attributes, model::AttributeFinder* item, std::string* out,
                 bool* has_empty) {
  const size_t size_before = out->size();
  for (const model::KeyAttribute& attribute : attributes) {
    const std::optional<model::ValueView> value = item->Find(attribute.name);
    // Items may come from disk, so a malformed number must not stop the process.
    if (!value.has_value() || value->type() != model::ToValueType(attribute.type) ||
        !AppendKeyComponent(attribute.type, value->scalar(), out)) {
      out->resize(size_before);
      return false;
    }
    // Numbers have a text.
    if (has_empty != nullptr && value->scalar().empty()) *has_empty = true;
  }
  return true;
}

}  // namespace

uint32_t PartitionHash(std::string_view partition_components) {
  const XXH64_hash_t hash = XXH3_64bits(partition_components.data(), partition_components.size());
  return static_cast<uint32_t>(hash >> 32);
}

void AppendPartitionHash(uint32_t hash, std::string* out) {
  char bytes[kPartitionHashBytes];
  StoreHash(hash, bytes);
  out->append(bytes, sizeof(bytes));
}

uint32_t HashOfKey(std::string_view key) {
  uint32_t hash = 0;
  for (size_t i = 0; i < kPartitionHashBytes; ++i) {
    hash = hash << 8 | static_cast<uint8_t>(key[i]);
  }
  return hash;
}

HashRange SegmentHashRange(uint32_t segment, uint32_t total) {
  // No overflow: `i` is at most `total`, which is below 2^32.
  const auto cut = [total](uint64_t i) { return (i << 32) / total; };
  return {cut(segment), cut(uint64_t{segment} + 1)};
}

void AppendNumber(const model::Number& number, std::string* out) {
  if (number.is_zero()) {
    out->push_back(static_cast<char>(kTypeZero));
    return;
  }
  // The negative number of greater magnitude sorts first, so all bytes of negative numbers are inverted.
  const uint8_t flip = number.is_negative() ? 0xFF : 0x00;
  const auto push = [out, flip](int byte) { out->push_back(static_cast<char>(static_cast<uint8_t>(byte) ^ flip)); };
  out->push_back(static_cast<char>(number.is_negative() ? kTypeNegativeNumber : kTypePositiveNumber));
  push(number.exponent() + kExponentBias);
  const size_t count = number.digit_count();
  for (size_t i = 0; i < count; i += 2) {
    const int low = i + 1 < count ? number.digit(i + 1) : 0;
    const int pair = number.digit(i) * 10 + low;
    const int more = i + 2 < count ? 1 : 0;
    push(2 * pair + more);
  }
}

bool TakeNumber(std::string_view* in, model::Number* number) {
  const auto take = [in](uint8_t* byte) {
    if (in->empty()) return false;
    *byte = static_cast<uint8_t>(in->front());
    in->remove_prefix(1);
    return true;
  };
  uint8_t code = 0;
  if (!take(&code)) return false;
  if (code == kTypeZero) {
    *number = model::Number();
    return true;
  }
  if (code != kTypeNegativeNumber && code != kTypePositiveNumber) return false;
  const bool negative = code == kTypeNegativeNumber;
  const uint8_t flip = negative ? 0xFF : 0x00;

  uint8_t byte = 0;
  if (!take(&byte)) return false;
  const int exponent = (byte ^ flip) - kExponentBias;

  std::array<uint8_t, model::kNumberDigitsMax> digits{};
  size_t count = 0;
  bool more = true;
  while (more) {
    if (count == digits.size() || !take(&byte)) return false;
    byte ^= flip;
    more = (byte & 1) != 0;
    const auto pair = static_cast<uint8_t>(byte >> 1);
    if (pair > kPairMax) return false;
    digits[count++] = static_cast<uint8_t>(pair / 10);
    digits[count++] = static_cast<uint8_t>(pair % 10);
  }
  // A canonical number has no leading zero, and in its last pair only the padding may be zero.
  if (digits[0] == 0) return false;
  if (digits[count - 1] == 0) --count;
  if (digits[count - 1] == 0) return false;
  *number = model::Number::FromDigits(negative, exponent, digits.data(), count);
  return true;
}

bool AppendKeyComponent(ScalarType type, std::string_view scalar, std::string* out) {
  if (type == ScalarType::kNumber) {
    const absl::StatusOr<model::Number> number = model::Number::Parse(scalar);
    if (!number.ok()) return false;
    AppendNumber(*number, out);
    return true;
  }
  AppendOpenBody(BodyCode(type), scalar, out);
  out->push_back('\0');
  out->push_back(static_cast<char>(kBodyEnd));
  return true;
}

bool AppendKeyComponentPrefix(ScalarType type, std::string_view prefix, std::string* out) {
  if (type == ScalarType::kNumber) return false;
  AppendOpenBody(BodyCode(type), prefix, out);
  return true;
}

bool AppendKeyComponents(const std::vector<model::KeyAttribute>& attributes, const model::ItemView& item,
                         std::string* out, bool* has_empty) {
  model::AttributeFinder finder(item);
  return AppendFound(attributes, &finder, out, has_empty);
}

std::optional<std::string> EncodeTableKey(const model::KeySchema& schema, const model::ItemView& item,
                                          bool* has_empty) {
  std::string key;
  // Short keys fit into the string itself.
  if (item.bytes().size() > kSmallItemBytes) key.reserve(kUsualKeyBytes);
  key.assign(kPartitionHashBytes, '\0');
  model::AttributeFinder finder(item);
  if (!AppendFound(schema.partition, &finder, &key, has_empty)) return std::nullopt;
  StoreHash(PartitionHash(std::string_view(key).substr(kPartitionHashBytes)), key.data());
  if (!AppendFound(schema.sort, &finder, &key, has_empty)) return std::nullopt;
  return key;
}

absl::StatusOr<DecodedComponent> TakeKeyComponent(std::string_view* in) {
  if (in->empty()) return DataLossError("key component: expected a type code, found the end");
  DecodedComponent component;
  const auto code = static_cast<uint8_t>(in->front());
  switch (code) {
    case kTypeNegativeNumber:
    case kTypeZero:
    case kTypePositiveNumber: {
      model::Number number;
      if (!TakeNumber(in, &number)) {
        return DataLossError("key component: expected a canonical number");
      }
      component.type = ScalarType::kNumber;
      component.scalar = number.ToString();
      return component;
    }
    case kTypeString:
    case kTypeBinary:
      component.type = code == kTypeString ? ScalarType::kString : ScalarType::kBinary;
      in->remove_prefix(1);
      if (!TakeBody(in, &component.scalar)) {
        return DataLossError("key component: expected an escaped body and its end 00 01");
      }
      return component;
    default:
      return DataLossError(Cat("key component: unknown type code ", static_cast<int>(code)));
  }
}

absl::StatusOr<std::string> DecodeKeyAttributes(const std::vector<model::KeyAttribute>& attributes,
                                                std::string_view key) {
  if (key.size() < kPartitionHashBytes) return DataLossError("key: expected a hash");
  key.remove_prefix(kPartitionHashBytes);
  std::map<std::string_view, std::string> wires;  // values by name
  for (const model::KeyAttribute& attribute : attributes) {
    ARM_ASSIGN_OR_RETURN(const DecodedComponent component, TakeKeyComponent(&key));
    if (component.type != attribute.type) return DataLossError("key component: another type than the schema's");
    std::string& wire = wires[attribute.name];
    wire.clear();
    model::AppendBytesField(static_cast<uint32_t>(model::ToValueType(attribute.type)), component.scalar, &wire);
  }
  std::string item;
  for (const auto& [name, wire] : wires) model::AppendAttribute(name, *model::ValueView::FromWire(wire), &item);
  return item;
}

absl::StatusOr<std::string> DecodeTableKey(const model::KeySchema& schema, std::string_view key) {
  std::vector<model::KeyAttribute> attributes = schema.partition;
  attributes.insert(attributes.end(), schema.sort.begin(), schema.sort.end());
  return DecodeKeyAttributes(attributes, key);
}

std::optional<size_t> KeyFrontBytes(std::string_view key, size_t count) {
  if (key.size() < kPartitionHashBytes) return std::nullopt;
  std::string_view rest = key.substr(kPartitionHashBytes);
  for (size_t i = 0; i < count; ++i) {
    if (!SkipComponent(&rest)) return std::nullopt;
  }
  return key.size() - rest.size();
}

std::string PrefixSuccessor(std::string_view prefix) {
  while (!prefix.empty() && static_cast<uint8_t>(prefix.back()) == 0xFF) prefix.remove_suffix(1);
  std::string successor(prefix);
  if (!successor.empty()) {
    successor.back() = static_cast<char>(static_cast<uint8_t>(successor.back()) + 1);
  }
  return successor;
}

}  // namespace armature::codec
