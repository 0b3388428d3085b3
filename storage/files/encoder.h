#ifndef ARMATURE_STORAGE_FILES_ENCODER_H_
#define ARMATURE_STORAGE_FILES_ENCODER_H_

// Compresses a stream of bytes.

#include <memory>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/files/compression.h"

namespace armature::files {

// Not thread-safe. Makes one member of gzip, or one frame of zstd with a checksum.
class Encoder {
 public:
  using Sink = absl::FunctionRef<absl::Status(std::string_view bytes)>;

  virtual ~Encoder() = default;

  // Compresses `text` and passes compressed bytes to `sink`, in blocks. `is_last`: the text ends here. Errors: those of
  // `sink`; INTERNAL if the library fails.
  virtual absl::Status Encode(std::string_view text, bool is_last, Sink sink) = 0;
};

// Null for kNone. Errors: RESOURCE_EXHAUSTED without memory.
absl::StatusOr<std::unique_ptr<Encoder>> MakeEncoder(Compression compression);

}  // namespace armature::files

#endif  // ARMATURE_STORAGE_FILES_ENCODER_H_
