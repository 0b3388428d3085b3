#ifndef ARMATURE_STORAGE_FILES_CSV_SPLITTER_H_
#define ARMATURE_STORAGE_FILES_CSV_SPLITTER_H_

// Records of comma-separated values, according to RFC 4180: cells in double quotes may have delimiters, line breaks and
// doubled quotes.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace armature::files {

enum class CsvRecord : uint8_t {
  kWhole,
  kGoesOn,  // a quote is open: the record continues on the next line
  kWrong,   // a quote is misplaced
};

// Splits records into their cells, line by line. Not thread-safe.
class CsvSplitter {
 public:
  // `delimiter`: neither a quote nor a part of a line break.
  explicit CsvSplitter(char delimiter = ',') : delimiter_(delimiter) {}

  // Adds the next line of the record, or the first line of the next record, without its '\n'. A '\r' at its end belongs
  // to the line break, except within quotes.
  CsvRecord Add(std::string_view line);

  // Forgets an incomplete record: the next line is the first of a record.
  void Drop() { is_quoted_ = false; }

  // The cells of the complete record.
  const std::vector<std::string>& cells() const { return cells_; }

 private:
  // Takes an unquoted cell.
  void TakePlain(std::string_view* rest, std::string* cell) const;

  const char delimiter_;
  std::vector<std::string> cells_;
  bool is_quoted_ = false;  // the last cell is quoted and not closed yet
};

}  // namespace armature::files

#endif  // ARMATURE_STORAGE_FILES_CSV_SPLITTER_H_
