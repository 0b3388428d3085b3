#ifndef ARMATURE_TOOLS_ARMATURE_ITEMS_ITEM_PRINTER_H_
#define ARMATURE_TOOLS_ARMATURE_ITEMS_ITEM_PRINTER_H_

// Prints the items of an answer in the format that the user chose, while they arrive.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "armature/api/v1/types.pb.h"
#include "tools/armature/items/item_text.h"
#include "tools/armature/session.h"

namespace armature::cli {

enum class ItemFormat { kTable, kJson, kJsonLines, kCsv, kYaml };

struct ItemStyle {
  ItemFormat format = ItemFormat::kJsonLines;
  JsonDialect dialect = JsonDialect::kPlain;
  bool is_single = false;  // the answer is one item, not a list of items
  // Names of the attributes that come first: keys, and then the chosen attributes.
  std::vector<std::string> first;
  // Columns of CSV. Empty: those of `first` that occur, and all other attributes of the first kItemBlock items by name.
  std::vector<std::string> columns;
  size_t width = 0;  // of a table, in characters; 0: no cell is cut
};

// Tables and CSV need to see items before they can print the first one: so many at most. A longer table is printed in
// blocks of so many items, each with its own header.
inline constexpr size_t kItemBlock = 1000;

// Formats:
//   table       blocks, see item_table.h
//   json        an array with one item on each line; an item on one line if it is single
//   jsonl       one item on each line
//   csv         RFC 4180 with a header; an absent attribute is an empty cell, an empty text a cell ""; on a terminal
//               with escapes in place of control characters
//   yaml        a sequence of mappings; a mapping if it is single
//
// Memory: a block of items. Not thread-safe. Lifetime: the session must outlive the printer.
class ItemPrinter {
 public:
  ItemPrinter(const Session& session, ItemStyle style);

  // Errors: InputError, for CSV, for an attribute without a column.
  absl::Status Add(const api::v1::Item& item);

  // Prints what is left. To be called once, after the last item.
  absl::Status Finish();

  // Number of columns that a table had no room for.
  size_t hidden_columns() const { return hidden_columns_; }

 private:
  void PrintTable();
  // The text of a cell of CSV. A terminal gets escapes in place of control characters.
  std::string ShownCell(std::string cell) const;
  absl::Status PrintCsvBlock();
  absl::Status PrintCsvRecord(const api::v1::Item& item);

  const Session& session_;
  ItemStyle style_;
  std::vector<api::v1::Item> block_;
  size_t printed_ = 0;  // items
  bool has_csv_header_ = false;
  size_t hidden_columns_ = 0;
};

// The format that --output names; empty: a table if a person reads it, else `otherwise`. Errors: UsageError.
absl::StatusOr<ItemFormat> ItemFormatOf(const Session& session, ItemFormat otherwise);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_ITEMS_ITEM_PRINTER_H_
