#include "engine/partiql/literals.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "engine/partiql/statement.h"
#include "engine/partiql/words.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/item_codec.h"
#include "storage/model/constraint_list.h"
#include "storage/model/item_errors.h"
#include "storage/model/item_view.h"
#include "storage/model/number.h"
#include "storage/model/wire.h"

namespace armature::engine::partiql {
namespace {

using model::ValueType;

std::string TypedValue(ValueType type, std::string_view body) {
  std::string wire;
  model::AppendBytesField(static_cast<uint32_t>(type), body, &wire);
  return wire;
}

std::string FlagValue(ValueType type, bool value) {
  return {static_cast<char>(model::WireTag(static_cast<uint32_t>(type), model::WireType::kVarint)),
          static_cast<char>(value ? 1 : 0)};
}

constexpr char kBagRefusal[] = "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags";
// A value this many levels inside the value that it is part of is refused.
constexpr int kLiteralDepthMax = 32;

// The place of a value in a literal, which errors name. It is written for errors only: each of a thousand values may
// lie in maps with long names.
struct LiteralPlace {
  const LiteralPlace* outer = nullptr;  // null: the whole literal
  std::string_view name;                // of an entry of a map
  std::optional<size_t> index;          // of an element of a list

  std::string Text() const {
    if (outer == nullptr) return "root";
    return index.has_value() ? Cat(outer->Text(), "[", *index, "]") : Cat(outer->Text(), ".", name);
  }
};

// Reads values inside a literal. `depth` is the distance of a value from the whole one.
class LiteralReader {
 public:
  LiteralReader(TokenReader* tokens, StatementContext* context) : tokens_(tokens), context_(context) {}

  absl::StatusOr<std::string> ReadValue(const LiteralPlace& place, int depth) {
    if (depth == kLiteralDepthMax) Refuse(Cat(model::kNestingRefusal, " under ", place.Text()));
    if (depth > kDepthMax) {
      const absl::Status first = context_->refusals.First();
      return first.ok() ? ValidationError(model::kNestingRefusal) : first;
    }
    const Token& token = tokens_->Peek();
    if (token.kind == TokenKind::kString) return TypedValue(ValueType::kString, tokens_->Take().text);
    if (token.kind == TokenKind::kNumber || tokens_->IsSymbol("-") || tokens_->IsSymbol("+")) {
      ARM_ASSIGN_OR_RETURN(const Numeral number, ReadNumber(place));
      return TypedValue(ValueType::kNumber, number.text);
    }
    if (token.kind == TokenKind::kWord && tokens_->IsSymbol("(", 1)) return ReadCall(place, depth);
    if (tokens_->TryWord("TRUE")) return FlagValue(ValueType::kBool, true);
    if (tokens_->TryWord("FALSE")) return FlagValue(ValueType::kBool, false);
    if (tokens_->TryWord("NULL")) return FlagValue(ValueType::kNull, true);
    if (tokens_->IsSymbol("?")) return ReadParameter(place, depth);
    if (tokens_->IsSymbol("[")) return ReadList(place, depth);
    if (tokens_->IsSymbol("<<")) return ReadSet(place, depth);
    if (tokens_->IsSymbol("{")) {
      ARM_ASSIGN_OR_RETURN(const std::string entries, ReadMap(&place, depth));
      return TypedValue(ValueType::kMap, entries);
    }
    return tokens_->Unexpected();
  }

  // The entries of an item. Each of them is a whole value.
  absl::StatusOr<std::string> ReadItem() { return ReadMap(nullptr, -1); }

 private:
  struct Numeral {
    std::string text;
    Position position;
  };

  void Refuse(std::string_view text) { context_->refusals.Note(ValidationError(text)); }

  // Error unless the next token ends an element.
  absl::Status CheckSeparator(std::string_view end, std::string_view name) const {
    if (tokens_->AtEnd() || tokens_->IsSymbol(",") || tokens_->IsSymbol(end)) return absl::OkStatus();
    return MalformedError(Cat("Expected ", name));
  }

  absl::StatusOr<std::string> ReadMap(const LiteralPlace* map, int depth) {
    ARM_RETURN_IF_ERROR(tokens_->TakeSymbol("{"));
    std::string entries;
    if (tokens_->TrySymbol("}")) return entries;
    do {
      if (tokens_->Peek().kind != TokenKind::kString) return tokens_->Unexpected();
      const std::string name = tokens_->Take().text;
      if (name.empty()) Refuse("Path component cannot be an empty string");
      ARM_RETURN_IF_ERROR(tokens_->TakeSymbol(":"));
      const LiteralPlace place = map == nullptr ? LiteralPlace() : LiteralPlace{map, name, std::nullopt};
      ARM_ASSIGN_OR_RETURN(const std::string value, ReadValue(place, depth + 1));
      std::string entry;
      model::AppendBytesField(1, name, &entry);
      model::AppendBytesField(2, value, &entry);
      model::AppendBytesField(1, entry, &entries);
      ARM_RETURN_IF_ERROR(CheckSeparator("}", "RIGHT_CURLY"));
    } while (tokens_->TrySymbol(","));
    ARM_RETURN_IF_ERROR(tokens_->TakeSymbol("}"));
    return entries;
  }

  // A number behind any number of signs.
  absl::StatusOr<Numeral> ReadNumber(const LiteralPlace& place) {
    Numeral number;
    number.position = tokens_->Peek().position;
    bool negative = false;
    while (tokens_->IsSymbol("-") || tokens_->IsSymbol("+")) negative ^= tokens_->Take().text == "-";
    const Token token = tokens_->Peek();
    if (token.kind != TokenKind::kNumber) return MalformedError(kUnexpectedTerm);
    tokens_->Take();
    if (token.position.line == number.position.line) {
      number.position.length = token.position.column + token.position.length - number.position.column;
    }
    number.text = Cat(negative ? "-" : "", token.text);
    const absl::Status valid = model::Number::ParseScaled(number.text).status();
    if (const std::optional<ApiError> error = GetApiError(valid); error.has_value()) {
      Refuse(Cat(error->message, " under ", place.Text()));
      number.text = "0";
    }
    return number;
  }

  // A call is no value.
  absl::StatusOr<std::string> ReadCall(const LiteralPlace& place, int depth) {
    const Token name = tokens_->Peek();
    const std::string shown = depth == 0 ? absl::AsciiStrToLower(name.text) : "Call";
    Refuse(Cat("Unsupported data type: ", shown, " under key ", place.Text(), " at ", Printed(name.position)));
    ARM_RETURN_IF_ERROR(SkipCall(tokens_));
    return FlagValue(ValueType::kNull, true);
  }

  // A parameter stands for a whole value, and for no part of one.
  absl::StatusOr<std::string> ReadParameter(const LiteralPlace& place, int depth) {
    const Position position = tokens_->Take().position;
    const size_t number = context_->parameters_used++;
    if (depth > 0) Refuse(ParameterRefusal(place, position));
    // The number of parameters is checked behind the statement, where it is known.
    return number < context_->parameters->size() ? (*context_->parameters)[number] : FlagValue(ValueType::kNull, true);
  }

  static std::string ParameterRefusal(const LiteralPlace& place, const Position& position) {
    return Cat("Unsupported data type: Parameter under key ", place.Text(), " at ", Printed(position));
  }

  absl::StatusOr<std::string> ReadList(const LiteralPlace& place, int depth) {
    tokens_->Take();
    std::string elements;
    if (!tokens_->TrySymbol("]")) {
      size_t index = 0;
      do {
        ARM_ASSIGN_OR_RETURN(const std::string value, ReadValue({&place, {}, index++}, depth + 1));
        model::AppendBytesField(model::kElementsField, value, &elements);
        ARM_RETURN_IF_ERROR(CheckSeparator("]", "RIGHT_BRACKET"));
      } while (tokens_->TrySymbol(","));
      ARM_RETURN_IF_ERROR(tokens_->TakeSymbol("]"));
    }
    return TypedValue(ValueType::kList, elements);
  }

  // A member of a set, and what is wrong with it beside other members: it is refused behind the first one, in the words
  // for its kind if it has some.
  struct Member {
    enum class Kind : uint8_t { kString, kNumber, kNull, kParameter, kOther };
    Kind kind = Kind::kOther;
    std::string text;
    Position position;
  };

  absl::StatusOr<Member> ReadMember(const LiteralPlace& place, int depth) {
    Member member;
    member.position = tokens_->Peek().position;
    if (tokens_->Peek().kind == TokenKind::kString) {
      member.kind = Member::Kind::kString;
      member.text = tokens_->Take().text;
    } else if (tokens_->Peek().kind == TokenKind::kNumber || tokens_->IsSymbol("-") || tokens_->IsSymbol("+")) {
      ARM_ASSIGN_OR_RETURN(Numeral number, ReadNumber(place));
      member = {Member::Kind::kNumber, std::move(number.text), number.position};
    } else if (tokens_->TryWord("NULL")) {
      member.kind = Member::Kind::kNull;
    } else if (tokens_->TrySymbol("?")) {
      ++context_->parameters_used;
      member.kind = Member::Kind::kParameter;
    } else if (IsName(tokens_->Peek()) && !tokens_->IsSymbol("(", 1)) {
      ARM_RETURN_IF_ERROR(ReadPath(tokens_).status());
    } else {
      // Its own faults come before those of the set.
      ARM_RETURN_IF_ERROR(ReadValue(place, depth + 1).status());
    }
    return member;
  }

  void RefuseMember(const Member& first, const Member& member, const LiteralPlace& place) {
    const bool is_first = &first == &member;
    if (member.kind == Member::Kind::kParameter && !is_first) {
      Refuse(ParameterRefusal(place, member.position));
    } else if (first.kind == Member::Kind::kNumber && member.kind == Member::Kind::kNull) {
      Refuse(Cat("One or more parameter values were invalid: Numeric sets may not contain null under ", place.Text()));
    } else if (first.kind == Member::Kind::kNumber) {
      Refuse(kBagRefusal);
    } else {
      Refuse(Cat(kBagRefusal, " at ", Printed(member.position)));
    }
  }

  absl::StatusOr<std::string> ReadSet(const LiteralPlace& place, int depth) {
    tokens_->Take();
    if (tokens_->TrySymbol(">>")) {
      Refuse("Empty bags are not supported");
      return FlagValue(ValueType::kNull, true);
    }
    std::vector<Member> members;
    do {
      ARM_ASSIGN_OR_RETURN(Member member, ReadMember(place, depth));
      members.push_back(std::move(member));
      ARM_RETURN_IF_ERROR(CheckSeparator(">>", "RIGHT_DOUBLE_ANGLE_BRACKET"));
    } while (tokens_->TrySymbol(","));
    ARM_RETURN_IF_ERROR(tokens_->TakeSymbol(">>"));
    return SetOf(members, place);
  }

  // A set has the kind of its first member.
  absl::StatusOr<std::string> SetOf(const std::vector<Member>& members, const LiteralPlace& place) {
    const Member::Kind kind = members.front().kind;
    const bool are_numbers = kind == Member::Kind::kNumber;
    std::string elements;
    std::vector<std::string> texts;
    for (const Member& member : members) {
      if (member.kind != kind || (kind != Member::Kind::kString && !are_numbers)) {
        RefuseMember(members.front(), member, place);
        return FlagValue(ValueType::kNull, true);
      }
      model::AppendBytesField(model::kElementsField, member.text, &elements);
      texts.push_back(member.text);
    }
    std::string wire = TypedValue(are_numbers ? ValueType::kNumberSet : ValueType::kStringSet, elements);
    const absl::Status valid = codec::CanonicalizeValue(wire).status();
    if (const std::optional<ApiError> error = GetApiError(valid); error.has_value()) {
      // Only numbers that repeat each other are named as written, with their place.
      Refuse(are_numbers ? Cat("One or more parameter values were invalid: Input collection ",
                               model::PrintedList(texts), " contains duplicates! under ", place.Text())
                         : error->message);
    }
    return wire;
  }

  TokenReader* const tokens_;
  StatementContext* const context_;
};

absl::StatusOr<expr::PathElement> ReadIndex(TokenReader* tokens) {
  tokens->Take();
  expr::PathElement element;
  element.kind = expr::PathElement::Kind::kIndex;
  const Position begin = tokens->Peek().position;
  bool negative = false;
  while (tokens->IsSymbol("-") || tokens->IsSymbol("+")) negative ^= tokens->Take().text == "-";
  const Token number = tokens->Take();
  const bool has_leading_zero = number.text.size() > 1 && number.text[0] == '0';
  if (number.kind != TokenKind::kNumber || has_leading_zero || !absl::SimpleAtoi(number.text, &element.index) ||
      (negative && element.index != 0)) {
    return MalformedError(Cat("Unexpected path component at ", Printed(begin)));
  }
  ARM_RETURN_IF_ERROR(tokens->TakeSymbol("]"));
  return element;
}

}  // namespace

Token TokenReader::Take() {
  Token token = Peek();
  at_ = std::min(at_ + 1, tokens_.size() - 1);
  return token;
}

bool TokenReader::IsWord(std::string_view word, size_t ahead) const {
  return Peek(ahead).kind == TokenKind::kWord && SameWord(Peek(ahead).text, word);
}

bool TokenReader::IsSymbol(std::string_view symbol, size_t ahead) const {
  return Peek(ahead).kind == TokenKind::kSymbol && Peek(ahead).text == symbol;
}

bool TokenReader::TryWord(std::string_view word) {
  if (!IsWord(word)) return false;
  Take();
  return true;
}

bool TokenReader::TrySymbol(std::string_view symbol) {
  if (!IsSymbol(symbol)) return false;
  Take();
  return true;
}

absl::Status TokenReader::TakeWord(std::string_view word) { return TryWord(word) ? absl::OkStatus() : Unexpected(); }

absl::Status TokenReader::TakeSymbol(std::string_view symbol) {
  return TrySymbol(symbol) ? absl::OkStatus() : Unexpected();
}

absl::Status TokenReader::TakeEnd() {
  if (TrySymbol(";") && Peek().kind != TokenKind::kEnd) {
    return MalformedError("Unexpected token after semicolon. (Only one query is allowed.)");
  }
  return Peek().kind == TokenKind::kEnd ? absl::OkStatus() : Unexpected();
}

absl::Status TokenReader::Unexpected() const { return MalformedError(AtEnd() ? kUnexpectedTerm : kUnexpectedToken); }

bool IsName(const Token& token) {
  return token.kind == TokenKind::kName || (token.kind == TokenKind::kWord && !IsKeyword(token.text));
}

absl::StatusOr<expr::DocumentPath> ReadPath(TokenReader* tokens) {
  if (tokens->AtEnd()) return tokens->Unexpected();
  if (!IsName(tokens->Peek())) {
    return MalformedError(Cat("Unexpected path component at ", Printed(tokens->Peek().position)));
  }
  expr::DocumentPath path;
  path.elements.push_back({expr::PathElement::Kind::kName, tokens->Take().text, 0});
  for (;;) {
    if (tokens->TrySymbol(".")) {
      if (!IsName(tokens->Peek())) return MalformedError(kInvalidDotComponent);
      path.elements.push_back({expr::PathElement::Kind::kName, tokens->Take().text, 0});
    } else if (tokens->IsSymbol("[")) {
      ARM_ASSIGN_OR_RETURN(expr::PathElement index, ReadIndex(tokens));
      path.elements.push_back(std::move(index));
    } else {
      return path;
    }
  }
}

bool BeginsLiteral(const TokenReader& tokens) {
  const TokenKind kind = tokens.Peek().kind;
  if (kind == TokenKind::kString || kind == TokenKind::kNumber) return true;
  for (const std::string_view symbol : {"-", "+", "?", "[", "{", "<<"}) {
    if (tokens.IsSymbol(symbol)) return true;
  }
  return tokens.IsWord("TRUE") || tokens.IsWord("FALSE") || tokens.IsWord("NULL");
}

absl::StatusOr<std::string> ReadLiteral(TokenReader* tokens, StatementContext* context) {
  ARM_ASSIGN_OR_RETURN(std::string value, LiteralReader(tokens, context).ReadValue({}, 0));
  // Equal values are equal in bytes. Others are noted.
  absl::StatusOr<std::string> canonical = codec::CanonicalizeValue(value);
  return canonical.ok() ? *std::move(canonical) : std::move(value);
}

absl::StatusOr<std::string> ReadItemLiteral(TokenReader* tokens, StatementContext* context) {
  if (!tokens->TrySymbol("?")) return LiteralReader(tokens, context).ReadItem();
  // A parameter of type M.
  const size_t number = context->parameters_used++;
  if (number >= context->parameters->size()) return std::string();
  std::string_view rest = (*context->parameters)[number];
  model::WireField field;
  if (!model::TakeField(&rest, &field) || field.number != static_cast<uint32_t>(ValueType::kMap)) {
    return ValidationError("The value of an INSERT statement must be a map");
  }
  return std::string(field.bytes);
}

absl::Status SkipCall(TokenReader* tokens) {
  tokens->Take();
  size_t open = 0;
  do {
    if (tokens->Peek().kind == TokenKind::kEnd) return tokens->Unexpected();
    if (tokens->IsSymbol("(")) ++open;
    if (tokens->IsSymbol(")")) --open;
    tokens->Take();
  } while (open > 0);
  return absl::OkStatus();
}

}  // namespace armature::engine::partiql
