#ifndef ARMATURE_ENGINE_PARTIQL_LITERALS_H_
#define ARMATURE_ENGINE_PARTIQL_LITERALS_H_

// The tokens of a statement as its parsers read them, and the parser of paths and literals.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/expr/ast.h"
#include "engine/partiql/lexer.h"

namespace armature::engine::partiql {

// A position in the tokens of a statement.
class TokenReader {
 public:
  explicit TokenReader(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& Peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  bool AtEnd() const { return Peek().kind == TokenKind::kEnd; }
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

// The values of the question marks.
struct Parameters {
  const std::vector<std::string>* values = nullptr;
  size_t used = 0;
};

// Reads a path. Errors: ValidationException.
absl::StatusOr<expr::DocumentPath> ReadPath(TokenReader* tokens);

// True if a literal or a parameter begins here.
bool BeginsLiteral(const TokenReader& tokens);

// Reads a literal or a parameter: the canonical wire form of an AttributeValue, or another one that the operations on
// items refuse. Errors: ValidationException; a literal has no parameters inside.
absl::StatusOr<std::string> ReadLiteral(TokenReader* tokens, Parameters* parameters);

// Reads a map without its type: the wire form of an Item. Its values may be parameters.
absl::StatusOr<std::string> ReadItemLiteral(TokenReader* tokens, Parameters* parameters);

}  // namespace armature::engine::partiql

#endif  // ARMATURE_ENGINE_PARTIQL_LITERALS_H_
