#ifndef ARMATURE_ENGINE_PARTIQL_LEXER_H_
#define ARMATURE_ENGINE_PARTIQL_LEXER_H_

// Tokens of a PartiQL statement.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace armature::engine::partiql {

// Place of a token: line and column from 1, length; both in characters.
struct Position {
  size_t line = 1;
  size_t column = 1;
  size_t length = 0;
};

// "line:column:length", as errors name a place.
std::string Printed(const Position& position);

enum class TokenKind : uint8_t {
  kEnd,
  kWord,    // a bare name or a keyword, as written
  kName,    // a name in double quotes, without them
  kString,  // a text in single quotes, without them
  kNumber,  // with a leading digit
  kSymbol,  // one of ( ) [ ] { } << >> . , : ; ? * + - = <> != < <= > >=
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;
  Position position;
};

// All tokens, the last one of kind kEnd. Blanks and comments separate tokens. Cost: linear in the text.
// Errors: ValidationException for a character that begins no token, an open comment, text or name, an empty name, and
// an exponent beyond 32 bits.
absl::StatusOr<std::vector<Token>> Tokenize(std::string_view statement);

// True if `word`, in any case, is a keyword: a path element with this name needs double quotes.
bool IsKeyword(std::string_view word);

// Equality without regard to the case of ASCII letters.
bool SameWord(std::string_view a, std::string_view b);

// ValidationException for a statement that is not of the grammar. `detail`: why; never empty, so that whoever wrote the
// statement learns it.
absl::Status MalformedError(std::string_view detail);

}  // namespace armature::engine::partiql

#endif  // ARMATURE_ENGINE_PARTIQL_LEXER_H_
