#include "storage/codec/key_codec.h"

#include <glog/logging.h>

#include <cstdint>
#include <utility>

#include "storage/base/status_macros.h"
#include "storage/codec/number_codec.h"
#include "storage/codec/partition_hash.h"
#include "storage/codec/type_codes.h"
#include "storage/model/number.h"

namespace armature::codec {
namespace {

using model::ScalarType;

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

// Like AppendKeyComponent, but returns false, with `out` unchanged, if the text of a number is malformed.
bool TryAppendKeyComponent(ScalarType type, std::string_view scalar, std::string* out) {
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

}  // namespace

void AppendKeyComponent(ScalarType type, std::string_view scalar, std::string* out) {
  CHECK(TryAppendKeyComponent(type, scalar, out)) << "key component: the number is not canonical";
}

void AppendKeyComponentPrefix(ScalarType type, std::string_view prefix, std::string* out) {
  CHECK(type != ScalarType::kNumber) << "key component: numbers have no prefixes";
  AppendOpenBody(BodyCode(type), prefix, out);
}

bool AppendKeyComponents(const std::vector<model::KeyAttribute>& attributes, const model::ItemView& item,
                         std::string* out) {
  const size_t size_before = out->size();
  for (const model::KeyAttribute& attribute : attributes) {
    const std::optional<model::ValueView> value = item.Find(attribute.name);
    // Items may come from disk, so a malformed number must not stop the process.
    if (!value.has_value() || value->type() != model::ToValueType(attribute.type) ||
        !TryAppendKeyComponent(attribute.type, value->scalar(), out)) {
      out->resize(size_before);
      return false;
    }
  }
  return true;
}

std::optional<std::string> EncodeTableKey(const model::KeySchema& schema, const model::ItemView& item) {
  std::string key(kPartitionHashBytes, '\0');
  if (!AppendKeyComponents(schema.partition, item, &key)) return std::nullopt;
  std::string hash;
  AppendPartitionHash(PartitionHash(std::string_view(key).substr(kPartitionHashBytes)), &hash);
  key.replace(0, kPartitionHashBytes, hash);
  if (!AppendKeyComponents(schema.sort, item, &key)) return std::nullopt;
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

std::string PrefixSuccessor(std::string_view prefix) {
  while (!prefix.empty() && static_cast<uint8_t>(prefix.back()) == 0xFF) prefix.remove_suffix(1);
  std::string successor(prefix);
  if (!successor.empty()) {
    successor.back() = static_cast<char>(static_cast<uint8_t>(successor.back()) + 1);
  }
  return successor;
}

}  // namespace armature::codec
