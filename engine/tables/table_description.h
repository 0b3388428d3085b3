#ifndef ARMATURE_ENGINE_TABLES_TABLE_DESCRIPTION_H_
#define ARMATURE_ENGINE_TABLES_TABLE_DESCRIPTION_H_

// What operations on tables tell of a table.

#include <cstdint>
#include <optional>
#include <vector>

#include "storage/model/table_descriptor.h"
#include "storage/store/catalog/catalog.h"

namespace armature::engine {

// Exact totals; size in bytes with the storage overhead of each row.
struct Totals {
  int64_t item_count = 0;
  int64_t size_bytes = 0;
};

// What of the table's changes has not reached a global index.
struct Backlog {
  uint64_t records = 0;
  uint64_t bytes = 0;  // of index rows
  int64_t age_ms = 0;  // of the oldest record, to about a second; 0 if there is none
};

struct GlobalIndexFigures : Totals {
  std::optional<Backlog> backlog = std::nullopt;  // as BacklogOf
};

struct TableDescription {
  model::TableDescriptor descriptor;
  Totals totals;
  std::vector<Totals> local_indexes;  // parallel to the descriptor's
  std::vector<GlobalIndexFigures> global_indexes;
  int64_t time_ms = 0;  // when it was made
};

Totals TotalsOf(const store::Keyspace& keyspace);

// nullopt for a local index, and for one that is being filled, whose backlog waits for that on purpose.
std::optional<Backlog> BacklogOf(const store::Index& index);

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

#endif  // ARMATURE_ENGINE_TABLES_TABLE_DESCRIPTION_H_
