#include "storage/place/backup_places.h"

#include <optional>
#include <string_view>
#include <utility>

#include "glog/logging.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::place {
namespace {

constexpr absl::Duration kPoll = absl::Milliseconds(100);

// Why a volume was lost. The thread of its lease sets it, perhaps while the volume is being opened or closed.
//
// Thread-safety: thread-safe.
class Loss {
 public:
  void Set(std::string_view reason) {
    const absl::MutexLock lock(&mutex_);
    reason_ = reason;
  }
  std::string reason() const {
    const absl::MutexLock lock(&mutex_);
    return reason_;
  }

 private:
  mutable absl::Mutex mutex_;
  std::string reason_ ABSL_GUARDED_BY(mutex_);  // empty: it is not lost
};

}  // namespace

// The volumes that are open, for those that only look at them: with a reference, one of these could become the last
// user, who waits for the cluster.
//
// Thread-safety: thread-safe.
class SharedBackupPlaces::OpenVolumes {
 public:
  void Add(const Volume* volume) {
    const absl::MutexLock lock(&mutex_);
    volumes_.insert(volume);
  }
  void Remove(const Volume* volume) {
    const absl::MutexLock lock(&mutex_);
    volumes_.erase(volume);
  }
  std::vector<Owned> owned() const;

 private:
  mutable absl::Mutex mutex_;
  std::set<const Volume*> volumes_ ABSL_GUARDED_BY(mutex_);
};

// A volume that is open.
class SharedBackupPlaces::Volume final : public store::BackupPlace {
 public:
  Volume(std::string name, std::shared_ptr<Loss> loss, std::unique_ptr<Place> place,
         std::shared_ptr<OpenVolumes> volumes)
      : name_(std::move(name)), loss_(std::move(loss)), place_(std::move(place)), volumes_(std::move(volumes)) {
    volumes_->Add(this);
  }
  ~Volume() override {
    volumes_->Remove(this);
    LOG(INFO) << "backup: gives back place=" << name_;
  }
  Volume(const Volume&) = delete;
  Volume& operator=(const Volume&) = delete;

  const std::string& name() const override { return name_; }
  store::Volume* volume() const override { return place_->volume(); }
  const std::string& path() const override { return place_->data_dir(); }
  absl::Status state() const override {
    const std::string reason = loss_->reason();
    if (reason.empty()) return absl::OkStatus();
    return UnavailableError(Cat("lost the place of the backups ", name_, ": ", reason));
  }
  std::optional<rados::VolumeStats> stats() const { return place_->stats(); }
  void Abandon() {
    loss_->Set("the daemon ends, and the cluster did not answer in time");
    place_->Abandon();
  }

 private:
  const std::string name_;
  const std::shared_ptr<Loss> loss_;
  const std::unique_ptr<Place> place_;
  const std::shared_ptr<OpenVolumes> volumes_;
};

std::vector<SharedBackupPlaces::Owned> SharedBackupPlaces::OpenVolumes::owned() const {
  const absl::MutexLock lock(&mutex_);
  std::vector<Owned> owned;
  for (const Volume* volume : volumes_) {
    // A lost one is another process's, though its last user is not done yet.
    if (!volume->state().ok()) continue;
    if (const auto stats = volume->stats(); stats.has_value()) owned.push_back({volume->name(), *stats});
  }
  return owned;
}

SharedBackupPlaces::SharedBackupPlaces(std::string database, PlaceOptions options, Opener opener)
    : database_(std::move(database)),
      options_(std::move(options)),
      opener_(std::move(opener)),
      volumes_(std::make_shared<OpenVolumes>()) {}

std::vector<SharedBackupPlaces::Owned> SharedBackupPlaces::owned() const { return volumes_->owned(); }

absl::Status SharedBackupPlaces::CheckName(const std::string& name) const {
  if (name.starts_with('/')) return absl::OkStatus();
  if (!IsRados(name)) return absl::InvalidArgumentError("must be an absolute path, or rados://POOL/NAMESPACE");
  if (name == database_) {
    return absl::InvalidArgumentError("must not be the place of the database: backups need a namespace of their own");
  }
  return CheckRados(name);
}

absl::StatusOr<store::BackupPlacePtr> SharedBackupPlaces::Open(const std::string& name, Use use,
                                                               const std::function<bool()>& is_cancelled) {
  ARM_RETURN_IF_ERROR(CheckName(name));
  if (!IsRados(name)) return store::LocalBackupPlaces()->Open(name, use, is_cancelled);
  const int64_t end_ns = MonotonicAfter(options_.owner_wait);
  std::shared_ptr<Volume> shared;  // destroyed without the lock: it may be the last user of a lost volume
  {
    const absl::MutexLock lock(&mutex_);
    while (opening_.contains(name)) {
      if (is_cancelled && is_cancelled()) return absl::CancelledError("the wait was cancelled");
      if (MonotonicNs() >= end_ns) return UnavailableError(Cat(name, " is still being opened"));
      opened_.Until(&mutex_, MonotonicAfter(kPoll));
    }
    if (const auto found = open_.find(name); found != open_.end()) shared = found->second.lock();
    if (shared != nullptr && shared->state().ok()) return shared;
    opening_.insert(name);
  }
  shared.reset();
  absl::StatusOr<std::shared_ptr<Volume>> place = OpenAnew(name, use, is_cancelled);
  const absl::MutexLock lock(&mutex_);
  opening_.erase(name);
  std::erase_if(open_, [](const auto& each) { return each.second.expired(); });
  if (place.ok()) open_[name] = *place;
  opened_.Notify();
  return place;
}

void SharedBackupPlaces::Abandon() {
  std::vector<std::shared_ptr<Volume>> all;
  {
    const absl::MutexLock lock(&mutex_);
    for (const auto& [name, volume] : open_) all.push_back(volume.lock());
  }
  for (const std::shared_ptr<Volume>& volume : all) {
    if (volume != nullptr) volume->Abandon();
  }
}

absl::StatusOr<std::shared_ptr<SharedBackupPlaces::Volume>> SharedBackupPlaces::OpenAnew(
    const std::string& name, Use use, const std::function<bool()>& is_cancelled) const {
  const auto loss = std::make_shared<Loss>();
  PlaceOptions options = options_;
  options.is_cancelled = is_cancelled;
  options.on_lost = [loss](std::string_view reason) { loss->Set(reason); };
  absl::StatusOr<std::unique_ptr<Place>> place = opener_(name, options, use == Use::kWrite);
  if (!place.ok()) {
    if (is_cancelled && is_cancelled()) return absl::CancelledError("the wait was cancelled");
    if (absl::IsNotFound(place.status())) return place.status();
    // Whatever it is, it may pass: the owner ends, or an operator makes the pool.
    return UnavailableError(Cat("cannot open the place of the backups ", name, ": ", Sv(place.status().message())));
  }
  LOG(INFO) << "backup: opened place=" << name;
  return std::make_shared<Volume>(name, loss, *std::move(place), volumes_);
}

}  // namespace armature::place
