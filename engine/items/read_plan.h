#ifndef ARMATURE_ENGINE_ITEMS_READ_PLAN_H_
#define ARMATURE_ENGINE_ITEMS_READ_PLAN_H_

// Query and Scan: the rows that a request reads, and one page of them.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/items/expressions.h"
#include "engine/items/request.h"
#include "engine/parts.h"

namespace armature::engine {

enum class ReadKind : uint8_t { kQuery, kScan };

// Selects for which entries of a local index the table's items are read, to get attributes that are not projected.
enum class Fetch : uint8_t {
  kNone,
  kPassing,  // for entries that pass the filter
  kAll,      // for all entries: the filter needs attributes that are not projected
};

// A read in progress: the request, its bound expressions, and the range to read.
struct ReadPlan {
  ReadKind kind = ReadKind::kQuery;
  ReadRequest request;
  std::unique_ptr<RequestExpressions> expressions;  // null without expressions
  std::optional<std::string> start_key;             // canonical item bytes
  PinnedTable pinned;
  const store::Index* index = nullptr;  // null: the table itself
  std::string partition;                // Query: front of all keys of the partition. Scan: empty
  store::KeyRange range;
  store::Direction direction = store::Direction::kForward;
  Fetch fetch = Fetch::kNone;

  const store::Table& table() const { return *pinned.table; }
  // True for a read of a global index.
  bool is_global() const { return index != nullptr && index->descriptor.kind == model::IndexKind::kGlobal; }
  const model::KeySchema& key_schema() const {
    return index == nullptr ? table().descriptor.key : index->descriptor.key;
  }
  const std::vector<std::string>& key_names() const { return index == nullptr ? table().key_names : index->key_names; }
  const store::Keyspace& keyspace() const { return index == nullptr ? table().data : index->keyspace; }
  const expr::Projection* projection() const {
    return expressions != nullptr && expressions->bound.projection.has_value() ? &*expressions->bound.projection
                                                                               : nullptr;
  }
  const expr::Condition* filter() const {
    return expressions != nullptr && expressions->bound.filter.has_value() ? &*expressions->bound.filter : nullptr;
  }
};

// Checks a request and determines its range. Errors: ValidationException, ResourceNotFoundException; in the documented
// order.
absl::StatusOr<std::shared_ptr<ReadPlan>> PlanQuery(Parts* parts, ReadRequest request);
absl::StatusOr<std::shared_ptr<ReadPlan>> PlanScan(Parts* parts, ReadRequest request);

// Reads one page of `plan.range` into `page`. The page ends after Limit rows, at 1 MB of items as the API counts them
// (including items fetched from the table for a local index), at 2 MB encoded, behind very many deleted rows, or when
// an expensive filter was evaluated on many rows. Errors: DataLoss, naming table, index and entry key, if an entry has
// no item. With kMemoryOnly, returns nullopt with an empty `page` if the read would wait for the disk.
absl::StatusOr<std::optional<ReadResult>> ReadPage(const Parts& parts, const RequestContext& context,
                                                   const ReadPlan& plan, store::ReadMode mode, PageWriter* page);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_READ_PLAN_H_
