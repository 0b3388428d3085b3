#include "storage/place/place.h"

#include <utility>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/rados/rados_options.h"
#include "storage/store/data_directory.h"
#ifdef ARMATURE_RADOS
#include "storage/rados/rados_volume.h"
#endif

namespace armature::place {
namespace {

constexpr std::string_view kScheme = "rados://";

// Directories in a volume, which has one of them.
constexpr char kDataDirectory[] = "/data";
constexpr char kBackupDirectory[] = "/backups";

class LocalPlace final : public Place {
 public:
  explicit LocalPlace(std::string_view data_dir) : data_dir_(data_dir) {}
  store::Volume* volume() const override { return store::LocalVolume(); }
  const std::string& data_dir() const override { return data_dir_; }
  absl::Status Announce(std::string_view) override { return absl::OkStatus(); }
  void Abandon() override {}
  absl::StatusOr<std::vector<std::string>> FindLostObjects() override { return std::vector<std::string>(); }
  std::optional<rados::VolumeStats> stats() const override { return std::nullopt; }

 private:
  const std::string data_dir_;
};

// The pool and the namespace. False if `text` does not name both.
bool Split(std::string_view text, std::string* pool, std::string* name_space) {
  text.remove_prefix(kScheme.size());
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  *pool = text.substr(0, slash);
  *name_space = text.substr(slash + 1);
  // Other characters are left for options of later versions.
  return !pool->empty() && !name_space->empty() && name_space->find_first_of("/?# ") == std::string_view::npos;
}

// Errors: InvalidArgument, as CheckRados.
absl::StatusOr<rados::RadosVolumeOptions> VolumeOptions(std::string_view text, const PlaceOptions& options) {
  ARM_RETURN_IF_ERROR(WithContext(CheckRados(text), text));
  rados::RadosVolumeOptions rados;
  Split(text, &rados.pool, &rados.name_space);
  rados.conf_file = options.rados_conf;
  if (!options.rados_user.empty()) rados.user = options.rados_user;
  rados.lease = options.lease;
  rados.owner_wait = options.owner_wait;
  rados.op_timeout = options.op_timeout;
  rados.monitor_timeout = options.monitor_timeout;
  rados.must_exist = options.must_exist;
  rados.is_quiet = options.is_quiet;
  rados.checks_takeover = options.checks_takeover;
  rados.scans_objects = options.scans_objects;
  rados.copies_directory = options.copies_directory;
  rados.copies_bytes_max = options.copies_bytes_max;
  rados.is_cancelled = options.is_cancelled;
  rados.on_waiting = options.on_waiting;
  rados.on_lost = options.on_lost;
  rados.on_handover = options.on_handover;
  return rados;
}

// See RadosVolumeOptions::check_files.
std::optional<rados::TakeoverProblem> FindProblemOfDatabase(const rados::RadosVolumeOptions::ReadFile& read) {
  const std::string file = Cat(kDataDirectory, store::kDataFormatFile);
  const absl::StatusOr<std::string> text = read(file);
  if (absl::IsNotFound(text.status())) {
    if (!absl::IsFailedPrecondition(read(kBackupDirectory).status())) return std::nullopt;
    return rados::TakeoverProblem{.reason = "place", .text = "the volume holds backups, and no database"};
  }
  if (absl::IsUnavailable(text.status())) return std::nullopt;
  if (!text.ok()) return rados::TakeoverProblem{.reason = "damage", .text = std::string(Sv(text.status().message()))};
  const absl::StatusOr<store::DirectoryFormat> format = store::ParseDirectoryFormat(*text, file);
  if (!format.ok()) {
    return rados::TakeoverProblem{.reason = "damage", .text = std::string(Sv(format.status().message()))};
  }
  if (format->version <= store::kFormatVersion) return std::nullopt;
  return rados::TakeoverProblem{
      .reason = "version",
      .text = Cat("the database has format ", format->version, "; this build reads formats up to ",
                  store::kFormatVersion, ": use a newer armatured")};
}

#ifdef ARMATURE_RADOS

using rados::HandOverVolume;
using rados::ReadVolumeStatus;

class RadosPlace final : public Place {
 public:
  RadosPlace(std::unique_ptr<rados::RadosVolume> volume, std::string directory)
      : volume_(std::move(volume)), directory_(std::move(directory)) {}
  store::Volume* volume() const override { return volume_.get(); }
  const std::string& data_dir() const override { return directory_; }
  absl::Status Announce(std::string_view service) override { return volume_->Announce(service); }
  void Abandon() override { volume_->Abandon(); }
  absl::StatusOr<std::vector<std::string>> FindLostObjects() override { return volume_->FindLost(); }
  std::optional<rados::VolumeStats> stats() const override { return volume_->stats(); }

 private:
  const std::unique_ptr<rados::RadosVolume> volume_;
  const std::string directory_;
};

absl::StatusOr<std::unique_ptr<Place>> OpenVolume(const rados::RadosVolumeOptions& options,
                                                  const std::string& directory) {
  ARM_ASSIGN_OR_RETURN(std::unique_ptr<rados::RadosVolume> volume, rados::RadosVolume::Mount(options));
  // Each would take the other's lease, and a database would keep it.
  const bool is_for_data = directory == kDataDirectory;
  ARM_ASSIGN_OR_RETURN(const bool is_other, volume->Exists(is_for_data ? kBackupDirectory : kDataDirectory));
  if (is_other) {
    return FailedPreconditionError(Cat("the volume rados://", options.pool, "/", options.name_space, " holds ",
                                       is_for_data ? "backups" : "a database",
                                       "; databases and backups need namespaces of their own"));
  }
  return std::make_unique<RadosPlace>(std::move(volume), directory);
}

absl::StatusOr<rados::VolumeCheck> CheckVolume(const rados::RadosVolumeOptions& options, bool collects) {
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<rados::RadosVolume> volume, rados::RadosVolume::Mount(options));
  return volume->Check(collects);
}

absl::Status CheckBuilt() { return absl::OkStatus(); }

#else

// CheckBuilt fails before any of these is called.
absl::Status NotBuilt() { return InternalError("not built with RADOS"); }

absl::StatusOr<std::unique_ptr<Place>> OpenVolume(const rados::RadosVolumeOptions&, const std::string&) {
  return NotBuilt();
}

absl::StatusOr<rados::VolumeStatus> ReadVolumeStatus(const rados::RadosVolumeOptions&) { return NotBuilt(); }

absl::StatusOr<rados::VolumeStatus> HandOverVolume(const rados::RadosVolumeOptions&) { return NotBuilt(); }

absl::StatusOr<rados::VolumeCheck> CheckVolume(const rados::RadosVolumeOptions&, bool) { return NotBuilt(); }

absl::Status CheckBuilt() {
  return absl::InvalidArgumentError(
      "this program was built without RADOS: build it with cmake -DARMATURE_RADOS=ON, see docs/operate/rados.md");
}

#endif

}  // namespace

bool IsRados(std::string_view text) { return text.starts_with(kScheme); }

absl::Status CheckRados(std::string_view text) {
  std::string pool;
  std::string name_space;
  if (!IsRados(text) || !Split(text, &pool, &name_space)) {
    return absl::InvalidArgumentError("must be rados://POOL/NAMESPACE");
  }
  return CheckBuilt();
}

absl::StatusOr<std::unique_ptr<Place>> OpenPlace(std::string_view text, const PlaceOptions& options) {
  if (!IsRados(text)) return std::make_unique<LocalPlace>(text);
  ARM_ASSIGN_OR_RETURN(rados::RadosVolumeOptions volume, VolumeOptions(text, options));
  volume.check_files = FindProblemOfDatabase;
  return OpenVolume(volume, kDataDirectory);
}

absl::StatusOr<std::unique_ptr<Place>> OpenBackupPlace(std::string_view text, const PlaceOptions& options, bool makes) {
  if (!IsRados(text)) return std::make_unique<LocalPlace>(text);
  ARM_ASSIGN_OR_RETURN(const rados::RadosVolumeOptions volume, VolumeOptions(text, options));
  const absl::StatusOr<rados::VolumeStatus> found = ReadVolumeStatus(volume);
  if (!found.ok() && !(makes && absl::IsNotFound(found.status()))) return found.status();
  // A daemon that is paused would lose its database to this process. Only databases have a service.
  if (found.ok() && !found->owner.service.empty()) {
    return FailedPreconditionError(Cat(text, " is the database of the daemon at ", found->owner.service,
                                       "; backups need a namespace of their own"));
  }
  return OpenVolume(volume, kBackupDirectory);
}

absl::StatusOr<rados::VolumeStatus> ReadPlaceStatus(std::string_view text, const PlaceOptions& options) {
  ARM_ASSIGN_OR_RETURN(const rados::RadosVolumeOptions volume, VolumeOptions(text, options));
  return ReadVolumeStatus(volume);
}

absl::StatusOr<rados::VolumeStatus> HandOverPlace(std::string_view text, const PlaceOptions& options) {
  ARM_ASSIGN_OR_RETURN(const rados::RadosVolumeOptions volume, VolumeOptions(text, options));
  return HandOverVolume(volume);
}

absl::StatusOr<rados::VolumeCheck> CheckPlace(std::string_view text, const PlaceOptions& options, bool collects) {
  ARM_ASSIGN_OR_RETURN(rados::RadosVolumeOptions volume, VolumeOptions(text, options));
  volume.must_exist = true;
  return CheckVolume(volume, collects);
}

}  // namespace armature::place
