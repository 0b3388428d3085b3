#ifndef ARMATURE_STORAGE_STORE_IDENTITY_FILE_H_
#define ARMATURE_STORAGE_STORE_IDENTITY_FILE_H_

// RocksDB's file IDENTITY, a name of the database on which nothing depends.

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "storage/store/files/volume.h"

namespace armature::store {

inline constexpr std::string_view kIdentityFile = "IDENTITY";

// A text that RocksDB may read instead of a lost identity.
inline constexpr std::string_view kAnyIdentity = "00000000-0000-4000-8000-000000000000";

// OK if the file of the database in `database_path` can be read. Errors: DataLoss if it is lost or empty, with its
// name; Unavailable.
absl::Status CheckIdentity(Volume* volume, const std::string& database_path);

// Takes away an identity that is lost, at which RocksDB would abort: it makes another one. The loss is logged.
// Errors: Unavailable.
absl::Status MendIdentity(Volume* volume, const std::string& database_path);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_IDENTITY_FILE_H_
