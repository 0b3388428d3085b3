#include "engine/partiql/expression_statement.h"

#include <string_view>

#include "absl/status/statusor.h"
#include "engine/partiql/statement.h"
#include "engine/partiql/words.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::engine::partiql {
namespace {

// The kind of an operator, a comparison, a call or a query.
constexpr std::string_view kOperation = "";

// Reads an expression, and returns its kind as errors name it.
class ExpressionReader {
 public:
  using Kind = absl::StatusOr<std::string_view>;

  explicit ExpressionReader(TokenReader* tokens) : tokens_(tokens) {}

  Kind ReadExpression() {
    if (++depth_ > kDepthMax) return MalformedError("The expressions are nested too deeply");
    ARM_ASSIGN_OR_RETURN(std::string_view kind, ReadComparison());
    while (IsWord("OR") || IsWord("AND")) {
      tokens_->Take();
      ARM_RETURN_IF_ERROR(ReadRightSide());
      kind = kOperation;
    }
    --depth_;
    return kind;
  }

  // SET of a list of assignments, or REMOVE of a path.
  absl::Status ReadActions() {
    const bool is_remove = tokens_->TryWord("REMOVE");
    if (!is_remove) tokens_->Take();
    do {
      if (!IsName(tokens_->Peek())) return MalformedError(kExpectedPath);
      ARM_RETURN_IF_ERROR(ReadPath(tokens_).status());
      if (is_remove) return absl::OkStatus();
      ARM_RETURN_IF_ERROR(tokens_->TakeSymbol("="));
      ARM_RETURN_IF_ERROR(ReadExpression().status());
    } while (tokens_->TrySymbol(","));
    return absl::OkStatus();
  }

 private:
  bool IsWord(std::string_view word, size_t ahead = 0) const { return tokens_->IsWord(word, ahead); }

  absl::Status ReadRightSide() {
    return tokens_->AtEnd() ? MalformedError(kMissingRightHandSide) : ReadComparison().status();
  }

  absl::Status Take(std::string_view symbol, std::string_view name) {
    return tokens_->TrySymbol(symbol) ? absl::OkStatus() : MalformedError(Cat("Expected ", name));
  }

  Kind ReadComparison() {
    ARM_ASSIGN_OR_RETURN(const std::string_view kind, ReadSum());
    if (IsComparator(*tokens_)) {
      tokens_->Take();
      if (tokens_->AtEnd()) return MalformedError(kMissingRightHandSide);
      ARM_RETURN_IF_ERROR(ReadSum().status());
      return kOperation;
    }
    if (tokens_->TryWord("IS")) {
      const bool negated = tokens_->TryWord("NOT");
      if (tokens_->Take().kind != TokenKind::kWord) return MalformedError(kExpectedType);
      return negated ? kOperation : "IsType";
    }
    const size_t at = IsWord("NOT") ? 1 : 0;
    if (!IsWord("IN", at) && !IsWord("LIKE", at) && !IsWord("BETWEEN", at)) return kind;
    const bool is_between = IsWord("BETWEEN", at);
    for (size_t i = 0; i <= at; ++i) tokens_->Take();
    if (tokens_->AtEnd()) return MalformedError(kMissingRightHandSide);
    ARM_RETURN_IF_ERROR(ReadSum().status());
    if (!is_between) return kOperation;
    if (!tokens_->TryWord("AND")) return MalformedError(kExpectedAnd);
    if (tokens_->AtEnd()) return MalformedError(kExpectedBehindAnd);
    ARM_RETURN_IF_ERROR(ReadSum().status());
    return kOperation;
  }

  Kind ReadSum() {
    ARM_ASSIGN_OR_RETURN(std::string_view kind, ReadSigned());
    while (tokens_->IsSymbol("+") || tokens_->IsSymbol("-") || tokens_->IsSymbol("*")) {
      tokens_->Take();
      if (tokens_->AtEnd()) return MalformedError(kMissingRightHandSide);
      ARM_RETURN_IF_ERROR(ReadSigned().status());
      kind = kOperation;
    }
    return kind;
  }

  // A sign is part of a number, and an operation on anything else.
  Kind ReadSigned() {
    bool is_negated = false;
    bool is_signed = false;
    while (IsWord("NOT") || tokens_->IsSymbol("+") || tokens_->IsSymbol("-")) {
      (IsWord("NOT") ? is_negated : is_signed) = true;
      tokens_->Take();
    }
    const bool is_number = tokens_->Peek().kind == TokenKind::kNumber;
    ARM_ASSIGN_OR_RETURN(const std::string_view kind, ReadTerm());
    return is_negated || (is_signed && !is_number) ? kOperation : kind;
  }

  Kind ReadTerm() {
    if (tokens_->AtEnd()) return MalformedError(kUnexpectedTerm);
    if (tokens_->Peek().kind == TokenKind::kNumber) {
      tokens_->Take();
      return "Lit";
    }
    ARM_ASSIGN_OR_RETURN(std::string_view kind, ReadPrimary());
    for (;;) {
      if (tokens_->TrySymbol(".")) {
        const TokenKind step = tokens_->Peek().kind;
        if (step != TokenKind::kWord && step != TokenKind::kName && !tokens_->IsSymbol("*")) {
          return MalformedError(kInvalidDotComponent);
        }
        tokens_->Take();
      } else if (tokens_->TrySymbol("[")) {
        if (!tokens_->TrySymbol("*")) ARM_RETURN_IF_ERROR(ReadExpression().status());
        ARM_RETURN_IF_ERROR(Take("]", "RIGHT_BRACKET"));
      } else {
        return kind;
      }
      kind = "Path";
    }
  }

  Kind ReadPrimary() {
    const Token token = tokens_->Peek();
    if (token.kind == TokenKind::kString || IsAnyWord(*tokens_, kLiterals)) {
      tokens_->Take();
      return "Lit";
    }
    if (tokens_->TryWord("MISSING")) return "Missing";
    if (tokens_->TrySymbol("?")) return "Parameter";
    if (tokens_->TrySymbol("[")) return ReadElements("List", "]", "RIGHT_BRACKET");
    if (tokens_->TrySymbol("<<")) return ReadElements("Bag", ">>", "RIGHT_DOUBLE_ANGLE_BRACKET");
    if (tokens_->TrySymbol("{")) return ReadStruct();
    if (tokens_->TrySymbol("(")) return ReadParenthesized();
    if (tokens_->TryWord("CASE")) return ReadCase();
    if (IsComparator(*tokens_) || IsAnyWord(*tokens_, kOperatorWords)) return MalformedError(kUnexpectedOperator);
    if (IsWord("SELECT")) return ReadQuery();
    if (tokens_->TryWord("FROM")) {
      return MalformedError(IsName(tokens_->Peek()) ? kExpectedManipulation : kUnexpectedTerm);
    }
    const bool is_word = token.kind == TokenKind::kWord;
    const bool is_call = is_word && tokens_->IsSymbol("(", 1);
    if (IsAnyWord(*tokens_, kClauseWords) || IsAnyWord(*tokens_, kCaseWords) || (IsWord("EXISTS") && !is_call)) {
      return MalformedError(kUnexpectedKeyword);
    }
    if (!is_word && token.kind != TokenKind::kName) return MalformedError(kUnexpectedTerm);
    tokens_->Take();
    if (!is_call) return "Id";
    tokens_->Take();
    return ReadElements(kOperation, ")", "RIGHT_PAREN");
  }

  Kind ReadElements(std::string_view kind, std::string_view end, std::string_view name) {
    if (tokens_->TrySymbol(end)) return kind;
    do {
      ARM_RETURN_IF_ERROR(ReadExpression().status());
    } while (tokens_->TrySymbol(","));
    ARM_RETURN_IF_ERROR(Take(end, name));
    return kind;
  }

  Kind ReadStruct() {
    if (tokens_->TrySymbol("}")) return "Struct";
    do {
      ARM_RETURN_IF_ERROR(ReadExpression().status());
      ARM_RETURN_IF_ERROR(Take(":", "COLON"));
      ARM_RETURN_IF_ERROR(ReadExpression().status());
    } while (tokens_->TrySymbol(","));
    ARM_RETURN_IF_ERROR(Take("}", "RIGHT_CURLY"));
    return "Struct";
  }

  Kind ReadParenthesized() {
    ARM_ASSIGN_OR_RETURN(const std::string_view kind, ReadExpression());
    ARM_RETURN_IF_ERROR(Take(")", "RIGHT_PAREN"));
    return kind;
  }

  // A query, as far as the parenthesis around it.
  Kind ReadQuery() {
    tokens_->Take();
    if (tokens_->AtEnd()) return MalformedError(kUnexpectedTerm);
    for (size_t open = 0; !tokens_->AtEnd(); tokens_->Take()) {
      if (tokens_->IsSymbol("(")) ++open;
      if (!tokens_->IsSymbol(")")) continue;
      if (open == 0) break;
      --open;
    }
    return kOperation;
  }

  Kind ReadCase() {
    if (tokens_->AtEnd()) return MalformedError(kUnexpectedTerm);
    const bool is_searched = IsWord("WHEN");
    if (!is_searched) ARM_RETURN_IF_ERROR(ReadExpression().status());
    if (!IsWord("WHEN")) return MalformedError("Expected a WHEN clause in CASE");
    while (tokens_->TryWord("WHEN")) {
      ARM_RETURN_IF_ERROR(ReadExpression().status());
      if (!tokens_->TryWord("THEN")) return MalformedError("Expected THEN keyword");
      ARM_RETURN_IF_ERROR(ReadExpression().status());
    }
    if (tokens_->TryWord("ELSE")) ARM_RETURN_IF_ERROR(ReadExpression().status());
    if (!tokens_->TryWord("END")) return MalformedError("Expected END keyword");
    return is_searched ? "SearchedCase" : "SimpleCase";
  }

  static constexpr std::string_view kLiterals[] = {"TRUE", "FALSE", "NULL"};

  TokenReader* const tokens_;
  int depth_ = 0;
};

}  // namespace

absl::Status ExpressionStatementError(TokenReader* tokens) {
  ExpressionReader reader(tokens);
  if (tokens->IsWord("SET") || tokens->IsWord("REMOVE")) {
    ARM_RETURN_IF_ERROR(reader.ReadActions());
    ARM_RETURN_IF_ERROR(tokens->TakeEnd());
    return ValidationError("Only select from a single table or index is supported.");
  }
  ARM_ASSIGN_OR_RETURN(const std::string_view kind, reader.ReadExpression());
  ARM_RETURN_IF_ERROR(tokens->TakeEnd());
  return kind == kOperation ? ValidationError(kExistsOutside) : ValidationError(Cat("Unsupported operation: ", kind));
}

}  // namespace armature::engine::partiql
