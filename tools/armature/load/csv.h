#ifndef ARMATURE_TOOLS_ARMATURE_LOAD_CSV_H_
#define ARMATURE_TOOLS_ARMATURE_LOAD_CSV_H_

// Comma-separated values according to RFC 4180: cells in double quotes may have commas, line breaks and doubled quotes.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "armature/api/v1/types.pb.h"

namespace armature::cli {

enum class CsvRecord {
  kWhole,
  kGoesOn,  // a quote is open: the record continues on the next line
  kWrong,   // a quote is misplaced
};

// Splits records into their cells, line by line. Not thread-safe.
class CsvSplitter {
 public:
  // Adds the next line of the record, or the first line of the next record, without its '\n'. A '\r' at its end belongs
  // to the line break, except within quotes.
  CsvRecord Add(std::string_view line);

  // The cells of the complete record.
  const std::vector<std::string>& cells() const { return cells_; }

 private:
  std::vector<std::string> cells_;
  bool is_quoted_ = false;  // the last cell is quoted and not closed yet
};

// Attribute types, such as "N" or "SS", by attribute name.
using CsvTypes = std::map<std::string, std::string, std::less<>>;

// Parses a text such as "age=N,tags=SS". Errors: UsageError.
absl::StatusOr<CsvTypes> ParseCsvTypes(std::string_view text);

// The item with these cells. An empty cell is no attribute. S, N and B take the cell as it is (B in base64). The other
// types parse the cell as the JSON of the value: true, ["a","b"], {"x":{"N":"1"}}. Attributes without a type are
// strings. Errors: INVALID_ARGUMENT with the reason.
absl::StatusOr<api::v1::Item> ItemFromCsv(const std::vector<std::string>& names, const std::vector<std::string>& cells,
                                          const CsvTypes& types);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_LOAD_CSV_H_
