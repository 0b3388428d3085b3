#ifndef ARMATURE_STORAGE_CODEC_PARTITION_HASH_H_
#define ARMATURE_STORAGE_CODEC_PARTITION_HASH_H_

// The fixed hash at the front of every key. It distributes partitions evenly and defines the order of Scan.
//
// The hash is on disk: the function must never change. docs/FORMAT.md, "Keys".

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace armature::codec {

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

#endif  // ARMATURE_STORAGE_CODEC_PARTITION_HASH_H_
