#ifndef ARMATURE_ENGINE_TABLE_DESCRIPTION_H_
#define ARMATURE_ENGINE_TABLE_DESCRIPTION_H_

// What operations on tables tell of a table.

#include <cstdint>
#include <optional>
#include <vector>

#include "storage/model/table_descriptor.h"
#include "storage/store/catalog.h"

namespace armature::engine {

// Exact totals; size in bytes with the storage overhead of each row.
struct Totals {
  int64_t item_count = 0;
  int64_t size_bytes = 0;
};

struct TableDescription {
  model::TableDescriptor descriptor;
  Totals totals;
  std::vector<Totals> local_indexes;  // parallel to the descriptor's
  std::vector<Totals> global_indexes;
  int64_t time_ms = 0;  // when it was made
};

Totals TotalsOf(const store::Keyspace& keyspace);

// The table as it is now.
TableDescription Describe(const store::Table& table);

// A table that has nothing yet, or nothing any more.
TableDescription DescribeWithoutTotals(model::TableDescriptor descriptor);

// Whether an index that was added to `table` is being filled; nullopt unless it is CREATING.
std::optional<bool> BackfillingOf(const model::TableDescriptor& table, const model::IndexDescriptor& index);

// The throughput that a table or an index is ready for at once: what was asked for, else what is provisioned, else what
// every on-demand table can do.
model::Throughput WarmThroughputOf(const std::optional<model::Throughput>& warm,
                                   const std::optional<model::Throughput>& provisioned);

// The state of that throughput: it is there once the table or index is. `State`: of a table or an index.
template <class State>
State WarmStateOf(State state) {
  return state == State::kUpdating ? State::kActive : state;
}

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_TABLE_DESCRIPTION_H_
