#ifndef ARMATURE_TESTS_UNIT_ENGINE_EXPR_EXPR_TEST_UTIL_H_
#define ARMATURE_TESTS_UNIT_ENGINE_EXPR_EXPR_TEST_UTIL_H_

// Builders of items in canonical bytes, and requests that define only the placeholders in use.

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/expr/binder.h"
#include "engine/expr/lexer.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"
#include "storage/model/item_view.h"
#include "storage/model/wire.h"

namespace armature::expr::testing {

// A value on the wire. Numbers must be given in canonical text.
using Wire = std::string;

inline Wire Body(model::ValueType type, std::string_view body) {
  Wire wire;
  model::AppendBytesField(static_cast<uint32_t>(type), body, &wire);
  return wire;
}
inline Wire Flag(model::ValueType type, bool value) {
  return {static_cast<char>(model::WireTag(static_cast<uint32_t>(type), model::WireType::kVarint)),
          static_cast<char>(value)};
}
inline Wire Repeated(model::ValueType type, const std::vector<std::string>& elements) {
  std::string body;
  for (const std::string& element : elements) model::AppendBytesField(1, element, &body);
  return Body(type, body);
}

inline Wire S(std::string_view text) { return Body(model::ValueType::kString, text); }
inline Wire N(std::string_view text) { return Body(model::ValueType::kNumber, text); }
inline Wire B(std::string_view bytes) { return Body(model::ValueType::kBinary, bytes); }
inline Wire Bool(bool value) { return Flag(model::ValueType::kBool, value); }
inline Wire Null() { return Flag(model::ValueType::kNull, true); }
inline Wire SS(std::vector<std::string> elements) {
  std::sort(elements.begin(), elements.end());
  return Repeated(model::ValueType::kStringSet, elements);
}
inline Wire NS(const std::vector<std::string>& elements) { return Repeated(model::ValueType::kNumberSet, elements); }
inline Wire BS(std::vector<std::string> elements) {
  std::sort(elements.begin(), elements.end());
  return Repeated(model::ValueType::kBinarySet, elements);
}
inline Wire L(const std::vector<Wire>& elements) { return Repeated(model::ValueType::kList, elements); }

// Item bytes. The map sorts the names.
inline std::string Item(const std::map<std::string, Wire>& attributes) {
  std::string bytes;
  for (const auto& [name, wire] : attributes) {
    model::AppendAttribute(name, *model::ValueView::FromWire(wire), &bytes);
  }
  return bytes;
}
inline Wire M(const std::map<std::string, Wire>& members) { return Body(model::ValueType::kMap, Item(members)); }

// Placeholder names that tests may use without defining them.
inline const std::map<std::string, std::string>& CommonNames() {
  static const auto* const kNames = new std::map<std::string, std::string>{
      {"#a", "a"}, {"#b", "b"},     {"#dotted", "a.b"}, {"#size", "size"},
      {"#h", "h"}, {"#hash", "#a"}, {"#r", "r"},        {"#region", "region"},
  };
  return *kNames;
}
inline const std::map<std::string, Wire>& CommonValues() {
  static const auto* const kValues = new std::map<std::string, Wire>{
      {":s", S("abc")},
      {":s2", S("abd")},
      {":empty", S("")},
      {":prefix", S("ab")},
      {":n", N("5")},
      {":n2", N("10")},
      {":n0", N("0")},
      {":n3", N("3")},
      {":b", B(std::string("\x01\x02", 2))},
      {":b2", B("\x01\x03")},
      {":nob", B("")},
      {":true", Bool(true)},
      {":null", Null()},
      {":ss", SS({"x", "y"})},
      {":ns", NS({"1", "2"})},
      {":bs", BS({"p", "q"})},
      {":l", L({N("1"), S("a")})},
      {":m", M({{"k", N("1")}})},
      {":type_s", S("S")},
      {":type_n", S("N")},
      {":type_m", S("M")},
      {":type_null", S("NULL")},
      {":type_bad", S("String")},
  };
  return *kValues;
}

// A request that defines the common placeholders mentioned in its expressions.
class Request {
 public:
  Request& With(ExpressionKind kind, std::string_view text) {
    std::optional<std::string>* const members[] = {&expressions_.update, &expressions_.condition,
                                                   &expressions_.key_condition, &expressions_.filter,
                                                   &expressions_.projection};
    *members[static_cast<size_t>(kind)] = text;
    for (const Token& token : Tokenize(kind, text)) {
      const std::string word(token.text);
      if (const auto name = CommonNames().find(word); name != CommonNames().end()) {
        names_.insert(*name);
      }
      if (const auto value = CommonValues().find(word); value != CommonValues().end()) {
        values_.insert(*value);
      }
    }
    return *this;
  }
  Request& WithName(std::string key, std::string name) {
    names_[std::move(key)] = std::move(name);
    return *this;
  }
  Request& WithValue(std::string key, Wire value) {
    values_[std::move(key)] = std::move(value);
    return *this;
  }

  // The result is valid while the request exists.
  absl::StatusOr<BoundExpressions> Bind(std::span<const ExpressionKind> kinds) {
    Placeholders placeholders;
    if (!names_.empty()) {
      placeholders.names.emplace();
      for (const auto& [key, name] : names_) placeholders.names->try_emplace(key, name);
    }
    if (!values_.empty()) {
      value_bytes_ = Item(values_);
      placeholders.values = model::ItemView(value_bytes_);
    }
    return BindExpressions(expressions_, placeholders, kinds);
  }
  absl::StatusOr<BoundExpressions> Bind() {
    static constexpr ExpressionKind kAll[] = {ExpressionKind::kUpdate, ExpressionKind::kCondition,
                                              ExpressionKind::kKeyCondition, ExpressionKind::kFilter,
                                              ExpressionKind::kProjection};
    return Bind(kAll);
  }

 private:
  ExpressionTexts expressions_;
  std::map<std::string, std::string> names_;
  std::map<std::string, Wire> values_;
  std::string value_bytes_;
};

// The text of a ValidationException, "OK" for success, or "not a ValidationException: ..." for another error.
inline std::string ErrorText(const absl::Status& status) {
  if (status.ok()) return "OK";
  const std::optional<ApiError> error = GetApiError(status);
  if (!error.has_value() || error->type != ApiErrorType::kValidation) {
    return Cat("not a ValidationException: ", Sv(status.message()));
  }
  return error->message;
}

inline std::string BindError(ExpressionKind kind, std::string_view text) {
  return ErrorText(Request().With(kind, text).Bind().status());
}

}  // namespace armature::expr::testing

#endif  // ARMATURE_TESTS_UNIT_ENGINE_EXPR_EXPR_TEST_UTIL_H_
