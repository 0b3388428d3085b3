#ifndef ARMATURE_ENGINE_EXPR_LEXER_H_
#define ARMATURE_ENGINE_EXPR_LEXER_H_

// Cuts an expression into tokens.

#include <string_view>
#include <vector>

#include "engine/expr/kind.h"
#include "engine/expr/token.h"

namespace armature::expr {

// All tokens of `text`, with a kEnd behind the last. Which words are keywords depends on `kind`:
// AND, OR, NOT, IN and BETWEEN in conditions; SET, REMOVE, ADD and DELETE in updates; in any case.
// What is no token becomes kInvalid, one character each, for the parser to refuse.
//
// Lifetime: tokens point into `text`.
std::vector<Token> Tokenize(ExpressionKind kind, std::string_view text);

}  // namespace armature::expr

#endif  // ARMATURE_ENGINE_EXPR_LEXER_H_
