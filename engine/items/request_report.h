#ifndef ARMATURE_ENGINE_ITEMS_REQUEST_REPORT_H_
#define ARMATURE_ENGINE_ITEMS_REQUEST_REPORT_H_

// Reports of writes and of requests with several members: capacity per table, item collections.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/capacity.h"
#include "engine/items/request.h"
#include "engine/items/row_write.h"

namespace armature::engine {

// Sums of consumed capacity per table, in the order in which tables were added.
//
// Thread-safety: owned by one request.
class CapacitySums {
 public:
  // `report`: a valid ReturnConsumedCapacity. `use`: see ConsumedCapacity.
  explicit CapacitySums(std::string_view report, CapacityUse use = CapacityUse::kEither);

  CapacityReport report() const { return report_; }
  // Adds the capacity of one member. A table named in two ways is reported under the first name.
  void Add(TableId table, std::optional<ConsumedCapacity> part);
  std::vector<ConsumedCapacity> Take() { return std::move(sums_); }

 private:
  const CapacityReport report_;
  const CapacityUse use_;
  std::vector<ConsumedCapacity> sums_;
  std::vector<TableId> tables_;  // ids of the tables in `sums_`
};

// Metrics of the item collection of a written row, which grew by `growth` bytes: its partition key, and lower and upper
// bound of its size in whole GB (2^30 bytes).
//
// Source: the developer guide, "Item collections in Local Secondary Indexes".
ItemCollectionMetrics MetricsOf(const RowWrite& row, int64_t growth);

// The item collections touched by writes, without duplicates.
//
// Thread-safety: owned by one request. Lifetime: rows must live until Take.
class CollectionReports {
 public:
  // `metrics`: a valid ReturnItemCollectionMetrics.
  explicit CollectionReports(std::string_view metrics) : metrics_(metrics) {}

  // Adds a completed write. `table_name` is as in the request.
  void Add(std::string_view table_name, const RowWrite& row);
  std::vector<TableCollections> Take();

 private:
  struct Collection {
    const RowWrite* row;  // the first write to the collection
    int64_t growth = 0;
  };
  struct Table {
    std::string name;
    TableId id;
    std::map<std::string, Collection> collections;  // by key
  };

  const std::string metrics_;
  std::vector<Table> tables_;
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_REQUEST_REPORT_H_
