#include "daemon/settings_page.h"

#include <algorithm>
#include <optional>

#include "absl/strings/match.h"
#include "armature/version.h"
#include "daemon/flag_row.h"
#include "daemon/flag_table.h"
#include "daemon/message_json/json_writer.h"
#include "storage/base/strings.h"
#include "storage/codec/canonical_text.h"

namespace armature::daemon {
namespace {

constexpr std::string_view kSecretWords[] = {"password", "secret", "token"};
constexpr std::string_view kHidden = "(not shown)";

std::string_view SourceName(const GivenFlag* given) {
  if (given == nullptr) return "default";
  return given->file_line == 0 ? "flag" : "file";
}

// A path may have any bytes, a document has none that are not UTF-8.
std::string Shown(std::string text) {
  if (codec::IsValidUtf8(text)) return text;
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  return text;
}

void WriteFlag(const FlagRow& row, const Config& config, JsonWriter* writer) {
  const auto found = config.command_line.given.find(row.name);
  const GivenFlag* const given = found == config.command_line.given.end() ? nullptr : &found->second;
  const bool is_secret = IsSecretFlag(row.name);
  const std::string value = given == nullptr ? std::string(row.values.initial) : given->value;
  writer->BeginObject().Member("Name", row.name).Member("Group", row.group).Member("Source", SourceName(given));
  writer->Member("Value", is_secret && !value.empty() ? std::string(kHidden) : Shown(value));
  if (given != nullptr && given->file_line > 0) writer->Key("Line").Integer(given->file_line);
  writer->Member("Default", row.values.initial).Member("Help", row.help);
  // Only a value that stands for "as the machine permits" is completed.
  const bool is_open = value == "auto" || (value == "0" && row.values.unit.measure != Measure::kTime);
  const std::string in_effect = is_open && !is_secret ? FlagText(row, config) : value;
  if (in_effect != value) writer->Member("InEffect", Shown(in_effect));
  writer->EndObject();
}

void WriteOwner(const rados::VolumeStats& stats, std::string_view service, JsonWriter* writer) {
  writer->Key("Owner").BeginObject().Key("Epoch").Unsigned(stats.epoch);
  writer->Key("LeaseLeftSeconds").Double(std::max(stats.lease_left_s, 0.0)).Member("Service", service);
  writer->Key("Objects").Unsigned(stats.objects).Key("LostObjects").Unsigned(stats.lost_objects);
  writer->Key("FileBytes").Unsigned(stats.file_bytes).EndObject();
}

}  // namespace

bool IsSecretFlag(std::string_view name) {
  return std::ranges::any_of(kSecretWords,
                             [name](std::string_view word) { return absl::StrContains(Av(name), Av(word)); });
}

std::string SettingsJson(const Config& config, const place::Place& place, std::string_view service) {
  JsonWriter writer;
  writer.BeginObject().Member("Version", kVersion).Member("Place", Shown(config.place));
  writer.Member("Config", Shown(config.command_line.config_file));
  writer.Key("Flags").BeginArray();
  for (const FlagRow& row : FlagTable()) {
    if (row.group != kCommandLineGroup) WriteFlag(row, config, &writer);
  }
  writer.EndArray();
  if (const std::optional<rados::VolumeStats> stats = place.stats(); stats.has_value()) {
    WriteOwner(*stats, service, &writer);
  }
  writer.EndObject();
  return writer.Take();
}

}  // namespace armature::daemon
