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

// Reads values inside a literal. `path` is the place of the value in it, which errors name.
class LiteralReader {
 public:
  LiteralReader(TokenReader* tokens, Parameters* parameters) : tokens_(tokens), parameters_(parameters) {}

  absl::StatusOr<std::string> ReadValue(const std::string& path, int depth) {
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
    if (tokens_->TrySymbol("?")) return TakeParameter();
    if (tokens_->IsSymbol("[")) return ReadList(path, depth);
    if (tokens_->IsSymbol("<<")) return ReadSet(path, depth);
    if (tokens_->IsSymbol("{")) {
      ARM_ASSIGN_OR_RETURN(const std::string entries, ReadMap(path, depth));
      return TypedValue(ValueType::kMap, entries);
    }
    return tokens_->Unexpected();
  }

  absl::StatusOr<std::string> ReadMap(const std::string& path, int depth) {
    ARM_RETURN_IF_ERROR(tokens_->TakeSymbol("{"));
    std::string entries;
    if (tokens_->TrySymbol("}")) return entries;
    do {
      if (tokens_->Peek().kind != TokenKind::kString) return tokens_->Unexpected();
      const std::string name = tokens_->Take().text;
      ARM_RETURN_IF_ERROR(tokens_->TakeSymbol(":"));
      ARM_ASSIGN_OR_RETURN(const std::string value, ReadValue(Cat(path, ".", name), depth + 1));
      std::string entry;
      model::AppendBytesField(1, name, &entry);
      model::AppendBytesField(2, value, &entry);
      model::AppendBytesField(1, entry, &entries);
    } while (tokens_->TrySymbol(","));
    ARM_RETURN_IF_ERROR(tokens_->TakeSymbol("}"));
    return entries;
  }

 private:
  absl::StatusOr<std::string> ReadNumber(std::string_view sign, const std::string& path) {
    std::string wire = TypedValue(ValueType::kNumber, Cat(sign, tokens_->Take().text));
    const absl::Status valid = codec::CanonicalizeValue(wire).status();
    if (const std::optional<ApiError> error = GetApiError(valid); error.has_value()) {
      return ValidationError(Cat(error->message, " under ", path));
    }
    ARM_RETURN_IF_ERROR(valid);
    return wire;
  }

  absl::StatusOr<std::string> TakeParameter() {
    const size_t number = parameters_->used++;
    // The number of parameters is checked behind the statement, where it is known.
    if (number >= parameters_->values->size()) return FlagValue(ValueType::kNull, true);
    const std::string& wire = (*parameters_->values)[number];
    ARM_RETURN_IF_ERROR(codec::CanonicalizeValue(wire).status());
    return wire;
  }

  absl::StatusOr<std::string> ReadList(const std::string& path, int depth) {
    tokens_->Take();
    std::string elements;
    if (!tokens_->TrySymbol("]")) {
      size_t index = 0;
      do {
        ARM_ASSIGN_OR_RETURN(const std::string value, ReadValue(Cat(path, "[", index++, "]"), depth + 1));
        model::AppendBytesField(model::kElementsField, value, &elements);
      } while (tokens_->TrySymbol(","));
      ARM_RETURN_IF_ERROR(tokens_->TakeSymbol("]"));
    }
    return TypedValue(ValueType::kList, elements);
  }

  // A set has the type of its first element.
  absl::StatusOr<std::string> ReadSet(const std::string& path, int depth) {
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
    std::string wire = TypedValue(static_cast<ValueType>(*type + kSetDistance), elements);
    ARM_RETURN_IF_ERROR(codec::CanonicalizeValue(wire).status());
    return wire;
  }

  TokenReader* const tokens_;
  Parameters* const parameters_;
};

constexpr std::string_view kLiteralRoot = "root";

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
  return LiteralReader(tokens, parameters).ReadValue(std::string(kLiteralRoot), 0);
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
  return LiteralReader(tokens, parameters).ReadMap(std::string(kLiteralRoot), 0);
}

}  // namespace armature::engine::partiql
