#ifndef ARMATURE_TOOLS_ARMATURE_TEXT_TABLE_H_
#define ARMATURE_TOOLS_ARMATURE_TEXT_TABLE_H_

// Prints answers for people, as aligned columns. Programs use JSON.

#include <string>
#include <string_view>
#include <vector>

#include "tools/armature/json_text.h"

namespace armature::cli {

// Rows of texts under a header. Control characters are escaped, so that each row is one line. Columns with only numbers
// are aligned to the right.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header);

  // Missing cells at the end are empty.
  void AddRow(std::vector<std::string> cells);

  // The table, with a line break after each line. Without rows only the header.
  std::string ToString() const;

 private:
  std::vector<std::vector<std::string>> rows_;  // begins with the header
};

// An attribute value in its JSON form, shortened for people: text without quotes, sets in {}, lists and maps as JSON.
std::string ShowValue(const Json& value);

// A table with one row for each item, and one column for each attribute of any item, sorted by name. Empty without
// items.
std::string ItemsTable(const Json& items);

// A table with one row for each object. `columns`: the names of its members, in order.
std::string RecordsTable(const Json& records, const std::vector<std::string>& columns);

// A table with one row for each member that is not an array: name and value. The members of an object have rows named
// "Outer.Inner". Times are printed as dates.
std::string DetailsTable(const Json& object);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_TEXT_TABLE_H_
