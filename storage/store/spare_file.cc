#include "storage/store/spare_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "glog/logging.h"
#include "storage/base/strings.h"

namespace armature::store {

SpareFile::SpareFile(std::string_view database_path) : path_(Cat(database_path, "/", kSpareFile)) {}

void SpareFile::Keep() {
  if (is_kept_ || has_failed_) return;
  is_kept_ = Make();
  has_failed_ = !is_kept_;
  is_released_ = false;
}

void SpareFile::Release() {
  is_kept_ = false;
  is_released_ = true;
  if (unlink(path_.c_str()) != 0) return;
  LOG(WARNING) << "store: freed the space that is kept for a start on a full disk path=" << path_
               << " bytes=" << kBytes;
}

bool SpareFile::Make() const {
  struct stat status = {};
  if (stat(path_.c_str(), &status) == 0 && uint64_t{static_cast<uint64_t>(status.st_size)} == kBytes) return true;
  const int fd = open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  // The file must take space, so the size alone is not enough.
  const int error = fd < 0 ? errno : posix_fallocate(fd, 0, static_cast<off_t>(kBytes));
  if (fd >= 0) close(fd);
  if (error == 0) return true;
  if (fd >= 0) unlink(path_.c_str());
  LOG(WARNING) << "store: cannot keep space for a start on a full disk path=" << path_
               << " error=" << std::strerror(error);
  return false;
}

}  // namespace armature::store
