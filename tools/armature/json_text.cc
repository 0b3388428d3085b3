#include "tools/armature/json_text.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "storage/base/strings.h"

namespace armature::cli {

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
  } catch (const Json::exception& error) {
    // The message begins with "[json.exception.parse_error.101] ", which is of no use to the user.
    const std::string_view what = error.what();
    const size_t bracket = what.find("] ");
    return absl::InvalidArgumentError(
        Cat("not valid JSON: ", bracket == std::string_view::npos ? what : what.substr(bracket + 2)));
  }
}

absl::StatusOr<Json> ReadJsonFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  // A directory can be opened, and reading it throws.
  std::error_code error;
  if (!file.is_open() || std::filesystem::is_directory(path, error)) {
    return absl::NotFoundError(Cat("cannot read file ", path));
  }
  std::ostringstream text;
  text << file.rdbuf();
  absl::StatusOr<Json> json = ParseJson(text.str());
  if (!json.ok()) return absl::InvalidArgumentError(Cat(path, ": ", Sv(json.status().message())));
  return json;
}

absl::StatusOr<Json> ParseJsonArgument(const std::string& argument) {
  return argument.starts_with('@') ? ReadJsonFile(argument.substr(1)) : ParseJson(argument);
}

std::string PrettyJson(const Json& json) { return json.dump(4, ' ', false, Json::error_handler_t::replace) + "\n"; }

std::string CompactJson(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace armature::cli
