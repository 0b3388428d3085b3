#include "tests/conformance/json_match.h"

#include <vector>

#include "storage/base/strings.h"

namespace armature::conformance {
namespace {

constexpr std::string_view kAny = "<any>";
constexpr size_t kBriefStringMax = 120;
constexpr size_t kBriefMax = 3000;

using Difference = std::optional<std::string>;

bool IsSetTag(std::string_view name) { return name == "SS" || name == "NS" || name == "BS"; }

std::string Member(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : Cat(path, ".", name);
}

class Matcher {
 public:
  explicit Matcher(const MatchOptions& options) : options_(options) {}

  Difference Compare(const Json& expected, const Json& actual, const std::string& path) const {
    if (expected == kAny) return std::nullopt;
    if (expected.is_object() && actual.is_object()) return CompareObjects(expected, actual, path);
    if (expected.is_array() && actual.is_array()) return CompareLists(expected, actual, path);
    const bool same = expected.is_number() && actual.is_number() ? expected.get<double>() == actual.get<double>()
                                                                 : expected == actual;
    if (same) return std::nullopt;
    return Cat(path.empty() ? "the answer" : path, ": expected ", Brief(expected), ", got ", Brief(actual));
  }

 private:
  Difference CompareObjects(const Json& expected, const Json& actual, const std::string& path) const {
    for (const auto& [name, value] : expected.items()) {
      const std::string inner = Member(path, name);
      const auto found = actual.find(name);
      if (options_.partial && value.is_null()) {
        if (found == actual.end()) continue;
        return Cat(inner, ": should be absent, is ", Brief(*found));
      }
      if (found == actual.end()) return Cat(inner, ": is absent");
      const bool unordered =
          (expected.size() == 1 && IsSetTag(name)) || (path.empty() && name == "Items" && options_.unordered_items);
      Difference difference = unordered && value.is_array() && found->is_array()
                                  ? CompareWithoutOrder(value, *found, inner)
                                  : Compare(value, *found, inner);
      if (difference.has_value()) return difference;
    }
    if (options_.partial) return std::nullopt;
    for (const auto& [name, value] : actual.items()) {
      const bool may_be_unnamed = path.empty() && (name == "Count" || name == "ScannedCount");
      if (!expected.contains(name) && !may_be_unnamed) {
        return Cat(Member(path, name), ": should be absent, is ", Brief(value));
      }
    }
    return std::nullopt;
  }

  static Difference CompareSizes(const Json& expected, const Json& actual, const std::string& path) {
    if (expected.size() == actual.size()) return std::nullopt;
    return Cat(path, ": expected ", expected.size(), " elements, got ", actual.size());
  }

  Difference CompareLists(const Json& expected, const Json& actual, const std::string& path) const {
    if (Difference difference = CompareSizes(expected, actual, path); difference.has_value()) return difference;
    for (size_t i = 0; i < expected.size(); ++i) {
      Difference difference = Compare(expected[i], actual[i], Cat(path, "[", i, "]"));
      if (difference.has_value()) return difference;
    }
    return std::nullopt;
  }

  Difference CompareWithoutOrder(const Json& expected, const Json& actual, const std::string& path) const {
    if (Difference difference = CompareSizes(expected, actual, path); difference.has_value()) return difference;
    std::vector<bool> taken(actual.size(), false);
    for (const Json& wanted : expected) {
      size_t i = 0;
      while (i < actual.size() && (taken[i] || Compare(wanted, actual[i], path).has_value())) ++i;
      if (i == actual.size()) return Cat(path, ": lacks ", Brief(wanted));
      taken[i] = true;
    }
    return std::nullopt;
  }

  const MatchOptions options_;
};

void Shorten(Json* json) {
  if (json->is_string()) {
    const auto& text = json->get_ref<const std::string&>();
    if (text.size() > kBriefStringMax) *json = Cat(text.substr(0, 40), "... (", text.size(), " bytes)");
  } else if (json->is_structured()) {
    for (Json& inner : *json) Shorten(&inner);
  }
}

}  // namespace

Difference FindDifference(const Json& expected, const Json& actual, const MatchOptions& options) {
  return Matcher(options).Compare(expected, actual, "");
}

std::string Brief(const Json& json) {
  Json shortened = json;
  Shorten(&shortened);
  std::string text = cli::CompactJson(shortened);
  if (text.size() > kBriefMax) text = Cat(text.substr(0, kBriefMax), "...");
  return text;
}

}  // namespace armature::conformance
