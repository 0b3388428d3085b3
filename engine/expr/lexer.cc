#include "engine/expr/lexer.h"

#include "absl/strings/match.h"
#include "storage/base/strings.h"

namespace armature::expr {
namespace {

struct Keyword {
  std::string_view word;
  TokenKind kind;
};

constexpr Keyword kConditionKeywords[] = {{"AND", TokenKind::kAnd},
                                          {"OR", TokenKind::kOr},
                                          {"NOT", TokenKind::kNot},
                                          {"IN", TokenKind::kIn},
                                          {"BETWEEN", TokenKind::kBetween}};
constexpr Keyword kUpdateKeywords[] = {
    {"SET", TokenKind::kSet}, {"REMOVE", TokenKind::kRemove}, {"ADD", TokenKind::kAdd}, {"DELETE", TokenKind::kDelete}};
constexpr Keyword kSymbols[] = {
    {"<>", TokenKind::kNotEqual},
    {"<=", TokenKind::kLessOrEqual},
    {">=", TokenKind::kGreaterOrEqual},
    {"<", TokenKind::kLess},
    {">", TokenKind::kGreater},
    {"=", TokenKind::kEqual},
    {".", TokenKind::kDot},
    {",", TokenKind::kComma},
    {"(", TokenKind::kOpenParenthesis},
    {")", TokenKind::kCloseParenthesis},
    {"[", TokenKind::kOpenBracket},
    {"]", TokenKind::kCloseBracket},
    {"+", TokenKind::kPlus},
    {"-", TokenKind::kMinus},
};

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsWordPart(char c) { return IsLetter(c) || IsDigit(c) || c == '_'; }

// The end of the run of characters, starting at `from`, for which `belongs` is true.
template <class Predicate>
size_t Span(std::string_view text, size_t from, Predicate belongs) {
  size_t end = from;
  while (end < text.size() && belongs(text[end])) ++end;
  return end;
}

TokenKind WordKind(ExpressionKind kind, std::string_view word) {
  const auto find = [word](const auto& keywords) {
    for (const Keyword& keyword : keywords) {
      if (absl::EqualsIgnoreCase(Av(keyword.word), Av(word))) return keyword.kind;
    }
    return TokenKind::kIdentifier;
  };
  if (kind == ExpressionKind::kProjection) return TokenKind::kIdentifier;
  return kind == ExpressionKind::kUpdate ? find(kUpdateKeywords) : find(kConditionKeywords);
}

// Length of the UTF-8 character at the front of `rest`, so that errors do not split a character.
size_t CharacterLength(std::string_view rest) {
  size_t length = 1;
  while (length < rest.size() && length < 4 && (static_cast<uint8_t>(rest[length]) & 0xC0) == 0x80) {
    ++length;
  }
  return static_cast<uint8_t>(rest[0]) < 0x80 ? 1 : length;
}

// The first token of `rest`, which is not empty and does not start with a blank.
Token NextToken(ExpressionKind kind, std::string_view rest) {
  const char first = rest[0];
  if (IsLetter(first)) {
    const std::string_view word = rest.substr(0, Span(rest, 1, IsWordPart));
    return {WordKind(kind, word), word};
  }
  // A number has no leading zeros: "01" is two tokens.
  if (IsDigit(first)) return {TokenKind::kDigits, rest.substr(0, first == '0' ? 1 : Span(rest, 1, IsDigit))};
  if (first == '#' || first == ':') {
    const size_t end = Span(rest, 1, IsWordPart);
    if (end == 1) return {TokenKind::kInvalid, rest.substr(0, 1)};
    return {first == '#' ? TokenKind::kNamePlaceholder : TokenKind::kValuePlaceholder, rest.substr(0, end)};
  }
  for (const Keyword& symbol : kSymbols) {
    if (rest.substr(0, symbol.word.size()) == symbol.word) {
      return {symbol.kind, rest.substr(0, symbol.word.size())};
    }
  }
  return {TokenKind::kInvalid, rest.substr(0, CharacterLength(rest))};
}

}  // namespace

std::vector<Token> Tokenize(ExpressionKind kind, std::string_view text) {
  std::vector<Token> tokens;
  size_t position = Span(text, 0, IsBlank);
  while (position < text.size()) {
    Token token = NextToken(kind, text.substr(position));
    token.position = position;
    tokens.push_back(token);
    position = Span(text, position + token.text.size(), IsBlank);
  }
  tokens.push_back({TokenKind::kEnd, text.substr(text.size()), text.size()});
  return tokens;
}

}  // namespace armature::expr
