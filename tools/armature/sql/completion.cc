#include "tools/armature/sql/completion.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

constexpr std::array<std::string_view, 26> kKeywords = {
    "ALL",   "AND",  "AS",    "ASC",    "BETWEEN", "BY",  "DELETE", "DESC",     "EXISTS",
    "FALSE", "FROM", "IN",    "INSERT", "INTO",    "IS",  "LIMIT",  "MISSING",  "NOT",
    "NULL",  "OR",   "ORDER", "REMOVE", "SELECT",  "SET", "TRUE",   "RETURNING"};
constexpr std::array<std::string_view, 5> kMoreKeywords = {"UPDATE", "VALUE", "WHERE", "MODIFIED", "NEW"};
constexpr std::array<std::string_view, 4> kStatements = {"DELETE", "INSERT", "SELECT", "UPDATE"};
constexpr std::array<std::string_view, 8> kCommands = {"\\?",     "\\consistent", "\\d",      "\\explain",
                                                       "\\limit", "\\q",          "\\timing", "\\x"};
constexpr std::array<std::string_view, 4> kBeforeTables = {"FROM", "INTO", "UPDATE", "\\d"};

bool IsWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '\\' || c == '?' || c == '-';
}

struct Token {
  std::string text;  // without quotes
  size_t begin = 0;
  bool is_quoted = false;
  bool is_open = false;  // a quoted name without its end
};

// Words, quoted names and single characters. Texts in ' are left out.
std::vector<Token> TokensOf(std::string_view text) {
  std::vector<Token> tokens;
  for (size_t i = 0; i < text.size();) {
    const size_t begin = i;
    if (text[i] == '"' || text[i] == '\'') {
      const size_t end = text.find(text[i], i + 1);
      const bool is_open = end == std::string_view::npos;
      if (text[i] == '"' || is_open) {
        tokens.push_back({std::string(text.substr(i + 1, is_open ? end : end - i - 1)), begin, true, is_open});
      }
      if (is_open) break;
      i = end + 1;
    } else if (IsWordCharacter(text[i])) {
      while (i < text.size() && IsWordCharacter(text[i])) ++i;
      tokens.push_back({std::string(text.substr(begin, i - begin)), begin});
    } else {
      if (text[i] != ' ' && text[i] != '\t' && text[i] != '\n') tokens.push_back({std::string(1, text[i]), begin});
      ++i;
    }
  }
  return tokens;
}

bool IsOneOf(const auto& words, std::string_view word) {
  return std::any_of(words.begin(), words.end(),
                     [word](std::string_view each) { return absl::EqualsIgnoreCase(Av(each), Av(word)); });
}

bool NeedsQuotes(std::string_view name) {
  const bool is_plain = std::all_of(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
  return !is_plain || name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0 ||
         IsOneOf(kKeywords, name) || IsOneOf(kMoreKeywords, name);
}

// The names that begin with the word, quoted if necessary.
void AddNames(const std::vector<std::string>& names, const Token& word, std::set<std::string>* to) {
  for (const std::string& name : names) {
    if (!absl::StartsWith(name, word.text)) continue;
    to->insert(word.is_quoted || NeedsQuotes(name) ? Cat("\"", name, "\"") : name);
  }
}

// Keywords in the case of the word.
void AddKeywords(const auto& keywords, const Token& word, std::set<std::string>* to) {
  if (word.is_quoted) return;
  const bool is_lower = !word.text.empty() && std::islower(static_cast<unsigned char>(word.text.back())) != 0;
  for (const std::string_view keyword : keywords) {
    if (!absl::StartsWithIgnoreCase(Av(keyword), word.text)) continue;
    to->insert(is_lower ? absl::AsciiStrToLower(Av(keyword)) : std::string(keyword));
  }
}

// The tables that the statement names.
std::vector<std::string> TablesIn(const std::vector<Token>& tokens) {
  std::vector<std::string> tables;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (!tokens[i].is_quoted && IsOneOf(kBeforeTables, tokens[i].text)) tables.push_back(tokens[i + 1].text);
  }
  return tables;
}

}  // namespace

Completions Complete(std::string_view text, SqlNames* names) {
  std::vector<Token> tokens = TokensOf(text);
  Token word{.text = "", .begin = text.size()};
  const bool is_in_word = !tokens.empty() && (tokens.back().is_open || IsWordCharacter(text.back()));
  if (is_in_word) {
    word = tokens.back();
    tokens.pop_back();
  }
  Completions completions{.word_begin = word.begin, .words = {}};
  // A text is not completed.
  if (word.is_open && text[word.begin] == '\'') return completions;
  std::set<std::string> found;
  const size_t count = tokens.size();
  if (count == 0) {
    AddKeywords(kStatements, word, &found);
    AddKeywords(kCommands, word, &found);
  } else if (IsOneOf(kBeforeTables, tokens.back().text)) {
    AddNames(names->Tables(), word, &found);
  } else if (count >= 3 && tokens.back().text == "." && IsOneOf(kBeforeTables, tokens[count - 3].text)) {
    AddNames(names->Indexes(tokens[count - 2].text), word, &found);
  } else {
    AddKeywords(kKeywords, word, &found);
    AddKeywords(kMoreKeywords, word, &found);
    for (const std::string& table : TablesIn(tokens)) AddNames(names->Attributes(table), word, &found);
  }
  completions.words.assign(found.begin(), found.end());
  return completions;
}

std::string CommonPrefix(const std::vector<std::string>& words) {
  if (words.empty()) return {};
  std::string prefix = words.front();
  for (const std::string& word : words) {
    const auto differs = std::mismatch(prefix.begin(), prefix.end(), word.begin(), word.end()).first;
    prefix.erase(differs, prefix.end());
  }
  return prefix;
}

}  // namespace armature::cli
