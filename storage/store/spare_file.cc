#include "storage/store/spare_file.h"

#include "glog/logging.h"
#include "storage/base/strings.h"

namespace armature::store {

SpareFile::SpareFile(Volume* volume, std::string_view database_path)
    : volume_(volume), path_(Cat(database_path, "/", kSpareFile)) {}

void SpareFile::Keep() {
  if (is_kept_ || has_failed_) return;
  is_kept_ = Make();
  has_failed_ = !is_kept_;
  is_released_ = false;
}

void SpareFile::Release() {
  is_kept_ = false;
  is_released_ = true;
  if (!volume_->Remove(path_).value_or(false)) return;
  LOG(WARNING) << "store: freed the space that is kept for a start on a full disk path=" << path_
               << " bytes=" << kBytes;
}

bool SpareFile::Make() const {
  const absl::Status made = volume_->Allocate(path_, kBytes);
  if (made.ok()) return true;
  LOG(WARNING) << "store: cannot keep space for a start on a full disk path=" << path_ << " error=" << made.message();
  return false;
}

}  // namespace armature::store
