#include "tools/armature/sql/completion.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "storage/base/strings.h"
#include "tools/armature/sql/sql_token.h"

namespace armature::cli {
namespace {

constexpr std::array<std::string_view, 39> kSqlKeywords = {
    "ALL",       "AND",    "AS",        "ASC",     "AVG",      "BETWEEN", "BY",  "COUNT",  "DELETE", "DESC",
    "DISTINCT",  "DRY",    "EXISTS",    "FALSE",   "FROM",     "GROUP",   "IN",  "INSERT", "INTO",   "IS",
    "LIMIT",     "MAX",    "MIN",       "MISSING", "MODIFIED", "NEW",     "NOT", "NULL",   "OR",     "ORDER",
    "RATELIMIT", "REMOVE", "RETURNING", "RUN",     "SELECT",   "SET",     "SUM", "TRUE",   "UPDATE"};
constexpr std::array<std::string_view, 4> kMoreKeywords = {"VALUE", "VALUES", "WHERE", "WITH"};
// Words of CREATE TABLE and ALTER TABLE, behind the name of the table.
constexpr std::array<std::string_view, 23> kTableWords = {"ADD",
                                                          "ALL",
                                                          "B",
                                                          "CAPACITY",
                                                          "DROP",
                                                          "GLOBAL",
                                                          "INDEX",
                                                          "KEY",
                                                          "KEYS",
                                                          "KEYS_ONLY",
                                                          "LOCAL",
                                                          "N",
                                                          "NEW_AND_OLD_IMAGES",
                                                          "NEW_IMAGE",
                                                          "OFF",
                                                          "OLD_IMAGE",
                                                          "PRIMARY",
                                                          "PROJECT",
                                                          "S",
                                                          "SET",
                                                          "WITH",
                                                          "stream",
                                                          "ttl"};
constexpr std::array<std::string_view, 16> kStatements = {
    "ALTER TABLE",       "BEGIN",           "COMMIT",      "CREATE TABLE", "DELETE",   "DESCRIBE",
    "DROP TABLE",        "EXPLAIN",         "INSERT",      "REPLACE INTO", "ROLLBACK", "SELECT",
    "SHOW CREATE TABLE", "SHOW INDEXES OF", "SHOW TABLES", "UPDATE"};
// Statements behind EXPLAIN, and the words behind SHOW, CREATE, ALTER and DROP.
constexpr std::array<std::string_view, 3> kShown = {"CREATE TABLE", "INDEXES OF", "TABLES"};
constexpr std::array<std::string_view, 20> kCommands = {
    "\\?", "\\conninfo", "\\consistent", "\\copy", "\\d", "\\e", "\\explain", "\\format", "\\pager", "\\g",
    "\\i", "\\limit",    "\\maxitems",   "\\o",    "\\p", "\\q", "\\r",       "\\timing", "\\watch", "\\x"};
constexpr std::array<std::string_view, 9> kBeforeTables = {"FROM", "INTO",     "UPDATE", "\\d",   "TABLE",
                                                           "OF",   "DESCRIBE", "DESC",   "\\copy"};
constexpr std::array<std::string_view, 5> kFormats = {"csv", "document", "json", "jsonl", "table"};

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

bool NeedsSqlQuotes(std::string_view name) {
  const bool is_plain = std::all_of(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
  return !is_plain || name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0 || IsSqlKeyword(name);
}

// The names that begin with the word, quoted if necessary.
void AddNames(const std::vector<std::string>& names, const Token& word, std::set<std::string>* to) {
  for (const std::string& name : names) {
    if (!absl::StartsWith(name, word.text)) continue;
    to->insert(word.is_quoted || NeedsSqlQuotes(name) ? Cat("\"", name, "\"") : name);
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

// True if token `i` is a word that a table follows. DESC behind ORDER BY is none, nor is FROM of \copy.
bool IsBeforeTable(const std::vector<Token>& tokens, size_t i) {
  if (tokens[i].is_quoted || !IsOneOf(kBeforeTables, tokens[i].text)) return false;
  if (i > 0 && tokens[0].text == "\\copy") return false;
  return i == 0 || !IsOneOf(std::array<std::string_view, 1>{"DESC"}, tokens[i].text);
}

// The tables that the statement names.
std::vector<std::string> TablesIn(const std::vector<Token>& tokens) {
  std::vector<std::string> tables;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (IsBeforeTable(tokens, i)) tables.push_back(tokens[i + 1].text);
  }
  return tables;
}

// The words that may begin or continue a statement of tokens that name no table yet.
void AddStatementWords(const std::vector<Token>& tokens, const Token& word, std::set<std::string>* to) {
  if (tokens.empty() || (tokens.size() == 1 && IsOneOf(std::array<std::string_view, 1>{"EXPLAIN"}, tokens[0].text))) {
    AddKeywords(kStatements, word, to);
    if (tokens.empty()) AddKeywords(kCommands, word, to);
  } else if (tokens.size() == 1 && IsOneOf(std::array<std::string_view, 1>{"SHOW"}, tokens[0].text)) {
    AddKeywords(kShown, word, to);
  }
}

// True for a statement about the shape of a table.
bool IsAboutTable(const std::vector<Token>& tokens) {
  return IsOneOf(std::array<std::string_view, 2>{"CREATE", "ALTER"}, tokens[0].text);
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
  AddStatementWords(tokens, word, &found);
  if (!found.empty() || count == 0) {
    // Nothing else begins a statement.
  } else if (IsBeforeTable(tokens, count - 1)) {
    AddNames(names->Tables(), word, &found);
  } else if (count >= 3 && tokens.back().text == "." && IsBeforeTable(tokens, count - 3)) {
    AddNames(names->Indexes(tokens[count - 2].text), word, &found);
  } else if (tokens[0].text == "\\format") {
    AddKeywords(kFormats, word, &found);
  } else if (tokens[0].text.starts_with('\\')) {
    if (tokens[0].text == "\\copy") AddKeywords(std::array<std::string_view, 2>{"from", "to"}, word, &found);
  } else if (IsAboutTable(tokens)) {
    AddKeywords(kTableWords, word, &found);
    for (const std::string& table : TablesIn(tokens)) AddNames(names->Attributes(table), word, &found);
    if (IsOneOf(std::array<std::string_view, 1>{"INDEX"}, tokens.back().text)) {
      for (const std::string& table : TablesIn(tokens)) AddNames(names->Indexes(table), word, &found);
    }
  } else {
    AddKeywords(kSqlKeywords, word, &found);
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
