#include "storage/codec/partition_hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace armature::codec {

uint32_t PartitionHash(std::string_view partition_components) {
  const XXH64_hash_t hash = XXH3_64bits(partition_components.data(), partition_components.size());
  return static_cast<uint32_t>(hash >> 32);
}

void AppendPartitionHash(uint32_t hash, std::string* out) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    out->push_back(static_cast<char>(static_cast<uint8_t>(hash >> shift)));
  }
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

}  // namespace armature::codec
