#include "tools/armature/inspect/record_writer.h"

#include <utility>

#include "storage/base/strings.h"
#include "tools/armature/text_table.h"

namespace armature::cli {
namespace {

constexpr size_t kTableRowsMax = 500;

std::string Member(const std::string& name, const Json& value) {
  return Cat("    ", CompactJson(Json(name)), ": ", CompactJson(value));
}

}  // namespace

RecordWriter::RecordWriter(const Session& session, const Json& head, const std::string& list,
                           std::vector<std::string> columns)
    : session_(session), is_json_(session.format() == OutputFormat::kJson), columns_(std::move(columns)) {
  if (!is_json_) return;
  std::string text = "{\n";
  for (const auto& [name, value] : head.items()) text += Member(name, value) + ",\n";
  session_.PrintText(Cat(text, "    ", CompactJson(Json(list)), ": ["));
}

void RecordWriter::AddJson(const Json& record) {
  session_.PrintText(Cat(is_first_ ? "\n        " : ",\n        ", CompactJson(record)));
  is_first_ = false;
}

void RecordWriter::AddCells(std::vector<std::string> cells) {
  rows_.push_back(std::move(cells));
  if (rows_.size() >= kTableRowsMax) PrintTable();
}

void RecordWriter::PrintTable() {
  TextTable table(columns_);
  for (std::vector<std::string>& row : rows_) table.AddRow(std::move(row));
  session_.PrintText(table.ToString());
  rows_.clear();
  is_first_ = false;
}

void RecordWriter::Finish(const std::vector<std::string>& problems, const Json& more) {
  if (is_json_) {
    std::string text = Cat(is_first_ ? "]" : "\n    ]", ",\n", Member("Problems", Json(problems)));
    for (const auto& [name, value] : more.items()) text += ",\n" + Member(name, value);
    session_.PrintText(text + "\n}\n");
    return;
  }
  if (!rows_.empty() || is_first_) PrintTable();
  for (const auto& [name, value] : more.items()) session_.PrintText(Cat("more: ", name, " ", ShowValue(value), "\n"));
  session_.PrintText(ProblemLines(problems));
}

std::string ProblemLines(const std::vector<std::string>& problems) {
  std::string lines;
  for (const std::string& problem : problems) lines += Cat("problem: ", problem, "\n");
  return lines;
}

}  // namespace armature::cli
