#ifndef ARMATURE_TOOLS_ARMATURE_EXPORT_ITEM_WRITER_H_
#define ARMATURE_TOOLS_ARMATURE_EXPORT_ITEM_WRITER_H_

// Writes items as lines of a file.

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

// Appends a cell of CSV, in quotes if it needs them.
void AppendCsvCell(std::string_view cell, std::string* text);

// Writes records that ItemFromCsv can read with the types of columns(): S and N as they are, B in base64, all other
// types as the JSON of the value. Refuses attributes that could not be read back unchanged: an attribute with another
// type than in earlier items, an empty string, an attribute without a column (unless the columns were chosen).
//
// Not thread-safe.
class CsvWriter {
 public:
  // `keys`: the key attributes of the table, which are the first columns. `chosen`: the other columns. If it is empty,
  // Learn adds the other columns.
  CsvWriter(const std::vector<std::string>& keys, const std::vector<std::string>& chosen);

  // Adds the attributes of an item to the columns, unless the columns were chosen. Not after Append.
  void Learn(const api::v1::Item& item);

  // The first line of a file.
  std::string Head() const;

  // Appends a record. Errors: InputError that names the item.
  absl::Status Append(const api::v1::Item& item, std::string* text);

  // The columns with the types of their values. Columns without values have the type S.
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
