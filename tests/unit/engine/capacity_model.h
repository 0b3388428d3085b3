#ifndef ARMATURE_TESTS_UNIT_ENGINE_CAPACITY_MODEL_H_
#define ARMATURE_TESTS_UNIT_ENGINE_CAPACITY_MODEL_H_

// What operations consume, the slow and obvious way: by looking at whole items and entries before and after.
//
// Source: the developer guide, "Read and write operations", and the considerations of each kind of index. Of the engine
// only the shape of its report is used, nothing that computes.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/capacity.h"
#include "tests/unit/engine/item_model.h"

namespace armature::engine {

// Units, by where they were consumed. Indexes that were not touched are absent.
struct ModelCapacity {
  double table = 0;
  std::map<std::string, double> local;
  std::map<std::string, double> global;

  double Sum() const;
};

// An item goes from `before` to `after` in the table that is the first of `keyspaces`; the others are its indexes.
ModelCapacity CapacityOfWrite(const std::vector<ModelKeyspace>& keyspaces, const std::optional<ModelItem>& before,
                              const std::optional<ModelItem>& after);

// One item is read by its key, or looked for in vain.
ModelCapacity CapacityOfGet(const std::optional<ModelItem>& item, bool consistent);

// A page of `keyspace`. `scanned`: what was looked at, whether it passed a filter or not; `fetched`: the items of the
// table that were fetched beside the entries of a local index.
ModelCapacity CapacityOfPage(const ModelKeyspace& keyspace, const std::vector<ModelItem>& scanned,
                             const std::vector<ModelItem>& fetched, bool consistent);

// How a request with ReturnConsumedCapacity `mode` is told: as text, to be compared and read. Both are equal if all
// figures are.
std::string Told(const ModelCapacity& capacity, std::string_view mode, std::string_view table_name);
std::string Told(const std::optional<ConsumedCapacity>& capacity);

}  // namespace armature::engine

#endif  // ARMATURE_TESTS_UNIT_ENGINE_CAPACITY_MODEL_H_
