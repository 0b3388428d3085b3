#include "tools/armature/data_place.h"

#include "storage/base/strings.h"
#include "tools/armature/session.h"

namespace armature::cli {

place::PlaceOptions& RadosAccess() {
  // A daemon that is late with its renewals must not lose its database to a command that waits for the chance.
  static place::PlaceOptions& options = *[] {
    auto* const made = new place::PlaceOptions;
    made->owner_wait = absl::ZeroDuration();
    return made;
  }();
  return options;
}

absl::StatusOr<std::unique_ptr<place::Place>> OpenDataPlace(const std::string& data_dir) {
  absl::StatusOr<std::unique_ptr<place::Place>> opened = place::OpenPlace(data_dir, RadosAccess());
  if (!opened.ok()) return UsageError(Sv(opened.status().message()));
  return opened;
}

absl::StatusOr<std::unique_ptr<place::Place>> OpenBackupPlace(const std::string& directory, bool makes,
                                                              const std::string& data_dir) {
  if (place::IsRados(directory) && directory == data_dir) {
    return UsageError(Cat(directory, " is the place of the database: backups need a namespace of their own"));
  }
  place::PlaceOptions options = RadosAccess();
  // A daemon has it for moments, or for a backup, and one that was killed until its lease runs out.
  options.owner_wait = place::PlaceOptions().owner_wait;
  absl::StatusOr<std::unique_ptr<place::Place>> opened = place::OpenBackupPlace(directory, options, makes);
  if (!opened.ok()) return UsageError(Sv(opened.status().message()));
  return opened;
}

}  // namespace armature::cli
