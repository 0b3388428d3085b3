#include "tools/armature/load/item_source.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "armature/api/v1/items.pb.h"
#include "daemon/message_json/json_reader.h"
#include "daemon/message_json/strict_reader.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/json_text.h"
#include "tools/armature/message_json.h"
#include "tools/armature/plain_json.h"
#include "tools/armature/session.h"

namespace armature::cli {
namespace {

using files::CsvRecord;
using files::LineReader;
using files::TextPosition;

constexpr std::array<std::string_view, 10> kTypes = {"S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"};

absl::StatusOr<api::v1::AttributeValue> ValueOf(const std::string& name, const std::string& type,
                                                const std::string& cell) {
  Json json = Json::object();
  if (type == "S" || type == "N" || type == "B") {
    json[type] = cell;
  } else {
    ARM_ASSIGN_OR_RETURN(json[type], ParseJson(cell));
  }
  return AttributeValueFromJson(json, name);
}

// The item of a line in typed JSON, wrapped or not; nullopt for any other line. `line` gets capacity for the parser.
std::optional<api::v1::Item> SoundItem(std::string* line) {
  line->reserve(line->size() + daemon::JsonDocument::kPadding);
  const absl::StatusOr<daemon::JsonDocument> document = daemon::JsonDocument::Parse(*line);
  if (!document.ok()) return std::nullopt;
  api::v1::ItemResponse wrapped;  // {"Item": {...}}
  const bool is_wrapped = daemon::ReadStrictly(document->root(), "", &wrapped).ok();
  if (is_wrapped && wrapped.has_item()) return std::move(*wrapped.mutable_item());
  api::v1::Item item;
  return daemon::ReadStrictly(document->root(), "", &item).ok() ? std::optional(std::move(item)) : std::nullopt;
}

// The item of a line, which may be wrapped as in table exports. No typed item is valid in both readings: the values of
// one would be the types of the other. In plain JSON, a map as the only attribute Item wraps an item.
absl::StatusOr<api::v1::Item> ItemFromLine(std::string* line) {
  if (std::optional<api::v1::Item> item = SoundItem(line); item.has_value()) return *std::move(item);
  ARM_ASSIGN_OR_RETURN(api::v1::Item item, ItemFromPlain(*line));
  const auto wrapped = item.mutable_attributes()->find("Item");
  if (item.attributes().size() != 1 || wrapped == item.mutable_attributes()->end() || !wrapped->second.has_m()) {
    return item;
  }
  api::v1::Item inner;
  inner.mutable_attributes()->swap(*wrapped->second.mutable_m()->mutable_entries());
  return inner;
}

bool IsBlank(std::string_view line) { return absl::StripAsciiWhitespace(Av(line)).empty(); }

constexpr std::string_view kWrongQuote = "a quote within a cell must be doubled, and the cell in quotes";

}  // namespace

absl::StatusOr<CsvTypes> ParseCsvTypes(std::string_view text) {
  CsvTypes types;
  if (text.empty()) return types;
  const std::vector<std::string> pairs = absl::StrSplit(Av(text), ',');
  for (const std::string& pair : pairs) {
    const size_t equals = pair.rfind('=');
    const std::string type = equals == std::string::npos ? "" : pair.substr(equals + 1);
    if (equals == 0 || std::find(kTypes.begin(), kTypes.end(), type) == kTypes.end()) {
      return UsageError(Cat("--types: \"", pair, "\" is not NAME=TYPE, with a type such as S, N, B, BOOL or SS"));
    }
    types[pair.substr(0, equals)] = type;
  }
  return types;
}

absl::StatusOr<api::v1::Item> ItemFromCsv(const std::vector<std::string>& names, const std::vector<std::string>& cells,
                                          const CsvTypes& types) {
  if (cells.size() != names.size()) {
    return absl::InvalidArgumentError(Cat(cells.size(), " cells, where the first line has ", names.size()));
  }
  api::v1::Item item;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].empty()) continue;
    const auto type = types.find(names[i]);
    api::v1::AttributeValue& value = (*item.mutable_attributes())[names[i]];
    if (type == types.end()) {
      value.set_s(cells[i]);
      continue;
    }
    ARM_ASSIGN_OR_RETURN(value, ValueOf(names[i], type->second, cells[i]));
  }
  return item;
}

LoadFormat FormatOf(const std::string& path) {
  const bool is_csv = path.ends_with(".csv") || path.ends_with(".csv.gz") || path.ends_with(".csv.zst");
  return is_csv ? LoadFormat::kCsv : LoadFormat::kJsonLines;
}

ItemSource::ItemSource(std::string path, std::unique_ptr<LineReader> text, LoadFormat format, CsvTypes types)
    : path_(std::move(path)), text_(std::move(text)), format_(format), types_(std::move(types)) {}

absl::StatusOr<std::unique_ptr<ItemSource>> ItemSource::Open(const std::string& path, LoadFormat format,
                                                             CsvTypes types) {
  absl::StatusOr<std::unique_ptr<LineReader>> text =
      path == "-" ? LineReader::OpenStandardInput() : LineReader::Open(path);
  if (!text.ok()) return AsInputError(text.status());
  std::unique_ptr<ItemSource> source(new ItemSource(path, *std::move(text), format, std::move(types)));
  if (format == LoadFormat::kCsv) ARM_RETURN_IF_ERROR(source->ReadNames());
  return source;
}

absl::StatusOr<bool> ItemSource::NextLine() {
  absl::StatusOr<bool> has_line = text_->Next(&line_);
  return has_line.ok() ? has_line : AsInputError(has_line.status());
}

absl::Status ItemSource::ReadNames() {
  ARM_ASSIGN_OR_RETURN(const bool has_line, NextLine());
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
  return position.offset > text_->position().offset ? AsInputError(text_->SkipTo(position)) : absl::OkStatus();
}

absl::StatusOr<bool> ItemSource::ReadCells() {
  const TextPosition begin = text_->position();
  CsvRecord read = splitter_.Add(line_);
  while (read == CsvRecord::kGoesOn) {
    ARM_ASSIGN_OR_RETURN(const bool has_next, NextLine());
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
    ARM_ASSIGN_OR_RETURN(const bool has_line, NextLine());
    if (!has_line) return false;
  } while (IsBlank(line_));
  record->line = text_->position().line;
  if (format_ == LoadFormat::kJsonLines) {
    record->item = ItemFromLine(&line_);
  } else {
    ARM_ASSIGN_OR_RETURN(const bool is_record, ReadCells());
    record->item =
        is_record ? ItemFromCsv(names_, splitter_.cells(), types_) : absl::InvalidArgumentError(Av(kWrongQuote));
  }
  record->end = text_->position();
  return true;
}

}  // namespace armature::cli
