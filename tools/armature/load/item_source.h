#ifndef ARMATURE_TOOLS_ARMATURE_LOAD_ITEM_SOURCE_H_
#define ARMATURE_TOOLS_ARMATURE_LOAD_ITEM_SOURCE_H_

// Reads the items of a file of JSON lines or comma-separated values.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "armature/api/v1/types.pb.h"
#include "storage/files/csv_splitter.h"
#include "storage/files/line_reader.h"

namespace armature::cli {

// Attribute types, such as "N" or "SS", by attribute name.
using CsvTypes = std::map<std::string, std::string, std::less<>>;

// Parses a text such as "age=N,tags=SS". Errors: UsageError.
absl::StatusOr<CsvTypes> ParseCsvTypes(std::string_view text);

// The item with these cells. An empty cell is no attribute. S, N and B take the cell as it is (B in base64). The other
// types parse the cell as the JSON of the value: true, ["a","b"], {"x":{"N":"1"}}. Attributes without a type are
// strings. Errors: INVALID_ARGUMENT with the reason.
absl::StatusOr<api::v1::Item> ItemFromCsv(const std::vector<std::string>& names, const std::vector<std::string>& cells,
                                          const CsvTypes& types);

enum class LoadFormat {
  kJsonLines,  // an item in typed or plain JSON on each line, bare or as {"Item": {...}}
  kCsv,        // names of attributes on the first line
};

// The format by file name: "x.csv", "x.csv.gz" and "x.csv.zst" are CSV, all other files are JSON lines.
LoadFormat FormatOf(const std::string& path);

// A record of the file.
struct SourceRecord {
  // Errors: INVALID_ARGUMENT with the reason. The next record may be valid.
  absl::StatusOr<api::v1::Item> item;
  int64_t line = 0;  // its first line, counted from 1
  files::TextPosition end;
};

// Not thread-safe.
class ItemSource {
 public:
  // `types`: attribute types, for CSV. Errors: InputError.
  static absl::StatusOr<std::unique_ptr<ItemSource>> Open(const std::string& path, LoadFormat format, CsvTypes types);

  // Skips to the end of a record: see files::LineReader::SkipTo.
  absl::Status SkipTo(files::TextPosition position);

  // Reads the next record. Skips empty lines. False at the end. Errors: InputError if nothing more can be read, for
  // example after a quote that is not closed.
  absl::StatusOr<bool> Next(SourceRecord* record);

  const files::LineReader& text() const { return *text_; }

 private:
  ItemSource(std::string path, std::unique_ptr<files::LineReader> text, LoadFormat format, CsvTypes types);
  // Reads the next line of the text into `line_`. False at the end.
  absl::StatusOr<bool> NextLine();
  absl::Status ReadNames();
  // Reads the cells of the CSV record that begins with `line_`. False if the record is malformed. Errors: those of
  // Next.
  absl::StatusOr<bool> ReadCells();

  const std::string path_;
  const std::unique_ptr<files::LineReader> text_;
  const LoadFormat format_;
  const CsvTypes types_;
  files::CsvSplitter splitter_;
  std::vector<std::string> names_;
  std::string line_;
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_LOAD_ITEM_SOURCE_H_
