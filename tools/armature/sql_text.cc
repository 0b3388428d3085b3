#include "tools/armature/sql_text.h"

#include <cstddef>

namespace armature::cli {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

void AddStatement(std::string_view text, std::vector<std::string>* statements) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return;
  statements->emplace_back(text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin));
}

}  // namespace

std::vector<std::string> SplitStatements(std::string_view text) {
  std::vector<std::string> statements;
  std::string statement;  // without comments
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      // A doubled quote ends the text and begins it again.
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '-' && text.substr(i, 2) == "--") {
      i = text.find('\n', i);
      if (i == std::string_view::npos) break;
      statement.push_back('\n');
      continue;
    } else if (c == ';') {
      AddStatement(statement, &statements);
      statement.clear();
      continue;
    }
    statement.push_back(c);
  }
  AddStatement(statement, &statements);
  return statements;
}

}  // namespace armature::cli
