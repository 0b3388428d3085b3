#include "tools/armature/text_table.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

std::string OneLine(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      line += "\\n";
    } else if (c == '\t') {
      line += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      line += absl::StrFormat("\\x%02x", byte);
    } else {
      line += c;
    }
  }
  return line;
}

// Number of code points, which is the width of most texts on a terminal.
size_t Width(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

bool LooksNumeric(std::string_view text) { return text.find_first_not_of("0123456789+-.eE") == std::string_view::npos; }

std::string ShowScalar(const Json& json) { return json.is_string() ? json.get<std::string>() : CompactJson(json); }

std::string ShowMember(std::string_view name, const Json& json) {
  if (name.ends_with("Time") && json.is_number()) {
    const absl::Time time = absl::FromUnixMillis(std::llround(json.get<double>() * 1000));
    return absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", time, absl::UTCTimeZone());
  }
  return ShowScalar(json);
}

void AddDetails(const std::string& prefix, const Json& object, TextTable& table) {
  for (const auto& [name, member] : object.items()) {
    if (member.is_object()) {
      AddDetails(Cat(prefix, name, "."), member, table);
    } else if (!member.is_array()) {
      table.AddRow({prefix + name, ShowMember(name, member)});
    }
  }
}

}  // namespace

TextTable::TextTable(std::vector<std::string> header) { AddRow(std::move(header)); }

void TextTable::AddRow(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = OneLine(cell);
  if (!rows_.empty()) cells.resize(rows_.front().size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::ToString() const {
  const size_t columns = rows_.front().size();
  std::vector<size_t> widths(columns, 0);
  std::vector<bool> right(columns, rows_.size() > 1);
  for (size_t row = 0; row < rows_.size(); ++row) {
    for (size_t i = 0; i < columns; ++i) {
      widths[i] = std::max(widths[i], Width(rows_[row][i]));
      if (row > 0 && !LooksNumeric(rows_[row][i])) right[i] = false;
    }
  }
  std::string text;
  for (const std::vector<std::string>& row : rows_) {
    std::string line;
    for (size_t i = 0; i < columns; ++i) {
      const std::string blanks(widths[i] - Width(row[i]), ' ');
      line += right[i] ? blanks + row[i] : row[i] + blanks;
      line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string ShowValue(const Json& value) {
  if (!value.is_object() || value.size() != 1) return CompactJson(value);
  const std::string& tag = value.begin().key();
  const Json& content = value.begin().value();
  if (tag == "NULL") return "null";
  if (tag != "SS" && tag != "NS" && tag != "BS") return ShowScalar(content);
  std::string text;
  for (const Json& element : content) text += Cat(text.empty() ? "{" : ", ", ShowScalar(element));
  return text + "}";
}

std::string ItemsTable(const Json& items) {
  std::set<std::string> names;
  for (const Json& item : items) {
    for (const auto& [name, value] : item.items()) names.insert(name);
  }
  if (names.empty()) return "";
  TextTable table(std::vector<std::string>(names.begin(), names.end()));
  for (const Json& item : items) {
    std::vector<std::string> cells;
    cells.reserve(names.size());
    for (const std::string& name : names) {
      cells.push_back(item.contains(name) ? ShowValue(item[name]) : "");
    }
    table.AddRow(std::move(cells));
  }
  return table.ToString();
}

std::string RecordsTable(const Json& records, const std::vector<std::string>& columns) {
  TextTable table(columns);
  for (const Json& record : records) {
    std::vector<std::string> cells;
    cells.reserve(columns.size());
    for (const std::string& name : columns) {
      cells.push_back(record.contains(name) ? ShowMember(name, record[name]) : "");
    }
    table.AddRow(std::move(cells));
  }
  return table.ToString();
}

std::string DetailsTable(const Json& object) {
  TextTable table({"Property", "Value"});
  AddDetails("", object, table);
  return table.ToString();
}

}  // namespace armature::cli
