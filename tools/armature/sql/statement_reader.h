#ifndef ARMATURE_TOOLS_ARMATURE_SQL_STATEMENT_READER_H_
#define ARMATURE_TOOLS_ARMATURE_SQL_STATEMENT_READER_H_

// Statements and commands of a text that comes line by line, from a terminal or a file.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace armature::cli {

struct SqlPiece {
  enum class Kind : uint8_t {
    kStatement,  // without the semicolon that ends it, and without blanks and comments before it
    kCommand,    // begins with a backslash and ends with its line
  };
  Kind kind = Kind::kStatement;
  std::string text;
  size_t line = 0;  // the line of its first character, counted from 1
};

// A semicolon ends a statement, unless it stands in a 'text', a "name" or a comment. A backslash begins a command, with
// the same exceptions; a statement before it stays in the buffer. The words help, quit and exit alone, with a semicolon
// or on their line, are the commands \?, \q and \q.
//
// Cost: linear in the text. Not thread-safe.
class StatementReader {
 public:
  // Adds a line, without its line break.
  void AddLine(std::string_view line);
  // The next piece, or nullopt until another line is added.
  std::optional<SqlPiece> Next();
  // The statement in the buffer, which no semicolon ends, or nullopt. Leaves the buffer empty.
  std::optional<SqlPiece> TakeBuffer();
  // Drops the buffer and the pieces that Next has not returned.
  void Clear();

  // The lines of a statement that is not complete; empty if there is none. A comment that is open counts as one.
  const std::string& buffer() const { return buffer_; }
  // ' or " or * if the buffer ends inside of a text, a name or a comment; else 0.
  char open_quote() const { return quote_; }

 private:
  // Takes the piece out of the buffer.
  void Emit();

  std::deque<SqlPiece> pieces_;
  std::string buffer_;
  size_t buffer_line_ = 0;  // line of the first character of the buffer
  bool has_token_ = false;  // the buffer has more than blanks and comments
  char quote_ = 0;
  size_t line_ = 0;  // number of lines added
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SQL_STATEMENT_READER_H_
