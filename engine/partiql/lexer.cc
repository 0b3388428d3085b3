#include "engine/partiql/lexer.h"

#include <algorithm>
#include <iterator>
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
      line_begin_ = at_ + 1;
    }
    ++at_;
  }

  absl::Status SkipBlanks() {
    while (!AtEnd()) {
      if (Peek() == '-' && Peek(1) == '-') {
        while (!AtEnd() && Peek() != '\n') Advance();
      } else if (Peek() == '/' && Peek(1) == '*') {
        while (!AtEnd() && !(Peek() == '*' && Peek(1) == '/')) Advance();
        if (AtEnd()) return MalformedError("");
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
    token.position = {line_, at_ - line_begin_ + 1, 0};
    const char c = Peek();
    if (AtEnd()) return token;
    if (BeginsWord(c)) {
      token.kind = TokenKind::kWord;
      while (BeginsWord(Peek()) || IsDigit(Peek())) Advance();
      token.text = std::string(text_.substr(begin, at_ - begin));
    } else if (c == '"' || c == '\'') {
      token.kind = c == '"' ? TokenKind::kName : TokenKind::kString;
      ARM_RETURN_IF_ERROR(ReadQuoted(c, &token.text));
      if (c == '"' && token.text.empty()) return MalformedError("Path component cannot be an empty string");
    } else if (IsDigit(c) || (c == '.' && IsDigit(Peek(1)))) {
      token.kind = TokenKind::kNumber;
      ARM_RETURN_IF_ERROR(ReadNumber(&token.text));
    } else {
      token.kind = TokenKind::kSymbol;
      ARM_RETURN_IF_ERROR(ReadSymbol(&token.text));
    }
    token.position.length = at_ - begin;
    return token;
  }

  absl::Status ReadQuoted(char quote, std::string* to) {
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
    return MalformedError("");
  }

  absl::Status ReadNumber(std::string* to) {
    if (Peek() == '.') to->push_back('0');
    const auto digits = [&] {
      while (IsDigit(Peek())) {
        to->push_back(Peek());
        Advance();
      }
    };
    digits();
    if (Peek() == '.') {
      Advance();
      if (IsDigit(Peek())) to->push_back('.');
      digits();
    }
    if (Peek() != 'e' && Peek() != 'E') return absl::OkStatus();
    const size_t signs = Peek(1) == '+' || Peek(1) == '-' ? 1 : 0;
    if (!IsDigit(Peek(1 + signs))) return absl::OkStatus();
    const size_t exponent = to->size() + 1;
    for (size_t i = 0; i < 1 + signs; ++i) {
      to->push_back(Peek());
      Advance();
    }
    digits();
    int32_t value = 0;
    const std::string_view written = std::string_view(*to).substr(exponent);
    return absl::SimpleAtoi(Av(written), &value) ? absl::OkStatus() : MalformedError("");
  }

  absl::Status ReadSymbol(std::string* to) {
    constexpr std::string_view kPairs[] = {"<<", ">>", "<=", ">=", "<>", "!="};
    const std::string_view two = text_.substr(at_, 2);
    if (std::find(std::begin(kPairs), std::end(kPairs), two) != std::end(kPairs)) {
      *to = std::string(two);
      Advance();
    } else if (std::string_view("()[]{}.,:?*+-=<>").find(Peek()) != std::string_view::npos) {
      *to = std::string(1, Peek());
    } else {
      return MalformedError("");
    }
    Advance();
    return absl::OkStatus();
  }

  const std::string_view text_;
  size_t at_ = 0;
  size_t line_ = 1;
  size_t line_begin_ = 0;
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
  return ValidationError(Cat("Statement wasn't well formed, can't be processed: ", detail));
}

}  // namespace armature::engine::partiql
