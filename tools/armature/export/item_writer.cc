#include "tools/armature/export/item_writer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "daemon/message_json/json_writer.h"
#include "daemon/message_json/message_documents.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/json_text.h"
#include "tools/armature/message_json.h"
#include "tools/armature/session.h"

namespace armature::cli {
namespace {

bool NeedsQuotes(std::string_view cell) {
  if (cell.empty()) return false;
  // Readers remove blanks and a byte order mark at the beginning of a line.
  const auto first = static_cast<unsigned char>(cell.front());
  return cell.find_first_of("\",\r\n") != std::string_view::npos || absl::ascii_isspace(first) || first == 0xEF ||
         absl::ascii_isspace(static_cast<unsigned char>(cell.back()));
}

}  // namespace

void AppendCsvCell(std::string_view cell, std::string* text) {
  if (!NeedsQuotes(cell)) {
    text->append(cell);
    return;
  }
  text->push_back('"');
  for (const char c : cell) text->append(c == '"' ? 2 : 1, c);
  text->push_back('"');
}

void AppendJsonLine(const api::v1::Item& item, std::string* text) {
  daemon::JsonWriter line;
  daemon::WriteForTools(item, &line.Open(R"({"Item":)"));
  text->append(line.EndObject().text()).push_back('\n');
}

CsvWriter::CsvWriter(const std::vector<std::string>& keys, const std::vector<std::string>& chosen)
    : key_count_(keys.size()), is_chosen_(!chosen.empty()) {
  for (const std::string& name : keys) AddColumn(name);
  for (const std::string& name : chosen) AddColumn(name);
}

void CsvWriter::AddColumn(const std::string& name) {
  if (column_of_.emplace(name, columns_.size()).second) columns_.push_back({name, ""});
}

void CsvWriter::Learn(const api::v1::Item& item) {
  if (is_chosen_) return;
  for (const auto& [name, value] : item.attributes()) AddColumn(name);
  std::sort(columns_.begin() + static_cast<std::ptrdiff_t>(key_count_), columns_.end(),
            [](const ExportedColumn& a, const ExportedColumn& b) { return a.name < b.name; });
  for (size_t i = 0; i < columns_.size(); ++i) column_of_[columns_[i].name] = i;
}

std::string CsvWriter::Head() const {
  std::string text;
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (i > 0) text.push_back(',');
    AppendCsvCell(columns_[i].name, &text);
  }
  text.push_back('\n');
  return text;
}

absl::Status CsvWriter::Append(const api::v1::Item& item, std::string* text) {
  std::vector<std::string> cells(columns_.size());
  for (const auto& [name, value] : item.attributes()) {
    const auto found = column_of_.find(name);
    if (found == column_of_.end()) {
      if (is_chosen_) continue;
      return Refuse(item, name, "is not among the columns, which are those of the first items; name all by --columns");
    }
    ExportedColumn& column = columns_[found->second];
    std::string& cell = cells[found->second];
    const Json json = MessageToJson(value);
    const std::string& type = json.begin().key();
    if (column.type.empty()) column.type = type;
    if (column.type != type) {
      return Refuse(item, name, Cat("is of type ", type, ", and of type ", column.type, " in an item before it"));
    }
    cell = json.begin()->is_string() ? json.begin()->get<std::string>() : CompactJson(*json.begin());
    if (cell.empty()) return Refuse(item, name, "is empty, which in CSV is the same as if it were not there");
  }
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) text->push_back(',');
    AppendCsvCell(cells[i], text);
  }
  text->push_back('\n');
  return absl::OkStatus();
}

absl::Status CsvWriter::Refuse(const api::v1::Item& item, const std::string& attribute, const std::string& why) const {
  Json key = Json::object();
  for (size_t i = 0; i < key_count_; ++i) {
    const auto found = item.attributes().find(columns_[i].name);
    if (found != item.attributes().end()) key[columns_[i].name] = MessageToJson(found->second);
  }
  return InputError(Cat("the attribute ", attribute, " of the item ", CompactJson(key), " ", why,
                        "; --format jsonl takes all items"));
}

std::vector<ExportedColumn> CsvWriter::columns() const {
  std::vector<ExportedColumn> columns = columns_;
  for (ExportedColumn& column : columns) {
    if (column.type.empty()) column.type = "S";
  }
  return columns;
}

}  // namespace armature::cli
