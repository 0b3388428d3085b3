#ifndef ARMATURE_STORAGE_CODEC_KEY_CODEC_H_
#define ARMATURE_STORAGE_CODEC_KEY_CODEC_H_

// Encodes key attributes so that the memcmp order of the bytes is the order of the data model.
//
// A key is a sequence of components. Each component is a type code and a self-delimiting body, so that tuples compare
// attribute by attribute, and ("ab", "c") differs from ("a", "bc"). One value has one encoding.
// docs/reference/format.md, "Key components", specifies every byte.
//
// Thread-safety: free functions without state.
//
//   key := hash component*                         attributes in the order of docs/reference/format.md, "Keys"
//   hash := fixed32                                upper half of XXH3-64 of the partition components; big-endian
//   component := string | binary | number
//   string := 0x30 (byte | 0x00 0xff)* 0x00 0x01   0x00 is written as 0x00 0xff
//   binary := 0x38 (byte | 0x00 0xff)* 0x00 0x01
//   number := 0x21                                 zero
//           | 0x22 exponent digits                 positive
//           | 0x20 ~exponent ~digits               negative: every byte inverted
//   exponent := byte                               decimal exponent + 130
//   digits := byte+                                two digits each: 2 * value, + 1 if another pair follows

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/model/item_view.h"
#include "storage/model/key_schema.h"
#include "storage/model/number.h"

namespace armature::codec {

// Appends one component. `scalar` is the result of ValueView::scalar(): UTF-8 text, canonical decimal text, or bytes.
// Returns false, with `out` unspecified, for a number that is none: damaged bytes, or a value of another type.
[[nodiscard]] bool AppendKeyComponent(model::ScalarType type, std::string_view scalar, std::string* out);

// Appends the common prefix of all components whose values begin with `prefix`: a component without its terminator.
// Returns false, with `out` unchanged, for kNumber: numbers have no prefixes.
[[nodiscard]] bool AppendKeyComponentPrefix(model::ScalarType type, std::string_view prefix, std::string* out);

// Appends the components of `attributes` from `item`. Returns false, with `out` unchanged, if the item lacks one or has
// it with another type. Sets `*has_empty`, if it is given, when a value is an empty string or empty bytes.
[[nodiscard]] bool AppendKeyComponents(const std::vector<model::KeyAttribute>& attributes, const model::ItemView& item,
                                       std::string* out, bool* has_empty = nullptr);

// The key of a row in a table: hash | partition components | sort components of `item`. Nullopt if the item lacks a key
// attribute or has it with another type. `has_empty`: as for AppendKeyComponents.
std::optional<std::string> EncodeTableKey(const model::KeySchema& schema, const model::ItemView& item,
                                          bool* has_empty = nullptr);

// One decoded component.
struct DecodedComponent {
  model::ScalarType type = model::ScalarType::kString;
  std::string scalar;
};

// Takes one component from the front of `in`.
// Errors: DataLoss if the bytes are not a canonical component; `in` is then unspecified.
absl::StatusOr<DecodedComponent> TakeKeyComponent(std::string_view* in);

// The values of `attributes` in `key`, as canonical item bytes. They are the first components behind the key's hash; a
// name that occurs twice has its value twice. Errors: DataLoss if the key does not hold them with their types.
absl::StatusOr<std::string> DecodeKeyAttributes(const std::vector<model::KeyAttribute>& attributes,
                                                std::string_view key);

// The key attributes in the key of a row, as canonical item bytes. Errors: DataLoss.
absl::StatusOr<std::string> DecodeTableKey(const model::KeySchema& schema, std::string_view key);

// Size of the front of an encoded key: its hash and the first `count` components. Nullopt if the key has fewer, or is
// damaged there. Does not allocate, and does not check that the components are canonical.
std::optional<size_t> KeyFrontBytes(std::string_view key, size_t count);

// The smallest string greater than all strings that begin with `prefix`; empty if there is none (all FF).
std::string PrefixSuccessor(std::string_view prefix);

// Appends `number` with its type code: 1 to 21 bytes. One number has one encoding.
void AppendNumber(const model::Number& number, std::string* out);

// Takes a number, including its type code, from the front of `in`. Returns false, with `in` unspecified, if the bytes
// are not an encoding made by AppendNumber.
[[nodiscard]] bool TakeNumber(std::string_view* in, model::Number* number);

// The hash at the front of every key. It distributes partitions evenly and defines the order of Scan. It is on disk:
// the function must never change. docs/reference/format.md, "Keys".
inline constexpr size_t kPartitionHashBytes = 4;

// Hash of all encoded partition components, in order: the upper 32 bits of XXH3-64 with seed 0.
uint32_t PartitionHash(std::string_view partition_components);

// Appends the hash as the four big-endian bytes at the front of a key.
void AppendPartitionHash(uint32_t hash, std::string* out);

// The hash at the front of an encoded key of at least four bytes.
uint32_t HashOfKey(std::string_view key);

// The hashes of segment `segment` of `total`: begin inclusive, end exclusive, in 0 .. 2^32. The segments of one total
// cover the range without gap or overlap. Requires segment < total.
struct HashRange {
  uint64_t begin = 0;
  uint64_t end = uint64_t{1} << 32;
};
HashRange SegmentHashRange(uint32_t segment, uint32_t total);

}  // namespace armature::codec

#endif  // ARMATURE_STORAGE_CODEC_KEY_CODEC_H_
