#include "daemon/config_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "absl/strings/ascii.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

constexpr std::string_view kNameLetters = "abcdefghijklmnopqrstuvwxyz0123456789_";

std::string_view Strip(std::string_view text) { return Sv(absl::StripAsciiWhitespace(Av(text))); }

absl::Status LineError(int number, std::string_view what) {
  return absl::InvalidArgumentError(Cat("line ", number, ": ", what));
}

}  // namespace

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
