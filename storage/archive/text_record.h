#ifndef ARMATURE_STORAGE_ARCHIVE_TEXT_RECORD_H_
#define ARMATURE_STORAGE_ARCHIVE_TEXT_RECORD_H_

// Small files of an archive, and the heads of segments: lines of text with a checksum. docs/reference/format.md,
// "Archive".
//
//   record := title line field* "checksum: " hash line
//   field := name ": " value line                  of an unknown name: ignored
//   hash := XXH3-128 (seed 0) of all bytes before the line, in hex
//   line := "\n"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace armature::archive {

// XXH3-128 (seed 0) in hex, big-endian.
std::string ChecksumOf(std::string_view bytes);

// Thread-safety: thread-compatible.
class TextRecord {
 public:
  explicit TextRecord(std::string title) : title_(std::move(title)) {}

  // `value` has no line breaks: those that it has become blanks.
  void Add(std::string_view name, std::string_view value);
  void Add(std::string_view name, uint64_t value);
  std::string Encode() const;

  // Parses the record at the beginning of `text`; `*bytes` gets its size. Errors: DataLoss if it is cut off or damaged,
  // or has another title; FailedPrecondition if its field "format" is above `format_max`.
  static absl::StatusOr<TextRecord> ParseFront(std::string_view text, std::string_view title, uint64_t format_max,
                                               size_t* bytes);
  // Parses `text`, which is nothing but a record.
  static absl::StatusOr<TextRecord> Parse(std::string_view text, std::string_view title, uint64_t format_max);

  // The value of the first field with that name. Errors: DataLoss.
  absl::StatusOr<std::string> Text(std::string_view name) const;
  absl::StatusOr<uint64_t> Number(std::string_view name) const;
  absl::StatusOr<int64_t> Time(std::string_view name) const;
  std::vector<std::string> All(std::string_view name) const;
  // The checksum, of a record that was parsed.
  const std::string& checksum() const { return checksum_; }

 private:
  std::string title_;
  std::vector<std::pair<std::string, std::string>> fields_;
  std::string checksum_;
};

// The number that `text` is; nullopt for anything else.
std::optional<uint64_t> ParseNumber(std::string_view text);

}  // namespace armature::archive

#endif  // ARMATURE_STORAGE_ARCHIVE_TEXT_RECORD_H_
