#include "tools/armature/shorthand.h"

#include <cstdint>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

Json ScalarFromText(const std::string& text, Scalars scalars) {
  if (scalars == Scalars::kTyped) {
    if (text == "true" || text == "false") return text == "true";
    int64_t number = 0;
    if (absl::SimpleAtoi(text, &number)) return number;
  }
  return text;
}

}  // namespace

absl::StatusOr<Json> ParseShorthand(const std::string& text, Scalars scalars) {
  if (!text.empty() && std::string_view("{[@").find(text.front()) != std::string_view::npos) {
    return ParseJsonArgument(text);
  }
  Json object = Json::object();
  for (const absl::string_view piece : absl::StrSplit(text, ',')) {
    const std::string_view member = Sv(piece);
    const size_t equals = member.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return absl::InvalidArgumentError(Cat("\"", member, "\" is neither JSON nor of the form Name=value"));
    }
    const std::string name(member.substr(0, equals));
    if (object.contains(name)) {
      return absl::InvalidArgumentError(Cat("member \"", name, "\" occurs twice"));
    }
    object[name] = ScalarFromText(std::string(member.substr(equals + 1)), scalars);
  }
  return object;
}

absl::StatusOr<Json> ParseShorthandList(const std::vector<std::string>& arguments) {
  Json list = Json::array();
  for (const std::string& argument : arguments) {
    ARM_ASSIGN_OR_RETURN(Json json, ParseShorthand(argument, Scalars::kTexts));
    if (json.is_array()) {
      for (Json& element : json) list.push_back(std::move(element));
    } else {
      list.push_back(std::move(json));
    }
  }
  return list;
}

}  // namespace armature::cli
