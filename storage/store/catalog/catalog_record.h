#ifndef ARMATURE_STORAGE_STORE_CATALOG_CATALOG_RECORD_H_
#define ARMATURE_STORAGE_STORE_CATALOG_CATALOG_RECORD_H_

// Encoding of a table descriptor on disk. docs/FORMAT.md, "Table records".

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "storage/model/table_descriptor.h"

namespace armature::store {

inline constexpr char kTableRecordVersion = 1;

std::string EncodeTableRecord(const model::TableDescriptor& descriptor);

// Errors: DataLoss for an unknown version or bytes that do not describe a table.
absl::StatusOr<model::TableDescriptor> ParseTableRecord(std::string_view value);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_CATALOG_CATALOG_RECORD_H_
