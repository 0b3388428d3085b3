#include "tools/armature/items/item_text.h"

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "storage/base/strings.h"
#include "tools/armature/json_text.h"
#include "tools/armature/message_json.h"
#include "tools/armature/plain_json.h"

namespace armature::cli {
namespace {

using api::v1::AttributeValue;
using api::v1::Item;

template <class Elements, class Show>
std::string SetCell(const Elements& elements, const Show& show) {
  std::string text;
  for (const std::string& element : elements) text += Cat(text.empty() ? "{" : ", ", show(element));
  return text + "}";
}

std::string AsIs(const std::string& text) { return text; }
std::string AsBase64(const std::string& bytes) { return absl::Base64Escape(bytes); }

// True if the text is a string in every version of YAML without quotes.
bool IsPlainYaml(std::string_view text) {
  constexpr std::array<std::string_view, 9> kWords = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"};
  if (text.empty() || !absl::ascii_isalpha(static_cast<unsigned char>(text.front())) || text.back() == ' ')
    return false;
  const bool is_harmless = std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.' || c == ' ';
  });
  return is_harmless && std::none_of(kWords.begin(), kWords.end(),
                                     [&](std::string_view word) { return absl::EqualsIgnoreCase(Av(text), Av(word)); });
}

std::string YamlText(std::string_view text) { return IsPlainYaml(text) ? std::string(text) : QuotedJson(text); }

void AppendYaml(const AttributeValue& value, size_t indent, std::string* out);

// The value after its name or its dash, with the line break.
void AppendYamlAfter(const AttributeValue& value, size_t indent, std::string* out) {
  const std::string plain = PlainValue(value);
  // JSON that begins so is a map that plain JSON marks.
  const bool is_marked = plain.starts_with(R"({"M": {)");
  const bool is_block =
      (value.has_l() && !value.l().values().empty()) || (value.has_m() && !value.m().entries().empty() && !is_marked);
  if (is_block) {
    out->append("\n");
    AppendYaml(value, indent, out);
  } else {
    out->append(Cat(" ", value.has_s() ? YamlText(value.s()) : plain, "\n"));
  }
}

// A list or a map as a block. Each line begins with the indentation.
void AppendYaml(const AttributeValue& value, size_t indent, std::string* out) {
  const std::string blanks(indent, ' ');
  for (const AttributeValue& element : value.l().values()) {
    out->append(Cat(blanks, "-"));
    AppendYamlAfter(element, indent + 2, out);
  }
  Item members;
  *members.mutable_attributes() = value.m().entries();
  for (const auto& [name, member] : OrderedAttributes(members, {})) {
    out->append(Cat(blanks, YamlText(name), ":"));
    AppendYamlAfter(*member, indent + 2, out);
  }
}

}  // namespace

std::string ValueText(const AttributeValue& value, JsonDialect dialect) {
  return dialect == JsonDialect::kPlain ? PlainValue(value) : CompactJson(MessageToJson(value));
}

std::string ItemText(const Item& item, const std::vector<std::string>& first, JsonDialect dialect) {
  if (dialect == JsonDialect::kPlain) return PlainItem(item, first);
  std::string text;
  for (const auto& [name, value] : OrderedAttributes(item, first)) {
    text += Cat(text.empty() ? "{" : ",", QuotedJson(name), ":", ValueText(*value, dialect));
  }
  return text.empty() ? "{}" : text + "}";
}

std::string CellText(const AttributeValue& value) {
  switch (value.value_case()) {
    case AttributeValue::kS:
      return value.s().empty() ? "\"\"" : value.s();
    case AttributeValue::kN:
      return value.n();
    case AttributeValue::kB:
      return AsBase64(value.b());
    case AttributeValue::kNull:
      return "NULL";
    case AttributeValue::kSs:
      return SetCell(value.ss().values(), AsIs);
    case AttributeValue::kNs:
      return SetCell(value.ns().values(), AsIs);
    case AttributeValue::kBs:
      return SetCell(value.bs().values(), AsBase64);
    default:
      return PlainValue(value);
  }
}

std::string CsvText(const AttributeValue& value, JsonDialect dialect) {
  if (dialect == JsonDialect::kTyped) return ValueText(value, dialect);
  if (value.has_s()) return value.s();
  if (value.has_n()) return value.n();
  return value.has_b() ? AsBase64(value.b()) : PlainValue(value);
}

std::string YamlItem(const Item& item, const std::vector<std::string>& first, JsonDialect dialect, size_t indent) {
  std::string text;
  for (const auto& [name, value] : OrderedAttributes(item, first)) {
    text += Cat(text.empty() ? "" : std::string(indent, ' '), YamlText(name), ":");
    if (dialect == JsonDialect::kTyped) {
      text += Cat(" ", ValueText(*value, dialect), "\n");
    } else {
      AppendYamlAfter(*value, indent + 2, &text);
    }
  }
  return text.empty() ? "{}\n" : text;
}

}  // namespace armature::cli
