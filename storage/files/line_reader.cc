#include "storage/files/line_reader.h"

#include <zlib.h>

#include <algorithm>
#include <utility>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::files {
namespace {

constexpr size_t kReadBytes = 256 << 10;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

LineReader::LineReader(std::string path, std::unique_ptr<InputFile> input, size_t line_bytes_max)
    : path_(std::move(path)), input_(std::move(input)), line_bytes_max_(line_bytes_max) {}

absl::StatusOr<std::unique_ptr<LineReader>> LineReader::Open(const std::string& path, const Options& options) {
  ARM_ASSIGN_OR_RETURN(std::unique_ptr<InputFile> input, InputFile::Open(path, options.input));
  return std::unique_ptr<LineReader>(new LineReader(path, std::move(input), options.line_bytes_max));
}

absl::StatusOr<std::unique_ptr<LineReader>> LineReader::Use(FileDescriptor file, const std::string& path,
                                                            const Options& options) {
  ARM_ASSIGN_OR_RETURN(std::unique_ptr<InputFile> input, InputFile::Use(std::move(file), path, options.input));
  return std::unique_ptr<LineReader>(new LineReader(path, std::move(input), options.line_bytes_max));
}

absl::StatusOr<std::unique_ptr<LineReader>> LineReader::OpenStandardInput() {
  ARM_ASSIGN_OR_RETURN(std::unique_ptr<InputFile> input, InputFile::OpenStandardInput({}));
  return std::unique_ptr<LineReader>(new LineReader("-", std::move(input), kLineBytesMax));
}

absl::Status LineReader::Error(const absl::Status& status) const {
  return {status.code(), Cat(path_, ":", position_.line + 1, ": ", Sv(status.message()))};
}

absl::Status LineReader::SkipTo(TextPosition position) {
  const absl::Status changed =
      absl::DataLossError(Cat(path_, ": its first ", position.line, " lines are not what they were"));
  while (position_.offset < position.offset) {
    ARM_ASSIGN_OR_RETURN(const Extent line, FindLine());
    if (line.whole == 0) return changed;
    const auto left = static_cast<size_t>(position.offset - position_.offset);
    Take(std::min(left, line.whole));
    if (left < line.whole && position_ == position) return absl::OkStatus();  // within the line
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
  const size_t unused = kept_.has_value() ? kept_->begin : begin_;
  buffer_.erase(0, unused);
  begin_ -= unused;
  if (kept_.has_value()) kept_->begin = 0;
  const size_t filled = buffer_.size();
  if (filled - begin_ > line_bytes_max_) {
    return Error(absl::DataLossError(Cat("the line is longer than ", line_bytes_max_, " bytes")));
  }
  buffer_.resize(filled + kReadBytes);
  const absl::StatusOr<size_t> read = input_->Read(buffer_.data() + filled, kReadBytes);
  buffer_.resize(filled + read.value_or(0));
  if (!read.ok()) return Error(read.status());
  return *read > 0;
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

TextPosition LineReader::Behind(TextPosition position, std::string_view bytes) {
  position.checksum =
      static_cast<uint32_t>(crc32_z(position.checksum, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
  position.offset += static_cast<int64_t>(bytes.size());
  return position;
}

void LineReader::Take(size_t bytes) {
  position_ = Behind(position_, std::string_view(buffer_).substr(begin_, bytes));
  begin_ += bytes;
}

absl::StatusOr<bool> LineReader::Next(std::string* line) {
  ARM_ASSIGN_OR_RETURN(const Extent found, FindLine());
  if (found.whole == 0) return false;
  std::string_view text(buffer_.data() + begin_, found.text);
  if (position_.offset == 0 && text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
    has_mark_ = true;
  }
  line->assign(text);
  Take(found.whole);
  ++position_.line;
  return true;
}

void LineReader::Keep() { kept_ = {.begin = begin_, .position = position_}; }

void LineReader::Rewind() {
  begin_ = kept_->begin;
  position_ = kept_->position;
  Release();
}

}  // namespace armature::files
