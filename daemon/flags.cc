#include "daemon/flags.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "daemon/flag_row.h"
#include "daemon/flag_table.h"
#include "glog/logging.h"
#include "storage/base/did_you_mean.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

constexpr std::string_view kDocumentHead =
    "# Flags\n\n"
    "The flags of `armatured`, for the command line (`--name=value`) and for files of flags (`name = value`).\n"
    "[Configuration](../operate/configuration.md) describes files. `armatured --print_flags_doc` prints this page.\n\n"
    "Sizes and times are whole numbers in the unit of their flag, or have one of their own: K, M, G or T (powers of\n"
    "1024), and ms, s, m or h. `--cache_mb=4096` is `--cache_mb=4G`, and `--drain_seconds=120` is\n"
    "`--drain_seconds=2m`. A DURATION always has one (`90s`, `1h30m`). Flags are fixed at start, but for those that "
    "are\n"
    "*live*: on SIGHUP a running daemon takes their new values from its file\n"
    "([changing settings](../operate/configuration.md#changing-settings)).\n";

// Lines of at most `columns` characters, each behind `indent`.
std::string Wrapped(std::string_view text, std::string_view indent, size_t columns) {
  std::string lines;
  std::string line;
  for (const std::string& word : std::vector<std::string>(absl::StrSplit(Av(text), ' ', absl::SkipEmpty()))) {
    if (!line.empty() && indent.size() + line.size() + 1 + word.size() > columns) {
      lines += Cat(indent, line, "\n");
      line.clear();
    }
    line += Cat(line.empty() ? "" : " ", word);
  }
  return line.empty() ? lines : Cat(lines, indent, line, "\n");
}

// Default and limits: "(default 0; 8 to 1048576, or 0; live)".
std::string DefaultText(const FlagRow& row) {
  const std::string range = RangeText(row);
  if (row.values.initial.empty() && range.empty()) return "";
  return Cat("  (default ", row.values.initial, range.empty() ? "" : "; ", range, row.is_live ? "; live" : "", ")");
}

std::string HelpEntry(const FlagRow& row) {
  constexpr size_t kColumns = 100;
  const std::string_view placeholder = row.values.unit.placeholder;
  return Cat("  --", row.name, placeholder.empty() ? "" : "=", placeholder, DefaultText(row), "\n",
             Wrapped(row.help, "      ", kColumns));
}

// A cell of a table in Markdown.
std::string Cell(std::string_view text) { return absl::StrReplaceAll(Av(text), {{"|", "\\|"}}); }

std::string DocumentRow(const FlagRow& row) {
  const std::string_view placeholder = row.values.unit.placeholder;
  const std::string initial = row.values.initial.empty() ? "" : Cat("`", row.values.initial, "`");
  return Cat("| `--", row.name, placeholder.empty() ? "" : "=", Cell(placeholder), "` | ", initial, " | ",
             RangeText(row), " | ", Cell(row.help), row.is_live ? " Live." : "", " |\n");
}

// The texts of all rows, with a heading before each group.
std::string InGroups(std::string (*heading)(std::string_view group), std::string (*entry)(const FlagRow& row)) {
  std::string text;
  std::string_view group;
  for (const FlagRow& row : FlagTable()) {
    if (row.group != group) text += heading(row.group);
    group = row.group;
    text += entry(row);
  }
  return text;
}

constexpr std::string_view kNameLetters = "abcdefghijklmnopqrstuvwxyz0123456789_";

std::string_view Strip(std::string_view text) { return Sv(absl::StripAsciiWhitespace(Av(text))); }

using Setting = std::pair<const FlagRow*, std::string_view>;

// Null if `name` is not that of a switch with "no" before it.
const FlagRow* FindSwitchedOff(std::string_view name) {
  const FlagRow* const row = name.starts_with("no") ? FindFlag(name.substr(2)) : nullptr;
  return row != nullptr && IsSwitch(*row) ? row : nullptr;
}

// Taken for the value of another flag, the name of a flag would be lost in silence.
bool IsFlag(std::string_view argument) {
  if (!argument.starts_with("--")) return false;
  const std::string_view name = argument.substr(2, argument.find('=') - 2);
  return FindFlag(name) != nullptr || FindSwitchedOff(name) != nullptr;
}

std::string Suggestion(std::string_view name, bool is_in_file) {
  std::vector<std::string> names;
  for (const FlagRow& row : FlagTable()) {
    if (!is_in_file || row.group != kCommandLineGroup) names.emplace_back(row.name);
  }
  return DidYouMean(name, names);
}

// Flags and values of the command line, which are not checked yet.
absl::StatusOr<std::vector<Setting>> ParseArguments(const std::vector<std::string_view>& arguments) {
  std::vector<Setting> settings;
  bool is_over = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string_view name = arguments[i];
    if (is_over || name.size() < 2 || !name.starts_with('-')) {
      return absl::InvalidArgumentError(Cat("unexpected argument: ", name));
    }
    is_over = name == "--";
    if (is_over) continue;
    name.remove_prefix(name.starts_with("--") ? 2 : 1);
    const size_t equals = name.find('=');
    const bool has_value = equals != std::string_view::npos;
    const std::string_view value = has_value ? name.substr(equals + 1) : "";
    name = name.substr(0, equals);
    const FlagRow* const row = FindFlag(name);
    if (row == nullptr) {
      const FlagRow* const off = has_value ? nullptr : FindSwitchedOff(name);
      if (off == nullptr) {
        return absl::InvalidArgumentError(Cat("unknown flag '--", name, "'", Suggestion(name, /*is_in_file=*/false)));
      }
      settings.emplace_back(off, "false");
    } else if (has_value || IsSwitch(*row)) {
      settings.emplace_back(row, has_value ? value : "true");
    } else if (++i < arguments.size() && !IsFlag(arguments[i])) {
      settings.emplace_back(row, arguments[i]);
    } else {
      return absl::InvalidArgumentError(Cat("--", name, ": its value is missing"));
    }
  }
  return settings;
}

// `file_line`: 0 for the command line.
void NoteGiven(const FlagRow& row, int file_line, Config* config) {
  config->command_line.given[std::string(row.name)] = {FlagText(row, *config), file_line};
}

absl::Status Apply(const std::vector<Setting>& settings, Config* config) {
  for (const auto& [row, value] : settings) {
    if (const absl::Status set = SetFlag(*row, value, config); !set.ok()) {
      return absl::InvalidArgumentError(Cat("--", row->name, "=", value, ": ", Sv(set.message())));
    }
    NoteGiven(*row, /*file_line=*/0, config);
  }
  return absl::OkStatus();
}

absl::Status ApplyFile(const std::string& path, Config* config) {
  ARM_ASSIGN_OR_RETURN(const std::vector<ConfigLine> lines, ReadConfigFile(path));
  for (const ConfigLine& line : lines) {
    const std::string place = Cat(path, ": line ", line.number, ": ");
    const FlagRow* const row = FindFlag(line.name);
    if (row == nullptr || row->group == kCommandLineGroup) {
      return absl::InvalidArgumentError(
          Cat(place, "there is no flag '", line.name, "'", Suggestion(line.name, /*is_in_file=*/true)));
    }
    if (const absl::Status set = SetFlag(*row, line.value, config); !set.ok()) {
      return absl::InvalidArgumentError(
          Cat(place, "'", line.value, "' is no value of ", line.name, ": ", Sv(set.message())));
    }
    NoteGiven(*row, line.number, config);
  }
  return absl::OkStatus();
}

absl::Status LineError(int number, std::string_view what) {
  return absl::InvalidArgumentError(Cat("line ", number, ": ", what));
}

}  // namespace

Config DefaultConfig() {
  Config config;
  for (const FlagRow& row : FlagTable()) {
    const absl::Status set = SetFlag(row, row.values.initial, &config);
    CHECK(set.ok()) << row.name << ": " << set;
  }
  return config;
}

absl::StatusOr<Config> ReadFlags(const std::vector<std::string_view>& arguments) {
  ARM_ASSIGN_OR_RETURN(const std::vector<Setting> settings, ParseArguments(arguments));
  Config config = DefaultConfig();
  ARM_RETURN_IF_ERROR(Apply(settings, &config));
  const std::string path = config.command_line.config_file;
  if (path.empty()) return config;
  ARM_RETURN_IF_ERROR(ApplyFile(path, &config));
  // Set again, because the command line takes precedence.
  ARM_RETURN_IF_ERROR(Apply(settings, &config));
  return config;
}

std::string FlagHelp() {
  return InGroups([](std::string_view group) { return Cat("\n", group, ":\n"); }, HelpEntry);
}

std::string FlagsDocument() {
  const auto heading = [](std::string_view group) {
    return Cat("\n## ", group, "\n\n| flag | default | limits | meaning |\n| --- | --- | --- | --- |\n");
  };
  return Cat(kDocumentHead, InGroups(heading, DocumentRow));
}

std::string ConfigText(const Config& given) {
  std::set<std::string> lines;
  for (const FlagRow& row : FlagTable()) {
    if (row.group != kCommandLineGroup) lines.insert(Cat(row.name, " = ", FlagText(row, given), "\n"));
  }
  return absl::StrJoin(lines, "");
}

absl::StatusOr<std::vector<ConfigLine>> ParseConfigText(std::string_view text) {
  std::vector<ConfigLine> lines;
  std::set<std::string, std::less<>> names;
  int number = 0;
  while (!text.empty()) {
    ++number;
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = Strip(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) return LineError(number, "expected 'name = value'");
    const std::string_view name = Strip(line.substr(0, equals));
    if (name.empty() || name.find_first_not_of(kNameLetters) != std::string_view::npos) {
      return LineError(number, Cat("'", name, "' is not the name of a flag; write it without dashes"));
    }
    if (!names.emplace(name).second) return LineError(number, Cat("'", name, "' comes for the second time"));
    lines.push_back({std::string(name), std::string(Strip(line.substr(equals + 1))), number});
  }
  return lines;
}

absl::StatusOr<std::vector<ConfigLine>> ReadConfigFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  // An empty file is valid, although it sets the failure bit.
  if (!file.is_open() || (!(text << file.rdbuf()) && file.bad())) {
    return absl::InvalidArgumentError(Cat("cannot read ", path, ": ", std::strerror(errno)));
  }
  absl::StatusOr<std::vector<ConfigLine>> lines = ParseConfigText(text.str());
  if (!lines.ok()) return absl::InvalidArgumentError(Cat(path, ": ", Sv(lines.status().message())));
  return lines;
}

}  // namespace armature::daemon
