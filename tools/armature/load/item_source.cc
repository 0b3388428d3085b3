#include "tools/armature/load/item_source.h"

#include <set>
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

// The item of a line, which may be wrapped as in table exports. No item is valid in both readings: the values of one
// would be the types of the other.
absl::StatusOr<api::v1::Item> ItemFromLine(std::string_view line) {
  ARM_ASSIGN_OR_RETURN(const Json json, ParseJson(line));
  if (!json.is_object() || json.size() != 1 || !json.contains("Item")) return ItemFromJson(json, "");
  absl::StatusOr<api::v1::Item> wrapped = ItemFromJson(json["Item"], "Item");
  if (wrapped.ok()) return wrapped;
  absl::StatusOr<api::v1::Item> bare = ItemFromJson(json, "");
  return bare.ok() ? bare : wrapped;
}

bool IsBlank(std::string_view line) { return absl::StripAsciiWhitespace(Av(line)).empty(); }

constexpr std::string_view kWrongQuote = "a quote within a cell must be doubled, and the cell in quotes";

}  // namespace

LoadFormat FormatOf(const std::string& path) {
  return path.ends_with(".csv") || path.ends_with(".csv.gz") ? LoadFormat::kCsv : LoadFormat::kJsonLines;
}

ItemSource::ItemSource(std::string path, std::unique_ptr<LineReader> text, LoadFormat format, CsvTypes types)
    : path_(std::move(path)), text_(std::move(text)), format_(format), types_(std::move(types)) {}

absl::StatusOr<std::unique_ptr<ItemSource>> ItemSource::Open(const std::string& path, LoadFormat format,
                                                             CsvTypes types) {
  ARM_ASSIGN_OR_RETURN(std::unique_ptr<LineReader> text, LineReader::Open(path));
  std::unique_ptr<ItemSource> source(new ItemSource(path, std::move(text), format, std::move(types)));
  if (format == LoadFormat::kCsv) ARM_RETURN_IF_ERROR(source->ReadNames());
  return source;
}

absl::Status ItemSource::ReadNames() {
  ARM_ASSIGN_OR_RETURN(const bool has_line, text_->Next(&line_));
  if (!has_line) return InputError(Cat(path_, ": a CSV file has the names of the attributes on its first line"));
  ARM_ASSIGN_OR_RETURN(const bool is_record, ReadCells());
  if (!is_record) return InputError(Cat(path_, ":1: ", kWrongQuote));
  names_ = splitter_.cells();
  std::set<std::string_view> seen;
  for (const std::string& name : names_) {
    if (name.empty()) return InputError(Cat(path_, ":1: an attribute has no name"));
    if (!seen.insert(name).second) return InputError(Cat(path_, ":1: the attribute ", name, " stands there twice"));
  }
  return absl::OkStatus();
}

absl::Status ItemSource::SkipTo(TextPosition position) {
  // The names on the first line precede any record.
  return position.offset > text_->position().offset ? text_->SkipTo(position) : absl::OkStatus();
}

absl::StatusOr<bool> ItemSource::ReadCells() {
  const TextPosition begin = text_->position();
  CsvRecord read = splitter_.Add(line_);
  while (read == CsvRecord::kGoesOn) {
    ARM_ASSIGN_OR_RETURN(const bool has_next, text_->Next(&line_));
    if (!has_next) return InputError(Cat(path_, ":", begin.line, ": a quote is not closed"));
    if (text_->position().offset - begin.offset > static_cast<int64_t>(LineReader::kLineBytesMax)) {
      return InputError(Cat(path_, ":", begin.line, ": a cell in quotes is longer than ", LineReader::kLineBytesMax,
                            " bytes, or its end is missing"));
    }
    read = splitter_.Add(line_);
    if (read == CsvRecord::kWrong) {
      // A later line has closed the open quote. The lines in between may be good records.
      return InputError(Cat(path_, ":", begin.line, ": a quote is not closed, or one within its cell is not doubled"));
    }
  }
  return read == CsvRecord::kWhole;
}

absl::StatusOr<bool> ItemSource::Next(SourceRecord* record) {
  do {
    ARM_ASSIGN_OR_RETURN(const bool has_line, text_->Next(&line_));
    if (!has_line) return false;
  } while (IsBlank(line_));
  record->line = text_->position().line;
  if (format_ == LoadFormat::kJsonLines) {
    record->item = ItemFromLine(line_);
  } else {
    ARM_ASSIGN_OR_RETURN(const bool is_record, ReadCells());
    record->item =
        is_record ? ItemFromCsv(names_, splitter_.cells(), types_) : absl::InvalidArgumentError(Av(kWrongQuote));
  }
  record->end = text_->position();
  return true;
}

}  // namespace armature::cli
