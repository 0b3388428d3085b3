#include "tools/armature/advise_text.h"

#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "storage/base/strings.h"
#include "tools/advise/explain.h"
#include "tools/armature/text_table.h"

namespace armature::cli {
namespace {

using advise::Advice;
using advise::BytesText;
using advise::IndexAdvice;
using advise::NumberText;
using advise::PatternAdvice;
using advise::Reason;

constexpr size_t kLineWidth = 100;

// Breaks the text between words; every line is indented.
std::string Paragraph(std::string_view text, std::string_view indent) {
  std::istringstream words{std::string(text)};
  std::string lines;
  std::string line;
  for (std::string word; words >> word;) {
    if (!line.empty() && indent.size() + line.size() + 1 + word.size() > kLineWidth) {
      lines += Cat(indent, line, "\n");
      line.clear();
    }
    line += line.empty() ? word : " " + word;
  }
  return line.empty() ? lines : Cat(lines, indent, line, "\n");
}

std::string ReasonsText(const std::vector<Reason>& reasons) {
  std::string text;
  for (const Reason& reason : reasons) text += Paragraph(Cat(reason.topic, ": ", reason.text), "  ");
  return text;
}

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += Cat(text.empty() ? "" : ", ", name);
  return text;
}

std::string ProjectionText(const IndexAdvice& index) {
  const std::string kind(advise::ProjectionName(index.projection));
  return index.non_key.empty() ? kind : Cat(kind, " ", Joined(index.non_key));
}

std::string OrUnknown(const std::optional<double>& number, std::string (*show)(double)) {
  return number ? show(*number) : "?";
}

std::string TableText(const advise::TableAdvice& table) {
  std::string text = Cat("Table ", table.name, table.created ? " (created)" : "", "\n");
  text += Cat("  key: ", table.key.ToString(), "\n");
  text +=
      Cat("  items: ", OrUnknown(table.items, NumberText), ", ", NumberText(table.item_bytes), " bytes each, storage ",
          OrUnknown(table.storage_bytes, BytesText), ", ", NumberText(table.write_units), " write units/s\n");
  return text + ReasonsText(table.reasons);
}

std::string IndexesText(const std::vector<IndexAdvice>& indexes) {
  if (indexes.empty()) return "\nNo new index is needed.\n";
  TextTable rows({"Index", "Kind", "Key", "Projection", "Entries", "Storage", "Write units/s", "Read units/s"});
  for (const IndexAdvice& index : indexes) {
    rows.AddRow({index.name, index.local ? "LOCAL" : "GLOBAL", index.key.ToString(), ProjectionText(index),
                 OrUnknown(index.entries, NumberText), OrUnknown(index.storage_bytes, BytesText),
                 NumberText(index.write_units), NumberText(index.read_units)});
  }
  std::string text = "\n" + rows.ToString();
  for (const IndexAdvice& index : indexes) text += Cat("\nIndex ", index.name, "\n", ReasonsText(index.reasons));
  return text;
}

std::string PatternsText(const std::vector<PatternAdvice>& patterns) {
  TextTable rows({"Pattern", "Answered by", "Key condition", "Units/read", "Read units/s"});
  for (const PatternAdvice& pattern : patterns) {
    const std::string by = pattern.index.empty() ? std::string(advise::ServiceName(pattern.service)) : pattern.index;
    rows.AddRow(
        {pattern.name, by, pattern.condition, NumberText(pattern.units_per_read), NumberText(pattern.read_units)});
  }
  std::string text = "\n" + rows.ToString();
  for (const PatternAdvice& pattern : patterns) {
    text += Cat("\nPattern ", pattern.name, "\n", Paragraph(pattern.reason, "  "));
  }
  return text;
}

}  // namespace

std::string AdviceText(const Advice& advice) {
  std::string text = TableText(advice.table) + IndexesText(advice.indexes) + PatternsText(advice.patterns);
  if (!advice.warnings.empty()) text += "\nWarnings\n";
  for (const std::string& warning : advice.warnings) text += Paragraph(warning, "  ");
  return text;
}

}  // namespace armature::cli
