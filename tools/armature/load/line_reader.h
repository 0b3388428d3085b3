#ifndef ARMATURE_TOOLS_ARMATURE_LOAD_LINE_READER_H_
#define ARMATURE_TOOLS_ARMATURE_LOAD_LINE_READER_H_

// Reads a large text line by line, compressed or not.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct gzFile_s;  // of zlib

namespace armature::cli {

// A position between two lines.
struct TextPosition {
  int64_t offset = 0;  // bytes of uncompressed text before it
  int64_t line = 0;    // number of lines before it
  // CRC-32 of these bytes.
  uint32_t checksum = 0;

  bool operator==(const TextPosition&) const = default;
};

// Decompresses gzip data, whatever the file name. Not thread-safe.
class LineReader {
 public:
  // Maximum length of a line. An item has at most 400 KB, and its JSON form is a few times longer.
  static constexpr size_t kLineBytesMax = 16 << 20;

  // `path`: "-" is standard input. Errors: InputError.
  static absl::StatusOr<std::unique_ptr<LineReader>> Open(const std::string& path);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // Skips to the position of an earlier reader. Errors: InputError, also if the text before the position has changed.
  // The text after it may have changed. If the last line had no line break, only a line break may have been added to
  // it, which is skipped too.
  absl::Status SkipTo(TextPosition position);

  // Reads the next line without its '\n', but with a '\r'. False at the end. Removes a byte order mark from the first
  // line. Errors: InputError if the text cannot be read, its compressed data is truncated, or a line is too long.
  absl::StatusOr<bool> Next(std::string* line);

  // The position after the last line. Its `line` is the number of that line, counted from 1.
  TextPosition position() const { return position_; }

  // Size of the file (0: unknown), and the part of it that is read, both compressed.
  int64_t file_bytes() const { return file_bytes_; }
  int64_t file_bytes_read() const;

 private:
  LineReader(std::string path, gzFile_s* file, int64_t file_bytes);
  // Length of the next line without and with its line break. 0 at the end.
  struct Extent {
    size_t text = 0;
    size_t whole = 0;
  };

  // Reads more bytes into the buffer. False at the end.
  absl::StatusOr<bool> Refill();
  // Reads until the buffer has the whole next line.
  absl::StatusOr<Extent> FindLine();
  // Advances by so many bytes of the buffer, counting byte order mark and line break.
  void Take(size_t bytes);
  absl::Status Error(const std::string& what) const;

  const std::string path_;
  gzFile_s* const file_;
  const int64_t file_bytes_;
  std::string buffer_;
  size_t begin_ = 0;  // position of the next byte in `buffer_`
  TextPosition position_;
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_LOAD_LINE_READER_H_
