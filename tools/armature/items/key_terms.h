#ifndef ARMATURE_TOOLS_ARMATURE_ITEMS_KEY_TERMS_H_
#define ARMATURE_TOOLS_ARMATURE_ITEMS_KEY_TERMS_H_

// Terms of query and count: ATTRIBUTE OPERATOR VALUE, each one argument of the command line.
//
// - Operators are = == != <> < <= > >= ^= (begins with) and `between A and B`.
// - The value is the rest of the argument, without blanks around it; quotes around it, as in conditions, are taken off.
//   Values of key attributes have the types of the key. Other values have types by their form: numbers, true, false,
//   null, JSON that begins with { or [; everything else, and all that is in quotes, is a text.
// - A term without an operator is the value of the next key attribute of the target, in the order of the key.
// - An attribute is a path as in conditions. The name of a key attribute is always taken as a whole.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/armature/condition_text.h"
#include "tools/armature/items/table_keys.h"

namespace armature::cli {

// Expressions of a read. Empty: none.
struct ReadExpressions {
  std::string key;
  std::string filter;
};

// True if the terms fix the partition of a query, so that it need not be a scan. Terms with faults count as well as
// they can be read.
bool FixPartition(const TargetKeys& keys, const std::vector<std::string>& terms);

// Terms of a query: those on key attributes are its key condition, the others its filter. Errors: UsageError.
absl::StatusOr<ReadExpressions> QueryTerms(const TargetKeys& keys, const std::vector<std::string>& terms,
                                           ExpressionWriter* writer);

// Terms of a scan: all are its filter. Errors: UsageError.
absl::StatusOr<ReadExpressions> ScanTerms(const TargetKeys& keys, const std::vector<std::string>& terms,
                                          ExpressionWriter* writer);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_ITEMS_KEY_TERMS_H_
