#include "storage/place/place.h"

#include <utility>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#ifdef ARMATURE_RADOS
#include "storage/rados/rados_volume.h"
#endif

namespace armature::place {
namespace {

constexpr std::string_view kScheme = "rados://";

class LocalPlace final : public Place {
 public:
  explicit LocalPlace(std::string_view data_dir) : data_dir_(data_dir) {}
  store::Volume* volume() const override { return store::LocalVolume(); }
  const std::string& data_dir() const override { return data_dir_; }
  absl::Status Announce(std::string_view) override { return absl::OkStatus(); }
  std::optional<PlaceStats> stats() const override { return std::nullopt; }

 private:
  const std::string data_dir_;
};

#ifdef ARMATURE_RADOS

class RadosPlace final : public Place {
 public:
  explicit RadosPlace(std::unique_ptr<rados::RadosVolume> volume) : volume_(std::move(volume)) {}
  store::Volume* volume() const override { return volume_.get(); }
  const std::string& data_dir() const override { return data_dir_; }
  absl::Status Announce(std::string_view service) override { return volume_->Announce(service); }
  std::optional<PlaceStats> stats() const override {
    const rados::VolumeStats stats = volume_->stats();
    return PlaceStats{.epoch = stats.epoch,
                      .lease_left_s = stats.lease_left_s,
                      .copies_bytes = stats.copies.bytes,
                      .copies_bytes_max = stats.copies.bytes_max,
                      .copies_files = stats.copies.files,
                      .reads_from_copies = stats.copies.hits,
                      .reads_from_cluster = stats.copies.misses,
                      .copies_damaged = stats.copies.damaged};
  }

 private:
  const std::unique_ptr<rados::RadosVolume> volume_;
  const std::string data_dir_ = "/data";
};

rados::RadosVolumeOptions VolumeOptions(std::string_view pool, std::string_view name_space,
                                        const PlaceOptions& options) {
  rados::RadosVolumeOptions rados;
  rados.pool = pool;
  rados.name_space = name_space;
  rados.conf_file = options.rados_conf;
  if (!options.rados_user.empty()) rados.user = options.rados_user;
  rados.lease = options.lease;
  rados.owner_wait = options.owner_wait;
  rados.op_timeout = options.op_timeout;
  rados.copies_directory = options.copies_directory;
  rados.copies_bytes_max = options.copies_bytes_max;
  rados.is_cancelled = options.is_cancelled;
  rados.on_waiting = options.on_waiting;
  rados.on_lost = options.on_lost;
  return rados;
}

absl::StatusOr<std::unique_ptr<Place>> OpenRados(std::string_view pool, std::string_view name_space,
                                                 const PlaceOptions& options) {
  ARM_ASSIGN_OR_RETURN(std::unique_ptr<rados::RadosVolume> volume,
                       rados::RadosVolume::Mount(VolumeOptions(pool, name_space, options)));
  return std::make_unique<RadosPlace>(std::move(volume));
}

absl::StatusOr<PlaceStatus> ReadStatus(std::string_view pool, std::string_view name_space,
                                       const PlaceOptions& options) {
  ARM_ASSIGN_OR_RETURN(rados::VolumeStatus status, rados::ReadVolumeStatus(VolumeOptions(pool, name_space, options)));
  return PlaceStatus{.volume_id = std::move(status.id),
                     .epoch = status.epoch,
                     .stripe_bytes = status.stripe_bytes,
                     .owner_client = std::move(status.owner.client),
                     .owner_service = std::move(status.owner.service),
                     .owner_host = std::move(status.owner.host),
                     .owner_since_s = status.owner.since_s,
                     .lease_holder = std::move(status.holder)};
}

absl::StatusOr<PlaceCheck> CheckRadosPlace(std::string_view pool, std::string_view name_space,
                                           const PlaceOptions& options, bool collects) {
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<rados::RadosVolume> volume,
                       rados::RadosVolume::Mount(VolumeOptions(pool, name_space, options)));
  ARM_ASSIGN_OR_RETURN(rados::VolumeCheck check, volume->Check(collects));
  return PlaceCheck{.files = check.files,
                    .file_bytes = check.file_bytes,
                    .objects = check.objects,
                    .orphans = check.orphans,
                    .orphan_bytes = check.orphan_bytes,
                    .problems = std::move(check.problems)};
}

absl::Status CheckBuilt() { return absl::OkStatus(); }

#else

absl::StatusOr<std::unique_ptr<Place>> OpenRados(std::string_view, std::string_view, const PlaceOptions&) {
  return InternalError("not built with RADOS");
}

absl::StatusOr<PlaceStatus> ReadStatus(std::string_view, std::string_view, const PlaceOptions&) {
  return InternalError("not built with RADOS");
}

absl::StatusOr<PlaceCheck> CheckRadosPlace(std::string_view, std::string_view, const PlaceOptions&, bool) {
  return InternalError("not built with RADOS");
}

absl::Status CheckBuilt() {
  return absl::InvalidArgumentError(
      "this program was built without RADOS: build it with cmake -DARMATURE_RADOS=ON, see docs/RADOS.md");
}

#endif

// The pool and the namespace. False if `text` does not name both.
bool Split(std::string_view text, std::string_view* pool, std::string_view* name_space) {
  text.remove_prefix(kScheme.size());
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  *pool = text.substr(0, slash);
  *name_space = text.substr(slash + 1);
  // Other characters are left for options of later versions.
  return !pool->empty() && !name_space->empty() && name_space->find_first_of("/?# ") == std::string_view::npos;
}

}  // namespace

bool IsRados(std::string_view text) { return text.starts_with(kScheme); }

absl::Status CheckRados(std::string_view text) {
  std::string_view pool;
  std::string_view name_space;
  if (!IsRados(text) || !Split(text, &pool, &name_space)) {
    return absl::InvalidArgumentError("must be rados://POOL/NAMESPACE");
  }
  return CheckBuilt();
}

absl::StatusOr<std::unique_ptr<Place>> OpenPlace(std::string_view text, const PlaceOptions& options) {
  if (!IsRados(text)) return std::make_unique<LocalPlace>(text);
  ARM_RETURN_IF_ERROR(WithContext(CheckRados(text), text));
  std::string_view pool;
  std::string_view name_space;
  Split(text, &pool, &name_space);
  return OpenRados(pool, name_space, options);
}

absl::StatusOr<PlaceStatus> ReadPlaceStatus(std::string_view text, const PlaceOptions& options) {
  ARM_RETURN_IF_ERROR(WithContext(CheckRados(text), text));
  std::string_view pool;
  std::string_view name_space;
  Split(text, &pool, &name_space);
  return ReadStatus(pool, name_space, options);
}

absl::StatusOr<PlaceCheck> CheckPlace(std::string_view text, const PlaceOptions& options, bool collects) {
  ARM_RETURN_IF_ERROR(WithContext(CheckRados(text), text));
  std::string_view pool;
  std::string_view name_space;
  Split(text, &pool, &name_space);
  return CheckRadosPlace(pool, name_space, options, collects);
}

}  // namespace armature::place
