#ifndef ARMATURE_STORAGE_FILES_LINE_READER_H_
#define ARMATURE_STORAGE_FILES_LINE_READER_H_

// Reads a large text line by line, compressed or not.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/base/file_descriptor.h"
#include "storage/files/input_file.h"

namespace armature::files {

// A position between two lines.
struct TextPosition {
  int64_t offset = 0;  // bytes of uncompressed text before it
  int64_t line = 0;    // number of lines before it
  // CRC-32 of these bytes.
  uint32_t checksum = 0;

  bool operator==(const TextPosition&) const = default;
};

// Holds one line, or the kept text, and a buffer in memory, however far the text is compressed. Not thread-safe.
// Errors: those of InputFile, and DATA_LOSS for other faults of the text; the message names file and line.
class LineReader {
 public:
  // Maximum length of a line, unless the options have another one. An item has at most 400 KB, and its JSON form is a
  // few times longer.
  static constexpr size_t kLineBytesMax = 16 << 20;

  struct Options {
    InputOptions input{};
    size_t line_bytes_max = kLineBytesMax;
  };

  static absl::StatusOr<std::unique_ptr<LineReader>> Open(const std::string& path, const Options& options);
  static absl::StatusOr<std::unique_ptr<LineReader>> Open(const std::string& path) { return Open(path, Options()); }
  // A file that is open. `path`: for messages.
  static absl::StatusOr<std::unique_ptr<LineReader>> Use(FileDescriptor file, const std::string& path,
                                                         const Options& options);
  // Standard input, which messages call "-".
  static absl::StatusOr<std::unique_ptr<LineReader>> OpenStandardInput();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // Skips to the position of an earlier reader, or to one within a line, whose `line` does not count that line: the
  // rest of it is then the next line. Errors: also DATA_LOSS if the text before the position has changed. The text
  // after it may have changed. If the last line had no line break, only a line break may have been added to it, which
  // is skipped too.
  absl::Status SkipTo(TextPosition position);

  // Reads the next line without its '\n', but with a '\r'. False at the end. Removes a byte order mark from the first
  // line. Errors: also DATA_LOSS if the line is too long.
  absl::StatusOr<bool> Next(std::string* line);

  // `position` moved behind `bytes`, which follow it on its line.
  static TextPosition Behind(TextPosition position, std::string_view bytes);

  // Keeps the text from here on in memory until Release, so that Rewind can return here.
  void Keep();
  // The text since Keep, as it is in the file. Valid until the next call.
  std::string_view kept() const { return std::string_view(buffer_).substr(kept_->begin, begin_ - kept_->begin); }
  // Returns to the place of Keep, and releases the text.
  void Rewind();
  void Release() { kept_.reset(); }

  // True if the file begins with a byte order mark, once its first line was read.
  bool has_mark() const { return has_mark_; }

  // The position after the last line. Its `line` is the number of that line, counted from 1.
  TextPosition position() const { return position_; }

  // Size of the file (0: unknown), and the part of it that is read, both compressed.
  int64_t file_bytes() const { return input_->file_bytes(); }
  int64_t file_bytes_read() const { return input_->file_bytes_read(); }

 private:
  LineReader(std::string path, std::unique_ptr<InputFile> input, size_t line_bytes_max);
  // Length of the next line without and with its line break. 0 at the end.
  struct Extent {
    size_t text = 0;
    size_t whole = 0;
  };
  struct Kept {
    size_t begin = 0;  // position in `buffer_`
    TextPosition position;
  };

  // Reads more bytes into the buffer. False at the end.
  absl::StatusOr<bool> Refill();
  // Reads until the buffer has the whole next line.
  absl::StatusOr<Extent> FindLine();
  // Advances by so many bytes of the buffer, counting byte order mark and line break.
  void Take(size_t bytes);
  absl::Status Error(const absl::Status& status) const;

  const std::string path_;
  const std::unique_ptr<InputFile> input_;
  const size_t line_bytes_max_;
  std::string buffer_;
  size_t begin_ = 0;  // position of the next byte in `buffer_`
  std::optional<Kept> kept_;
  bool has_mark_ = false;
  TextPosition position_;
};

}  // namespace armature::files

#endif  // ARMATURE_STORAGE_FILES_LINE_READER_H_
