#include "storage/store/identity_file.h"

#include "absl/status/statusor.h"
#include "glog/logging.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::store {
namespace {

std::string PathOf(const std::string& database_path) { return Cat(database_path, "/", kIdentityFile); }

}  // namespace

absl::Status CheckIdentity(Volume* volume, const std::string& database_path) {
  const std::string path = PathOf(database_path);
  const absl::StatusOr<std::string> text = volume->Read(path);
  if (absl::IsNotFound(text.status())) return DataLossError(Cat(path, " is missing"));
  if (absl::IsDataLoss(text.status())) return DataLossError(Cat(path, " is lost: ", Sv(text.status().message())));
  ARM_RETURN_IF_ERROR(text.status());
  return text->empty() ? DataLossError(Cat(path, " is empty")) : absl::OkStatus();
}

absl::Status MendIdentity(Volume* volume, const std::string& database_path) {
  const absl::Status good = CheckIdentity(volume, database_path);
  if (!absl::IsDataLoss(good)) return good;
  LOG(ERROR) << "store: " << good.message() << "; nothing depends on it, and it is made anew";
  return WithContext(volume->Remove(PathOf(database_path)).status(), Sv(good.message()));
}

}  // namespace armature::store
