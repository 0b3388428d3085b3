#ifndef ARMATURE_TOOLS_ARMATURE_SQL_COMPLETION_H_
#define ARMATURE_TOOLS_ARMATURE_SQL_COMPLETION_H_

// Completion of PartiQL statements and of the shell's commands.

#include <string>
#include <string_view>
#include <vector>

namespace armature::cli {

// Names of a database. Functions return what is known without an error: an empty list if the daemon does not answer.
class SqlNames {
 public:
  virtual ~SqlNames() = default;
  virtual std::vector<std::string> Tables() = 0;
  virtual std::vector<std::string> Indexes(const std::string& table) = 0;
  virtual std::vector<std::string> Attributes(const std::string& table) = 0;
};

struct Completions {
  size_t word_begin = 0;           // where the word begins that is completed
  std::vector<std::string> words;  // sorted; what may stand in its place
};

// `text`: the statement up to the cursor, with its earlier lines. Behind FROM, INTO, UPDATE, TABLE, OF, DESCRIBE, \d
// and \copy: tables, and their indexes behind a table and a dot; elsewhere keywords, and attributes of the tables that
// the statement names.
Completions Complete(std::string_view text, SqlNames* names);

// The longest text with which all words begin.
std::string CommonPrefix(const std::vector<std::string>& words);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SQL_COMPLETION_H_
