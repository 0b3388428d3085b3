#ifndef ARMATURE_STORAGE_STORE_SPARE_FILE_H_
#define ARMATURE_STORAGE_STORE_SPARE_FILE_H_

// Disk space that is kept for a start on a full disk.

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/store/files/volume.h"

namespace armature::store {

inline constexpr std::string_view kSpareFile = "armature.spare";  // in the directory of the database

// A file without content. Removing it frees the space that a start needs for a new manifest and small files.
//
// Thread-safety: thread-compatible.
class SpareFile {
 public:
  static constexpr uint64_t kBytes = uint64_t{8} << 20;

  SpareFile(Volume* volume, std::string_view database_path);

  // Makes the file, if it is missing. Called when there is plenty of space. A failure is logged once.
  void Keep();
  // Removes the file. If it is not there, an earlier start has removed it.
  void Release();
  // True from Release until the file is kept again.
  bool is_released() const { return is_released_; }

 private:
  bool Make() const;

  Volume* const volume_;
  const std::string path_;
  bool is_kept_ = false;
  bool is_released_ = false;
  bool has_failed_ = false;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_SPARE_FILE_H_
