#include "tools/armature/load/line_reader.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/session.h"

namespace armature::cli {
namespace {

constexpr size_t kInputBufferBytes = 256 << 10;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

int64_t SizeOf(const std::string& path) {
  struct stat status = {};
  return path != "-" && stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) ? status.st_size : 0;
}

}  // namespace

LineReader::LineReader(std::string path, gzFile_s* file, int64_t file_bytes)
    : path_(std::move(path)), file_(file), file_bytes_(file_bytes) {}

LineReader::~LineReader() { gzclose(file_); }

absl::StatusOr<std::unique_ptr<LineReader>> LineReader::Open(const std::string& path) {
  // The reader closes the duplicate and leaves standard input open.
  const gzFile file = path == "-" ? gzdopen(dup(STDIN_FILENO), "rb") : gzopen(path.c_str(), "rb");
  if (file == nullptr) return InputError(Cat("cannot read ", path, ": ", std::strerror(errno)));
  gzbuffer(file, kInputBufferBytes);
  return std::unique_ptr<LineReader>(new LineReader(path, file, SizeOf(path)));
}

absl::Status LineReader::Error(const std::string& what) const {
  return InputError(Cat(path_, ":", position_.line + 1, ": ", what));
}

absl::Status LineReader::SkipTo(TextPosition position) {
  const absl::Status changed = InputError(Cat(path_, ": its first ", position.line, " lines are not what they were"));
  while (position_.offset < position.offset) {
    ARM_ASSIGN_OR_RETURN(const Extent line, FindLine());
    if (line.whole == 0) return changed;
    const auto left = static_cast<size_t>(position.offset - position_.offset);
    Take(std::min(left, line.whole));
    ++position_.line;
    if (left >= line.whole) continue;
    // The earlier text ended within this line. Only a line break may have been added to it since.
    const std::string_view rest(buffer_.data() + begin_, line.whole - left);
    if (position_ != position || (rest != "\n" && rest != "\r\n")) return changed;
    Take(rest.size());
    return absl::OkStatus();
  }
  return position_ == position ? absl::OkStatus() : changed;
}

absl::StatusOr<bool> LineReader::Refill() {
  buffer_.erase(0, begin_);
  begin_ = 0;
  if (buffer_.size() > kLineBytesMax) return Error(Cat("the line is longer than ", kLineBytesMax, " bytes"));
  const size_t kept = buffer_.size();
  buffer_.resize(kept + kInputBufferBytes);
  const int read = gzread(file_, buffer_.data() + kept, kInputBufferBytes);
  buffer_.resize(kept + static_cast<size_t>(read > 0 ? read : 0));
  if (read > 0) return true;
  int code = Z_OK;
  const char* const text = gzerror(file_, &code);
  // At the end of the file only a truncated compressed stream is an error.
  if (code == Z_OK || code == Z_STREAM_END) return false;
  return Error(code == Z_ERRNO ? std::strerror(errno) : text);
}

absl::StatusOr<LineReader::Extent> LineReader::FindLine() {
  size_t searched = 0;
  while (true) {
    const size_t end = buffer_.find('\n', begin_ + searched);
    if (end != std::string::npos) return Extent{.text = end - begin_, .whole = end + 1 - begin_};
    searched = buffer_.size() - begin_;
    ARM_ASSIGN_OR_RETURN(const bool got_more, Refill());
    if (!got_more) return Extent{.text = buffer_.size() - begin_, .whole = buffer_.size() - begin_};
  }
}

void LineReader::Take(size_t bytes) {
  position_.checksum = static_cast<uint32_t>(
      crc32_z(position_.checksum, reinterpret_cast<const Bytef*>(buffer_.data() + begin_), bytes));
  position_.offset += static_cast<int64_t>(bytes);
  begin_ += bytes;
}

absl::StatusOr<bool> LineReader::Next(std::string* line) {
  ARM_ASSIGN_OR_RETURN(const Extent found, FindLine());
  if (found.whole == 0) return false;
  std::string_view text(buffer_.data() + begin_, found.text);
  if (position_.offset == 0 && text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  line->assign(text);
  Take(found.whole);
  ++position_.line;
  return true;
}

int64_t LineReader::file_bytes_read() const { return gzoffset(file_); }

}  // namespace armature::cli
