#ifndef ARMATURE_ENGINE_TABLES_TABLE_OPS_H_
#define ARMATURE_ENGINE_TABLES_TABLE_OPS_H_

// Operations on tables, independent of the wire protocol.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/tables/table_description.h"
#include "storage/model/table_definition.h"
#include "storage/model/table_update.h"
#include "storage/store/database.h"

namespace armature::engine {

// Status of one index.
struct IndexStatus {
  std::string table_name;
  model::IndexDescriptor descriptor;
  uint64_t applied_sequence = 0;
  uint64_t log_sequence = 0;
  Backlog backlog;
  bool is_stalled = false;  // its changes cannot be applied
  Totals totals;
  int64_t table_item_count = 0;
  std::optional<store::BuildState> build;  // set while the index is under construction
};

struct ListTablesResult {
  std::vector<std::string> names;
  std::optional<std::string> last_evaluated;
};

// All functions block; some write to disk. Errors: API errors with the documented texts.
absl::StatusOr<TableDescription> CreateTable(store::Database* database, const model::TableDefinition& definition);
absl::StatusOr<TableDescription> DeleteTable(store::Database* database, const std::optional<std::string>& name_or_arn);
absl::StatusOr<TableDescription> DescribeTable(const store::Database& database,
                                               const std::optional<std::string>& name_or_arn);
absl::StatusOr<ListTablesResult> ListTables(const store::Database& database,
                                            const std::optional<std::string>& start_after,
                                            const std::optional<int64_t>& limit);
// Applies all changes of `update`, or none.
//
// The change is in effect when it returns. The result describes the moment at which the change was accepted, as the API
// does: throughput before the change, and state UPDATING where a client should wait. Errors: those of
// model::CheckTableUpdate and ApplyTableUpdate; ResourceNotFoundException.
absl::StatusOr<TableDescription> UpdateTable(store::Database* database, const model::TableUpdate& update);
// The indexes of one table or of all, sorted by table name, then index name.
absl::StatusOr<std::vector<IndexStatus>> ListIndexStatus(store::Database* database,
                                                         const std::optional<std::string>& table_name);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_TABLES_TABLE_OPS_H_
