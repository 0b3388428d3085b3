#include "storage/store/files/volume.h"

#include <utility>

#include "rocksdb/env.h"
#include "rocksdb/file_system.h"

namespace armature::store {

Volume::Volume(std::shared_ptr<rocksdb::FileSystem> file_system)
    : file_system_(std::move(file_system)), env_(rocksdb::NewCompositeEnv(file_system_)) {}

Volume::~Volume() = default;

std::string_view NameIn(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string_view ParentOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {};
  return path.substr(0, slash == 0 ? 1 : slash);
}

}  // namespace armature::store
