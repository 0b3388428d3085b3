#ifndef ARMATURE_TOOLS_ARMATURE_TEXT_TABLE_H_
#define ARMATURE_TOOLS_ARMATURE_TEXT_TABLE_H_

// Answers as aligned columns, for people. For programs there is JSON.

#include <string>
#include <string_view>
#include <vector>

#include "tools/armature/json_text.h"

namespace armature::cli {

// Rows of texts under a header. Control characters are shown as escapes, so a row is always one
// line; columns of nothing but numbers are aligned to the right.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header);

  // Missing cells at the end are empty.
  void AddRow(std::vector<std::string> cells);

  // Each line ends with a line break. Without rows: the header alone.
  std::string ToString() const;

 private:
  std::vector<std::vector<std::string>> rows_;  // The header first.
};

// An attribute value in its JSON form as people write it: text bare, sets in {}, lists and maps as
// JSON.
std::string ShowValue(const Json& value);

// One row for each item, one column for each attribute that any item has, by name. Empty for no
// items.
std::string ItemsTable(const Json& items);

// One row for each flat object; `columns` name their members, in order.
std::string RecordsTable(const Json& records, const std::vector<std::string>& columns);

// One line for each member that is no array: name and value. Objects inside add lines named
// "Outer.Inner"; times are shown as dates.
std::string DetailsTable(const Json& object);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_TEXT_TABLE_H_
