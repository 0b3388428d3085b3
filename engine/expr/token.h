#ifndef ARMATURE_ENGINE_EXPR_TOKEN_H_
#define ARMATURE_ENGINE_EXPR_TOKEN_H_

// Tokens of an expression.

#include <cstddef>
#include <cstdint>
#include <string_view>

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

// Lifetime: `text` points into the expression.
struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;  // empty for kEnd
  size_t position = 0;    // position of its first byte in the expression
};

}  // namespace armature::expr

#endif  // ARMATURE_ENGINE_EXPR_TOKEN_H_
