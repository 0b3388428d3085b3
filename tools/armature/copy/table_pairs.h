#ifndef ARMATURE_TOOLS_ARMATURE_COPY_TABLE_PAIRS_H_
#define ARMATURE_TOOLS_ARMATURE_COPY_TABLE_PAIRS_H_

// Which tables are copied, and their names at the target.

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace armature::cli::copy {

struct TablePair {
  std::string source;
  std::string target;
};

struct Rename {
  std::string from;
  std::string to;
};

class TableNames {
 public:
  // `names`: OLD=NEW. `prefixes`: A=B, where B or A may be empty. Errors: UsageError.
  static absl::StatusOr<TableNames> Parse(const std::vector<std::string>& names,
                                          const std::vector<std::string>& prefixes);

  // The other direction: what was called NEW becomes OLD.
  TableNames Reversed() const;

  // The name at the target: a whole name first, else the first prefix that matches, else the same name.
  std::string TargetOf(const std::string& source) const;

  // The pairs of the tables. Errors: UsageError if two tables have one target.
  absl::StatusOr<std::vector<TablePair>> PairsOf(const std::vector<std::string>& sources) const;

 private:
  std::vector<Rename> names_;
  std::vector<Rename> prefixes_;
};

}  // namespace armature::cli::copy

#endif  // ARMATURE_TOOLS_ARMATURE_COPY_TABLE_PAIRS_H_
