#include "storage/store/backup/backup_place.h"

#include <string_view>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::store {
namespace {

class LocalBackupPlace final : public BackupPlace {
 public:
  explicit LocalBackupPlace(std::string_view path) : path_(path) {}
  const std::string& name() const override { return path_; }
  Volume* volume() const override { return LocalVolume(); }
  const std::string& path() const override { return path_; }
  absl::Status state() const override { return absl::OkStatus(); }

 private:
  const std::string path_;
};

class LocalPlaces final : public BackupPlaces {
 public:
  absl::Status CheckName(const std::string& name) const override {
    // A relative path would depend on the working directory of the process, which clients do not know.
    if (name.starts_with('/')) return absl::OkStatus();
    return absl::InvalidArgumentError("must be an absolute path");
  }
  absl::StatusOr<BackupPlacePtr> Open(const std::string& name, Use, const std::function<bool()>&) override {
    return std::make_shared<LocalBackupPlace>(name);
  }
};

}  // namespace

absl::Status ErrorIn(const BackupPlace& place, const absl::Status& error) {
  if (error.ok()) return error;
  if (absl::Status state = place.state(); !state.ok()) return state;
  // Texts about local files name the directory.
  return place.name() == place.path() ? error : WithContext(error, place.name());
}

BackupPlaces* LocalBackupPlaces() {
  static BackupPlaces& places = *new LocalPlaces;
  return &places;
}

}  // namespace armature::store
