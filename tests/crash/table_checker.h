#ifndef ARMATURE_TESTS_CRASH_TABLE_CHECKER_H_
#define ARMATURE_TESTS_CRASH_TABLE_CHECKER_H_

// Whether a table, its indexes and its description agree, seen through the API alone.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "armature/client/client.h"
#include "armature/client/item_builder.h"

namespace armature::test {

// The items of a table, or of its index if `index_name` is not empty.
absl::StatusOr<std::vector<client::Item>> ScanAll(const client::Client& client, const std::string& table,
                                                  const std::string& index_name = "");

// Waits until the global indexes have caught up with all that was written, then says in words what does not agree:
// base items without their index entry, entries without their base item, counts and sizes that are wrong. Nobody may
// write meanwhile. Projections ALL and KEYS_ONLY only; scalar attributes of types S and N (integers) only.
std::vector<std::string> FindDisagreements(const client::Client& client, const std::string& table);

}  // namespace armature::test

#endif  // ARMATURE_TESTS_CRASH_TABLE_CHECKER_H_
