#ifndef ARMATURE_TESTS_RADOS_RADOS_DATABASE_H_
#define ARMATURE_TESTS_RADOS_RADOS_DATABASE_H_

// Databases on volumes in RADOS.

#include <memory>
#include <string>

#include "storage/rados/rados_volume.h"
#include "storage/store/database.h"

namespace armature::rados {

inline constexpr char kTestData[] = "/data";

// Opens the database of the volume, with small memtables, and makes its table "t" if it is new. Null, with a test
// failure, if that fails.
std::unique_ptr<store::Database> OpenTestDatabase(store::Volume* volume);
// Writes a row of some kilobytes, and waits for the acknowledgement. False if it is refused.
bool IsRowWritten(store::Database* database, const std::string& key);
// True if the row is there, with its value.
bool HasRow(const store::Database& database, const std::string& key);

}  // namespace armature::rados

#endif  // ARMATURE_TESTS_RADOS_RADOS_DATABASE_H_
