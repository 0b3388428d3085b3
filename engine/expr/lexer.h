#ifndef ARMATURE_ENGINE_EXPR_LEXER_H_
#define ARMATURE_ENGINE_EXPR_LEXER_H_

// Splits an expression into tokens.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/expr/ast.h"

namespace armature::expr {

enum class TokenKind : uint8_t {
  kEnd,
  kIdentifier,
  kNamePlaceholder,   // #name
  kValuePlaceholder,  // :name
  kDigits,
  kDot,
  kComma,
  kOpenParenthesis,
  kCloseParenthesis,
  kOpenBracket,
  kCloseBracket,
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kPlus,
  kMinus,
  kAnd,
  kOr,
  kNot,
  kIn,
  kBetween,
  kSet,
  kRemove,
  kAdd,
  kDelete,
  kInvalid,  // a character that starts no token
};

constexpr bool IsComparator(TokenKind kind) { return kind >= TokenKind::kEqual && kind <= TokenKind::kGreaterOrEqual; }

// True for a token that the limit on operators counts, in expressions of any kind. BETWEEN counts by its AND; kEqual
// counts where it is not an assignment.
constexpr bool IsOperator(TokenKind kind) { return kind >= TokenKind::kNotEqual && kind <= TokenKind::kIn; }

// Lifetime: `text` points into the expression.
struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;  // empty for kEnd
  size_t position = 0;    // position of its first byte in the expression
};

// All tokens of `text`, followed by kEnd. Keywords depend on `kind`: AND, OR, NOT, IN and BETWEEN in conditions; SET,
// REMOVE, ADD and DELETE in updates; upper or lower case. Other characters become kInvalid tokens, one each, which the
// parser refuses.
//
// Lifetime: tokens point into `text`.
std::vector<Token> Tokenize(ExpressionKind kind, std::string_view text);

}  // namespace armature::expr

#endif  // ARMATURE_ENGINE_EXPR_LEXER_H_
