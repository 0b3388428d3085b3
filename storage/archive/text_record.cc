#include "storage/archive/text_record.h"

#include <xxhash.h>

#include <charconv>

#include "absl/strings/escaping.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::archive {
namespace {

constexpr std::string_view kChecksumStart = "\nchecksum: ";
// The end of the year 9999.
constexpr uint64_t kTimeMax = 253'402'300'799'999;
constexpr size_t kHashDigits = 2 * sizeof(XXH128_canonical_t);

}  // namespace

std::string ChecksumOf(std::string_view bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(canonical.digest), sizeof canonical.digest));
}

std::optional<uint64_t> ParseNumber(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

void TextRecord::Add(std::string_view name, std::string_view value) {
  std::string line(value);
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  fields_.emplace_back(std::string(name), std::move(line));
}

void TextRecord::Add(std::string_view name, uint64_t value) { fields_.emplace_back(std::string(name), Cat(value)); }

std::string TextRecord::Encode() const {
  std::string text = Cat(title_, "\n");
  for (const auto& [name, value] : fields_) text += Cat(name, ": ", value, "\n");
  return Cat(text, kChecksumStart.substr(1), ChecksumOf(text), "\n");
}

absl::StatusOr<TextRecord> TextRecord::ParseFront(std::string_view text, std::string_view title, uint64_t format_max,
                                                  size_t* bytes) {
  const size_t body = text.find(kChecksumStart);
  const size_t hash_at = body + kChecksumStart.size();
  if (body == std::string_view::npos || text.size() < hash_at + kHashDigits + 1) return DataLossError("is cut off");
  std::string_view left = text.substr(0, body + 1);
  TextRecord record{std::string(title)};
  record.checksum_ = std::string(text.substr(hash_at, kHashDigits));
  if (record.checksum_ != ChecksumOf(left) || text[hash_at + kHashDigits] != '\n') {
    return DataLossError("is damaged: its checksum is another one");
  }
  *bytes = hash_at + kHashDigits + 1;
  for (bool is_first = true; !left.empty(); is_first = false) {
    const std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(line.size() + 1);
    const size_t colon = line.find(": ");
    if (is_first && line != title) return DataLossError(Cat("is no ", title));
    if (is_first) continue;
    if (colon == std::string_view::npos) return DataLossError(Cat("has the line \"", line, "\""));
    record.fields_.emplace_back(std::string(line.substr(0, colon)), std::string(line.substr(colon + 2)));
  }
  ARM_ASSIGN_OR_RETURN(const uint64_t format, record.Number("format"));
  if (format <= format_max) return record;
  return FailedPreconditionError(
      Cat("has format ", format, "; this build reads formats up to ", format_max, ": use a newer one"));
}

absl::StatusOr<TextRecord> TextRecord::Parse(std::string_view text, std::string_view title, uint64_t format_max) {
  size_t bytes = 0;
  ARM_ASSIGN_OR_RETURN(TextRecord record, ParseFront(text, title, format_max, &bytes));
  if (bytes != text.size()) return DataLossError(Cat("has ", text.size() - bytes, " bytes behind its end"));
  return record;
}

absl::StatusOr<std::string> TextRecord::Text(std::string_view name) const {
  for (const auto& [own, value] : fields_) {
    if (own == name) return value;
  }
  return DataLossError(Cat("has no line \"", name, "\""));
}

absl::StatusOr<uint64_t> TextRecord::Number(std::string_view name) const {
  ARM_ASSIGN_OR_RETURN(const std::string text, Text(name));
  const std::optional<uint64_t> number = ParseNumber(text);
  if (!number.has_value()) return DataLossError(Cat("has no number in the line \"", name, "\""));
  return *number;
}

absl::StatusOr<int64_t> TextRecord::Time(std::string_view name) const {
  ARM_ASSIGN_OR_RETURN(const uint64_t number, Number(name));
  if (number > kTimeMax) {
    return DataLossError(Cat("has no time in the line \"", name, "\""));
  }
  return static_cast<int64_t>(number);
}

std::vector<std::string> TextRecord::All(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [own, value] : fields_) {
    if (own == name) values.push_back(value);
  }
  return values;
}

}  // namespace armature::archive
