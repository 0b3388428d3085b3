#include "tools/armature/copy/wire_json.h"

#include "absl/status/status.h"
#include "storage/base/strings.h"
#include "tools/armature/display.h"

namespace armature::cli::copy {
namespace {

// Values nest 32 levels with two JSON levels each; a page of records has a few more around them.
constexpr int kWireDepthMax = 90;
constexpr size_t kShownBytes = 80;

// True if no bracket of the text nests deeper than the maximum. Brackets in texts do not count.
bool IsShallow(std::string_view text) {
  int depth = 0;
  bool in_text = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text) {
      if (c == '\\') ++i;
      if (c == '"') in_text = false;
    } else if (c == '"') {
      in_text = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kWireDepthMax) return false;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return true;
}

}  // namespace

absl::StatusOr<Wire> ParseWire(std::string_view text) {
  Wire json = IsShallow(text) ? Wire::parse(text, nullptr, /*allow_exceptions=*/false) : Wire();
  if (json.is_object()) return json;
  return absl::InvalidArgumentError(
      Cat("no JSON of the protocol, it begins with '", OneLine(text.substr(0, kShownBytes)), "'"));
}

std::string WireText(const Wire& json) { return json.dump(-1, ' ', false, Wire::error_handler_t::replace); }

const Wire* Find(const Wire& json, std::string_view name) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(std::string(name));
  return found == json.end() ? nullptr : &*found;
}

std::string TextIn(const Wire& json, std::string_view name) {
  const Wire* const member = Find(json, name);
  return member != nullptr && member->is_string() ? member->get_ref<const std::string&>() : std::string();
}

int64_t NumberIn(const Wire& json, std::string_view name) {
  const Wire* const member = Find(json, name);
  return member != nullptr && member->is_number_integer() ? member->get<int64_t>() : 0;
}

double RealIn(const Wire& json, std::string_view name) {
  const Wire* const member = Find(json, name);
  return member != nullptr && member->is_number() ? member->get<double>() : 0;
}

bool FlagIn(const Wire& json, std::string_view name) {
  const Wire* const member = Find(json, name);
  return member != nullptr && member->is_boolean() && member->get<bool>();
}

const Wire& ListIn(const Wire& json, std::string_view name) {
  static const Wire& none = *new Wire(Wire::array());
  const Wire* const member = Find(json, name);
  return member != nullptr && member->is_array() ? *member : none;
}

bool HasList(const Wire& json, std::string_view name) {
  const Wire* const member = Find(json, name);
  return member != nullptr && member->is_array();
}

}  // namespace armature::cli::copy
