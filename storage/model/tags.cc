#include "storage/model/tags.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>

#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/constraint_list.h"
#include "storage/model/limits.h"

namespace armature::model {
namespace {

constexpr size_t kTagKeyMaxChars = 128;
constexpr size_t kTagValueMaxChars = 256;
// Enough for the longest key or value of valid length.
constexpr size_t kTagShownMaxBytes = 1024;

// Letters and digits of all scripts are allowed. There are no character tables here, so every non-ASCII character
// counts as a letter.
bool HasOnlyTagCharacters(std::string_view text) {
  constexpr std::string_view kOthers = " +-=._:/@";
  return std::all_of(text.begin(), text.end(), [&](char c) {
    const bool alphanumeric = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return alphanumeric || static_cast<unsigned char>(c) >= 0x80U || kOthers.find(c) != std::string_view::npos;
  });
}

absl::Status CheckTagKey(std::string_view key) {
  if (key.empty() || CharacterCount(key) > kTagKeyMaxChars || !HasOnlyTagCharacters(key)) {
    return ValidationError(Cat("The Tag Key provided is invalid, Key: ", Shown(key, kTagShownMaxBytes)));
  }
  return absl::OkStatus();
}

absl::Status CheckTag(std::string_view key, std::string_view value) {
  ARM_RETURN_IF_ERROR(CheckTagKey(key));
  if (key.starts_with("aws:")) {
    return ValidationError(Cat("Tag Key cannot be prefixed with aws:, Key: ", key));
  }
  if (CharacterCount(value) > kTagValueMaxChars || !HasOnlyTagCharacters(value)) {
    return ValidationError(Cat("The Tag Value provided is invalid, Value: ", Shown(value, kTagShownMaxBytes)));
  }
  return absl::OkStatus();
}

absl::Status CheckCount(const Tags& tags) {
  if (tags.size() <= kTagsMax) return absl::OkStatus();
  return ValidationError("Number of Tags exceed the current limit for the provided ResourceArn");
}

}  // namespace

absl::Status CheckTags(const Tags& tags) {
  for (const auto& [key, value] : tags) ARM_RETURN_IF_ERROR(CheckTag(key, value));
  std::set<std::string_view> seen;
  for (const auto& [key, value] : tags) {
    if (!seen.insert(key).second) {
      return ValidationError(Cat("Duplicate Tag Keys provided as input: Duplicate Tag Key found ", key));
    }
  }
  return CheckCount(tags);
}

absl::Status MergeTags(const Tags& added, Tags* tags) {
  for (const auto& [key, value] : added) {
    const auto same =
        std::find_if(tags->begin(), tags->end(), [&key = key](const auto& tag) { return tag.first == key; });
    if (same == tags->end()) {
      tags->emplace_back(key, value);
    } else {
      same->second = value;
    }
  }
  return CheckCount(*tags);
}

absl::Status CheckTagKeys(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) ARM_RETURN_IF_ERROR(CheckTagKey(key));
  return absl::OkStatus();
}

void RemoveTags(const std::vector<std::string>& keys, Tags* tags) {
  const std::set<std::string_view> gone(keys.begin(), keys.end());
  std::erase_if(*tags, [&gone](const auto& tag) { return gone.contains(tag.first); });
}

}  // namespace armature::model
