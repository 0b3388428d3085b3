#ifndef ARMATURE_TOOLS_ARMATURE_SQL_SQL_TEXT_H_
#define ARMATURE_TOOLS_ARMATURE_SQL_SQL_TEXT_H_

// Texts of several PartiQL statements.

#include <string>
#include <string_view>
#include <vector>

namespace armature::cli {

struct SplitText {
  std::vector<std::string> statements;
  std::string rest;  // a statement that no semicolon ends; empty if there is none
  char quote = 0;    // ' or " if the rest ends inside of one
};

// The statements of a text, without the semicolons that end them, without comments, without blanks around them, and
// without empty ones. A semicolon in a 'text', a "name" or behind -- on its line ends nothing.
SplitText SplitSql(std::string_view text);

// The statements of a whole text, whose last statement needs no semicolon.
std::vector<std::string> SplitStatements(std::string_view text);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SQL_SQL_TEXT_H_
