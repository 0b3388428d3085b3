#ifndef ARMATURE_TOOLS_ARMATURE_LOAD_CSV_H_
#define ARMATURE_TOOLS_ARMATURE_LOAD_CSV_H_

// Comma-separated values, as RFC 4180 has them: cells in double quotes may hold commas, line breaks and doubled quotes.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "armature/api/v1/types.pb.h"

namespace armature::cli {

enum class CsvRecord {
  kWhole,
  kGoesOn,  // within quotes: the record takes the next line too
  kWrong,   // a quote stands where none may
};

// Splits records into their cells, line by line. Not thread-safe.
class CsvSplitter {
 public:
  // The next line of the record, or the first one of the next record; without its '\n'. A '\r' at its end belongs to
  // the line break, unless it is within quotes.
  CsvRecord Add(std::string_view line);

  // Of the record that is whole.
  const std::vector<std::string>& cells() const { return cells_; }

 private:
  std::vector<std::string> cells_;
  bool is_quoted_ = false;  // the last cell, and its end is still to come
};

// Types of attributes by name, such as "N" or "SS".
using CsvTypes = std::map<std::string, std::string, std::less<>>;

// "age=N,tags=SS". Errors: UsageError.
absl::StatusOr<CsvTypes> ParseCsvTypes(std::string_view text);

// An item of cells. An empty cell is no attribute. S, N and B take the cell as it is (B in base64), the other types
// take it as the JSON that stands behind the type in the JSON form: true, ["a","b"], {"x":{"N":"1"}}. Attributes
// without a type are strings. Errors: what is wrong, in words.
absl::StatusOr<api::v1::Item> ItemFromCsv(const std::vector<std::string>& names, const std::vector<std::string>& cells,
                                          const CsvTypes& types);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_LOAD_CSV_H_
