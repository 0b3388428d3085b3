#include "tools/armature/json_text.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

// The message of an exception without its beginning, such as "[json.exception.parse_error.101] ", which is of no use to
// the user.
std::string_view WithoutNumber(std::string_view what) {
  const size_t bracket = what.find("] ");
  return bracket == what.npos ? what : what.substr(bracket + 2);
}

}  // namespace

absl::StatusOr<Json> ParseJson(std::string_view text) {
  // The rules beyond the grammar are checked during parsing.
  std::vector<std::set<std::string>> names;  // of the members of each open object
  std::string fault;
  const auto check = [&names, &fault](int depth, Json::parse_event_t event, const Json& parsed) {
    if (event == Json::parse_event_t::object_start) names.emplace_back();
    if (event == Json::parse_event_t::object_end) names.pop_back();
    if (event == Json::parse_event_t::key && !names.back().insert(parsed.get<std::string>()).second && fault.empty()) {
      fault = Cat("member \"", parsed.get<std::string>(), "\" occurs twice");
    }
    if (depth > kJsonDepthMax && fault.empty()) fault = "nested too deeply";
    return true;
  };
  try {
    Json json = Json::parse(text, check);
    if (!fault.empty()) return absl::InvalidArgumentError(fault);
    return json;
  } catch (const Json::parse_error& error) {
    return absl::InvalidArgumentError(
        Cat("not valid JSON: ", WithoutNumber(error.what()), "\n", PlaceIn(text, error.byte)));
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(Cat("not valid JSON: ", WithoutNumber(error.what())));
  }
}

std::string PlaceIn(std::string_view text, size_t byte) {
  constexpr size_t kBefore = 60;
  constexpr size_t kBehind = 30;
  constexpr char kIndent[] = "    ";
  const size_t at = std::min(byte > 0 ? byte - 1 : 0, text.size());
  const size_t newline = text.substr(0, at).rfind('\n');
  size_t begin = newline == text.npos ? 0 : newline + 1;
  if (at - begin > kBefore) begin = at - kBefore;
  const size_t end = std::min(text.find('\n', at), at + kBehind);
  std::string line;
  size_t column = 0;
  for (size_t i = begin; i < std::min(end, text.size()); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool continues = (c & 0xc0) == 0x80;  // another byte of a character that may have been cut
    if (continues && line.empty()) continue;
    line += c < 0x20 || c == 0x7f ? ' ' : text[i];
    if (i < at && !continues) ++column;
  }
  return Cat(kIndent, line, "\n", kIndent, std::string(column, ' '), "^");
}

absl::StatusOr<std::string> TextOfArgument(const std::string& argument) {
  if (!argument.starts_with('@')) return argument;
  const std::string path = argument.substr(1);
  std::ifstream file(path, std::ios::binary);
  // A directory can be opened, and reading it throws.
  std::error_code error;
  if (!file.is_open() || std::filesystem::is_directory(path, error)) {
    return absl::NotFoundError(Cat("cannot read file ", path));
  }
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

absl::StatusOr<Json> ReadJsonFile(const std::string& path) {
  ARM_ASSIGN_OR_RETURN(const std::string text, TextOfArgument(Cat("@", path)));
  absl::StatusOr<Json> json = ParseJson(text);
  if (!json.ok()) return absl::InvalidArgumentError(Cat(path, ": ", Sv(json.status().message())));
  return json;
}

absl::StatusOr<Json> ParseJsonArgument(const std::string& argument) {
  if (argument.starts_with('@')) return ReadJsonFile(argument.substr(1));
  absl::StatusOr<Json> json = ParseJson(argument);
  if (json.ok()) return json;
  // People know file://NAME from another command line, or write only the name.
  constexpr std::string_view kScheme = "file://";
  std::error_code error;
  const bool is_uri = argument.starts_with(kScheme);
  if (is_uri || std::filesystem::is_regular_file(argument, error)) {
    return absl::InvalidArgumentError(Cat("'", argument, "' is no JSON; for the content of the file write @",
                                          is_uri ? argument.substr(kScheme.size()) : argument));
  }
  return json;
}

std::string PrettyJson(const Json& json) { return json.dump(4, ' ', false, Json::error_handler_t::replace) + "\n"; }

std::string CompactJson(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace armature::cli
