#ifndef ARMATURE_ENGINE_PARTIQL_PLAN_H_
#define ARMATURE_ENGINE_PARTIQL_PLAN_H_

// The plan of a statement: the requests of GetItem, Query, Scan, PutItem, UpdateItem or DeleteItem that execute it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/items/request.h"
#include "engine/partiql/columns.h"
#include "engine/partiql/read_union.h"
#include "engine/partiql/statement.h"
#include "storage/model/key_schema.h"
#include "storage/store/database.h"

namespace armature::engine::partiql {

// The error of an UPDATE or DELETE without its key.
inline constexpr char kNoKeyInWrite[] = "Where clause does not contain a mandatory equality on all key attributes";

enum class PlanKind : uint8_t { kGet, kQuery, kScan, kPut, kUpdate, kDelete, kCheck };

struct Plan {
  PlanKind kind = PlanKind::kScan;
  std::shared_ptr<const Statement> statement;
  std::optional<GetItemRequest> get;
  // kQuery: one or more, whose items follow each other. Their requests are made when they are sent (RequestOf): each
  // holds the values of its filter, and a statement may have values of megabytes.
  std::vector<KeyedRead> queries;
  // Common members of all requests of a SELECT.
  ReadRequest read;
  model::KeySchema read_key;  // the key of the table or index that `queries` read
  std::optional<WriteRequest> write;
  // The key of the only item that the statement is about, in wire form; of INSERT, the item. Empty: it is about
  // several.
  std::string key;
  // Encoded from `key`, to compare items; empty if it is not a key of the table.
  std::string row_key;
  bool is_key_only = false;                // a condition on the key, and no other
  std::shared_ptr<const Columns> columns;  // items are made of these values; null: of the whole answers

  // Without a condition on the whole partition key.
  bool is_full_scan() const { return kind == PlanKind::kScan; }
  // Number of requests of Query or Scan.
  size_t read_count() const { return kind == PlanKind::kScan ? 1 : queries.size(); }
  // Request `i` of the read_count() requests.
  ReadRequest RequestOf(size_t i) const;
};

struct PlanOptions {
  bool consistent_read = false;
  // Reads of indexes with several partition or sort attributes, which the original API refuses.
  bool multi_attribute_indexes = false;
  // Transactions report keys of wrong types in the words of the operations on items.
  bool in_transaction = false;
};

// Errors: ValidationException; ResourceNotFoundException for a table that is missing or not usable.
//
// Cost: proportional to the statement, times kReadsMax at most.
absl::StatusOr<Plan> MakePlan(const store::Database& database, std::shared_ptr<const Statement> statement,
                              const PlanOptions& options);

// The plan in words, one line for each request.
std::string Explained(const Plan& plan);

}  // namespace armature::engine::partiql

#endif  // ARMATURE_ENGINE_PARTIQL_PLAN_H_
