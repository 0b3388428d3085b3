#ifndef ARMATURE_STORAGE_MODEL_WIRE_H_
#define ARMATURE_STORAGE_MODEL_WIRE_H_

// The parts of the protobuf wire format used for items: varints, tags, length-delimited fields.
//
// An item is held, stored and sent in the wire form of armature.api.v1.Item, so reading an attribute means reading this
// format in place. Every reader checks bounds and refuses unknown wire types. Source: the Protocol Buffers encoding
// document.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace armature::model {

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

constexpr uint8_t WireTag(uint32_t field, WireType type) {
  return static_cast<uint8_t>(field << 3 | static_cast<uint32_t>(type));
}

inline void AppendVarint(uint64_t value, std::string* out) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

constexpr size_t VarintSize(uint64_t value) {
  size_t size = 1;
  while (value >= 0x80) {
    value >>= 7;
    ++size;
  }
  return size;
}

// Appends `field` (1 to 15) as a length-delimited field.
inline void AppendBytesField(uint32_t field, std::string_view bytes, std::string* out) {
  out->push_back(static_cast<char>(WireTag(field, WireType::kBytes)));
  AppendVarint(bytes.size(), out);
  out->append(bytes);
}

// Number of bytes that AppendBytesField appends.
constexpr size_t BytesFieldSize(size_t bytes) { return 1 + VarintSize(bytes) + bytes; }

// The length of a field whose bytes are appended behind it.
struct OpenLength {
  size_t position = 0;
  size_t size = 0;  // reserved for the length
};

// Reserves as many bytes as the length `expected` takes. Write the field's tag first.
inline OpenLength BeginLength(size_t expected, std::string* out) {
  const OpenLength open{out->size(), VarintSize(expected)};
  out->append(open.size, '\0');
  return open;
}

// Writes the number of bytes that were appended since BeginLength. The bytes are moved if their number takes more or
// fewer bytes than the expected one.
inline void EndLength(const OpenLength& open, std::string* out) {
  uint64_t length = out->size() - open.position - open.size;
  const size_t needed = VarintSize(length);
  if (needed > open.size) {
    out->insert(open.position, needed - open.size, '\0');
  } else if (needed < open.size) {
    out->erase(open.position, open.size - needed);
  }
  char* next = out->data() + open.position;
  for (; length >= 0x80; length >>= 7) *next++ = static_cast<char>(length | 0x80);
  *next = static_cast<char>(length);
}

// Takes a varint from the front of `in`. Returns false, with `in` unspecified, if there is none.
inline bool TakeVarint(std::string_view* in, uint64_t* value) {
  // Most varints are one-byte lengths and tags.
  if (!in->empty() && static_cast<uint8_t>(in->front()) < 0x80) {
    *value = static_cast<uint8_t>(in->front());
    in->remove_prefix(1);
    return true;
  }
  uint64_t result = 0;
  const size_t limit = in->size() < 10 ? in->size() : 10;
  for (size_t i = 0; i < limit; ++i) {
    const auto byte = static_cast<uint8_t>((*in)[i]);
    if (i == 9 && byte > 1) return false;
    result |= static_cast<uint64_t>(byte & 0x7F) << (7 * i);
    if (byte < 0x80) {
      in->remove_prefix(i + 1);
      *value = result;
      return true;
    }
  }
  return false;
}

// Takes a varint length and as many bytes.
inline bool TakeLengthDelimited(std::string_view* in, std::string_view* bytes) {
  uint64_t length = 0;
  if (!TakeVarint(in, &length) || length > in->size()) return false;
  *bytes = {in->data(), static_cast<size_t>(length)};
  in->remove_prefix(length);
  return true;
}

// One field of a message.
struct WireField {
  uint32_t number = 0;
  WireType type = WireType::kVarint;
  uint64_t varint = 0;     // kVarint
  std::string_view bytes;  // kBytes: the payload; kFixed*: the raw bytes
  std::string_view raw;    // the whole field including its tag
};

// Takes the next field from the front of `in`. Returns false if `in` is empty or malformed, or holds a group.
inline bool TakeField(std::string_view* in, WireField* field) {
  const std::string_view before = *in;
  uint64_t tag = 0;
  if (!TakeVarint(in, &tag) || tag >> 3 == 0 || tag >> 3 > 536'870'911) return false;
  field->number = static_cast<uint32_t>(tag >> 3);
  field->type = static_cast<WireType>(tag & 7);
  switch (field->type) {
    case WireType::kVarint:
      if (!TakeVarint(in, &field->varint)) return false;
      break;
    case WireType::kBytes:
      if (!TakeLengthDelimited(in, &field->bytes)) return false;
      break;
    case WireType::kFixed64:
    case WireType::kFixed32: {
      const size_t size = field->type == WireType::kFixed64 ? 8 : 4;
      if (in->size() < size) return false;
      field->bytes = {in->data(), size};
      in->remove_prefix(size);
      break;
    }
    default:
      return false;
  }
  field->raw = {before.data(), before.size() - in->size()};
  return true;
}

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_WIRE_H_
