#include "tools/armature/sql/sql_output.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_replace.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/color.h"
#include "tools/armature/display.h"
#include "tools/armature/message_json.h"
#include "tools/armature/pager.h"
#include "tools/armature/plain_json.h"

namespace armature::cli {
namespace {

constexpr std::array<std::pair<std::string_view, SqlFormat>, 5> kSqlFormats = {
    std::pair{"table", SqlFormat::kTable}, std::pair{"json", SqlFormat::kJson},
    std::pair{"jsonl", SqlFormat::kJsonLines}, std::pair{"csv", SqlFormat::kCsv},
    std::pair{"document", SqlFormat::kDocument}};

// The columns of the result, then the other attributes by name.
std::vector<std::string> ResultColumns(const SqlResult& result) {
  std::vector<std::string> columns = result.columns;
  std::set<std::string> others;
  for (const api::v1::Item& item : result.items) {
    for (const auto& [name, value] : item.attributes()) others.insert(name);
  }
  for (const std::string& name : columns) others.erase(name);
  columns.insert(columns.end(), others.begin(), others.end());
  return columns;
}

std::string CsvCell(std::string_view text) {
  const bool needs_quotes = text.find_first_of(",\"\r\n") != std::string_view::npos || text.empty();
  return needs_quotes ? Cat("\"", absl::StrReplaceAll(Av(text), {{"\"", "\"\""}}), "\"") : std::string(text);
}

std::string CsvValue(const api::v1::AttributeValue& value) {
  switch (value.value_case()) {
    case api::v1::AttributeValue::kS:
      return CsvCell(value.s());
    case api::v1::AttributeValue::kN:
      return value.n();
    case api::v1::AttributeValue::kB:
      return CsvCell(absl::Base64Escape(value.b()));
    default:
      return CsvCell(PlainValue(value));
  }
}

std::string CsvOf(const SqlResult& result) {
  const std::vector<std::string> columns = ResultColumns(result);
  std::string text;
  const auto add = [&text](std::string_view cell, size_t i) { text += i == 0 ? std::string(cell) : Cat(",", cell); };
  for (size_t i = 0; i < columns.size(); ++i) add(CsvCell(columns[i]), i);
  text += "\n";
  for (const api::v1::Item& item : result.items) {
    for (size_t i = 0; i < columns.size(); ++i) {
      const auto found = item.attributes().find(columns[i]);
      add(found == item.attributes().end() ? "" : CsvValue(found->second), i);
    }
    text += "\n";
  }
  return text;
}

std::string TableOf(const SqlResult& result) {
  const std::vector<std::string> columns = ResultColumns(result);
  TextTable table(columns);
  for (const api::v1::Item& item : result.items) {
    std::vector<std::string> cells;
    cells.reserve(columns.size());
    for (const std::string& name : columns) {
      const auto found = item.attributes().find(name);
      cells.push_back(found == item.attributes().end() ? "" : ShowValue(MessageToJson(found->second)));
    }
    table.AddRow(std::move(cells));
  }
  return table.ToString();
}

}  // namespace

SqlResult TextResult(std::string text, Json document) {
  SqlResult result;
  result.text = std::move(text) + "\n";
  result.document = std::move(document);
  return result;
}

SqlResult PlanResult(std::string plan) {
  while (!plan.empty() && plan.back() == '\n') plan.pop_back();
  Json document = {{"Plan", plan}};
  SqlResult result = TextResult(std::move(plan), std::move(document));
  result.is_text = true;
  return result;
}

api::v1::Item TextRow(const std::vector<std::pair<std::string, std::string>>& cells) {
  api::v1::Item item;
  for (const auto& [name, text] : cells) {
    if (!text.empty()) (*item.mutable_attributes())[name].set_s(text);
  }
  return item;
}

std::optional<SqlFormat> ParseSqlFormat(std::string_view word) {
  for (const auto& [name, format] : kSqlFormats) {
    if (name == word) return format;
  }
  return std::nullopt;
}

std::string_view SqlFormatName(SqlFormat format) {
  for (const auto& [name, each] : kSqlFormats) {
    if (each == format) return name;
  }
  return "";
}

std::string FormatItems(const SqlResult& result, SqlFormat format) {
  std::string text;
  switch (format) {
    case SqlFormat::kTable:
      return result.items.empty() && result.columns.empty() ? "" : TableOf(result);
    case SqlFormat::kCsv:
      return CsvOf(result);
    case SqlFormat::kJsonLines:
      for (const api::v1::Item& item : result.items) text += PlainItem(item, result.columns) + "\n";
      return text;
    case SqlFormat::kJson:
      for (const api::v1::Item& item : result.items) {
        text += Cat(text.empty() ? "[\n  " : ",\n  ", PlainItem(item, result.columns));
      }
      return text.empty() ? "[]\n" : text + "\n]\n";
    case SqlFormat::kDocument:
      break;
  }
  Json items = Json::array();
  for (const api::v1::Item& item : result.items) items.push_back(MessageToJson(item));
  return PrettyJson({{"Items", std::move(items)}});
}

std::string ExpandedItems(const SqlResult& result) {
  const std::vector<std::string> columns = ResultColumns(result);
  std::string text;
  for (size_t i = 0; i < result.items.size(); ++i) {
    TextTable table({Cat("- item ", i + 1, " -"), ""});
    for (const std::string& name : columns) {
      const auto found = result.items[i].attributes().find(name);
      if (found != result.items[i].attributes().end()) table.AddRow({name, ShowValue(MessageToJson(found->second))});
    }
    text += table.ToString();
  }
  return text;
}

absl::Status SqlOutput::SetFile(const std::string& path) {
  if (file_.is_open()) file_.close();
  path_ = path;
  if (path.empty()) return absl::OkStatus();
  file_.clear();
  file_.open(path, std::ios::out | std::ios::trunc | std::ios::binary);
  if (file_.is_open()) return absl::OkStatus();
  path_.clear();
  return InputError(Cat("cannot write ", path, ": ", std::strerror(errno)));
}

absl::Status SqlOutput::Show(const SqlResult& result, std::string_view more) {
  if (format_ == SqlFormat::kDocument) {
    if (result.document.is_null()) return Write(FormatItems(result, format_), /*has_items=*/true);
    return Write(PrettyJson(result.document), /*has_items=*/true);
  }
  if (!result.is_read) {
    if (format_ == SqlFormat::kTable || result.is_text) return Write(result.text, /*has_items=*/false);
    session_.progress() << result.text << std::flush;
    return absl::OkStatus();
  }
  if (!result.text.empty()) Say(result.text);
  if (format_ != SqlFormat::kTable) {
    if (result.has_more) session_.progress() << "armature: " << more << "\n" << std::flush;
    return Write(FormatItems(result, format_), /*has_items=*/true);
  }
  const auto count = static_cast<int64_t>(result.items.size());
  return Write(Cat(is_expanded_ ? ExpandedItems(result) : FormatItems(result, format_), "(", WithCommas(count),
                   count == 1 ? " item" : " items", result.has_more ? Cat("; ", more) : std::string(), ")\n"),
               /*has_items=*/true);
}

void SqlOutput::Say(std::string_view text) const {
  if (format_ == SqlFormat::kTable) {
    Print(text);
  } else {
    session_.progress() << text << std::flush;
  }
}

void SqlOutput::Print(std::string_view text) const {
  session_.writes_terminal() ? session_.PrintText(WithoutControls(text)) : session_.PrintText(text);
  session_.Flush();
}

std::string SqlOutput::InColors(std::string_view items) const {
  // Escapes in place of control characters come before the colours, which are such characters themselves.
  const std::string text = WithoutControls(items);
  switch (format_) {
    case SqlFormat::kTable:
      return is_expanded_ ? text : ColoredTable(text);
    case SqlFormat::kCsv:
      return text;
    default:
      return ColoredJson(text);
  }
}

absl::Status SqlOutput::Write(std::string_view text, bool has_items) {
  if (path_.empty()) {
    if (!session_.writes_terminal()) {
      Print(text);
      return absl::OkStatus();
    }
    PagerOptions options = PagerOnTerminal();
    options.command = pager_;
    Pager pager(std::move(options), session_.out(), session_.progress());
    pager.out() << (session_.has_colors() && has_items ? InColors(text) : WithoutControls(text));
    return absl::OkStatus();
  }
  file_ << text << std::flush;
  return file_.good() ? absl::OkStatus() : InputError(Cat("cannot write ", path_));
}

}  // namespace armature::cli
