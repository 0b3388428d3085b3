#ifndef ARMATURE_TOOLS_ARMATURE_COPY_TABLE_VERIFY_H_
#define ARMATURE_TOOLS_ARMATURE_COPY_TABLE_VERIFY_H_

// Compares the items of a table at both sides.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/armature/copy/copy_settings.h"
#include "tools/armature/copy/table_pairs.h"

namespace armature::cli::copy {

enum class DifferenceKind { kMissing, kDifferent, kExtra };

struct Difference {
  DifferenceKind kind = DifferenceKind::kMissing;
  std::string key;  // at the target, as JSON
};

struct VerifyResult {
  int64_t source_items = 0;
  int64_t target_items = 0;
  int64_t missing = 0;  // at the target
  int64_t different = 0;
  int64_t extra = 0;  // only at the target
  int64_t mended = 0;
  std::vector<Difference> differences;  // the first ones
  std::vector<std::string> definition;  // differences of the definitions

  int64_t count() const { return missing + different + extra; }
};

// Reads both tables once, by segments, and adds up checksums of the items by groups of their keys. Only if a group
// differs, both tables are read again, and the items of these groups are compared one by one with the other side. Needs
// no more memory for larger tables, except if --hash replaces key attributes: then the keys of the groups that differ
// are held. With `settings.mend`, writes the source's items, and deletes those that only the target has. Errors: those
// of the calls; DifferencesError if the table is missing or has another key.
absl::StatusOr<VerifyResult> VerifyTable(const CopySides& sides, const CopySettings& settings, const TablePair& names);

}  // namespace armature::cli::copy

#endif  // ARMATURE_TOOLS_ARMATURE_COPY_TABLE_VERIFY_H_
