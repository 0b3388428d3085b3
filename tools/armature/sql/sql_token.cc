#include "tools/armature/sql/sql_token.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "engine/partiql/lexer.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

bool BeginsSqlWord(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }
bool IsSqlDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }
bool IsInsideOfCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

class SqlScanner {
 public:
  explicit SqlScanner(std::string_view text) : text_(text) {}

  absl::StatusOr<std::vector<SqlToken>> Run() {
    std::vector<SqlToken> tokens;
    do {
      ARM_RETURN_IF_ERROR(SkipBlanks());
      ARM_ASSIGN_OR_RETURN(SqlToken token, Next());
      tokens.push_back(std::move(token));
    } while (tokens.back().kind != SqlTokenKind::kEnd);
    return tokens;
  }

 private:
  char Peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool AtEnd() const { return at_ >= text_.size(); }

  absl::Status SkipBlanks() {
    while (!AtEnd()) {
      if (Peek() == '-' && Peek(1) == '-') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (Peek() == '/' && Peek(1) == '*') {
        const size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) return SqlError("the comment has no end", {at_, at_ + 2});
        at_ = end + 2;
      } else if (absl::ascii_isspace(static_cast<unsigned char>(Peek()))) {
        ++at_;
      } else {
        break;
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<SqlToken> Next() {
    SqlToken token;
    const size_t begin = at_;
    const char c = Peek();
    if (!AtEnd()) {
      if (c == '"' || c == '\'') {
        token.kind = c == '"' ? SqlTokenKind::kName : SqlTokenKind::kText;
        ARM_RETURN_IF_ERROR(ReadQuoted(c, &token.text));
      } else if (BeginsSqlWord(c)) {
        token.kind = SqlTokenKind::kWord;
        while (BeginsSqlWord(Peek()) || IsSqlDigit(Peek())) ++at_;
      } else if (IsSqlDigit(c) || (c == '.' && IsSqlDigit(Peek(1)))) {
        token.kind = SqlTokenKind::kNumber;
        ReadNumber();
      } else {
        token.kind = SqlTokenKind::kSymbol;
        ARM_RETURN_IF_ERROR(ReadSymbol());
      }
    }
    if (token.kind != SqlTokenKind::kName && token.kind != SqlTokenKind::kText) {
      token.text = std::string(text_.substr(begin, at_ - begin));
    }
    token.place = {begin, at_};
    return token;
  }

  // A doubled quote stands for one.
  absl::Status ReadQuoted(char quote, std::string* to) {
    const size_t begin = at_++;
    for (; !AtEnd(); ++at_) {
      if (Peek() == quote) {
        if (Peek(1) != quote) {
          ++at_;
          return absl::OkStatus();
        }
        ++at_;
      }
      to->push_back(Peek());
    }
    return SqlError(quote == '"' ? "the name has no closing \"" : "the text has no closing '", {begin, begin + 1});
  }

  // Digits, a point, and an exponent if it has digits.
  void ReadNumber() {
    while (IsSqlDigit(Peek()) || Peek() == '.') ++at_;
    if (Peek() != 'e' && Peek() != 'E') return;
    const size_t sign = Peek(1) == '+' || Peek(1) == '-' ? 1 : 0;
    if (!IsSqlDigit(Peek(1 + sign))) return;
    at_ += 1 + sign;
    while (IsSqlDigit(Peek())) ++at_;
  }

  absl::Status ReadSymbol() {
    constexpr std::array<std::string_view, 6> kPairs = {"<<", ">>", "<=", ">=", "<>", "!="};
    if (absl::ascii_iscntrl(static_cast<unsigned char>(Peek()))) {
      return SqlError("a control character is not part of a statement", {at_, at_ + 1});
    }
    const bool is_pair = std::find(kPairs.begin(), kPairs.end(), text_.substr(at_, 2)) != kPairs.end();
    at_ += is_pair ? 2 : 1;
    while (!AtEnd() && IsInsideOfCharacter(Peek())) ++at_;
    return absl::OkStatus();
  }

  const std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<SqlToken>> TokenizeSql(std::string_view statement) { return SqlScanner(statement).Run(); }

bool IsSqlKeyword(std::string_view word) { return engine::partiql::IsKeyword(word); }

std::string QuotedName(std::string_view name) {
  const bool is_bare = !name.empty() && BeginsSqlWord(name.front()) && !IsSqlKeyword(name) &&
                       std::all_of(name.begin(), name.end(), [](char c) { return BeginsSqlWord(c) || IsSqlDigit(c); });
  if (is_bare) return std::string(name);
  return Cat("\"", absl::StrReplaceAll(Av(name), {{"\"", "\"\""}}), "\"");
}

std::string QuotedText(std::string_view text) { return Cat("'", absl::StrReplaceAll(Av(text), {{"'", "''"}}), "'"); }

SqlTokenReader::SqlTokenReader(std::vector<SqlToken> tokens) : tokens_(std::move(tokens)) {
  if (tokens_.empty()) tokens_.emplace_back();
}

const SqlToken& SqlTokenReader::Peek(size_t ahead) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }

SqlToken SqlTokenReader::Take() {
  SqlToken token = Peek();
  if (at_ + 1 < tokens_.size()) ++at_;
  end_of_last_ = token.place.end;
  return token;
}

bool SqlTokenReader::IsWord(std::string_view word, size_t ahead) const {
  const SqlToken& token = Peek(ahead);
  return token.kind == SqlTokenKind::kWord && absl::EqualsIgnoreCase(token.text, Av(word));
}

bool SqlTokenReader::IsSymbol(std::string_view symbol, size_t ahead) const {
  return Peek(ahead).kind == SqlTokenKind::kSymbol && Peek(ahead).text == symbol;
}

bool SqlTokenReader::TryWord(std::string_view word) {
  if (!IsWord(word)) return false;
  Take();
  return true;
}

bool SqlTokenReader::TrySymbol(std::string_view symbol) {
  if (!IsSymbol(symbol)) return false;
  Take();
  return true;
}

absl::Status SqlTokenReader::TakeWord(std::string_view word) {
  return TryWord(word) ? absl::OkStatus() : Expected(word);
}

absl::Status SqlTokenReader::TakeSymbol(std::string_view symbol) {
  return TrySymbol(symbol) ? absl::OkStatus() : Expected(symbol);
}

absl::StatusOr<std::string> SqlTokenReader::TakeName(std::string_view what) {
  if (Peek().kind == SqlTokenKind::kWord && IsSqlKeyword(Peek().text)) {
    return SqlError(Cat(Peek().text, " is a keyword; as the name of ", what, " it is written \"", Peek().text, "\""),
                    Peek().place);
  }
  return TakeAnyName(what);
}

absl::StatusOr<std::string> SqlTokenReader::TakeAnyName(std::string_view what) {
  if (Peek().kind == SqlTokenKind::kText) {
    return SqlError(Cat("'", Peek().text, "' is a text; ", what, " is written \"", Peek().text, "\""), Peek().place);
  }
  if ((Peek().kind != SqlTokenKind::kWord && Peek().kind != SqlTokenKind::kName) || Peek().text.empty()) {
    return Expected(Cat("the name of ", what));
  }
  return Take().text;
}

absl::StatusOr<int64_t> SqlTokenReader::TakeCount(std::string_view what, int64_t min, int64_t max) {
  const SqlToken& token = Peek();
  int64_t number = 0;
  const char* const end = token.text.data() + token.text.size();
  const auto parsed = std::from_chars(token.text.data(), end, number);
  if (token.kind != SqlTokenKind::kNumber || parsed.ec != std::errc() || parsed.ptr != end || number < min ||
      number > max) {
    return Expected(Cat(what, ", a whole number from ", min, " to ", max));
  }
  Take();
  return number;
}

absl::Status SqlTokenReader::TakeEnd() {
  while (TrySymbol(";")) {
  }
  return AtEnd() ? absl::OkStatus() : Expected("the end of the statement");
}

absl::Status SqlTokenReader::Expected(std::string_view what) const {
  if (AtEnd()) return SqlError(Cat("the statement ends where ", what, " is expected"), Peek().place);
  return SqlError(Cat(what, " is expected here"), Peek().place);
}

}  // namespace armature::cli
