#ifndef ARMATURE_TESTS_UNIT_ENGINE_CAPACITY_MODEL_H_
#define ARMATURE_TESTS_UNIT_ENGINE_CAPACITY_MODEL_H_

// Capacity of operations in a simple form: computed from whole items and entries before and after.
//
// Source: the developer guide, "Read and write operations", and the considerations of each kind of index. Only the
// result type is taken from the engine, no computation.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/capacity.h"
#include "tests/unit/engine/item_model.h"

namespace armature::engine {

// Consumed units by place. Indexes without consumption are absent.
struct ModelCapacity {
  double table = 0;
  std::map<std::string, double> local;
  std::map<std::string, double> global;

  double Sum() const;
};

// Capacity of a write that changes an item from `before` to `after`. The first of `keyspaces` is the table, the others
// are its indexes.
ModelCapacity CapacityOfWrite(const std::vector<ModelKeyspace>& keyspaces, const std::optional<ModelItem>& before,
                              const std::optional<ModelItem>& after);

// Capacity of a read by key, also if there is no item.
ModelCapacity CapacityOfGet(const std::optional<ModelItem>& item, bool consistent);

// Capacity of a page of `keyspace`. `scanned`: rows read, whether they pass the filter or not; `fetched`: items of the
// table that were fetched for entries of a local index.
ModelCapacity CapacityOfPage(const ModelKeyspace& keyspace, const std::vector<ModelItem>& scanned,
                             const std::vector<ModelItem>& fetched, bool consistent);

// The report for ReturnConsumedCapacity `mode` as text. The two forms are equal if all figures are equal.
std::string Told(const ModelCapacity& capacity, std::string_view mode, std::string_view table_name);
std::string Told(const std::optional<ConsumedCapacity>& capacity);

}  // namespace armature::engine

#endif  // ARMATURE_TESTS_UNIT_ENGINE_CAPACITY_MODEL_H_
