#ifndef ARMATURE_TOOLS_ARMATURE_EXPORT_OUTPUT_FILE_H_
#define ARMATURE_TOOLS_ARMATURE_EXPORT_OUTPUT_FILE_H_

// A file that is there when it is whole, and not before.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/armature/export/sha256_stream.h"

namespace armature::cli {

enum class Compression { kNone, kGzip };

// Written under its name with ".part" behind it, until Finish. Not thread-safe. Errors: InputError that names the file.
class OutputFile {
 public:
  static absl::StatusOr<std::unique_ptr<OutputFile>> Create(const std::string& path, Compression compression);
  // Removes what is not finished.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  absl::Status Write(std::string_view text);

  // Of the file as it is written so far; what is being compressed comes later.
  int64_t bytes() const { return bytes_; }

  struct Finished {
    int64_t bytes = 0;
    std::string sha256;
  };
  // Makes it durable and gives it its name. Once. Whether the name itself is durable is up to SyncDirectory.
  absl::StatusOr<Finished> Finish();

 private:
  struct Deflater;
  OutputFile(std::string path, int fd, std::unique_ptr<Deflater> deflater);
  std::string PartPath() const;
  // Through the compression, if there is one; `is_last`: and all that it has kept back.
  absl::Status Pass(std::string_view text, bool is_last);
  absl::Status WriteBytes(std::string_view bytes);
  absl::Status Failed(int error) const;

  const std::string path_;
  int fd_;
  const std::unique_ptr<Deflater> deflater_;  // null: none
  bool is_finished_ = false;
  int64_t bytes_ = 0;
  Sha256Stream hash_;
};

// Makes the names of finished files durable.
absl::Status SyncDirectory(const std::string& directory);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_EXPORT_OUTPUT_FILE_H_
