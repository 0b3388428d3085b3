#ifndef ARMATURE_STORAGE_FILES_OUTPUT_FILE_H_
#define ARMATURE_STORAGE_FILES_OUTPUT_FILE_H_

// A file that appears under its name only when it is complete, and its digests.

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/files/compression.h"
#include "storage/files/digest.h"
#include "storage/files/encoder.h"

namespace armature::files {

struct OutputOptions {
  mode_t mode = 0644;     // less the umask
  bool with_md5 = false;  // instead of SHA-256
};

struct OutputDirectory {
  int fd = -1;       // it must stay open as long as files of it are written
  std::string path;  // for messages
};

// Has the suffix ".part" until Finish, and replaces a file of this name, which an interrupted process may have left.
// Not thread-safe. Errors name the file: RESOURCE_EXHAUSTED if space, memory or descriptors are lacking, NOT_FOUND
// without its directory, UNAVAILABLE otherwise. After an error only the destructor may be called.
class OutputFile {
 public:
  static absl::StatusOr<std::unique_ptr<OutputFile>> Create(const std::string& path, Compression compression,
                                                            const OutputOptions& options);
  static absl::StatusOr<std::unique_ptr<OutputFile>> Create(const std::string& path, Compression compression) {
    return Create(path, compression, OutputOptions());
  }
  // A file `name` in a directory that is open, whatever has the directory's path by now.
  static absl::StatusOr<std::unique_ptr<OutputFile>> Create(const OutputDirectory& directory, const std::string& name,
                                                            Compression compression, const OutputOptions& options);
  // Removes the file unless it is finished.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  absl::Status Write(std::string_view text);

  // Size of the file so far, without the bytes that the compression still holds back.
  int64_t bytes() const { return bytes_; }

  struct Finished {
    int64_t bytes = 0;
    std::string sha256;      // in lower case; empty if the options ask for an MD5
    std::string md5_base64;  // empty unless the options ask for it
  };
  // Makes the content durable and renames the file. Called once. SyncDirectory makes the name durable.
  absl::StatusOr<Finished> Finish();

 private:
  OutputFile(int directory, std::string name, std::string path, std::unique_ptr<Encoder> encoder, bool with_md5);
  static absl::StatusOr<std::unique_ptr<OutputFile>> Begin(int directory, const std::string& name,
                                                           const std::string& path, Compression compression,
                                                           const OutputOptions& options);
  // Opens ".part" as a new file. Returns 0 or errno.
  int Open(mode_t mode);
  // Writes the text through the compression. `is_last`: ends the compressed data.
  absl::Status Pass(std::string_view text, bool is_last);
  absl::Status WriteBytes(std::string_view bytes);
  absl::Status Failed(int error) const;

  const int directory_;  // the names are relative to it
  const std::string name_;
  const std::string part_name_;
  const std::string path_;  // for messages
  int fd_ = -1;
  const std::unique_ptr<Encoder> encoder_;  // null: no compression
  bool has_part_ = false;                   // the file with the suffix exists
  int64_t bytes_ = 0;
  std::optional<Sha256Stream> sha256_;
  std::optional<Md5Stream> md5_;
};

// Makes the names of finished files durable, as far as the file system can.
absl::Status SyncDirectory(const std::string& directory);
absl::Status SyncDirectory(const OutputDirectory& directory);

}  // namespace armature::files

#endif  // ARMATURE_STORAGE_FILES_OUTPUT_FILE_H_
