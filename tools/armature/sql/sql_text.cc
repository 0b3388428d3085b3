#include "tools/armature/sql/sql_text.h"

#include <cstddef>
#include <utility>

namespace armature::cli {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

void AddStatement(std::string_view text, std::vector<std::string>* statements) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return;
  statements->emplace_back(text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin));
}

}  // namespace

SplitText SplitSql(std::string_view text) {
  SplitText split;
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
      AddStatement(statement, &split.statements);
      statement.clear();
      continue;
    }
    statement.push_back(c);
  }
  std::vector<std::string> rest;
  AddStatement(statement, &rest);
  if (!rest.empty()) split.rest = std::move(rest.front());
  split.quote = quote;
  return split;
}

std::vector<std::string> SplitStatements(std::string_view text) {
  SplitText split = SplitSql(text);
  if (!split.rest.empty()) split.statements.push_back(std::move(split.rest));
  return std::move(split.statements);
}

}  // namespace armature::cli
