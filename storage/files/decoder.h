#ifndef ARMATURE_STORAGE_FILES_DECODER_H_
#define ARMATURE_STORAGE_FILES_DECODER_H_

// Decompresses a stream of bytes with bounded memory.

#include <cstddef>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/files/compression.h"

namespace armature::files {

// Maximum window of zstd data, which is the memory that its decoder needs. RFC 8878 recommends it; only data compressed
// with options such as --long or --ultra need more.
inline constexpr int kZstdWindowLogMax = 23;

// The compression that the first bytes of a file show; at least 4 bytes, unless the file is shorter.
Compression CompressionOf(std::string_view first_bytes);

// Gzip data may have several members, and zeros after the last; zstd data may have several frames. Not thread-safe.
class Decoder {
 public:
  virtual ~Decoder() = default;

  // Decompresses bytes from the front of `input` to `output` and returns the number of bytes written. Takes all input
  // before it returns less than `output_size`. Errors: DATA_LOSS if the data are damaged.
  virtual absl::StatusOr<size_t> Decode(std::string_view* input, char* output, size_t output_size) = 0;

  // Called at the end of the input, after Decode has returned less than asked for. Errors: DATA_LOSS if the data are
  // truncated, which includes no data at all.
  virtual absl::Status CheckEnd() const = 0;
};

// Null for kNone. Errors: RESOURCE_EXHAUSTED without memory.
absl::StatusOr<std::unique_ptr<Decoder>> MakeDecoder(Compression compression);

}  // namespace armature::files

#endif  // ARMATURE_STORAGE_FILES_DECODER_H_
