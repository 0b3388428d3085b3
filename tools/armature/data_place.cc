#include "tools/armature/data_place.h"

#include <iostream>
#include <string_view>
#include <vector>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/data_directory.h"
#include "storage/store/identity_file.h"
#include "tools/armature/session.h"

namespace armature::cli {

place::PlaceOptions& RadosAccess() {
  // A daemon that is late with its renewals must not lose its database to a command that waits for the chance.
  static place::PlaceOptions& options = *[] {
    auto* const made = new place::PlaceOptions;
    made->owner_wait = absl::ZeroDuration();
    made->must_exist = true;
    // The command itself reports the error.
    made->is_quiet = true;
    return made;
  }();
  return options;
}

namespace {

constexpr size_t kToldMax = 20;

// Writes losses to standard error that need not stop a command: an object may belong to a file that it does not read.
absl::Status TellLosses(const std::string& data_dir, place::Place* place) {
  const absl::StatusOr<std::vector<std::string>> lost = place->FindLostObjects();
  if (!lost.ok()) return PlaceError(data_dir, lost.status());
  for (size_t i = 0; i < lost->size() && i < kToldMax; ++i) std::cerr << "armature: lost: " << (*lost)[i] << '\n';
  if (lost->size() > kToldMax) std::cerr << "armature: lost: " << lost->size() << " objects; see armature store fsck\n";
  if (!store::HoldsDatabase(place->volume(), place->data_dir()).value_or(false)) return absl::OkStatus();
  const absl::Status identity = store::CheckIdentity(place->volume(), Cat(place->data_dir(), store::kDataDatabase));
  if (absl::IsDataLoss(identity)) {
    std::cerr << "armature: lost: " << identity.message() << "; nothing depends on it, and a start makes it anew\n";
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status PlaceError(const std::string& place, const absl::Status& status) {
  const std::string_view text = Sv(status.message());
  const std::string message = text.find(place) == std::string_view::npos ? Cat(place, ": ", text) : std::string(text);
  if (absl::IsUnavailable(status)) return UnreachableError(message);
  return absl::IsDataLoss(status) ? InputError(message) : UsageError(message);
}

absl::StatusOr<std::unique_ptr<place::Place>> OpenDataPlace(const std::string& data_dir, PlaceUse use) {
  place::PlaceOptions options = RadosAccess();
  options.must_exist = use == PlaceUse::kExisting;
  absl::StatusOr<std::unique_ptr<place::Place>> opened = place::OpenPlace(data_dir, options);
  if (!opened.ok()) return PlaceError(data_dir, opened.status());
  if (use == PlaceUse::kExisting) ARM_RETURN_IF_ERROR(TellLosses(data_dir, opened->get()));
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
  options.must_exist = !makes;
  absl::StatusOr<std::unique_ptr<place::Place>> opened = place::OpenBackupPlace(directory, options, makes);
  if (!opened.ok()) return PlaceError(directory, opened.status());
  return opened;
}

}  // namespace armature::cli
