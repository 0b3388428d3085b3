#ifndef ARMATURE_ENGINE_ITEMS_PAGE_READER_H_
#define ARMATURE_ENGINE_ITEMS_PAGE_READER_H_

// Query and Scan: what they share once they know which rows to read.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "engine/items/exclusive_start_key.h"
#include "engine/items/expressions.h"
#include "engine/items/request.h"
#include "engine/parts.h"

namespace armature::engine {

// Whether a read of a local index also reads the table's items, for attributes that the index does not project.
enum class Fetch : uint8_t {
  kNone,
  kPassing,  // of the entries that pass the filter
  kAll,      // of all entries: the filter asks for what the index does not project
};

// A read under way: the request, what it bound to, and the rows it wants.
struct ReadPlan {
  ReadKind kind = ReadKind::kQuery;
  ReadRequest request;
  std::unique_ptr<RequestExpressions> expressions;  // null without expressions
  std::optional<std::string> start_key;             // canonical item bytes
  PinnedTable pinned;
  const store::Index* index = nullptr;  // null: the table itself
  store::KeyRange range;
  store::Direction direction = store::Direction::kForward;
  Fetch fetch = Fetch::kNone;

  const store::Table& table() const { return *pinned.table; }
  const model::KeySchema& key_schema() const {
    return index == nullptr ? table().descriptor.key : index->descriptor.key;
  }
  const store::Keyspace& keyspace() const { return index == nullptr ? table().data : index->keyspace; }
  const expr::Projection* projection() const {
    return expressions != nullptr && expressions->bound.projection.has_value() ? &*expressions->bound.projection
                                                                               : nullptr;
  }
  const expr::Condition* filter() const {
    return expressions != nullptr && expressions->bound.filter.has_value() ? &*expressions->bound.filter : nullptr;
  }
};

// Checks that need no table and are the same for both: names, enumerations, Limit, parameter styles, legacy
// parameters except KeyConditions, the start key's values.
absl::Status CheckReadRequest(ReadPlan* plan);
// Finds table and index. Errors: ResourceNotFound for a table; ValidationException for an index that does not exist, is
// being built, or is asked for a consistent read it cannot give.
absl::Status FindKeyspace(const store::Database& database, ReadPlan* plan);
// Select and projection against what the index has; decides on `plan->fetch`.
absl::Status CheckSelect(ReadPlan* plan);

// Reads one page of `plan.range` into `page`: stops after Limit rows, at 1 MB of items as the API counts them (of a
// local index also those fetched from the table), or at 2 MB as they are encoded. Errors: DataLoss, with names of table
// and index and the entry's key, if an entry has no item. With kMemoryOnly nullopt if it would have to wait for the
// disk; `page` is empty then.
absl::StatusOr<std::optional<ReadResult>> ReadPage(const Parts& parts, const RequestContext& context,
                                                   const ReadPlan& plan, store::ReadMode mode, PageWriter* page);

// The operations' own parts.
absl::StatusOr<std::shared_ptr<ReadPlan>> PlanQuery(Parts* parts, ReadRequest request);
absl::StatusOr<std::shared_ptr<ReadPlan>> PlanScan(Parts* parts, ReadRequest request);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_PAGE_READER_H_
