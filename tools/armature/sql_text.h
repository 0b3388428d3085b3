#ifndef ARMATURE_TOOLS_ARMATURE_SQL_TEXT_H_
#define ARMATURE_TOOLS_ARMATURE_SQL_TEXT_H_

// Texts of several PartiQL statements.

#include <string>
#include <string_view>
#include <vector>

namespace armature::cli {

// The statements of a text, without the semicolons that end them, without blanks around them, and without empty ones. A
// semicolon in a 'text', a "name" or behind -- on its line ends nothing. The last statement needs no semicolon.
std::vector<std::string> SplitStatements(std::string_view text);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SQL_TEXT_H_
