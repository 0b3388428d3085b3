#ifndef ARMATURE_STORAGE_FILES_INPUT_FILE_H_
#define ARMATURE_STORAGE_FILES_INPUT_FILE_H_

// The bytes of a file, decompressed.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/base/file_descriptor.h"
#include "storage/files/compression.h"
#include "storage/files/decoder.h"

namespace armature::files {

struct InputOptions {
  // Nullopt: as the first bytes show, whatever the file name.
  std::optional<Compression> compression{};
  // Refuses pipes and devices, which may have no end.
  bool regular_only = false;
  // True if reading should end with CANCELLED. Asked at each read; null: never.
  std::function<bool()> is_stopped{};
};

// Not thread-safe. Errors: NOT_FOUND for a missing file, DATA_LOSS for damaged or truncated compressed data,
// RESOURCE_EXHAUSTED without memory or descriptors, UNAVAILABLE if the system cannot read.
class InputFile {
 public:
  // Errors with a text that names the file.
  static absl::StatusOr<std::unique_ptr<InputFile>> Open(const std::string& path, const InputOptions& options);
  // Takes a file that is open. `path`: for messages.
  static absl::StatusOr<std::unique_ptr<InputFile>> Use(FileDescriptor file, const std::string& path,
                                                        const InputOptions& options);
  // Reads standard input, which stays open.
  static absl::StatusOr<std::unique_ptr<InputFile>> OpenStandardInput(const InputOptions& options);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // Reads up to `size` bytes, at least one unless the file ends. Errors without the name of the file.
  absl::StatusOr<size_t> Read(char* out, size_t size);

  // Size of the file (0: unknown), and the part of it that is read, both compressed.
  int64_t file_bytes() const { return file_bytes_; }
  int64_t file_bytes_read() const { return bytes_read_ - static_cast<int64_t>(input_.size()); }

 private:
  InputFile(int fd, int64_t file_bytes, std::function<bool()> is_stopped)
      : fd_(fd), file_bytes_(file_bytes), is_stopped_(std::move(is_stopped)) {}
  static absl::StatusOr<std::unique_ptr<InputFile>> Begin(int fd, const std::string& path, const InputOptions& options);

  // Recognises the compression by the first bytes.
  absl::Status Recognise();
  absl::Status UseDecoder(Compression compression);
  absl::StatusOr<size_t> ReadFile(char* out, size_t size);
  // Reads more of the file into `input_`, which is empty. False at the end.
  absl::StatusOr<bool> Refill();

  const int fd_;
  const int64_t file_bytes_;
  const std::function<bool()> is_stopped_;
  bool is_recognised_ = false;
  std::unique_ptr<Decoder> decoder_;  // null: no compression
  std::string buffer_;
  std::string_view input_;  // bytes in `buffer_` that are not decoded yet
  int64_t bytes_read_ = 0;
};

}  // namespace armature::files

#endif  // ARMATURE_STORAGE_FILES_INPUT_FILE_H_
