#include "tools/armature/items/item_printer.h"

#include <algorithm>
#include <set>
#include <utility>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/display.h"
#include "tools/armature/export/item_writer.h"
#include "tools/armature/items/item_table.h"

namespace armature::cli {

using api::v1::Item;

ItemPrinter::ItemPrinter(const Session& session, ItemStyle style) : session_(session), style_(std::move(style)) {}

absl::Status ItemPrinter::Add(const Item& item) {
  switch (style_.format) {
    case ItemFormat::kTable:
      block_.push_back(item);
      if (block_.size() == kItemBlock) PrintTable();
      break;
    case ItemFormat::kCsv:
      if (has_csv_header_) return PrintCsvRecord(item);
      block_.push_back(item);
      if (block_.size() == kItemBlock || !style_.columns.empty()) return PrintCsvBlock();
      break;
    case ItemFormat::kJsonLines:
      session_.PrintJsonText(Cat(ItemText(item, style_.first, style_.dialect), "\n"));
      break;
    case ItemFormat::kJson: {
      const std::string text = ItemText(item, style_.first, style_.dialect);
      session_.PrintJsonText(style_.is_single ? Cat(text, "\n") : Cat(printed_ == 0 ? "[\n  " : ",\n  ", text));
      break;
    }
    case ItemFormat::kYaml: {
      const size_t indent = style_.is_single ? 0 : 2;
      session_.PrintText(Cat(style_.is_single ? "" : "- ", YamlItem(item, style_.first, style_.dialect, indent)));
      break;
    }
  }
  ++printed_;
  return absl::OkStatus();
}

absl::Status ItemPrinter::Finish() {
  switch (style_.format) {
    case ItemFormat::kTable:
      PrintTable();
      break;
    case ItemFormat::kCsv:
      return has_csv_header_ ? absl::OkStatus() : PrintCsvBlock();
    case ItemFormat::kJson:
      if (!style_.is_single) session_.PrintText(printed_ == 0 ? "[]\n" : "\n]\n");
      break;
    case ItemFormat::kYaml:
      if (!style_.is_single && printed_ == 0) session_.PrintText("[]\n");
      break;
    case ItemFormat::kJsonLines:
      break;
  }
  return absl::OkStatus();
}

void ItemPrinter::PrintTable() {
  const ItemTable table = LayOutItems(block_, style_.first, style_.width);
  hidden_columns_ = std::max(hidden_columns_, table.hidden_columns);
  session_.PrintTable(table.text);
  block_.clear();
}

std::string ItemPrinter::ShownCell(std::string cell) const {
  return session_.writes_terminal() ? OneLine(cell) : std::move(cell);
}

absl::Status ItemPrinter::PrintCsvBlock() {
  if (style_.columns.empty()) {
    std::set<std::string> names;
    for (const Item& item : block_) {
      for (const auto& [name, value] : item.attributes()) names.insert(name);
    }
    for (const std::string& name : style_.first) {
      if (names.erase(name) > 0) style_.columns.push_back(name);
    }
    style_.columns.insert(style_.columns.end(), names.begin(), names.end());
  }
  std::string header;
  for (const std::string& name : style_.columns) {
    if (!header.empty()) header.push_back(',');
    AppendCsvCell(ShownCell(name), &header);
  }
  if (!header.empty()) session_.PrintText(Cat(header, "\n"));
  has_csv_header_ = true;
  for (const Item& item : std::exchange(block_, {})) ARM_RETURN_IF_ERROR(PrintCsvRecord(item));
  return absl::OkStatus();
}

absl::Status ItemPrinter::PrintCsvRecord(const Item& item) {
  std::string record;
  size_t found_count = 0;
  for (size_t i = 0; i < style_.columns.size(); ++i) {
    if (i > 0) record.push_back(',');
    const auto found = item.attributes().find(style_.columns[i]);
    if (found == item.attributes().end()) continue;
    ++found_count;
    const std::string cell = ShownCell(CsvText(found->second, style_.dialect));
    cell.empty() ? void(record.append("\"\"")) : AppendCsvCell(cell, &record);
  }
  if (found_count < item.attributes().size()) {
    for (const auto& [name, value] : item.attributes()) {
      if (std::find(style_.columns.begin(), style_.columns.end(), name) != style_.columns.end()) continue;
      return InputError(Cat("an item has the attribute ", name, ", which none of the first ", kItemBlock,
                            " items has, so that it has no column; name the columns by --select, or take jsonl"));
    }
  }
  session_.PrintText(Cat(record, "\n"));
  return absl::OkStatus();
}

absl::StatusOr<ItemFormat> ItemFormatOf(const Session& session, ItemFormat otherwise) {
  const std::string& output = session.output();
  if (output.empty()) return session.format() == OutputFormat::kTable ? ItemFormat::kTable : otherwise;
  if (output == "table") return ItemFormat::kTable;
  if (output == "json") return ItemFormat::kJson;
  if (output == "jsonl") return ItemFormat::kJsonLines;
  if (output == "csv") return ItemFormat::kCsv;
  if (output == "yaml") return ItemFormat::kYaml;
  return UsageError(Cat("--output ", output, " is no format for items"));
}

}  // namespace armature::cli
