#include "engine/partiql/lexer.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::engine::partiql {
namespace {

// Keywords of SQL-92 and of PartiQL. Sorted.
constexpr std::string_view kKeywords[] = {
    "absolute",
    "action",
    "add",
    "all",
    "allocate",
    "alter",
    "and",
    "any",
    "are",
    "as",
    "asc",
    "assertion",
    "at",
    "authorization",
    "avg",
    "bag",
    "begin",
    "between",
    "bit",
    "bit_length",
    "blob",
    "bool",
    "boolean",
    "both",
    "by",
    "cascade",
    "cascaded",
    "case",
    "cast",
    "catalog",
    "char",
    "char_length",
    "character",
    "character_length",
    "check",
    "clob",
    "close",
    "coalesce",
    "collate",
    "collation",
    "column",
    "commit",
    "connect",
    "connection",
    "constraint",
    "constraints",
    "continue",
    "convert",
    "corresponding",
    "count",
    "create",
    "cross",
    "current",
    "current_date",
    "current_time",
    "current_timestamp",
    "current_user",
    "cursor",
    "date",
    "deallocate",
    "dec",
    "decimal",
    "declare",
    "default",
    "deferrable",
    "deferred",
    "delete",
    "desc",
    "describe",
    "descriptor",
    "diagnostics",
    "disconnect",
    "distinct",
    "domain",
    "double",
    "drop",
    "else",
    "end",
    "escape",
    "except",
    "exception",
    "exec",
    "execute",
    "exists",
    "external",
    "extract",
    "false",
    "fetch",
    "first",
    "float",
    "for",
    "foreign",
    "found",
    "from",
    "full",
    "get",
    "global",
    "go",
    "goto",
    "grant",
    "group",
    "having",
    "identity",
    "immediate",
    "in",
    "index",
    "indicator",
    "initially",
    "inner",
    "input",
    "insensitive",
    "insert",
    "int",
    "integer",
    "intersect",
    "interval",
    "into",
    "is",
    "isolation",
    "join",
    "key",
    "language",
    "last",
    "leading",
    "left",
    "let",
    "level",
    "like",
    "limit",
    "list",
    "local",
    "lower",
    "match",
    "max",
    "min",
    "missing",
    "module",
    "names",
    "national",
    "natural",
    "nchar",
    "next",
    "no",
    "not",
    "null",
    "nullif",
    "numeric",
    "octet_length",
    "of",
    "on",
    "only",
    "open",
    "option",
    "or",
    "order",
    "outer",
    "output",
    "overlaps",
    "pad",
    "partial",
    "pivot",
    "position",
    "precision",
    "prepare",
    "preserve",
    "primary",
    "prior",
    "privileges",
    "procedure",
    "public",
    "read",
    "real",
    "references",
    "relative",
    "remove",
    "restrict",
    "revoke",
    "right",
    "rollback",
    "rows",
    "schema",
    "scroll",
    "section",
    "select",
    "session",
    "session_user",
    "set",
    "sexp",
    "size",
    "smallint",
    "some",
    "space",
    "sql",
    "sqlcode",
    "sqlerror",
    "sqlstate",
    "string",
    "struct",
    "substring",
    "sum",
    "symbol",
    "system_user",
    "table",
    "temporary",
    "then",
    "time",
    "timestamp",
    "to",
    "trailing",
    "transaction",
    "translate",
    "translation",
    "trim",
    "true",
    "tuple",
    "union",
    "unique",
    "unknown",
    "unpivot",
    "update",
    "upper",
    "usage",
    "user",
    "using",
    "value",
    "values",
    "varchar",
    "varying",
    "view",
    "when",
    "whenever",
    "where",
    "with",
    "work",
    "write",
    "zone",
};
static_assert(std::is_sorted(std::begin(kKeywords), std::end(kKeywords)));

bool BeginsWord(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }
bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }
// True for a byte inside a character of UTF-8.
bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }
size_t Characters(std::string_view text) {
  return text.size() - static_cast<size_t>(std::count_if(text.begin(), text.end(), IsContinuation));
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  absl::StatusOr<std::vector<Token>> Run() {
    std::vector<Token> tokens;
    do {
      ARM_RETURN_IF_ERROR(SkipBlanks());
      ARM_ASSIGN_OR_RETURN(Token token, Next());
      tokens.push_back(std::move(token));
    } while (tokens.back().kind != TokenKind::kEnd);
    return tokens;
  }

 private:
  char Peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool AtEnd() const { return at_ == text_.size(); }
  void Advance() {
    if (text_[at_] == '\n') {
      ++line_;
      column_ = 1;
    } else if (!IsContinuation(text_[at_])) {
      ++column_;
    }
    ++at_;
  }
  Position Here(size_t length = 0) const { return {line_, column_, length}; }

  absl::Status SkipBlanks() {
    while (!AtEnd()) {
      if (Peek() == '-' && Peek(1) == '-') {
        while (!AtEnd() && Peek() != '\n') Advance();
      } else if (Peek() == '/' && Peek(1) == '*') {
        const Position begin = Here(2);
        Advance();
        Advance();
        while (!AtEnd() && !(Peek() == '*' && Peek(1) == '/')) Advance();
        if (AtEnd()) return MalformedError(Cat("Unterminated comment at ", Printed(begin)));
        Advance();
        Advance();
      } else if (absl::ascii_isspace(static_cast<unsigned char>(Peek()))) {
        Advance();
      } else {
        break;
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Token> Next() {
    const size_t begin = at_;
    Token token;
    token.position = Here(1);
    const char c = Peek();
    if (AtEnd()) return token;
    if (BeginsWord(c)) {
      token.kind = TokenKind::kWord;
      while (BeginsWord(Peek()) || IsDigit(Peek())) Advance();
      token.text = std::string(text_.substr(begin, at_ - begin));
    } else if (c == '"' || c == '\'') {
      token.kind = c == '"' ? TokenKind::kName : TokenKind::kString;
      ARM_RETURN_IF_ERROR(ReadQuoted(c, token.position, &token.text));
      if (c == '"' && token.text.empty()) return MalformedError("Path component cannot be an empty string");
    } else if (IsDigit(c) || (c == '.' && IsDigit(Peek(1)))) {
      token.kind = TokenKind::kNumber;
      ARM_RETURN_IF_ERROR(ReadNumber(token.position, &token.text));
    } else {
      token.kind = TokenKind::kSymbol;
      ARM_RETURN_IF_ERROR(ReadSymbol(&token.text));
    }
    token.position.length = Characters(text_.substr(begin, at_ - begin));
    return token;
  }

  absl::Status ReadQuoted(char quote, const Position& begin, std::string* to) {
    Advance();
    while (!AtEnd()) {
      if (Peek() == quote && Peek(1) != quote) {
        Advance();
        return absl::OkStatus();
      }
      if (Peek() == quote) Advance();  // a doubled quote stands for one
      to->push_back(Peek());
      Advance();
    }
    const std::string_view what =
        quote == '"' ? "Unterminated quoted identifier at " : "Unterminated string literal at ";
    return MalformedError(Cat(what, Printed(begin)));
  }

  // A number that the decimals of the service cannot hold is no token: neither its exponent nor its scale, the digits
  // behind the point less the exponent, may exceed 32 bits.
  absl::Status ReadNumber(const Position& begin, std::string* to) {
    if (Peek() == '.') to->push_back('0');
    const auto digits = [&] {
      while (IsDigit(Peek())) {
        to->push_back(Peek());
        Advance();
      }
    };
    digits();
    int64_t fraction_digits = 0;
    if (Peek() == '.') {
      Advance();
      if (IsDigit(Peek())) to->push_back('.');
      const size_t point = to->size();
      digits();
      fraction_digits = static_cast<int64_t>(to->size() - point);
    }
    if (Peek() != 'e' && Peek() != 'E') return absl::OkStatus();
    const size_t signs = Peek(1) == '+' || Peek(1) == '-' ? 1 : 0;
    const char first = Peek(1 + signs);
    if (!IsDigit(first)) {
      return BeginsWord(first) ? absl::OkStatus()
                               : MalformedError(Cat("Exponent without digits in the number at ", Printed(begin)));
    }
    const size_t exponent = to->size() + 1;
    for (size_t i = 0; i < 1 + signs; ++i) {
      to->push_back(Peek());
      Advance();
    }
    digits();
    int32_t value = 0;
    const std::string_view written = std::string_view(*to).substr(exponent);
    const bool fits = absl::SimpleAtoi(Av(written), &value) &&
                      std::abs(fraction_digits - int64_t{value}) <= std::numeric_limits<int32_t>::max();
    return fits ? absl::OkStatus() : MalformedError(Cat("Exponent out of range in the number at ", Printed(begin)));
  }

  absl::Status ReadSymbol(std::string* to) {
    constexpr std::string_view kPairs[] = {"<<", ">>", "<=", ">=", "<>", "!="};
    const std::string_view two = text_.substr(at_, 2);
    if (std::find(std::begin(kPairs), std::end(kPairs), two) != std::end(kPairs)) {
      *to = std::string(two);
      Advance();
    } else if (std::string_view("()[]{}.,:;?*+-=<>").find(Peek()) != std::string_view::npos) {
      *to = std::string(1, Peek());
    } else {
      size_t end = at_ + 1;
      while (end < text_.size() && IsContinuation(text_[end])) ++end;
      return MalformedError(Cat("Unexpected character '", text_.substr(at_, end - at_), "' at ", Printed(Here(1))));
    }
    Advance();
    return absl::OkStatus();
  }

  const std::string_view text_;
  size_t at_ = 0;
  size_t line_ = 1;
  size_t column_ = 1;
};

}  // namespace

std::string Printed(const Position& position) { return Cat(position.line, ":", position.column, ":", position.length); }

absl::StatusOr<std::vector<Token>> Tokenize(std::string_view statement) { return Scanner(statement).Run(); }

bool IsKeyword(std::string_view word) {
  const std::string lower = absl::AsciiStrToLower(Av(word));
  return std::binary_search(std::begin(kKeywords), std::end(kKeywords), lower);
}

bool SameWord(std::string_view a, std::string_view b) { return absl::EqualsIgnoreCase(Av(a), Av(b)); }

absl::Status MalformedError(std::string_view detail) {
  assert(!detail.empty());
  return ValidationError(Cat("Statement wasn't well formed, can't be processed: ", detail));
}

}  // namespace armature::engine::partiql
