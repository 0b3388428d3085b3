#ifndef ARMATURE_TOOLS_ARMATURE_SQL_ERROR_PLACE_H_
#define ARMATURE_TOOLS_ARMATURE_SQL_ERROR_PLACE_H_

// The place of an error in its statement.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace armature::cli {

// Bytes of a statement, from `begin` to before `end`.
struct TextPlace {
  size_t begin = 0;
  size_t end = 0;

  friend bool operator==(const TextPlace&, const TextPlace&) = default;
};

// A UsageError about this place: the statement is refused before anything of it is sent.
absl::Status SqlError(std::string_view message, TextPlace place);

// True for an error of SqlError or WithPlaceOf.
bool PlaceIsOurs(const absl::Status& status);

// The place of the error `status` of `statement`: that of an SqlError; the one that the daemon names; or else the first
// token with which the parser of PartiQL finds the same fault. Nullopt if the error has no place, or one that is far
// behind in a long statement: the search is bounded.
std::optional<TextPlace> PlaceOf(const absl::Status& status, std::string_view statement);

// The error of a text that was sent instead of the statement. Its place becomes that of the part `original` of the
// statement, which stands in the text at `sent_begin`. Places in other parts of the text are dropped.
absl::Status WithPlaceOf(absl::Status status, std::string_view sent, size_t sent_begin, TextPlace original);

// The error, about this place of the statement.
absl::Status WithPlaceAt(absl::Status status, TextPlace place);
// The error, without any place.
absl::Status WithoutPlace(absl::Status status);
// The error, with a text behind its message.
absl::Status WithNote(const absl::Status& status, std::string_view note);

// Two lines: the line of the statement with the place, cut to the width of a terminal, and a caret below the place.
//   LINE 2: WHERE id = "x"
//                      ^^^
std::string PlaceLines(std::string_view statement, TextPlace place);

// PlaceLines of the error, with a hint if a keyword stands where the daemon wants a name; or an empty text.
std::string PlaceLinesOf(const absl::Status& status, std::string_view statement);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SQL_ERROR_PLACE_H_
