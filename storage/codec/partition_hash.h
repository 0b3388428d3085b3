#ifndef ARMATURE_STORAGE_CODEC_PARTITION_HASH_H_
#define ARMATURE_STORAGE_CODEC_PARTITION_HASH_H_

// The fixed hash in front of every key: it spreads partitions evenly and gives Scan its order.
//
// It is on disk: the function never changes. docs/FORMAT.md, "Keys".

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace armature::codec {

inline constexpr size_t kPartitionHashBytes = 4;

// Hash of the encoded partition components (all of them, in order): the upper 32 bits of XXH3-64 with seed 0.
uint32_t PartitionHash(std::string_view partition_components);

// The hash as the four big-endian bytes that stand in front of a key.
void AppendPartitionHash(uint32_t hash, std::string* out);

// The hash at the front of an encoded key of at least four bytes.
uint32_t HashOfKey(std::string_view key);

// The hashes of segment `segment` of `total`: begin inclusive, end exclusive, in 0 .. 2^32. The segments of one
// total cut the range without gap or overlap; the cut depends on nothing else. Requires segment < total.
struct HashRange {
  uint64_t begin = 0;
  uint64_t end = uint64_t{1} << 32;
};
HashRange SegmentHashRange(uint32_t segment, uint32_t total);

}  // namespace armature::codec

#endif  // ARMATURE_STORAGE_CODEC_PARTITION_HASH_H_
