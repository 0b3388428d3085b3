#ifndef ARMATURE_TESTS_CRASH_TABLE_CHECKER_H_
#define ARMATURE_TESTS_CRASH_TABLE_CHECKER_H_

// Checks through the API that a table, its indexes and its description agree.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "armature/client/client.h"
#include "armature/client/item_builder.h"

namespace armature::test {

// The items of a table, or of its index if `index_name` is not empty.
absl::StatusOr<std::vector<client::Item>> ScanAll(const client::Client& client, const std::string& table,
                                                  const std::string& index_name = "");

// Waits until the global indexes have caught up, then returns a text for each disagreement: items without index entry,
// entries without item, wrong counts and sizes. There must be no concurrent writes. Supports the projections ALL and
// KEYS_ONLY and scalar attributes of types S and N (integers).
std::vector<std::string> FindDisagreements(const client::Client& client, const std::string& table);

}  // namespace armature::test

#endif  // ARMATURE_TESTS_CRASH_TABLE_CHECKER_H_
