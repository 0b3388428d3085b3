#include "storage/store/table_files.h"

#include <memory>
#include <string>
#include <vector>

#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/data_directory.h"
#include "storage/store/rocks_options.h"
#include "storage/store/rocks_status.h"

namespace armature::store {
namespace {

constexpr size_t kRepairCacheBytes = 64 << 20;

// Names of the table files in a directory. A missing one has none.
absl::StatusOr<std::vector<std::string>> TableFilesIn(Volume* volume, const std::string& directory) {
  absl::StatusOr<std::vector<std::string>> names = volume->List(directory);
  if (absl::IsNotFound(names.status())) return std::vector<std::string>();
  if (!names.ok()) return names.status();
  std::erase_if(*names, [](const std::string& name) { return !name.ends_with(".sst"); });
  return names;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> MakeManifestOf(Volume* volume, const std::string& data_dir,
                                                        const std::string& work_dir, LinkKind kind) {
  const std::string from = Cat(data_dir, kDataDatabase);
  const std::string db = Cat(work_dir, kDataDatabase);
  ARM_RETURN_IF_ERROR(volume->MakeDirectories(db));
  ARM_ASSIGN_OR_RETURN(const std::vector<std::string> names, TableFilesIn(volume, from));
  for (const std::string& name : names) {
    ARM_RETURN_IF_ERROR(volume->Link(Cat(from, "/", name), Cat(db, "/", name), kind));
  }
  ARM_RETURN_IF_ERROR(volume->WriteDurably(Cat(work_dir, kDataFormatFile), DataFormatText(kFormatVersion, "salvage")));
  const rocksdb::ColumnFamilyOptions family = MakeDataFamilyOptions({}, rocksdb::NewLRUCache(kRepairCacheBytes));
  DatabaseOptions database;
  database.volume = volume;
  rocksdb::DBOptions options = MakeDbOptions(database);
  options.create_if_missing = true;
  ARM_RETURN_IF_ERROR(FromRocks(rocksdb::RepairDB(db, options, {{rocksdb::kDefaultColumnFamilyName, family}}, family),
                                Cat("read the files of ", data_dir)));
  return TableFilesIn(volume, db + "/lost");
}

}  // namespace armature::store
