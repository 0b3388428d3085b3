#include "storage/store/wal/log_register.h"

#include <xxhash.h>

#include <charconv>
#include <string_view>

#include "absl/strings/str_format.h"
#include "glog/logging.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/meta_keys.h"

namespace armature::store {
namespace {

// Slots of 32 bytes never straddle two sectors of a disk, which writes each sector as a whole.
constexpr size_t kSlotBytes = 32;
constexpr size_t kFirstSlots = 1024;
constexpr std::string_view kRegisterMagic = "armature logs 1\n                ";
static_assert(kRegisterMagic.size() == kSlotBytes);

constexpr std::string_view kLogSuffix = ".log";
constexpr std::string_view kManifestPrefix = "MANIFEST-";
constexpr uint64_t kAbandonedFlag = 0x100;
constexpr LogName kBootName = {LogKind::kBoot, 0};

std::string EncodeSlot(LogName name, const LogEntry& entry) {
  const uint64_t flags = static_cast<uint64_t>(name.kind) | (entry.is_abandoned ? kAbandonedFlag : 0);
  std::string slot = Cat(EncodeU64(name.number), EncodeU64(entry.synced), EncodeU64(flags));
  slot += EncodeU64(XXH3_64bits(slot.data(), slot.size()));
  return slot;
}

uint64_t NumberAt(std::string_view slot, size_t at) { return *ParseU64(slot.substr(at, sizeof(uint64_t))); }

// False if the slot is damaged.
bool DecodeSlot(std::string_view slot, LogName* name, LogEntry* entry) {
  const uint64_t flags = NumberAt(slot, 16);
  *name = {static_cast<LogKind>(flags & 0xFF), NumberAt(slot, 0)};
  *entry = {NumberAt(slot, 8), (flags & kAbandonedFlag) != 0};
  return EncodeSlot(*name, *entry) == slot;
}

}  // namespace

std::string FileName(LogName name) {
  return name.kind == LogKind::kManifest ? absl::StrFormat("MANIFEST-%06u", name.number)
                                         : absl::StrFormat("%06u.log", name.number);
}

bool ParseLogName(std::string_view file_name, LogName* name) {
  if (const size_t slash = file_name.rfind('/'); slash != std::string_view::npos) file_name.remove_prefix(slash + 1);
  if (file_name.starts_with(kManifestPrefix)) {
    name->kind = LogKind::kManifest;
    file_name.remove_prefix(kManifestPrefix.size());
  } else if (file_name.ends_with(kLogSuffix)) {
    name->kind = LogKind::kWriteAhead;
    file_name.remove_suffix(kLogSuffix.size());
  } else {
    return false;
  }
  const char* const end = file_name.data() + file_name.size();
  const auto [rest, error] = std::from_chars(file_name.data(), end, name->number);
  return error == std::errc() && rest == end;
}

absl::StatusOr<std::unique_ptr<LogRegister>> LogRegister::Open(Volume* volume, const std::string& path, Access access) {
  bool makes = access == Access::kReplace;
  if (access == Access::kCreate) {
    ARM_ASSIGN_OR_RETURN(const bool is_there, volume->Exists(path));
    makes = !is_there;
  }
  if (makes) {
    ARM_RETURN_IF_ERROR(volume->WriteDurably(path, Cat(kRegisterMagic, std::string(kFirstSlots * kSlotBytes, '\0'))));
  }
  ARM_ASSIGN_OR_RETURN(std::unique_ptr<VolumeFile> file,
                       volume->Open(path, access == Access::kRead ? Volume::Access::kRead : Volume::Access::kChange));
  ARM_ASSIGN_OR_RETURN(const std::string bytes, volume->Read(path));
  auto opened = std::unique_ptr<LogRegister>(new LogRegister(path, std::move(file)));
  ARM_RETURN_IF_ERROR(opened->Load(bytes));
  return opened;
}

absl::Status LogRegister::Load(std::string_view bytes) {
  if (!bytes.starts_with(kRegisterMagic)) {
    return DataLossError(Cat(path_, " is damaged: it does not begin as a register of log files; nothing was changed: ",
                             "restore a backup, or see armature recover"));
  }
  const absl::MutexLock lock(&mutex_);
  slot_count_ = bytes.size() / kSlotBytes - 1;
  for (size_t i = slot_count_; i > 0; --i) {
    const std::string_view slot = bytes.substr(i * kSlotBytes, kSlotBytes);
    LogName name;
    Slot loaded = {i, {}};
    const bool is_free = slot.find_first_not_of('\0') == std::string_view::npos;
    if (!is_free && DecodeSlot(slot, &name, &loaded.entry)) {
      slots_[name] = loaded;
      continue;
    }
    if (!is_free) LOG(WARNING) << "store: dropped a damaged entry of the register of log files path=" << path_;
    free_.push_back(i);
  }
  return absl::OkStatus();
}

std::map<LogName, LogEntry> LogRegister::entries() const {
  const absl::MutexLock lock(&mutex_);
  std::map<LogName, LogEntry> entries;
  for (const auto& [name, slot] : slots_) entries[name] = slot.entry;
  entries.erase(kBootName);
  return entries;
}

uint64_t LogRegister::boot() const {
  const absl::MutexLock lock(&mutex_);
  const auto found = slots_.find(kBootName);
  return found == slots_.end() ? 0 : found->second.entry.synced;
}

absl::Status LogRegister::SetBoot(uint64_t boot) {
  const absl::MutexLock lock(&mutex_);
  Slot& slot = TakeSlot(kBootName);
  if (slot.entry.synced == boot) return absl::OkStatus();
  slot.entry.synced = boot;
  return WriteSlot(kBootName, slot);
}

LogRegister::Slot& LogRegister::TakeSlot(LogName name) {
  Slot& slot = slots_[name];
  if (slot.index == 0 && !free_.empty()) {
    slot.index = free_.back();
    free_.pop_back();
  } else if (slot.index == 0) {
    slot.index = ++slot_count_;
  }
  return slot;
}

absl::Status LogRegister::Add(LogName name) {
  const absl::MutexLock lock(&mutex_);
  Slot& slot = TakeSlot(name);
  slot.entry = {};
  ARM_RETURN_IF_ERROR(WriteSlot(name, slot));
  return file_->Sync();
}

absl::Status LogRegister::Remove(LogName name) {
  const absl::MutexLock lock(&mutex_);
  const auto found = slots_.find(name);
  if (found == slots_.end()) return absl::OkStatus();
  ARM_RETURN_IF_ERROR(WriteBytes(found->second.index, std::string(kSlotBytes, '\0')));
  free_.push_back(found->second.index);
  slots_.erase(found);
  return file_->Sync();
}

void LogRegister::SetSynced(LogName name, uint64_t synced) {
  const absl::MutexLock lock(&mutex_);
  const auto found = slots_.find(name);
  if (found == slots_.end() || found->second.entry.synced >= synced) return;
  found->second.entry.synced = synced;
  // Without the newest value, a start is less strict about the end of the log.
  static_cast<void>(WriteSlot(name, found->second));
}

void LogRegister::Abandon(LogName name) {
  const absl::MutexLock lock(&mutex_);
  const auto found = slots_.find(name);
  if (found == slots_.end()) return;
  found->second.entry.is_abandoned = true;
  static_cast<void>(WriteSlot(name, found->second));
}

absl::Status LogRegister::WriteSlot(LogName name, const Slot& slot) {
  return WriteBytes(slot.index, EncodeSlot(name, slot.entry));
}

absl::Status LogRegister::WriteBytes(size_t index, std::string_view bytes) {
  return file_->WriteAt(index * kSlotBytes, bytes);
}

}  // namespace armature::store
