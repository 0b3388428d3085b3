#ifndef ARMATURE_TOOLS_ARMATURE_LOAD_ITEM_SOURCE_H_
#define ARMATURE_TOOLS_ARMATURE_LOAD_ITEM_SOURCE_H_

// The items of a file, whatever its format.

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

// By the file's name: "x.csv" and "x.csv.gz" are CSV, all others JSON lines.
LoadFormat FormatOf(const std::string& path);

// What stands in the file between two places.
struct SourceRecord {
  // Errors: what is wrong with it, in words. The next one may be right.
  absl::StatusOr<api::v1::Item> item;
  int64_t line = 0;  // where it begins, counted from 1
  TextPosition end;
};

// Not thread-safe.
class ItemSource {
 public:
  // `types`: of attributes, for CSV. Errors: InputError.
  static absl::StatusOr<std::unique_ptr<ItemSource>> Open(const std::string& path, LoadFormat format, CsvTypes types);

  // Goes forward to the end of a record, as LineReader::SkipTo.
  absl::Status SkipTo(TextPosition position);

  // The next record; empty lines are passed over. False at the end. Errors: InputError if nothing more can be read, as
  // behind a quote that is not closed: what follows might be anything.
  absl::StatusOr<bool> Next(SourceRecord* record);

  const LineReader& text() const { return *text_; }

 private:
  ItemSource(std::string path, std::unique_ptr<LineReader> text, LoadFormat format, CsvTypes types);
  absl::Status ReadNames();
  // The rest of the CSV record that begins with `line_`: false if that line is none. Errors: as of Next.
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
