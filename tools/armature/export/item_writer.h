#ifndef ARMATURE_TOOLS_ARMATURE_EXPORT_ITEM_WRITER_H_
#define ARMATURE_TOOLS_ARMATURE_EXPORT_ITEM_WRITER_H_

// Items as the text of a file.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "armature/api/v1/types.pb.h"
#include "tools/armature/export/manifest.h"

namespace armature::cli {

// Appends {"Item": {...}} and a line break.
void AppendJsonLine(const api::v1::Item& item, std::string* text);

// Writes what ItemFromCsv reads, with the types that it tells: S and N as they are, B in base64, all others as the JSON
// that stands behind the type. What could not be read back the same is refused: an attribute whose type is not the one
// it had before, an empty string, an attribute without a column (unless the columns were chosen).
//
// Not thread-safe.
class CsvWriter {
 public:
  // `keys`: of the table; they come first. `chosen`: the other columns; empty: see Learn.
  CsvWriter(const std::vector<std::string>& keys, const std::vector<std::string>& chosen);

  // Without chosen columns: items that are shown to it before the first one is written give theirs.
  void Learn(const api::v1::Item& item);

  // The first line of a file.
  std::string Head() const;

  // A record. Errors: InputError that names the item.
  absl::Status Append(const api::v1::Item& item, std::string* text);

  // With the types that were met; those of columns without any value are S.
  std::vector<ExportedColumn> columns() const;

 private:
  void AddColumn(const std::string& name);
  absl::Status Refuse(const api::v1::Item& item, const std::string& attribute, const std::string& why) const;

  const size_t key_count_;
  const bool is_chosen_;
  std::vector<ExportedColumn> columns_;
  std::map<std::string, size_t, std::less<>> column_of_;
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_EXPORT_ITEM_WRITER_H_
