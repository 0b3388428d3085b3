#ifndef ARMATURE_ENGINE_ITEMS_REQUEST_REPORT_H_
#define ARMATURE_ENGINE_ITEMS_REQUEST_REPORT_H_

// What requests with several members report: capacity by table, collections by table.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/capacity.h"
#include "engine/items/batch_request.h"
#include "engine/items/row_write.h"

namespace armature::engine {

// Sums of capacity, one for each table, in the order in which tables come.
//
// Thread-safety: owned by one request.
class CapacitySums {
 public:
  // `report`: ReturnConsumedCapacity, which has been checked. `use`: see ConsumedCapacity.
  explicit CapacitySums(std::string_view report, CapacityUse use = CapacityUse::kEither);

  CapacityReport report() const { return report_; }
  // What one member reports. A table that is named in two ways goes by the first.
  void Add(TableId table, std::optional<ConsumedCapacity> part);
  std::vector<ConsumedCapacity> Take() { return std::move(sums_); }

 private:
  const CapacityReport report_;
  const CapacityUse use_;
  std::vector<ConsumedCapacity> sums_;
  std::vector<TableId> tables_;  // of `sums_`
};

// The collections that writes have touched, each once.
//
// Thread-safety: owned by one request. Lifetime: rows must live until Take.
class CollectionReports {
 public:
  // `metrics`: ReturnItemCollectionMetrics, which has been checked.
  explicit CollectionReports(std::string_view metrics) : metrics_(metrics) {}

  // A write that was done; the table as the request names it.
  void Add(std::string_view table_name, const RowWrite& row);
  std::vector<TableCollections> Take();

 private:
  struct Collection {
    const RowWrite* row;  // the first of its writes
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
