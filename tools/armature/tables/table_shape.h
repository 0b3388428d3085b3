#ifndef ARMATURE_TOOLS_ARMATURE_TABLES_TABLE_SHAPE_H_
#define ARMATURE_TOOLS_ARMATURE_TABLES_TABLE_SHAPE_H_

// Keys and indexes in their short form, as people type them:
//
//   key     NAME[:TYPE][,NAME[:TYPE]]                   partition attribute, sort attribute
//   index   NAME=PARTITION,... [| SORT,...] [(PROJECTION)]   global; one to four attributes on each side of the bar
//   local   NAME=SORT [(PROJECTION)]                    the partition attribute is that of the table
//
// TYPE is S, N or B. An attribute that has no type anywhere is a string, so a type is given once at most. PROJECTION is
// `all` (also without one), `keys`, or the names of the attributes that the index has beside the keys. Blanks around
// names do not count. A name with a comma, a bar or a parenthesis needs the long form.

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "armature/api/v1/tables.pb.h"

namespace armature::cli {

struct TableShape {
  std::string key;
  std::vector<std::string> indexes{};  // global ones
  std::vector<std::string> locals{};
};

// The request that creates a table of this shape, on demand. Errors: UsageError that quotes the faulty text.
absl::StatusOr<api::v1::CreateTableRequest> CreationOfTable(std::string_view name, const TableShape& shape);

// The request that adds a global index to `table`, whose definitions give the types of known attributes. Errors:
// UsageError.
absl::StatusOr<api::v1::UpdateTableRequest> AdditionOfIndex(const api::v1::TableDescription& table,
                                                            std::string_view index);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_TABLES_TABLE_SHAPE_H_
