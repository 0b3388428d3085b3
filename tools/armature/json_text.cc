#include "tools/armature/json_text.h"

#include <fstream>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

// Checks the rules beyond the grammar during parsing.
class StrictChecker {
 public:
  bool operator()(int depth, Json::parse_event_t event, const Json& parsed) {
    switch (event) {
      case Json::parse_event_t::object_start:
        names_.emplace_back();
        break;
      case Json::parse_event_t::object_end:
        names_.pop_back();
        break;
      case Json::parse_event_t::key:
        if (!names_.back().insert(parsed.get<std::string>()).second && error_.empty()) {
          error_ = Cat("member \"", parsed.get<std::string>(), "\" occurs twice");
        }
        break;
      default:
        break;
    }
    if (depth > kJsonDepthMax && error_.empty()) error_ = "nested too deeply";
    return true;
  }

  const std::string& error() const { return error_; }

 private:
  std::vector<std::set<std::string>> names_;
  std::string error_;
};

}  // namespace

absl::StatusOr<Json> ParseJson(std::string_view text) {
  StrictChecker checker;
  try {
    Json json = Json::parse(
        text, [&checker](int depth, Json::parse_event_t event, Json& parsed) { return checker(depth, event, parsed); });
    if (!checker.error().empty()) return absl::InvalidArgumentError(checker.error());
    return json;
  } catch (const Json::exception& error) {
    // The message begins with "[json.exception.parse_error.101] ", which is of no use to the user.
    const std::string_view what = error.what();
    const size_t bracket = what.find("] ");
    return absl::InvalidArgumentError(
        Cat("not valid JSON: ", bracket == std::string_view::npos ? what : what.substr(bracket + 2)));
  }
}

absl::StatusOr<Json> ParseJsonArgument(const std::string& argument) {
  if (argument.empty() || argument.front() != '@') return ParseJson(argument);
  const std::string path = argument.substr(1);
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad()) return absl::NotFoundError(Cat("cannot read file ", path));
  auto json = ParseJson(text);
  if (!json.ok()) {
    return absl::InvalidArgumentError(Cat(path, ": ", Sv(json.status().message())));
  }
  return json;
}

std::string PrettyJson(const Json& json) { return json.dump(4, ' ', false, Json::error_handler_t::replace) + "\n"; }

std::string CompactJson(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace armature::cli
