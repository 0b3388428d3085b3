#ifndef ARMATURE_ENGINE_PARTIQL_PLAN_H_
#define ARMATURE_ENGINE_PARTIQL_PLAN_H_

// The plan of a statement: the requests of GetItem, Query, Scan, PutItem, UpdateItem or DeleteItem that execute it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/items/request.h"
#include "engine/partiql/statement.h"
#include "storage/store/database.h"

namespace armature::engine::partiql {

// At most this many key values, or branches of OR, become queries.
inline constexpr size_t kQueriesMax = 50;

enum class PlanKind : uint8_t { kGet, kQuery, kScan, kPut, kUpdate, kDelete, kCheck };

struct Plan {
  PlanKind kind = PlanKind::kScan;
  std::optional<GetItemRequest> get;
  std::vector<ReadRequest> reads;  // kQuery: one or more, whose items follow each other; kScan: one
  std::optional<WriteRequest> write;
  // The key of the only item that the statement is about, in wire form; of INSERT, the item. Empty: it is about
  // several.
  std::string key;
  // Encoded from `key`, to compare items; empty if it is not a key of the table.
  std::string row_key;
  bool is_key_only = false;                 // a condition on the key, and no other
  std::vector<expr::DocumentPath> columns;  // not empty: items are made of these values

  // Without a condition on the whole partition key.
  bool is_full_scan() const { return kind == PlanKind::kScan; }
};

struct PlanOptions {
  bool consistent_read = false;
  // Reads of indexes with several partition or sort attributes, which the original API refuses.
  bool multi_attribute_indexes = false;
};

// Errors: ValidationException; ResourceNotFoundException for a table that is missing or not usable.
absl::StatusOr<Plan> MakePlan(const store::Database& database, const Statement& statement, const PlanOptions& options);

// The plan in words, one line for each request.
std::string Explained(const Statement& statement, const Plan& plan);

// The item with one attribute for each of `columns`, called as the last element of its path. Missing values are left
// out. `item`, and the result, are as answers show them.
std::string ColumnsOf(const std::vector<expr::DocumentPath>& columns, std::string_view item);

}  // namespace armature::engine::partiql

#endif  // ARMATURE_ENGINE_PARTIQL_PLAN_H_
