#include "storage/model/constraint_list.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"
#include "storage/model/limits.h"

namespace armature::model {
namespace {

constexpr size_t kViolationsMax = 10;

}  // namespace

std::string Shown(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  size_t end = max_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return Cat(text.substr(0, end), "...");
}

std::string PrintedValue(std::string_view value) { return Cat("'", Shown(value, kPrintedMaxBytes), "'"); }

bool HasOnlyNameCharacters(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
  });
}

bool IsName(std::string_view name, size_t minimum) {
  return name.size() >= minimum && name.size() <= kTableNameMaxChars && HasOnlyNameCharacters(name);
}

size_t CharacterCount(std::string_view text) {
  const auto starts_character = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

void ConstraintList::AddNull(std::string_view path) { Add("null", path, "Member must not be null"); }

void ConstraintList::CheckLengthMin(std::string_view printed, size_t length, std::string_view path, size_t minimum) {
  if (length >= minimum) return;
  Add(printed, path, Cat("Member must have length greater than or equal to ", minimum));
}

void ConstraintList::CheckLengthMax(std::string_view printed, size_t length, std::string_view path, size_t maximum) {
  if (length <= maximum) return;
  Add(printed, path, Cat("Member must have length less than or equal to ", maximum));
}

void ConstraintList::CheckMinimum(int64_t value, std::string_view path, int64_t minimum) {
  if (value >= minimum) return;
  Add(PrintedValue(Cat(value)), path, Cat("Member must have value greater than or equal to ", minimum));
}

void ConstraintList::CheckMaximum(int64_t value, std::string_view path, int64_t maximum) {
  if (value <= maximum) return;
  Add(PrintedValue(Cat(value)), path, Cat("Member must have value less than or equal to ", maximum));
}

void ConstraintList::CheckEnum(std::string_view value, std::string_view path,
                               std::span<const std::string_view> allowed) {
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return;
  Add(PrintedValue(value == kEmptyWord ? "" : value), path,
      Cat("Member must satisfy enum value set: ", PrintedList(allowed)));
}

void ConstraintList::CheckName(std::string_view name, std::string_view path, size_t minimum) {
  if (IsName(name, minimum)) return;
  const std::string printed = PrintedValue(name);
  const size_t length = CharacterCount(name);
  CheckLengthMin(printed, length, path, minimum);
  CheckLengthMax(printed, length, path, kTableNameMaxChars);
  if (!HasOnlyNameCharacters(name)) {
    Add(printed, path, "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+");
  }
}

absl::Status ConstraintList::ToStatus() const {
  if (violations_.empty()) return absl::OkStatus();
  std::string message = Cat(violations_.size(), " validation error", violations_.size() == 1 ? "" : "s", " detected: ");
  std::string_view separator;
  for (const std::string& violation : violations_) {
    message += Cat(separator, violation);
    separator = "; ";
  }
  return ValidationError(message);
}

void ConstraintList::Add(std::string_view printed, std::string_view path, std::string_view constraint) {
  AddText(Cat("Value ", printed, " at '", path, "' failed to satisfy constraint: ", constraint));
}

void ConstraintList::AddText(std::string_view text) {
  if (violations_.size() < kViolationsMax) violations_.emplace_back(text);
}

}  // namespace armature::model
