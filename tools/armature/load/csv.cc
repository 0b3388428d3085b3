#include "tools/armature/load/csv.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_split.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/attribute_json.h"
#include "tools/armature/json_text.h"
#include "tools/armature/session.h"

namespace armature::cli {
namespace {

constexpr std::array<std::string_view, 10> kTypes = {"S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"};

// Takes the text up to the closing quote from the front of `rest`. False if there is no closing quote.
bool TakeQuoted(std::string_view* rest, std::string* cell) {
  while (true) {
    const size_t quote = rest->find('"');
    cell->append(rest->substr(0, quote));
    if (quote == std::string_view::npos) return false;
    rest->remove_prefix(quote + 1);
    if (!rest->starts_with('"')) return true;
    cell->push_back('"');
    rest->remove_prefix(1);
  }
}

// Takes an unquoted cell.
void TakePlain(std::string_view* rest, std::string* cell) {
  const size_t comma = std::min(rest->find(','), rest->size());
  *cell = rest->substr(0, comma);
  rest->remove_prefix(comma);
  if (rest->empty() && cell->ends_with('\r')) cell->pop_back();
}

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

}  // namespace

CsvRecord CsvSplitter::Add(std::string_view line) {
  if (is_quoted_) {
    cells_.back().push_back('\n');
  } else {
    cells_.clear();
  }
  while (true) {
    if (!is_quoted_) {
      cells_.emplace_back();
      is_quoted_ = line.starts_with('"');
      if (is_quoted_) line.remove_prefix(1);
    }
    if (is_quoted_) {
      if (!TakeQuoted(&line, &cells_.back())) return CsvRecord::kGoesOn;
      is_quoted_ = false;
      if (line == "\r") line = {};
    } else {
      TakePlain(&line, &cells_.back());
      if (cells_.back().find('"') != std::string::npos) return CsvRecord::kWrong;
    }
    if (line.empty()) return CsvRecord::kWhole;
    if (line.front() != ',') return CsvRecord::kWrong;
    line.remove_prefix(1);
  }
}

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

}  // namespace armature::cli
