#include "storage/store/table_files.h"

#include <filesystem>
#include <memory>
#include <system_error>

#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/data_directory.h"
#include "storage/store/durable_file.h"
#include "storage/store/rocks_options.h"
#include "storage/store/rocks_status.h"

namespace armature::store {
namespace {

namespace fs = std::filesystem;

constexpr size_t kRepairCacheBytes = 64 << 20;

std::vector<fs::path> TableFilesIn(const std::string& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".sst") files.push_back(it->path());
  }
  return files;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> MakeManifestOf(const std::string& data_dir, const std::string& work_dir,
                                                        LinkKind kind) {
  const std::string db = work_dir + "/db";
  std::error_code error;
  fs::create_directories(db, error);
  if (error) return UnavailableError(Cat("cannot make ", db, ": ", error.message()));
  for (const fs::path& file : TableFilesIn(data_dir + "/db")) {
    const fs::path link = fs::path(db) / file.filename();
    if (kind == LinkKind::kSymbolic) {
      fs::create_symlink(fs::absolute(file), link, error);
    } else {
      fs::create_hard_link(file, link, error);
      if (error) fs::copy_file(file, link, error);
    }
    if (error) return UnavailableError(Cat("cannot copy ", file.string(), ": ", error.message()));
  }
  ARM_RETURN_IF_ERROR(WriteDurably(Cat(work_dir, kDataFormatFile), DataFormatText(kFormatVersion, "salvage")));
  const rocksdb::ColumnFamilyOptions family = MakeDataFamilyOptions({}, rocksdb::NewLRUCache(kRepairCacheBytes));
  rocksdb::DBOptions options = MakeDbOptions({});
  options.create_if_missing = true;
  ARM_RETURN_IF_ERROR(FromRocks(rocksdb::RepairDB(db, options, {{rocksdb::kDefaultColumnFamilyName, family}}, family),
                                Cat("read the files of ", data_dir)));
  std::vector<std::string> left_out;
  for (const fs::path& file : TableFilesIn(db + "/lost")) left_out.push_back(file.filename().string());
  return left_out;
}

}  // namespace armature::store
