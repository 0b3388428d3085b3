#ifndef ARMATURE_STORAGE_STORE_WAL_MANIFEST_FAMILIES_H_
#define ARMATURE_STORAGE_STORE_WAL_MANIFEST_FAMILIES_H_

// Names of the column families in a manifest that RocksDB may not be able to read.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "storage/store/files/volume.h"

namespace armature::store {

// Names of families by the ids that the write-ahead log uses, from the complete records of the manifest at `path`.
// Dropped families are left out. Errors: NotFound; Unavailable if the file cannot be read.
absl::StatusOr<std::map<uint32_t, std::string>> ReadFamilyNames(Volume* volume, const std::string& path);

// Applies one record of a manifest to `names`: adds and removes names.
void ApplyManifestRecord(std::string_view record, std::map<uint32_t, std::string>* names);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_WAL_MANIFEST_FAMILIES_H_
