#ifndef ARMATURE_STORAGE_STORE_BACKUP_BATCH_ROWS_H_
#define ARMATURE_STORAGE_STORE_BACKUP_BATCH_ROWS_H_

// Rows of one table in batches of an archived write-ahead log.

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "storage/base/strong_type.h"
#include "storage/store/wal/log_batch.h"

namespace armature::store {

// Called for each row that was written, with its value as stored, or deleted: nullopt. The views are valid during the
// call. An error ends the reading.
using RowChangeVisitor = absl::FunctionRef<absl::Status(std::string_view key, std::optional<std::string_view> value)>;

// The id by which batches know the rows of a table; nullopt: they have none of them.
std::optional<uint32_t> FamilyOfTable(const FamilyNamesById& families, TableId table);

// Visits the rows of the column family in the order in which `batch` wrote them. Errors: those of the visitor;
// DataLoss if `batch` is none, or changes rows of the family by another operation than the store uses for tables.
absl::Status ForEachRowChange(std::string_view batch, uint32_t family, RowChangeVisitor visit);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_BACKUP_BATCH_ROWS_H_
