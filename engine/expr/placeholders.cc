#include "engine/expr/placeholders.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_join.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/model/item_errors.h"
#include "storage/model/limits.h"

namespace armature::expr {
namespace {

constexpr std::string_view kNamesMember = "ExpressionAttributeNames";
constexpr std::string_view kValues = "ExpressionAttributeValues";

// `#` or `:`, then one or more of [0-9A-Za-z_].
bool IsPlaceholder(std::string_view key, char sign) {
  if (key.size() < 2 || key[0] != sign) return false;
  return std::all_of(key.begin() + 1, key.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
  });
}

absl::Status CheckKey(std::string_view parameter, std::string_view key, char sign) {
  if (!IsPlaceholder(key, sign)) {
    return ValidationError(Cat(parameter, " contains invalid key: Syntax error; key: \"", key, "\""));
  }
  if (key.size() > model::kPlaceholderMaxBytes) {
    return ValidationError(Cat(parameter, " contains invalid key: Key size has exceeded the maximum allowed size of ",
                               model::kPlaceholderMaxBytes, " bytes; key size: ", key.size()));
  }
  return absl::OkStatus();
}

// The name that a placeholder stands for.
absl::Status CheckName(std::string_view key, std::string_view name) {
  if (!name.empty()) return model::CheckAttributeName(name);
  return ValidationError(Cat(kNamesMember, " contains invalid value: ", model::kEmptyNameText, " for key ", key));
}

absl::Status UnusedError(std::string_view parameter, std::vector<std::string_view> keys) {
  if (keys.empty()) return absl::OkStatus();
  std::sort(keys.begin(), keys.end());
  const auto append = [](std::string* out, std::string_view key) { out->append(key); };
  return ValidationError(
      Cat("Value provided in ", parameter, " unused in expressions: keys: {", absl::StrJoin(keys, ", ", append), "}"));
}

}  // namespace

PlaceholderTable::PlaceholderTable(const Placeholders& placeholders) : placeholders_(placeholders) {
  if (!placeholders.values.has_value()) return;
  placeholders.values->ForEach([this](const model::AttributeView& entry) {
    values_.try_emplace(entry.name, Use{entry.value});
    return true;
  });
}

absl::Status CheckNameKeys(const Placeholders& placeholders) {
  if (!placeholders.names.has_value()) return absl::OkStatus();
  if (placeholders.names->empty()) return ValidationError(Cat(kNamesMember, " must not be empty"));
  std::vector<std::string_view> keys;
  for (const auto& [key, name] : *placeholders.names) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  for (const std::string_view key : keys) ARM_RETURN_IF_ERROR(CheckKey(kNamesMember, key, '#'));
  for (const std::string_view key : keys) ARM_RETURN_IF_ERROR(CheckName(key, placeholders.names->find(key)->second));
  return absl::OkStatus();
}

absl::Status PlaceholderTable::CheckKeys() const {
  ARM_RETURN_IF_ERROR(CheckNameKeys(placeholders_));
  if (placeholders_.values.has_value()) {
    if (placeholders_.values->empty()) return ValidationError(Cat(kValues, " must not be empty"));
    absl::Status status;
    placeholders_.values->ForEach([&status](const model::AttributeView& entry) {
      status = CheckKey(kValues, entry.name, ':');
      return status.ok();
    });
    ARM_RETURN_IF_ERROR(status);
  }
  return CheckSizes();
}

// Limit on names and values together. The service documents the limit but not the error text.
absl::Status PlaceholderTable::CheckSizes() const {
  size_t size = 0;
  if (placeholders_.names.has_value()) {
    for (const auto& [key, name] : *placeholders_.names) size += key.size() + name.size();
  }
  if (placeholders_.values.has_value()) size += model::ApiSize(*placeholders_.values);
  if (size <= model::kPlaceholderMapsMaxBytes) return absl::OkStatus();
  return ValidationError(Cat(kNamesMember, " and ", kValues, " have exceeded the maximum allowed size of ",
                             model::kPlaceholderMapsMaxBytes, " bytes; size: ", size));
}

const std::string* PlaceholderTable::Name(std::string_view placeholder) {
  if (!placeholders_.names.has_value()) return nullptr;
  const auto it = placeholders_.names->find(placeholder);
  if (it == placeholders_.names->end()) return nullptr;
  used_names_.insert(it->first);
  replaced_bytes_ += it->second.size();
  return &it->second;
}

std::optional<model::ValueView> PlaceholderTable::Value(std::string_view placeholder) {
  const auto it = values_.find(placeholder);
  if (it == values_.end()) return std::nullopt;
  it->second.used = true;
  return it->second.value;
}

absl::Status PlaceholderTable::CheckAllUsed() const {
  std::vector<std::string_view> unused;
  if (placeholders_.names.has_value()) {
    for (const auto& [key, name] : *placeholders_.names) {
      if (!used_names_.contains(std::string_view(key))) unused.push_back(key);
    }
  }
  ARM_RETURN_IF_ERROR(UnusedError(kNamesMember, std::move(unused)));
  unused.clear();
  for (const auto& [key, use] : values_) {
    if (!use.used) unused.push_back(key);
  }
  return UnusedError(kValues, std::move(unused));
}

}  // namespace armature::expr
