#ifndef ARMATURE_STORAGE_FILES_COMPRESSION_H_
#define ARMATURE_STORAGE_FILES_COMPRESSION_H_

// Compression of a file's bytes.

#include <cstdint>

namespace armature::files {

enum class Compression : uint8_t { kNone, kGzip, kZstd };

}  // namespace armature::files

#endif  // ARMATURE_STORAGE_FILES_COMPRESSION_H_
