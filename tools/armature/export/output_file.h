#ifndef ARMATURE_TOOLS_ARMATURE_EXPORT_OUTPUT_FILE_H_
#define ARMATURE_TOOLS_ARMATURE_EXPORT_OUTPUT_FILE_H_

// A file that appears under its name only when it is complete, and its SHA-256.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct evp_md_ctx_st;  // of OpenSSL

namespace armature::cli {

// The SHA-256 of a stream of bytes. Not thread-safe.
class Sha256Stream {
 public:
  Sha256Stream();

  void Add(std::string_view bytes);

  // The digest of all added bytes, in lower case. Called once.
  std::string Hex();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

enum class Compression { kNone, kGzip };

// Has the suffix ".part" until Finish. Not thread-safe. Errors: InputError that names the file.
class OutputFile {
 public:
  static absl::StatusOr<std::unique_ptr<OutputFile>> Create(const std::string& path, Compression compression);
  // Removes the file unless it is finished.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  absl::Status Write(std::string_view text);

  // Size of the file so far, without the bytes that the compression still holds back.
  int64_t bytes() const { return bytes_; }

  struct Finished {
    int64_t bytes = 0;
    std::string sha256;
  };
  // Makes the content durable and renames the file. Called once. SyncDirectory makes the name durable.
  absl::StatusOr<Finished> Finish();

 private:
  struct Deflater;
  OutputFile(std::string path, int fd, std::unique_ptr<Deflater> deflater);
  // Writes the text through the compression. `is_last`: flushes the compression.
  absl::Status Pass(std::string_view text, bool is_last);
  absl::Status WriteBytes(std::string_view bytes);
  absl::Status Failed(int error) const;

  const std::string path_;
  const std::string part_path_;
  int fd_;
  const std::unique_ptr<Deflater> deflater_;  // null: no compression
  bool is_finished_ = false;
  int64_t bytes_ = 0;
  Sha256Stream hash_;
};

// Makes the names of finished files durable.
absl::Status SyncDirectory(const std::string& directory);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_EXPORT_OUTPUT_FILE_H_
