#ifndef ARMATURE_TOOLS_ARMATURE_CONDITION_TEXT_H_
#define ARMATURE_TOOLS_ARMATURE_CONDITION_TEXT_H_

// Conditions, assignments and lists of attributes as people write them, to expressions of the API.
//
//   amount > 100 and (status in ('new', "open") or not contains(tags, 'x'))
//
// - A value is a text in quotes, a number, true, false, null, or plain JSON that begins with { or [. Single quotes take
//   the text as in SQL: '' is one quote, and a backslash is a backslash. Double quotes take it as in JSON: "\"", "\n".
// - Every other word is the path of an attribute: address.lines[0]. Names of other characters than letters, digits and
//   _, names that begin with a digit, and the names true, false, null, and, or, not, between and in stand in backticks,
//   in which `` is one backtick: `order-id`. Reserved words of the API need no backticks.
// - Comparisons are = != < <= > >= and ^= (begins with); == and <> are other spellings. `between A and B`, `in (A, B)`
//   and both with `not` follow a path. Functions: contains, begins_with, attribute_exists, attribute_not_exists,
//   attribute_type and size. Keywords and functions may be written in capitals.
//
// The results contain placeholders for all names (#n0) and all values (:v0). The daemon checks the rest: types of
// operands, sizes, and paths that overlap.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "armature/api/v1/types.pb.h"

namespace armature::cli {

// Writes all expressions of one request, which share their placeholders.
//
// Errors: INVALID_ARGUMENT with the place of the fault, see PlaceOf.
// Thread-safety: thread-compatible.
class ExpressionWriter {
 public:
  // A condition: see above.
  absl::StatusOr<std::string> Condition(std::string_view text);

  // Paths with commas between them, for projections and REMOVE: "a, b.c[0]". Sets *attributes, unless it is null, to
  // the attributes that they begin with, each once: a, b.
  absl::StatusOr<std::string> Paths(std::string_view text, std::vector<std::string>* attributes = nullptr);

  // Assignments with commas between them, for SET: `a = b + 1, l = list_append(l, ["x"]), c = if_not_exists(c, 0)`.
  // `a += 1` and `a -= 1` stand for `a = a + 1` and `a = a - 1`.
  absl::StatusOr<std::string> Assignments(std::string_view text);

  // Paths with a value each, for ADD and DELETE: `n 5, tags {"SS": ["x"]}`.
  absl::StatusOr<std::string> PathsWithValues(std::string_view text);

  // The placeholder of an attribute name, and of a new value.
  std::string Name(std::string_view name);
  std::string Value(api::v1::AttributeValue value);

  // Sets the placeholders that the expressions so far contain. A GetItemRequest takes no values.
  template <class Request>
  void SetPlaceholders(Request* request) const {
    for (const auto& [name, placeholder] : names_) {
      (*request->mutable_expression_attribute_names())[placeholder] = name;
    }
    if constexpr (requires { request->mutable_expression_attribute_values(); }) {
      for (const auto& [placeholder, value] : values_) {
        (*request->mutable_expression_attribute_values())[placeholder] = value;
      }
    }
  }

 private:
  std::map<std::string, std::string, std::less<>> names_;  // placeholders by name
  std::map<std::string, api::v1::AttributeValue> values_;  // values by placeholder
};

// Offset in bytes of the fault in the text, for errors of ExpressionWriter.
std::optional<size_t> PlaceOf(const absl::Status& status);

// Two lines that point at a byte of `text`: the text, and a caret below the byte. Empty if the text has line breaks or
// other control characters.
std::string CaretLines(std::string_view text, size_t place);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_CONDITION_TEXT_H_
