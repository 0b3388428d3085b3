#ifndef ARMATURE_TOOLS_ARMATURE_ITEMS_ITEM_TABLE_H_
#define ARMATURE_TOOLS_ARMATURE_ITEMS_ITEM_TABLE_H_

// Items as a table for people.

#include <cstddef>
#include <string>
#include <vector>

#include "armature/api/v1/types.pb.h"

namespace armature::cli {

struct ItemTable {
  std::string text;           // a header and a line for each item
  size_t hidden_columns = 0;  // columns at the end without room
};

// One column for each attribute that an item has: those of `first` in their order, then the others by name. Columns
// with only numbers are aligned to the right; absent attributes are empty cells.
//
// `width`: columns of the terminal, counted in characters. The widest cells are cut to it, with an ellipsis; columns at
// the end that still have no room are left out. 0: nothing is cut.
ItemTable LayOutItems(const std::vector<api::v1::Item>& items, const std::vector<std::string>& first, size_t width);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_ITEMS_ITEM_TABLE_H_
