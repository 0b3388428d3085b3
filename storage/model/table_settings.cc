#include "storage/model/table_settings.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>

#include "absl/strings/ascii.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/constraint_list.h"
#include "storage/model/limits.h"

namespace armature::model {
namespace {

// Warm throughput of an on-demand table at its creation. Source: the developer guide, "Warm throughput".
constexpr Throughput kWarmOnDemand = {12'000, 4'000};

Throughput LargerOf(const Throughput& a, const Throughput& b) {
  return {std::max(a.read_units, b.read_units), std::max(a.write_units, b.write_units)};
}

void FillNotGiven(int64_t unset, std::optional<Throughput>* throughput) {
  if (!throughput->has_value()) return;
  if ((*throughput)->read_units == kThroughputNotGiven) (*throughput)->read_units = unset;
  if ((*throughput)->write_units == kThroughputNotGiven) (*throughput)->write_units = unset;
}

// Two amounts of -1 remove the current ones.
void MergeThroughput(const std::optional<Throughput>& given, int64_t unset, std::optional<Throughput>* current) {
  if (!given.has_value()) return;
  Throughput merged = current->value_or(Throughput{unset, unset});
  if (given->read_units != kThroughputNotGiven) merged.read_units = given->read_units;
  if (given->write_units != kThroughputNotGiven) merged.write_units = given->write_units;
  if (merged == Throughput{-1, -1}) {
    current->reset();
  } else {
    *current = merged;
  }
}

constexpr size_t kTagKeyMaxChars = 128;
constexpr size_t kTagValueMaxChars = 256;
// Enough for the longest key or value of valid length.
constexpr size_t kTagShownMaxBytes = 1024;

// Letters and digits of all scripts are allowed. There are no character tables here, so every non-ASCII character
// counts as a letter.
bool HasOnlyTagCharacters(std::string_view text) {
  constexpr std::string_view kOthers = " +-=._:/@";
  return std::all_of(text.begin(), text.end(), [&](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return absl::ascii_isalnum(byte) || byte >= 0x80U || kOthers.find(c) != std::string_view::npos;
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

int64_t DecreasesOnDayOf(int64_t now_ms, const ThroughputChanges& changes) {
  constexpr int64_t kDayMs = int64_t{24} * 60 * 60 * 1000;
  return now_ms / kDayMs == changes.last_decrease_ms / kDayMs ? changes.decreases : 0;
}

int CountGiven(const SettingsDefinition& definition) {
  int count = 0;
  for (const bool is_given :
       {definition.provisioned.has_value(), definition.on_demand_max.has_value(), definition.warm.has_value(),
        !definition.billing_mode.empty(), definition.stream.has_value(), definition.sse.has_value(),
        !definition.table_class.empty(), definition.deletion_protection.has_value()}) {
    if (is_given) ++count;
  }
  return count;
}

ThroughputSettings WithDefaults(const ThroughputSettings& given) {
  ThroughputSettings filled = given;
  FillNotGiven(kNoMaximum, &filled.on_demand_max);
  FillNotGiven(0, &filled.warm);
  return filled;
}

TableSettings BuildSettings(const SettingsDefinition& definition) {
  TableSettings settings;
  settings.throughput() = WithDefaults(definition);
  if (definition.billing_mode == BillingModeName(BillingMode::kPayPerRequest)) {
    settings.billing_mode = BillingMode::kPayPerRequest;
  }
  if (definition.stream.has_value()) {
    settings.stream_enabled = definition.stream->enabled.value_or(false);
    settings.stream_view_type = definition.stream->view_type;
    settings.stream_shards = static_cast<uint32_t>(definition.stream->shards.value_or(0));
  }
  if (definition.sse.has_value()) ApplySse(*definition.sse, &settings);
  settings.table_class = definition.table_class;
  settings.deletion_protection = definition.deletion_protection.value_or(false);
  return settings;
}

void ApplySse(const SseDefinition& sse, TableSettings* settings) {
  settings->sse_enabled = sse.enabled.value_or(false);
  settings->sse_type = sse.type;
  settings->sse_kms_key = sse.kms_key;
}

void ApplyPlainSettings(const SettingsDefinition& definition, int64_t now_ms, TableSettings* settings) {
  if (definition.sse.has_value()) ApplySse(*definition.sse, settings);
  if (!definition.table_class.empty() && definition.table_class != settings->table_class) {
    settings->table_class = definition.table_class;
    settings->table_class_changed_ms = now_ms;
  }
  if (definition.deletion_protection.has_value()) settings->deletion_protection = *definition.deletion_protection;
  ApplyThroughputLimits(definition, settings);
}

Throughput WarmThroughputOf(const ThroughputSettings& settings) {
  return LargerOf(settings.warm.value_or(Throughput()), settings.provisioned.value_or(kWarmOnDemand));
}

void KeepWarmThroughput(const Throughput& before, ThroughputSettings* settings) {
  const Throughput kept = LargerOf(before, WarmThroughputOf(*settings));
  if (kept != WarmThroughputOf(*settings)) settings->warm = kept;
}

bool NeedsUpdating(const TableSettings& before, const TableSettings& after) {
  return before.billing_mode != after.billing_mode || before.provisioned != after.provisioned ||
         before.on_demand_max != after.on_demand_max || before.table_class != after.table_class ||
         before.stream_enabled != after.stream_enabled;
}

void ApplyThroughputLimits(const ThroughputSettings& given, ThroughputSettings* current) {
  MergeThroughput(given.on_demand_max, kNoMaximum, &current->on_demand_max);
  MergeThroughput(given.warm, 0, &current->warm);
}

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

void CheckTagValueGiven(const std::optional<size_t>& without_value, ConstraintList* faults) {
  if (without_value.has_value()) faults->AddNull(Cat("tags.", *without_value + 1, ".member.value"));
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
