#ifndef ARMATURE_TOOLS_ARMATURE_LOAD_LINE_READER_H_
#define ARMATURE_TOOLS_ARMATURE_LOAD_LINE_READER_H_

// A large text, line by line, compressed or not.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace armature::cli {

// A place between two lines.
struct TextPosition {
  int64_t offset = 0;  // bytes of the text before it, not compressed
  int64_t line = 0;    // lines before it
  // CRC-32 of these bytes, by which they are known again.
  uint32_t checksum = 0;

  bool operator==(const TextPosition&) const = default;
};

// What gzip has packed is unpacked, whatever the file is called. Not thread-safe.
class LineReader {
 public:
  // Longer lines are errors. An item has 400 KB; its JSON is some times longer.
  static constexpr size_t kLineBytesMax = 16 << 20;

  // `path`: "-" is standard input. Errors: InputError.
  static absl::StatusOr<std::unique_ptr<LineReader>> Open(const std::string& path);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // Reads on to a place where an earlier reader of the text was. Errors: InputError, also if the text before that place
  // is not the same as it was. What follows may have changed; but if the last line had no break there, that is all that
  // the line may have got since, and it is passed over with it.
  absl::Status SkipTo(TextPosition position);

  // The next line without its '\n'; a '\r' stays. False at the end. The first line comes without a byte order mark.
  // Errors: InputError if the text cannot be read, is cut off within its compression, or has too long a line.
  absl::StatusOr<bool> Next(std::string* line);

  // Behind the last line. Its `line` is that line's number, counted from 1.
  TextPosition position() const { return position_; }

  // Bytes of the file itself, to tell how far we are: all (0: not known), and those before where we are.
  int64_t file_bytes() const { return file_bytes_; }
  int64_t file_bytes_read() const;

 private:
  LineReader(std::string path, void* file, int64_t file_bytes);
  // Bytes of the next line, without and with its break. Nothing at the end.
  struct Extent {
    size_t text = 0;
    size_t whole = 0;
  };

  // False at the end.
  absl::StatusOr<bool> Refill();
  // Reads until the next line stands in the buffer.
  absl::StatusOr<Extent> FindLine();
  // Goes so many bytes of the buffer on. Of the bytes as they stand in the file, with mark and line break.
  void Take(size_t bytes);
  absl::Status Error(const std::string& what) const;

  const std::string path_;
  void* const file_;  // a gzFile
  const int64_t file_bytes_;
  std::string buffer_;
  size_t begin_ = 0;  // of what is not yet given, in `buffer_`
  TextPosition position_;
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_LOAD_LINE_READER_H_
