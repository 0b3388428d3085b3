#include "engine/partiql/literals.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/strings/numbers.h"
#include "engine/partiql/statement.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/item_codec.h"
#include "storage/model/item_view.h"
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

// Reads values inside a literal.
class LiteralReader {
 public:
  // `parameters_depth`: the level at which values may be parameters.
  LiteralReader(TokenReader* tokens, Parameters* parameters, int parameters_depth)
      : tokens_(tokens), parameters_(parameters), parameters_depth_(parameters_depth) {}

  absl::StatusOr<std::string> ReadValue(const LiteralPlace& path, int depth) {
    if (depth > kDepthMax) return ValidationError("Nesting Levels have exceeded supported limits");
    const Token& token = tokens_->Peek();
    if (token.kind == TokenKind::kString) return TypedValue(ValueType::kString, tokens_->Take().text);
    if (token.kind == TokenKind::kNumber) return ReadNumber("", path);
    if (tokens_->IsSymbol("-") && tokens_->Peek(1).kind == TokenKind::kNumber) {
      tokens_->Take();
      return ReadNumber("-", path);
    }
    if (tokens_->TryWord("TRUE")) return FlagValue(ValueType::kBool, true);
    if (tokens_->TryWord("FALSE")) return FlagValue(ValueType::kBool, false);
    if (tokens_->TryWord("NULL")) return FlagValue(ValueType::kNull, true);
    if (tokens_->TrySymbol("?")) {
      if (depth == parameters_depth_) return TakeParameter();
      return ValidationError(Cat("Parameters are not supported within a literal under ", path.Text()));
    }
    if (tokens_->IsSymbol("[")) return ReadList(path, depth);
    if (tokens_->IsSymbol("<<")) return ReadSet(path, depth);
    if (tokens_->IsSymbol("{")) {
      ARM_ASSIGN_OR_RETURN(const std::string entries, ReadMap(path, depth));
      return TypedValue(ValueType::kMap, entries);
    }
    return tokens_->Unexpected();
  }

  absl::StatusOr<std::string> ReadMap(const LiteralPlace& path, int depth) {
    ARM_RETURN_IF_ERROR(tokens_->TakeSymbol("{"));
    std::string entries;
    if (tokens_->TrySymbol("}")) return entries;
    do {
      if (tokens_->Peek().kind != TokenKind::kString) return tokens_->Unexpected();
      const std::string name = tokens_->Take().text;
      ARM_RETURN_IF_ERROR(tokens_->TakeSymbol(":"));
      ARM_ASSIGN_OR_RETURN(const std::string value, ReadValue({&path, name, std::nullopt}, depth + 1));
      std::string entry;
      model::AppendBytesField(1, name, &entry);
      model::AppendBytesField(2, value, &entry);
      model::AppendBytesField(1, entry, &entries);
    } while (tokens_->TrySymbol(","));
    ARM_RETURN_IF_ERROR(tokens_->TakeSymbol("}"));
    return entries;
  }

 private:
  absl::StatusOr<std::string> ReadNumber(std::string_view sign, const LiteralPlace& path) {
    const std::string wire = TypedValue(ValueType::kNumber, Cat(sign, tokens_->Take().text));
    absl::StatusOr<std::string> canonical = codec::CanonicalizeValue(wire);
    if (const std::optional<ApiError> error = GetApiError(canonical.status()); error.has_value()) {
      return ValidationError(Cat(error->message, " under ", path.Text()));
    }
    return canonical;
  }

  absl::StatusOr<std::string> TakeParameter() {
    const size_t number = parameters_->used++;
    // The number of parameters is checked behind the statement, where it is known.
    if (number >= parameters_->values->size()) return FlagValue(ValueType::kNull, true);
    return codec::CanonicalizeValue((*parameters_->values)[number]);
  }

  absl::StatusOr<std::string> ReadList(const LiteralPlace& path, int depth) {
    tokens_->Take();
    std::string elements;
    if (!tokens_->TrySymbol("]")) {
      size_t index = 0;
      do {
        ARM_ASSIGN_OR_RETURN(const std::string value, ReadValue({&path, {}, index++}, depth + 1));
        model::AppendBytesField(model::kElementsField, value, &elements);
      } while (tokens_->TrySymbol(","));
      ARM_RETURN_IF_ERROR(tokens_->TakeSymbol("]"));
    }
    return TypedValue(ValueType::kList, elements);
  }

  // A set has the type of its first element.
  absl::StatusOr<std::string> ReadSet(const LiteralPlace& path, int depth) {
    tokens_->Take();
    if (tokens_->TrySymbol(">>")) return ValidationError("Empty bags are not supported");
    std::string elements;
    std::optional<uint32_t> type;
    do {
      ARM_ASSIGN_OR_RETURN(const std::string value, ReadValue(path, depth + 1));
      std::string_view rest = value;
      model::WireField field;
      const bool is_scalar = model::TakeField(&rest, &field) && field.type == model::WireType::kBytes &&
                             field.number <= static_cast<uint32_t>(ValueType::kBinary);
      if (!is_scalar || (type.has_value() && *type != field.number)) {
        return ValidationError("Bags may only contain strings, numbers or binary values, all of one type");
      }
      type = field.number;
      model::AppendBytesField(model::kElementsField, field.bytes, &elements);
    } while (tokens_->TrySymbol(","));
    ARM_RETURN_IF_ERROR(tokens_->TakeSymbol(">>"));
    constexpr uint32_t kSetDistance =
        static_cast<uint32_t>(ValueType::kStringSet) - static_cast<uint32_t>(ValueType::kString);
    return codec::CanonicalizeValue(TypedValue(static_cast<ValueType>(*type + kSetDistance), elements));
  }

  TokenReader* const tokens_;
  Parameters* const parameters_;
  const int parameters_depth_;
};

absl::StatusOr<expr::PathElement> ReadIndex(TokenReader* tokens) {
  tokens->Take();
  expr::PathElement element;
  element.kind = expr::PathElement::Kind::kIndex;
  const Token number = tokens->Take();
  if (number.kind != TokenKind::kNumber || !absl::SimpleAtoi(number.text, &element.index)) {
    return MalformedError(Cat("Unexpected path component at ", Printed(number.position)));
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

absl::Status TokenReader::Unexpected() const {
  return MalformedError(AtEnd() ? "Unexpected term" : "Unexpected token after expression");
}

absl::StatusOr<expr::DocumentPath> ReadPath(TokenReader* tokens) {
  const auto is_name = [tokens] {
    const Token& token = tokens->Peek();
    return token.kind == TokenKind::kName || (token.kind == TokenKind::kWord && !IsKeyword(token.text));
  };
  if (tokens->AtEnd()) return tokens->Unexpected();
  if (!is_name()) {
    return MalformedError(Cat("Unexpected path component at ", Printed(tokens->Peek().position)));
  }
  expr::DocumentPath path;
  path.elements.push_back({expr::PathElement::Kind::kName, tokens->Take().text, 0});
  for (;;) {
    if (tokens->TrySymbol(".")) {
      if (!is_name()) return MalformedError("Invalid path dot component");
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
  if (tokens.IsSymbol("-") && tokens.Peek(1).kind == TokenKind::kNumber) return true;
  for (const std::string_view symbol : {"?", "[", "{", "<<"}) {
    if (tokens.IsSymbol(symbol)) return true;
  }
  return tokens.IsWord("TRUE") || tokens.IsWord("FALSE") || tokens.IsWord("NULL");
}

absl::StatusOr<std::string> ReadLiteral(TokenReader* tokens, Parameters* parameters) {
  ARM_ASSIGN_OR_RETURN(std::string value, LiteralReader(tokens, parameters, 0).ReadValue({}, 0));
  // Equal values are equal in bytes. The operations report what is wrong with the others.
  absl::StatusOr<std::string> canonical = codec::CanonicalizeValue(value);
  return canonical.ok() ? *std::move(canonical) : value;
}

absl::StatusOr<std::string> ReadItemLiteral(TokenReader* tokens, Parameters* parameters) {
  if (tokens->TrySymbol("?")) {  // a parameter of type M
    const size_t number = parameters->used++;
    if (number >= parameters->values->size()) return std::string();
    std::string_view rest = (*parameters->values)[number];
    model::WireField field;
    if (!model::TakeField(&rest, &field) || field.number != static_cast<uint32_t>(ValueType::kMap)) {
      return ValidationError("The value of an INSERT statement must be a map");
    }
    return std::string(field.bytes);
  }
  return LiteralReader(tokens, parameters, 1).ReadMap({}, 0);
}

}  // namespace armature::engine::partiql
