#include "tools/armature/color.h"

#include <cstddef>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

constexpr std::string_view kPlainInk = "\x1b[0m";

// Colours that can be read on a dark and on a light ground.
std::string_view SequenceOf(Ink ink) {
  switch (ink) {
    case Ink::kHeader:
      return "\x1b[1m";  // bold
    case Ink::kName:
      return "\x1b[34m";  // blue
    case Ink::kText:
      return "\x1b[32m";  // green
    case Ink::kNumber:
      return "\x1b[36m";  // cyan
    case Ink::kConstant:
      return "\x1b[35m";  // magenta
    case Ink::kError:
      return "\x1b[1;31m";  // bold red
    case Ink::kHint:
      return "\x1b[33m";  // yellow
  }
  return "";
}

// The end of the string that begins at `begin`, behind its quote.
size_t EndOfString(std::string_view json, size_t begin) {
  for (size_t i = begin + 1; i < json.size(); ++i) {
    if (json[i] == '\\') {
      ++i;
    } else if (json[i] == '"') {
      return i + 1;
    }
  }
  return json.size();
}

// The end of a number or a word.
size_t EndOfWord(std::string_view json, size_t begin) {
  size_t end = begin;
  while (end < json.size() && (absl::ascii_isalnum(static_cast<unsigned char>(json[end])) || json[end] == '-' ||
                               json[end] == '+' || json[end] == '.')) {
    ++end;
  }
  return end;
}

}  // namespace

std::string Colored(std::string_view text, Ink ink) {
  return text.empty() ? "" : Cat(SequenceOf(ink), text, kPlainInk);
}

std::string ColoredJson(std::string_view json) {
  std::string colored;
  size_t i = 0;
  while (i < json.size()) {
    if (json[i] == '"') {
      const size_t end = EndOfString(json, i);
      const size_t next = json.find_first_not_of(' ', end);
      const bool is_name = next != std::string_view::npos && json[next] == ':';
      colored += Colored(json.substr(i, end - i), is_name ? Ink::kName : Ink::kText);
      i = end;
    } else if (const size_t end = EndOfWord(json, i); end > i) {
      const bool is_word = absl::ascii_isalpha(static_cast<unsigned char>(json[i]));
      colored += Colored(json.substr(i, end - i), is_word ? Ink::kConstant : Ink::kNumber);
      i = end;
    } else {
      colored.push_back(json[i++]);
    }
  }
  return colored;
}

std::string ColoredTable(std::string_view table) {
  const size_t end = table.find('\n');
  // A text such as "There is no table." is no header.
  if (end == std::string_view::npos || end + 1 == table.size()) return std::string(table);
  return Cat(Colored(table.substr(0, end), Ink::kHeader), table.substr(end));
}

bool WantsColor(std::string_view choice, bool is_terminal) {
  if (choice != "auto") return choice == "always";
  const char* const no_color = std::getenv("NO_COLOR");
  const char* const term = std::getenv("TERM");
  const bool is_dumb = term != nullptr && std::string_view(term) == "dumb";
  return is_terminal && !is_dumb && (no_color == nullptr || *no_color == '\0');
}

}  // namespace armature::cli
