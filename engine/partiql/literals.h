#ifndef ARMATURE_ENGINE_PARTIQL_LITERALS_H_
#define ARMATURE_ENGINE_PARTIQL_LITERALS_H_

// The tokens of a statement as its parsers read them, and the parser of paths and literals.

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/expr/ast.h"
#include "engine/partiql/lexer.h"
#include "engine/partiql/refusals.h"

namespace armature::engine::partiql {

// A position in the tokens of a statement.
class TokenReader {
 public:
  explicit TokenReader(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& Peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  // True at the end of the statement, which a semicolon may mark.
  bool AtEnd() const { return Peek().kind == TokenKind::kEnd || IsSymbol(";"); }
  // Error unless the statement ends here, with at most one semicolon.
  absl::Status TakeEnd();
  Token Take();
  bool IsWord(std::string_view word, size_t ahead = 0) const;
  bool IsSymbol(std::string_view symbol, size_t ahead = 0) const;
  // True, and past the token, if the next one is this.
  bool TryWord(std::string_view word);
  bool TrySymbol(std::string_view symbol);
  // Error unless the next token is this.
  absl::Status TakeWord(std::string_view word);
  absl::Status TakeSymbol(std::string_view symbol);
  // The error at the next token, which no rule of the grammar expects.
  absl::Status Unexpected() const;

 private:
  std::vector<Token> tokens_;
  size_t at_ = 0;
};

// State that the parsers of one statement share, beside its tokens.
struct StatementContext {
  const std::vector<std::string>* parameters = nullptr;  // values of the question marks, valid ones
  size_t parameters_used = 0;
  size_t operators = 0;  // of the WHERE clause
  Refusals refusals;
};

// Reads a path. Errors: ValidationException.
absl::StatusOr<expr::DocumentPath> ReadPath(TokenReader* tokens);

// True for a name in quotes, or a word that may stand for a name.
bool IsName(const Token& token);

// True if a literal or a parameter begins here.
bool BeginsLiteral(const TokenReader& tokens);

// Reads a literal or a parameter: the canonical wire form of an AttributeValue. A value that the service refuses is
// noted, and what is returned for it is never used. Errors: ValidationException for what is not of the grammar.
absl::StatusOr<std::string> ReadLiteral(TokenReader* tokens, StatementContext* context);

// Reads the value of an INSERT, a map without its type: the wire form of an Item.
absl::StatusOr<std::string> ReadItemLiteral(TokenReader* tokens, StatementContext* context);

// Reads past the call that begins here, to its last parenthesis.
absl::Status SkipCall(TokenReader* tokens);

}  // namespace armature::engine::partiql

#endif  // ARMATURE_ENGINE_PARTIQL_LITERALS_H_
