#include "storage/files/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "storage/base/file_descriptor.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/files/file_error.h"

namespace armature::files {

OutputFile::OutputFile(int directory, std::string name, std::string path, std::unique_ptr<Encoder> encoder,
                       bool with_md5)
    : directory_(directory),
      name_(std::move(name)),
      part_name_(Cat(name_, ".part")),
      path_(std::move(path)),
      encoder_(std::move(encoder)) {
  if (with_md5) {
    md5_.emplace();
  } else {
    sha256_.emplace();
  }
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) close(fd_);
  if (has_part_) unlinkat(directory_, part_name_.c_str(), 0);
}

absl::Status OutputFile::Failed(int error) const {
  return FileError(error, Cat("cannot write ", path_, ": ", std::strerror(error)));
}

int OutputFile::Open(mode_t mode) {
  // A new file has no other mode and no other name, such as a link to a file elsewhere.
  unlinkat(directory_, part_name_.c_str(), 0);
  fd_ = openat(directory_, part_name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  has_part_ = fd_ >= 0;
  return has_part_ ? 0 : errno;
}

absl::StatusOr<std::unique_ptr<OutputFile>> OutputFile::Create(const std::string& path, Compression compression,
                                                               const OutputOptions& options) {
  return Begin(AT_FDCWD, path, path, compression, options);
}

absl::StatusOr<std::unique_ptr<OutputFile>> OutputFile::Create(const OutputDirectory& directory,
                                                               const std::string& name, Compression compression,
                                                               const OutputOptions& options) {
  return Begin(directory.fd, name, Cat(directory.path, "/", name), compression, options);
}

absl::StatusOr<std::unique_ptr<OutputFile>> OutputFile::Begin(int directory, const std::string& name,
                                                              const std::string& path, Compression compression,
                                                              const OutputOptions& options) {
  ARM_ASSIGN_OR_RETURN(std::unique_ptr<Encoder> encoder, MakeEncoder(compression));
  std::unique_ptr<OutputFile> file(new OutputFile(directory, name, path, std::move(encoder), options.with_md5));
  if (const int error = file->Open(options.mode); error != 0) return file->Failed(error);
  return file;
}

absl::Status OutputFile::WriteBytes(std::string_view bytes) {
  if (sha256_.has_value()) sha256_->Add(bytes);
  if (md5_.has_value()) md5_->Add(bytes);
  bytes_ += static_cast<int64_t>(bytes.size());
  while (!bytes.empty()) {
    const ssize_t written = write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Failed(errno);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status OutputFile::Pass(std::string_view text, bool is_last) {
  if (encoder_ == nullptr) return WriteBytes(text);
  return encoder_->Encode(text, is_last, [this](std::string_view bytes) { return WriteBytes(bytes); });
}

absl::Status OutputFile::Write(std::string_view text) { return Pass(text, /*is_last=*/false); }

absl::StatusOr<OutputFile::Finished> OutputFile::Finish() {
  ARM_RETURN_IF_ERROR(Pass("", /*is_last=*/true));
  if (fsync(fd_) != 0) return Failed(errno);
  if (close(std::exchange(fd_, -1)) != 0) return Failed(errno);
  if (renameat(directory_, part_name_.c_str(), directory_, name_.c_str()) != 0) return Failed(errno);
  has_part_ = false;
  return Finished{.bytes = bytes_,
                  .sha256 = sha256_.has_value() ? sha256_->Hex() : std::string(),
                  .md5_base64 = md5_.has_value() ? md5_->Base64() : std::string()};
}

absl::Status SyncDirectory(const std::string& directory) {
  // The parent of a relative path may be the current directory.
  const FileDescriptor opened(open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return SyncDirectory(OutputDirectory{opened.get(), directory});
}

absl::Status SyncDirectory(const OutputDirectory& directory) {
  // Some file systems cannot sync a directory. Nothing better is possible there. The errno of a directory that could
  // not be opened is that of the open.
  if (directory.fd >= 0 && (fsync(directory.fd) == 0 || errno == EINVAL || errno == ENOTSUP)) return absl::OkStatus();
  const int error = errno;
  return FileError(error, Cat("cannot make ", directory.path, " durable: ", std::strerror(error)));
}

}  // namespace armature::files
