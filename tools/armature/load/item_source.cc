#include "tools/armature/load/item_source.h"

#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/attribute_json.h"
#include "tools/armature/json_text.h"
#include "tools/armature/session.h"

namespace armature::cli {
namespace {

// A line of an export wraps its item. What is an item in both readings does not exist: the values of the one would be
// types in the other.
absl::StatusOr<api::v1::Item> ItemFromLine(std::string_view line) {
  ARM_ASSIGN_OR_RETURN(const Json json, ParseJson(line));
  if (!json.is_object() || json.size() != 1 || !json.contains("Item")) return ItemFromJson(json, "");
  absl::StatusOr<api::v1::Item> wrapped = ItemFromJson(json["Item"], "Item");
  if (wrapped.ok()) return wrapped;
  absl::StatusOr<api::v1::Item> bare = ItemFromJson(json, "");
  return bare.ok() ? bare : wrapped;
}

bool IsBlank(std::string_view line) { return absl::StripAsciiWhitespace(Av(line)).empty(); }

// A line break may be "\r\n". One within quotes stays as it is.
std::string_view WithoutReturn(std::string_view record) {
  if (record.ends_with('\r')) record.remove_suffix(1);
  return record;
}

}  // namespace

LoadFormat FormatOf(const std::string& path) {
  return path.ends_with(".csv") || path.ends_with(".csv.gz") ? LoadFormat::kCsv : LoadFormat::kJsonLines;
}

ItemSource::ItemSource(std::unique_ptr<LineReader> text, LoadFormat format, CsvTypes types)
    : text_(std::move(text)), format_(format), types_(std::move(types)) {}

absl::StatusOr<std::unique_ptr<ItemSource>> ItemSource::Open(const std::string& path, LoadFormat format,
                                                             CsvTypes types) {
  ARM_ASSIGN_OR_RETURN(std::unique_ptr<LineReader> text, LineReader::Open(path));
  std::unique_ptr<ItemSource> source(new ItemSource(std::move(text), format, std::move(types)));
  if (format == LoadFormat::kCsv) ARM_RETURN_IF_ERROR(source->ReadNames(path));
  return source;
}

absl::Status ItemSource::ReadNames(const std::string& path) {
  ARM_ASSIGN_OR_RETURN(const bool has_line, text_->Next(&line_));
  if (!has_line) return UsageError(Cat(path, ": a CSV file has the names of the attributes on its first line"));
  const absl::Status read = ReadCells(&names_);
  if (!read.ok()) return UsageError(Cat(path, ":1: ", Sv(read.message())));
  for (const std::string& name : names_) {
    if (name.empty()) return UsageError(Cat(path, ":1: an attribute has no name"));
  }
  return absl::OkStatus();
}

absl::Status ItemSource::SkipTo(TextPosition position) {
  // Names that were read just now stand before any record.
  return position.offset > text_->position().offset ? text_->SkipTo(position) : absl::OkStatus();
}

absl::Status ItemSource::ReadCells(std::vector<std::string>* cells) {
  while (true) {
    switch (SplitCsv(WithoutReturn(line_), cells)) {
      case CsvRecord::kWhole:
        return absl::OkStatus();
      case CsvRecord::kWrong:
        return absl::InvalidArgumentError("a quote within a cell must be doubled, and the cell in quotes");
      case CsvRecord::kGoesOn:
        break;
    }
    std::string next;
    ARM_ASSIGN_OR_RETURN(const bool has_next, text_->Next(&next));
    if (!has_next) return absl::InvalidArgumentError("a quote is not closed");
    line_ = Cat(line_, "\n", next);
    if (line_.size() > LineReader::kLineBytesMax) return absl::InvalidArgumentError("a quoted cell is too long");
  }
}

absl::StatusOr<api::v1::Item> ItemSource::ReadItem() {
  if (format_ == LoadFormat::kJsonLines) return ItemFromLine(line_);
  std::vector<std::string> cells;
  ARM_RETURN_IF_ERROR(ReadCells(&cells));
  return ItemFromCsv(names_, cells, types_);
}

absl::StatusOr<bool> ItemSource::Next(SourceRecord* record) {
  do {
    ARM_ASSIGN_OR_RETURN(const bool has_line, text_->Next(&line_));
    if (!has_line) return false;
  } while (IsBlank(line_));
  record->line = text_->position().line;
  record->item = ReadItem();
  record->end = text_->position();
  return true;
}

}  // namespace armature::cli
