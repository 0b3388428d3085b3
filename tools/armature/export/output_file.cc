#include "tools/armature/export/output_file.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <utility>

#include "daemon/auth/crypto.h"
#include "glog/logging.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/session.h"

namespace armature::cli {
namespace {

constexpr int kWindowBitsOfGzip = 15 + 16;  // the largest window; 16 selects the gzip format
constexpr int kMemoryLevel = 8;             // zlib's default
constexpr size_t kBufferBytes = 64 << 10;

}  // namespace

void Sha256Stream::Free::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

// OpenSSL fails here only if it is out of memory.
Sha256Stream::Sha256Stream() : context_(EVP_MD_CTX_new()) {
  CHECK(context_ != nullptr);
  CHECK_EQ(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr), 1);
}

void Sha256Stream::Add(std::string_view bytes) {
  CHECK_EQ(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()), 1);
}

std::string Sha256Stream::Hex() {
  daemon::Sha256Digest digest{};
  CHECK_EQ(EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr), 1);
  return daemon::Hex(digest);
}

struct OutputFile::Deflater {
  Deflater() {
    is_good = deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kWindowBitsOfGzip, kMemoryLevel, 0) == Z_OK;
  }
  ~Deflater() { deflateEnd(&stream); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  z_stream stream = {};
  bool is_good = false;
};

OutputFile::OutputFile(std::string path, int fd, std::unique_ptr<Deflater> deflater)
    : path_(std::move(path)), part_path_(Cat(path_, ".part")), fd_(fd), deflater_(std::move(deflater)) {}

OutputFile::~OutputFile() {
  if (fd_ >= 0) close(fd_);
  if (!is_finished_) std::remove(part_path_.c_str());
}

absl::Status OutputFile::Failed(int error) const {
  return InputError(Cat("cannot write ", path_, ": ", std::strerror(error)));
}

absl::StatusOr<std::unique_ptr<OutputFile>> OutputFile::Create(const std::string& path, Compression compression) {
  auto deflater = compression == Compression::kGzip ? std::make_unique<Deflater>() : nullptr;
  if (deflater != nullptr && !deflater->is_good) return absl::ResourceExhaustedError("no memory to compress with");
  std::unique_ptr<OutputFile> file(new OutputFile(path, -1, std::move(deflater)));
  file->fd_ = open(file->part_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file->fd_ < 0) return file->Failed(errno);
  return file;
}

absl::Status OutputFile::WriteBytes(std::string_view bytes) {
  hash_.Add(bytes);
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
  if (deflater_ == nullptr) return WriteBytes(text);
  z_stream& stream = deflater_->stream;
  std::array<char, kBufferBytes> buffer;
  int result = Z_OK;
  do {
    if (stream.avail_in == 0) {
      const size_t taken = std::min<size_t>(text.size(), std::numeric_limits<uInt>::max());
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // zlib does not modify its input
      stream.avail_in = static_cast<uInt>(taken);
      text.remove_prefix(taken);
    }
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = kBufferBytes;
    result = deflate(&stream, is_last && text.empty() ? Z_FINISH : Z_NO_FLUSH);
    ARM_RETURN_IF_ERROR(WriteBytes({buffer.data(), kBufferBytes - stream.avail_out}));
  } while (is_last ? result != Z_STREAM_END : stream.avail_in > 0 || !text.empty() || stream.avail_out == 0);
  return absl::OkStatus();
}

absl::Status OutputFile::Write(std::string_view text) { return Pass(text, /*is_last=*/false); }

absl::StatusOr<OutputFile::Finished> OutputFile::Finish() {
  ARM_RETURN_IF_ERROR(Pass("", /*is_last=*/true));
  if (fsync(fd_) != 0) return Failed(errno);
  if (close(std::exchange(fd_, -1)) != 0) return Failed(errno);
  if (std::rename(part_path_.c_str(), path_.c_str()) != 0) return Failed(errno);
  is_finished_ = true;
  return Finished{.bytes = bytes_, .sha256 = hash_.Hex()};
}

absl::Status SyncDirectory(const std::string& directory) {
  const int fd = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool is_synced = fd >= 0 && fsync(fd) == 0;
  const int error = errno;
  if (fd >= 0) close(fd);
  if (is_synced) return absl::OkStatus();
  return InputError(Cat("cannot make ", directory, " durable: ", std::strerror(error)));
}

}  // namespace armature::cli
