#ifndef ARMATURE_ENGINE_EXPR_LEXER_H_
#define ARMATURE_ENGINE_EXPR_LEXER_H_

// Splits an expression into tokens.

#include <string_view>
#include <vector>

#include "engine/expr/kind.h"
#include "engine/expr/token.h"

namespace armature::expr {

// All tokens of `text`, followed by kEnd. Keywords depend on `kind`: AND, OR, NOT, IN and BETWEEN in conditions; SET,
// REMOVE, ADD and DELETE in updates; upper or lower case. Other characters become kInvalid tokens, one each, which the
// parser refuses.
//
// Lifetime: tokens point into `text`.
std::vector<Token> Tokenize(ExpressionKind kind, std::string_view text);

}  // namespace armature::expr

#endif  // ARMATURE_ENGINE_EXPR_LEXER_H_
