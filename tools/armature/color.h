#ifndef ARMATURE_TOOLS_ARMATURE_COLOR_H_
#define ARMATURE_TOOLS_ARMATURE_COLOR_H_

// Colours of texts on a terminal, by the escape sequences that all terminals know.
//
// Thread-safety: free functions without state; WantsColor reads the environment.

#include <cstdint>
#include <string>
#include <string_view>

namespace armature::cli {

// Parts of a text that have colours.
enum class Ink : uint8_t { kHeader, kName, kText, kNumber, kConstant, kError, kHint };

// The text in its colour, and the terminal's own one behind it. An empty text stays empty.
std::string Colored(std::string_view text, Ink ink);

// JSON in colours: names of members, texts, numbers; true, false and null. Line breaks and blanks stay. Any other text
// is printed as it is.
std::string ColoredJson(std::string_view json);

// A table with its first line as the header. A text of one line has none.
std::string ColoredTable(std::string_view table);

// True if a stream gets colours. `choice`: auto, always or never. auto: on a terminal, unless NO_COLOR is set to
// something (https://no-color.org) or TERM is dumb.
bool WantsColor(std::string_view choice, bool is_terminal);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_COLOR_H_
