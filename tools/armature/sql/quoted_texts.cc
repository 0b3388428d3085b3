#include "tools/armature/sql/quoted_texts.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "absl/strings/match.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

constexpr std::array<std::string_view, 7> kComparators = {"=", "<>", "!=", "<", "<=", ">", ">="};

bool IsTheWord(const SqlToken& token, std::string_view word) {
  return token.kind == SqlTokenKind::kWord && absl::EqualsIgnoreCase(token.text, Av(word));
}

bool IsTheSymbol(const SqlToken& token, std::string_view symbol) {
  return token.kind == SqlTokenKind::kSymbol && token.text == symbol;
}

bool IsComparatorToken(const SqlToken& token) {
  return token.kind == SqlTokenKind::kSymbol &&
         std::find(kComparators.begin(), kComparators.end(), token.text) != kComparators.end();
}

absl::Status QuotedTextError(const SqlToken& name) {
  return SqlError(Cat("'", name.text, "' is a text, \"", name.text,
                      "\" is an attribute. To compare with the attribute, write (\"", name.text, "\")"),
                  name.place);
}

// True if the name at `at` is all that stands there.
bool IsLoneName(const std::vector<SqlToken>& tokens, size_t at) {
  if (at >= tokens.size() || tokens[at].kind != SqlTokenKind::kName) return false;
  return at + 1 >= tokens.size() || (!IsTheSymbol(tokens[at + 1], ".") && !IsTheSymbol(tokens[at + 1], "["));
}

// The names of the list that begins at `at`, those in parentheses of their own aside.
absl::Status CheckList(const std::vector<SqlToken>& tokens, size_t at) {
  if (at >= tokens.size() || (!IsTheSymbol(tokens[at], "(") && !IsTheSymbol(tokens[at], "["))) return absl::OkStatus();
  size_t depth = 0;
  for (; at < tokens.size(); ++at) {
    if (IsTheSymbol(tokens[at], "(") || IsTheSymbol(tokens[at], "[")) ++depth;
    if ((IsTheSymbol(tokens[at], ")") || IsTheSymbol(tokens[at], "]")) && --depth == 0) break;
    if (depth == 1 && IsLoneName(tokens, at) && !IsTheSymbol(tokens[at - 1], ".")) return QuotedTextError(tokens[at]);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckQuotedTexts(const std::vector<SqlToken>& tokens) {
  bool is_condition = false;  // behind WHERE; SET a = "b" copies an attribute
  bool is_between = false;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (IsTheWord(tokens[i], "WHERE")) is_condition = true;
    if (IsTheWord(tokens[i], "SET") || IsTheWord(tokens[i], "REMOVE")) is_condition = false;
    if (!is_condition) continue;
    const bool is_bound = IsTheWord(tokens[i], "BETWEEN") || (is_between && IsTheWord(tokens[i], "AND"));
    if (is_bound) is_between = IsTheWord(tokens[i], "BETWEEN");
    if ((is_bound || IsComparatorToken(tokens[i])) && IsLoneName(tokens, i + 1)) {
      return QuotedTextError(tokens[i + 1]);
    }
    if (IsTheWord(tokens[i], "IN")) {
      if (absl::Status checked = CheckList(tokens, i + 1); !checked.ok()) return checked;
    }
  }
  return absl::OkStatus();
}

}  // namespace armature::cli
