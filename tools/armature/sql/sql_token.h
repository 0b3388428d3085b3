#ifndef ARMATURE_TOOLS_ARMATURE_SQL_SQL_TOKEN_H_
#define ARMATURE_TOOLS_ARMATURE_SQL_SQL_TOKEN_H_

// Tokens of a statement, and a reader over them for parsers by recursive descent.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/armature/sql/error_place.h"

namespace armature::cli {

enum class SqlTokenKind : uint8_t {
  kEnd,
  kWord,    // a bare name or a keyword, as written
  kName,    // a name in double quotes, without them
  kText,    // a text in single quotes, without them
  kNumber,  // begins with a digit or a point
  kSymbol,  // << >> <= >= <> != or one character
};

struct SqlToken {
  SqlTokenKind kind = SqlTokenKind::kEnd;
  std::string text;
  TextPlace place;  // with the quotes
};

// All tokens, the last one of kind kEnd behind the text. Blanks and comments (-- to the end of the line, and /* */)
// separate tokens. Errors: SqlError for an open text, name or comment, and for a control character. Cost: linear.
absl::StatusOr<std::vector<SqlToken>> TokenizeSql(std::string_view statement);

// True if the daemon takes `word`, in any case, for a keyword: as a name it needs double quotes.
bool IsSqlKeyword(std::string_view word);

// The name as a statement has it: in double quotes if it needs them.
std::string QuotedName(std::string_view name);
// The text in single quotes.
std::string QuotedText(std::string_view text);

// Reads tokens from the left to the right. Peeking beyond the end gives the end. Not thread-safe.
class SqlTokenReader {
 public:
  // `tokens`: of TokenizeSql.
  explicit SqlTokenReader(std::vector<SqlToken> tokens);

  const SqlToken& Peek(size_t ahead = 0) const;
  SqlToken Take();
  bool AtEnd() const { return Peek().kind == SqlTokenKind::kEnd; }
  // End of the last token that was taken.
  size_t end_of_last() const { return end_of_last_; }

  // Words are compared without regard to case. Try: takes the token if it is this one.
  bool IsWord(std::string_view word, size_t ahead = 0) const;
  bool IsSymbol(std::string_view symbol, size_t ahead = 0) const;
  bool TryWord(std::string_view word);
  bool TrySymbol(std::string_view symbol);
  // Errors: Expected(...).
  absl::Status TakeWord(std::string_view word);
  absl::Status TakeSymbol(std::string_view symbol);
  // A bare name that is no keyword, or a quoted one. `what`: the thing it names, for the error.
  absl::StatusOr<std::string> TakeName(std::string_view what);
  // A word of a list of ours, such as KEYS, whatever the daemon takes it for.
  absl::StatusOr<std::string> TakeAnyName(std::string_view what);
  // A whole number from `min` to `max`.
  absl::StatusOr<int64_t> TakeCount(std::string_view what, int64_t min, int64_t max);
  // Errors unless nothing is left, but for a semicolon.
  absl::Status TakeEnd();

  // The error that `what` should stand here.
  absl::Status Expected(std::string_view what) const;

 private:
  std::vector<SqlToken> tokens_;
  size_t at_ = 0;
  size_t end_of_last_ = 0;
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SQL_SQL_TOKEN_H_
