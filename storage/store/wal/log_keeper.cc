#include "storage/store/wal/log_keeper.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "glog/logging.h"
#include "storage/base/fault_points.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/data_directory.h"
#include "storage/store/wal/log_register.h"

namespace armature::store {
namespace {

constexpr std::string_view kStateFile = "/state";
constexpr std::string_view kFamiliesFile = "/families";
constexpr std::string_view kStateMagic = "armature archiving\n";
constexpr std::string_view kPlaceField = "place: ";
constexpr std::string_view kOwnerField = "owner: ";
constexpr std::string_view kDiskShort =
    "the disk of the database is nearly full, and the log that waited has made room";
// Space that must be left without a reserve.
constexpr uint64_t kMarginBytesMin = uint64_t{4} << 20;

// The rest of the line that begins with `name`; nullopt if there is none.
std::optional<std::string_view> FieldOf(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    if (text.starts_with(name)) return text.substr(name.size(), end - name.size());
    text.remove_prefix(end + 1);
  }
  return std::nullopt;
}

FamilyNamesById ParseFamilies(std::string_view text) {
  FamilyNamesById families;
  for (size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    const std::string_view line = text.substr(0, end);
    uint32_t id = 0;
    const auto [at, error] = std::from_chars(line.data(), line.data() + line.size(), id);
    const auto digits = static_cast<size_t>(at - line.data());
    if (error == std::errc() && digits + 1 < line.size()) families[id] = std::string(line.substr(digits + 1));
    text.remove_prefix(end + 1);
  }
  return families;
}

}  // namespace

LogKeeper::LogKeeper(Volume* volume, const std::string& data_dir, uint64_t bytes_max, DiskReserve reserve)
    : volume_(volume),
      data_dir_(data_dir),
      path_(Cat(data_dir, kDataArchiving)),
      bytes_max_(bytes_max),
      reserve_(reserve) {}

absl::StatusOr<std::unique_ptr<LogKeeper>> LogKeeper::Open(Volume* volume, const std::string& data_dir,
                                                           uint64_t bytes_max, DiskReserve reserve) {
  auto keeper = std::unique_ptr<LogKeeper>(new LogKeeper(volume, data_dir, bytes_max, reserve));
  const absl::MutexLock lock(&keeper->mutex_);
  ARM_RETURN_IF_ERROR(volume->MakeDirectories(keeper->path_));
  ARM_RETURN_IF_ERROR(keeper->ReadState());
  return keeper;
}

absl::Status LogKeeper::Forget(Volume* volume, const std::string& data_dir) {
  const std::string path = Cat(data_dir, kDataArchiving);
  ARM_ASSIGN_OR_RETURN(const bool is_there, volume->Exists(path));
  if (!is_there) return absl::OkStatus();
  // The state first: without it the files mean nothing.
  ARM_RETURN_IF_ERROR(volume->Remove(Cat(path, kStateFile)).status());
  ARM_RETURN_IF_ERROR(volume->SyncDirectory(path));
  return volume->RemoveTree(path);
}

std::string LogKeeper::Place() const {
  const absl::StatusOr<std::string> text = volume_->Read(Cat(data_dir_, kDataPlaceFile));
  return text.ok() ? std::string(FieldOf(*text, "file: ").value_or("")) : std::string();
}

absl::Status LogKeeper::ReadState() {
  const absl::StatusOr<std::string> state = volume_->Read(Cat(path_, kStateFile));
  if (!state.ok() && !absl::IsNotFound(state.status())) return state.status();
  const std::string_view text = state.ok() ? std::string_view(*state) : std::string_view();
  const std::optional<std::string_view> place = FieldOf(text, kPlaceField);
  if (!text.starts_with(kStateMagic) || !place.has_value()) {
    LoseLocked("the database was not archived before");
    return absl::OkStatus();
  }
  if (place->empty() || *place != Place()) {
    LoseLocked("the data directory was copied or restored, or another start of it was not archived");
    return absl::OkStatus();
  }
  owner_ = std::string(FieldOf(text, kOwnerField).value_or(""));
  if (owner_.empty()) {
    LoseLocked("the chain was lost before the last start ended");
    return absl::OkStatus();
  }
  ARM_ASSIGN_OR_RETURN(const std::vector<std::string> names, volume_->List(path_));
  for (const std::string& entry : names) {
    LogName name;
    if (!ParseLogName(entry, &name) || name.kind != LogKind::kWriteAhead) continue;
    ARM_ASSIGN_OR_RETURN(sizes_[name.number], volume_->Size(PathOf(name.number)));
    kept_bytes_ += sizes_[name.number];
  }
  const absl::StatusOr<std::string> families = volume_->Read(Cat(path_, kFamiliesFile));
  if (!families.ok()) return absl::IsNotFound(families.status()) ? absl::OkStatus() : families.status();
  dropped_ = ParseFamilies(*families);
  families_bytes_ = families->rfind('\n') + 1;
  return absl::OkStatus();
}

absl::Status LogKeeper::WriteState(std::string_view owner) {
  return volume_->WriteDurably(Cat(path_, kStateFile),
                               Cat(kStateMagic, kPlaceField, Place(), "\n", kOwnerField, owner, "\n"));
}

void LogKeeper::NotePlace() {
  const absl::MutexLock lock(&mutex_);
  if (owner_.empty()) return;
  if (const absl::Status written = WriteState(owner_); !written.ok()) LoseLocked(Sv(written.message()));
}

std::string LogKeeper::owner() const {
  const absl::MutexLock lock(&mutex_);
  return owner_;
}

std::string LogKeeper::loss() const {
  const absl::MutexLock lock(&mutex_);
  return loss_;
}

absl::Status LogKeeper::Begin(std::string_view owner, const std::function<absl::Status()>& mark) {
  {
    const absl::MutexLock lock(&mutex_);
    LoseLocked("a new chain begins");
    if (has_old_state_) return UnavailableError(Cat("the end of the last chain cannot be noted in ", path_));
    owner_ = std::string(owner);
    released_ = 0;
  }
  absl::Status begun = mark();
  const absl::MutexLock lock(&mutex_);
  if (owner_ != owner) return UnavailableError(loss_);
  if (begun.ok()) begun = WriteState(owner_);
  if (!begun.ok()) LoseLocked(Sv(begun.message()));
  return begun;
}

void LogKeeper::Lose(std::string_view why) {
  const absl::MutexLock lock(&mutex_);
  LoseLocked(why);
}

void LogKeeper::LoseLocked(std::string_view why) {
  owner_.clear();
  loss_ = std::string(why);
  RemoveKept();
  sizes_.clear();
  kept_bytes_ = 0;
  dropped_.clear();
  families_bytes_ = 0;
}

void LogKeeper::RemoveKept() {
  absl::Status removed = volume_->Remove(Cat(path_, kStateFile)).status();
  if (removed.ok()) removed = volume_->SyncDirectory(path_);
  // One without an owner says the same.
  if (!removed.ok() && WriteState("").ok()) removed = absl::OkStatus();
  has_old_state_ = !removed.ok();
  // While the state tells of an owner, the next start must find the files.
  if (removed.ok()) removed = volume_->RemoveTree(path_);
  if (removed.ok()) removed = volume_->MakeDirectories(path_);
  if (!removed.ok()) {
    LOG_EVERY_N(ERROR, 60) << "store: cannot remove the logs that waited for the archive status=" << removed;
  }
}

void LogKeeper::Release(uint64_t number) {
  const absl::MutexLock lock(&mutex_);
  released_ = std::max(released_, number);
  while (!sizes_.empty() && sizes_.begin()->first < number) {
    if (const absl::Status removed = volume_->Remove(PathOf(sizes_.begin()->first)).status(); !removed.ok()) {
      LOG_EVERY_N(WARNING, 60) << "store: cannot remove an archived log status=" << removed;
      return;
    }
    kept_bytes_ -= sizes_.begin()->second;
    sizes_.erase(sizes_.begin());
  }
}

bool LogKeeper::IsDiskShort() const {
  const absl::StatusOr<DiskUsage> usage = volume_->Measure(path_);
  if (!usage.ok()) return false;
  // As of DiskSpace, and a half more: what is about to be kept is measured now, and clients write on.
  const uint64_t reserve = std::min(reserve_.bytes, usage->total_bytes / 100 * reserve_.percent);
  return usage->free_bytes < reserve + std::max(reserve / 2, kMarginBytesMin);
}

void LogKeeper::GiveWay() {
  const absl::MutexLock lock(&mutex_);
  if (has_old_state_) RemoveKept();
  if (owner_.empty() || sizes_.empty() || !IsDiskShort()) return;
  LOG(ERROR) << "store: the log that waits for the archive is dropped, and its chain ends bytes=" << kept_bytes_
             << " reason=" << kDiskShort;
  LoseLocked(kDiskShort);
}

void LogKeeper::OnDelete(const std::string& path, uint64_t number) {
  const absl::MutexLock lock(&mutex_);
  if (has_old_state_) RemoveKept();
  if (owner_.empty() || number < released_ || sizes_.contains(number)) return;
  if (const absl::Status kept = Keep(path, number); !kept.ok()) {
    LOG(ERROR) << "store: a log cannot be kept for the archive, whose chain ends log=" << number << " status=" << kept;
    LoseLocked(Sv(kept.message()));
  }
}

absl::Status LogKeeper::Keep(const std::string& path, uint64_t number) {
  const absl::StatusOr<uint64_t> size = volume_->Size(path);
  // It was deleted before.
  if (absl::IsNotFound(size.status())) return absl::OkStatus();
  ARM_RETURN_IF_ERROR(size.status());
  if (kept_bytes_ + *size > bytes_max_) {
    return absl::ResourceExhaustedError(
        Cat("more than ", bytes_max_, " bytes of the log waited for the archive (--archive_wait_mb)"));
  }
  if (IsDiskShort()) return absl::ResourceExhaustedError(std::string(kDiskShort));
  ARM_RETURN_IF_ERROR(volume_->Link(path, PathOf(number), LinkKind::kHard));
  // The volume makes a copy where it cannot link. It would not be durable, and half a one after a kill.
  const absl::StatusOr<std::string> own = volume_->IdentityOf(path);
  const absl::StatusOr<std::string> kept = volume_->IdentityOf(PathOf(number));
  if (!own.ok() || !kept.ok() || *own != *kept) return UnavailableError(Cat(path, " cannot be linked in ", path_));
  ARM_RETURN_IF_ERROR(volume_->SyncDirectory(path_));
  ARM_FAULT_POINT("archive.log_kept");
  sizes_[number] = *size;
  kept_bytes_ += *size;
  return absl::OkStatus();
}

void LogKeeper::OnDrop(const FamilyNamesById& families) {
  const absl::MutexLock lock(&mutex_);
  if (owner_.empty() || families.empty()) return;
  if (const absl::Status added = AddFamilies(families); !added.ok()) LoseLocked(Sv(added.message()));
}

absl::Status LogKeeper::AddFamilies(const FamilyNamesById& families) {
  const std::string path = Cat(path_, kFamiliesFile);
  std::string lines;
  for (const auto& [id, name] : families) lines += Cat(id, " ", name, "\n");
  if (families_bytes_ == 0) {
    ARM_RETURN_IF_ERROR(volume_->WriteDurably(path, lines));
  } else {
    ARM_ASSIGN_OR_RETURN(const std::unique_ptr<VolumeFile> file, volume_->Open(path, Volume::Access::kChange));
    ARM_RETURN_IF_ERROR(file->WriteAt(families_bytes_, lines));
    ARM_RETURN_IF_ERROR(file->Sync());
  }
  families_bytes_ += lines.size();
  dropped_.insert(families.begin(), families.end());
  return absl::OkStatus();
}

std::string LogKeeper::PathOf(uint64_t number) const {
  return Cat(path_, "/", FileName({LogKind::kWriteAhead, number}));
}

std::set<uint64_t> LogKeeper::Kept(uint64_t from) const {
  const absl::MutexLock lock(&mutex_);
  std::set<uint64_t> numbers;
  for (auto it = sizes_.lower_bound(from); it != sizes_.end(); ++it) numbers.insert(it->first);
  return numbers;
}

FamilyNamesById LogKeeper::dropped_families() const {
  const absl::MutexLock lock(&mutex_);
  return dropped_;
}

uint64_t LogKeeper::kept_bytes() const {
  const absl::MutexLock lock(&mutex_);
  return kept_bytes_;
}

}  // namespace armature::store
