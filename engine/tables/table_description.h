#ifndef ARMATURE_ENGINE_TABLES_TABLE_DESCRIPTION_H_
#define ARMATURE_ENGINE_TABLES_TABLE_DESCRIPTION_H_

// The description of a table returned by table operations.

#include <cstdint>
#include <optional>
#include <vector>

#include "storage/model/table_descriptor.h"
#include "storage/store/catalog/catalog.h"

namespace armature::engine {

// Exact totals. The size in bytes includes the storage overhead of each row.
struct Totals {
  int64_t item_count = 0;
  int64_t size_bytes = 0;
};

// Changes of the table that are not applied to a global index yet.
struct Backlog {
  uint64_t records = 0;
  uint64_t bytes = 0;  // size of the index rows
  int64_t age_ms = 0;  // age of the oldest record, to about a second; 0 if there is none
};

struct GlobalIndexFigures : Totals {
  std::optional<Backlog> backlog = std::nullopt;  // see BacklogOf
};

struct TableDescription {
  model::TableDescriptor descriptor;
  Totals totals;
  std::vector<Totals> local_indexes;  // parallel to the descriptor's
  std::vector<GlobalIndexFigures> global_indexes;
  int64_t time_ms = 0;  // time of the description
};

Totals TotalsOf(const store::Keyspace& keyspace);

// Nullopt for a local index, and for an index under construction, whose backlog waits on purpose.
std::optional<Backlog> BacklogOf(const store::Index& index);

// Describes the table in its current state.
TableDescription Describe(const store::Table& table);

// Describes a table without data: not created yet, or deleted.
TableDescription DescribeWithoutTotals(model::TableDescriptor descriptor);

// True if an index added to `table` is under construction; nullopt unless the index is CREATING.
std::optional<bool> BackfillingOf(const model::TableDescriptor& table, const model::IndexDescriptor& index);

// The state of warm throughput: available when the table or index is. `State`: of a table or an index.
template <class State>
State WarmStateOf(State state) {
  return state == State::kUpdating ? State::kActive : state;
}

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_TABLES_TABLE_DESCRIPTION_H_
