#include "storage/files/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/files/file_error.h"

namespace armature::files {
namespace {

constexpr size_t kInputBytes = 256 << 10;
constexpr size_t kMagicBytes = 4;

}  // namespace

absl::StatusOr<std::unique_ptr<InputFile>> InputFile::Open(const std::string& path, const InputOptions& options) {
  // Opening a pipe waits for its writer, unless O_NONBLOCK says otherwise; it has no effect on regular files.
  const int flags = O_RDONLY | O_CLOEXEC | (options.regular_only ? O_NONBLOCK : 0);
  return Begin(open(path.c_str(), flags), path, options);
}

absl::StatusOr<std::unique_ptr<InputFile>> InputFile::Use(FileDescriptor file, const std::string& path,
                                                          const InputOptions& options) {
  return Begin(file.Release(), path, options);
}

absl::StatusOr<std::unique_ptr<InputFile>> InputFile::OpenStandardInput(const InputOptions& options) {
  return Begin(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0), "-", options);
}

absl::StatusOr<std::unique_ptr<InputFile>> InputFile::Begin(int fd, const std::string& path,
                                                            const InputOptions& options) {
  const auto failed = [&path](int error) {
    return FileError(error, Cat("cannot read ", path, ": ", std::strerror(error)));
  };
  if (fd < 0) return failed(errno);
  struct stat status = {};
  const bool is_regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  std::unique_ptr<InputFile> file(
      new InputFile(fd, is_regular && path != "-" ? status.st_size : 0, options.is_stopped));
  if (S_ISDIR(status.st_mode)) return failed(EISDIR);
  if (options.regular_only && !is_regular) {
    return absl::UnavailableError(Cat("cannot read ", path, ": it is not a regular file"));
  }
  if (options.compression.has_value()) ARM_RETURN_IF_ERROR(file->UseDecoder(*options.compression));
  return file;
}

InputFile::~InputFile() { close(fd_); }

absl::Status InputFile::UseDecoder(Compression compression) {
  ARM_ASSIGN_OR_RETURN(decoder_, MakeDecoder(compression));
  is_recognised_ = true;
  return absl::OkStatus();
}

absl::StatusOr<size_t> InputFile::ReadFile(char* out, size_t size) {
  while (true) {
    const ssize_t got = read(fd_, out, size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FileError(errno, std::strerror(errno));
    bytes_read_ += got;
    return static_cast<size_t>(got);
  }
}

absl::StatusOr<bool> InputFile::Refill() {
  buffer_.resize(kInputBytes);
  ARM_ASSIGN_OR_RETURN(const size_t got, ReadFile(buffer_.data(), buffer_.size()));
  input_ = std::string_view(buffer_).substr(0, got);
  return got > 0;
}

absl::Status InputFile::Recognise() {
  buffer_.resize(kInputBytes);
  size_t filled = 0;
  while (filled < kMagicBytes) {
    ARM_ASSIGN_OR_RETURN(const size_t got, ReadFile(buffer_.data() + filled, buffer_.size() - filled));
    if (got == 0) break;
    filled += got;
  }
  input_ = std::string_view(buffer_).substr(0, filled);
  return UseDecoder(CompressionOf(input_));
}

absl::StatusOr<size_t> InputFile::Read(char* out, size_t size) {
  // A small file may become very long.
  if (is_stopped_ != nullptr && is_stopped_()) return absl::CancelledError("reading was stopped");
  if (!is_recognised_) ARM_RETURN_IF_ERROR(Recognise());
  if (decoder_ == nullptr) {
    if (input_.empty()) return ReadFile(out, size);
    const size_t taken = std::min(size, input_.size());
    std::memcpy(out, input_.data(), taken);
    input_.remove_prefix(taken);
    return taken;
  }
  while (true) {
    ARM_ASSIGN_OR_RETURN(const size_t decoded, decoder_->Decode(&input_, out, size));
    if (decoded > 0) return decoded;
    ARM_ASSIGN_OR_RETURN(const bool has_more, Refill());
    if (has_more) continue;
    ARM_RETURN_IF_ERROR(decoder_->CheckEnd());
    return size_t{0};
  }
}

}  // namespace armature::files
