#ifndef ARMATURE_TOOLS_ARMATURE_LOAD_ITEM_SOURCE_H_
#define ARMATURE_TOOLS_ARMATURE_LOAD_ITEM_SOURCE_H_

// Reads the items of a file of any format.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "armature/api/v1/types.pb.h"
#include "tools/armature/load/csv.h"
#include "tools/armature/load/line_reader.h"

namespace armature::cli {

enum class LoadFormat {
  kJsonLines,  // an item in its JSON form on each line, bare or as {"Item": {...}}
  kCsv,        // names of attributes on the first line
};

// The format by file name: "x.csv" and "x.csv.gz" are CSV, all other files are JSON lines.
LoadFormat FormatOf(const std::string& path);

// A record of the file.
struct SourceRecord {
  // Errors: INVALID_ARGUMENT with the reason. The next record may be valid.
  absl::StatusOr<api::v1::Item> item;
  int64_t line = 0;  // its first line, counted from 1
  TextPosition end;
};

// Not thread-safe.
class ItemSource {
 public:
  // `types`: attribute types, for CSV. Errors: InputError.
  static absl::StatusOr<std::unique_ptr<ItemSource>> Open(const std::string& path, LoadFormat format, CsvTypes types);

  // Skips to the end of a record: see LineReader::SkipTo.
  absl::Status SkipTo(TextPosition position);

  // Reads the next record. Skips empty lines. False at the end. Errors: InputError if nothing more can be read, for
  // example after a quote that is not closed.
  absl::StatusOr<bool> Next(SourceRecord* record);

  const LineReader& text() const { return *text_; }

 private:
  ItemSource(std::string path, std::unique_ptr<LineReader> text, LoadFormat format, CsvTypes types);
  absl::Status ReadNames();
  // Reads the cells of the CSV record that begins with `line_`. False if the record is malformed. Errors: those of
  // Next.
  absl::StatusOr<bool> ReadCells();

  const std::string path_;
  const std::unique_ptr<LineReader> text_;
  const LoadFormat format_;
  const CsvTypes types_;
  CsvSplitter splitter_;
  std::vector<std::string> names_;
  std::string line_;
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_LOAD_ITEM_SOURCE_H_
