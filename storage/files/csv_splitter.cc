#include "storage/files/csv_splitter.h"

#include <algorithm>

namespace armature::files {
namespace {

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

}  // namespace

void CsvSplitter::TakePlain(std::string_view* rest, std::string* cell) const {
  const size_t end = std::min(rest->find(delimiter_), rest->size());
  *cell = rest->substr(0, end);
  rest->remove_prefix(end);
  if (rest->empty() && cell->ends_with('\r')) cell->pop_back();
}

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
    if (line.front() != delimiter_) return CsvRecord::kWrong;
    line.remove_prefix(1);
  }
}

}  // namespace armature::files
