#include "tools/armature/items/item_table.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "storage/base/strings.h"
#include "tools/armature/display.h"
#include "tools/armature/items/item_text.h"

namespace armature::cli {
namespace {

constexpr std::string_view kColumnGap = "  ";
constexpr std::string_view kEllipsis = "…";
// Columns are not cut below this width.
constexpr size_t kColumnWidthMin = 8;

struct ItemColumn {
  std::string name;
  std::vector<std::string> cells;  // one for each item
  size_t width = 0;
  bool is_numeric = true;
};

std::vector<ItemColumn> ColumnsOf(const std::vector<api::v1::Item>& items, const std::vector<std::string>& first) {
  std::map<std::string, ItemColumn, std::less<>> by_name;
  for (size_t row = 0; row < items.size(); ++row) {
    for (const auto& [name, value] : items[row].attributes()) {
      ItemColumn& column = by_name[name];
      column.cells.resize(items.size());
      column.cells[row] = OneLine(CellText(value));
      column.is_numeric = column.is_numeric && value.has_n();
    }
  }
  std::vector<ItemColumn> columns;
  const auto take = [&](std::map<std::string, ItemColumn, std::less<>>::iterator found) {
    ItemColumn& column = columns.emplace_back(std::move(found->second));
    column.name = OneLine(found->first);
    column.width = TextWidth(column.name);
    for (const std::string& cell : column.cells) column.width = std::max(column.width, TextWidth(cell));
    by_name.erase(found);
  };
  for (const std::string& name : first) {
    if (const auto found = by_name.find(name); found != by_name.end()) take(found);
  }
  while (!by_name.empty()) take(by_name.begin());
  return columns;
}

// The width of a line whose columns are at most `column_max` wide.
size_t LineWidth(const std::vector<ItemColumn>& columns, size_t column_max) {
  size_t width = (columns.size() - 1) * kColumnGap.size();
  for (const ItemColumn& column : columns) width += std::min(column.width, column_max);
  return width;
}

// Removes columns without room from the end and narrows the widest others. Returns the number of removed ones.
size_t FitColumns(size_t width, std::vector<ItemColumn>* columns) {
  size_t removed = 0;
  for (; columns->size() > 1 && LineWidth(*columns, kColumnWidthMin) > width; ++removed) columns->pop_back();
  size_t low = std::min(kColumnWidthMin, width);
  size_t high = width;
  while (low < high) {  // the largest width that fits
    const size_t middle = low + (high - low + 1) / 2;
    if (LineWidth(*columns, middle) <= width) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  for (ItemColumn& column : *columns) column.width = std::min(column.width, low);
  return removed;
}

// The cell, filled up or cut to the width.
std::string FitCell(const std::string& cell, size_t width, bool to_the_right) {
  const size_t size = TextWidth(cell);
  if (size <= width) {
    const std::string blanks(width - size, ' ');
    return to_the_right ? blanks + cell : cell + blanks;
  }
  size_t end = 0;
  // A character ends where the next byte is no continuation.
  for (size_t characters = 0; characters + 1 < width; ++characters) {
    ++end;
    while (end < cell.size() && (static_cast<unsigned char>(cell[end]) & 0xc0) == 0x80) ++end;
  }
  return Cat(cell.substr(0, end), kEllipsis);
}

}  // namespace

ItemTable LayOutItems(const std::vector<api::v1::Item>& items, const std::vector<std::string>& first, size_t width) {
  std::vector<ItemColumn> columns = ColumnsOf(items, first);
  ItemTable table;
  if (columns.empty()) return table;
  if (width > 0) table.hidden_columns = FitColumns(width, &columns);
  for (size_t row = 0; row <= items.size(); ++row) {  // the header first
    std::string line;
    for (const ItemColumn& column : columns) {
      const std::string& cell = row == 0 ? column.name : column.cells[row - 1];
      line += Cat(line.empty() ? "" : kColumnGap, FitCell(cell, column.width, column.is_numeric));
    }
    line.erase(line.find_last_not_of(' ') + 1);
    table.text += line + "\n";
  }
  return table;
}

}  // namespace armature::cli
