#include "tests/unit/storage/store/files/memory_volume_state.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::store {
namespace {

using Action = MemoryDisk::Action;

std::string DirectoryOf(std::string_view path) { return std::string(ParentOf(path)); }

void SyncNode(MemoryNode* node) {
  if (node->is_rewritten) {
    node->durable = node->bytes;
  } else {
    node->durable.append(node->bytes, node->durable.size());
  }
  node->is_rewritten = false;
}

}  // namespace

class MemoryLock final : public VolumeLock {
 public:
  MemoryLock(std::shared_ptr<const MemoryMount> mount, MemoryNodePtr node, bool alone)
      : mount_(std::move(mount)), node_(std::move(node)), alone_(alone) {}
  ~MemoryLock() override {
    const absl::MutexLock lock(&mount_->state()->mutex);
    if (alone_) node_->is_locked_alone = false;
    if (!alone_) --node_->shared_locks;
  }
  MemoryLock(const MemoryLock&) = delete;
  MemoryLock& operator=(const MemoryLock&) = delete;

  bool IsLinked() const override {
    MemoryState* const state = mount_->state();
    const absl::MutexLock lock(&state->mutex);
    return std::any_of(state->names.begin(), state->names.end(),
                       [this](const auto& entry) { return entry.second == node_; });
  }

 private:
  const std::shared_ptr<const MemoryMount> mount_;
  const MemoryNodePtr node_;
  const bool alone_;
};

void MemoryState::Crash(const MemoryDisk::Keep& keep) {
  const absl::MutexLock lock(&mutex);
  ++boot;
  MemoryNames left = {{"/", nullptr}};
  std::map<const MemoryNode*, MemoryNodePtr> copies;  // objects of before may still hold the old ones
  for (const auto& [path, node] : durable) {
    // In order: a directory comes before its entries.
    if (path == "/" || !left.contains(DirectoryOf(path))) continue;
    if (node == nullptr) {
      left[path] = nullptr;
      continue;
    }
    MemoryNodePtr& copy = copies[node.get()];
    if (copy == nullptr) {
      copy = std::make_shared<MemoryNode>(node->id);
      copy->bytes = node->durable;
      if (keep && !node->is_rewritten && node->bytes.size() > node->durable.size()) {
        copy->bytes = node->bytes.substr(0, keep(path, node->durable.size(), node->bytes.size()));
      }
      copy->durable = copy->bytes;
    }
    left[path] = copy;
  }
  names = left;
  durable = std::move(left);
}

void MemoryState::SetFault(MemoryDisk::Fault given) {
  const absl::MutexLock lock(&mutex);
  fault = std::move(given);
}

void MemoryState::SetSize(uint64_t bytes) {
  const absl::MutexLock lock(&mutex);
  size = bytes;
}

uint64_t MemoryState::Used() const {
  uint64_t used = 0;
  for (const auto& [path, node] : names) used += node == nullptr ? 0 : node->bytes.size();
  return used;
}

absl::Status MemoryState::CheckRoom(uint64_t more) const {
  if (Used() + more <= size) return absl::OkStatus();
  return absl::ResourceExhaustedError("No space left on device");
}

absl::StatusOr<size_t> MemoryFile::ReadAt(uint64_t offset, size_t size, char* to) const {
  ARM_RETURN_IF_ERROR(mount_->Begin(Action::kRead, path_));
  const absl::MutexLock lock(&mount_->state()->mutex);
  const std::string& bytes = node_->bytes;
  if (offset >= bytes.size()) return 0;
  const size_t taken = std::min<size_t>(size, bytes.size() - offset);
  std::memcpy(to, bytes.data() + offset, taken);
  return taken;
}

absl::Status MemoryFile::Append(std::string_view bytes) {
  ARM_RETURN_IF_ERROR(mount_->Begin(Action::kWrite, path_));
  const absl::MutexLock lock(&mount_->state()->mutex);
  ARM_RETURN_IF_ERROR(mount_->CheckBoot());
  ARM_RETURN_IF_ERROR(mount_->state()->CheckRoom(bytes.size()));
  node_->bytes += bytes;
  return absl::OkStatus();
}

absl::Status MemoryFile::WriteAt(uint64_t offset, std::string_view bytes) {
  ARM_RETURN_IF_ERROR(mount_->Begin(Action::kWrite, path_));
  const absl::MutexLock lock(&mount_->state()->mutex);
  ARM_RETURN_IF_ERROR(mount_->CheckBoot());
  const uint64_t end = offset + bytes.size();
  if (end > node_->bytes.size()) {
    ARM_RETURN_IF_ERROR(mount_->state()->CheckRoom(end - node_->bytes.size()));
    node_->bytes.resize(end);
  }
  node_->bytes.replace(offset, bytes.size(), bytes);
  node_->is_rewritten = true;
  return absl::OkStatus();
}

absl::Status MemoryFile::Cut(uint64_t size) {
  ARM_RETURN_IF_ERROR(mount_->Begin(Action::kWrite, path_));
  const absl::MutexLock lock(&mount_->state()->mutex);
  ARM_RETURN_IF_ERROR(mount_->CheckBoot());
  if (size >= node_->bytes.size()) return absl::OkStatus();
  node_->bytes.resize(size);
  node_->is_rewritten = node_->is_rewritten || size < node_->durable.size();
  return absl::OkStatus();
}

absl::Status MemoryFile::Sync() {
  ARM_RETURN_IF_ERROR(mount_->Begin(Action::kSync, path_));
  const absl::MutexLock lock(&mount_->state()->mutex);
  ARM_RETURN_IF_ERROR(mount_->CheckBoot());
  SyncNode(node_.get());
  return absl::OkStatus();
}

uint64_t MemoryFile::Size() const {
  const absl::MutexLock lock(&mount_->state()->mutex);
  return node_->bytes.size();
}

MemoryMount::MemoryMount(std::shared_ptr<MemoryState> state)
    : state_(std::move(state)), boot_([this] {
        const absl::MutexLock lock(&state_->mutex);
        return state_->boot;
      }()) {}

std::string MemoryMount::Normal(std::string_view path) {
  std::string normal;
  for (const char c : Cat("/", path, "/")) {
    if (c != '/' || !normal.ends_with('/')) normal += c;
  }
  if (normal.size() > 1) normal.pop_back();
  return normal;
}

absl::Status MemoryMount::CheckBoot() const {
  return state_->boot == boot_ ? absl::OkStatus() : UnavailableError("the volume of before a crash");
}

absl::Status MemoryMount::Begin(Action action, std::string_view path) const {
  MemoryDisk::Fault fault;
  {
    const absl::MutexLock lock(&state_->mutex);
    ARM_RETURN_IF_ERROR(CheckBoot());
    fault = state_->fault;
  }
  return fault ? fault(action, path) : absl::OkStatus();
}

absl::Status MemoryMount::CheckParent(const std::string& path) const {
  ARM_RETURN_IF_ERROR(CheckBoot());
  const std::string parent = DirectoryOf(path);
  const auto found = state_->names.find(parent);
  if (found == state_->names.end()) return absl::NotFoundError(Cat(path, ": its directory is missing"));
  if (found->second != nullptr) return UnavailableError(Cat(parent, ": Not a directory"));
  return absl::OkStatus();
}

absl::StatusOr<MemoryFile> MemoryMount::Open(const std::string& path) const {
  const std::string normal = Normal(path);
  ARM_RETURN_IF_ERROR(Begin(Action::kRead, normal));
  const absl::MutexLock lock(&state_->mutex);
  const auto found = state_->names.find(normal);
  if (found == state_->names.end()) return absl::NotFoundError(Cat(path, " is missing"));
  if (found->second == nullptr) return UnavailableError(Cat("cannot read ", path, ": Is a directory"));
  return MemoryFile(shared_from_this(), normal, found->second);
}

absl::StatusOr<MemoryFile> MemoryMount::Create(const std::string& path) const {
  const std::string normal = Normal(path);
  ARM_RETURN_IF_ERROR(Begin(Action::kName, normal));
  const absl::MutexLock lock(&state_->mutex);
  ARM_RETURN_IF_ERROR(CheckParent(normal));
  const auto [entry, is_new] = state_->names.try_emplace(normal, nullptr);
  if (!is_new && entry->second == nullptr) return UnavailableError(Cat("cannot write ", path, ": Is a directory"));
  if (is_new) entry->second = std::make_shared<MemoryNode>(++state_->number);
  entry->second->is_rewritten = entry->second->is_rewritten || !entry->second->durable.empty();
  entry->second->bytes.clear();
  return MemoryFile(shared_from_this(), normal, entry->second);
}

absl::StatusOr<bool> MemoryMount::Exists(const std::string& path) const {
  ARM_RETURN_IF_ERROR(Begin(Action::kRead, path));
  const absl::MutexLock lock(&state_->mutex);
  return state_->names.contains(Normal(path));
}

absl::StatusOr<std::vector<std::string>> MemoryMount::List(const std::string& path) const {
  const std::string directory = Normal(path);
  ARM_RETURN_IF_ERROR(Begin(Action::kRead, directory));
  const absl::MutexLock lock(&state_->mutex);
  const auto found = state_->names.find(directory);
  if (found == state_->names.end()) {
    return absl::NotFoundError(Cat("cannot read directory ", path, ": No such file or directory"));
  }
  if (found->second != nullptr) {
    return absl::FailedPreconditionError(Cat("cannot read directory ", path, ": Not a directory"));
  }
  std::vector<std::string> entries;
  for (const auto& [name, node] : state_->names) {
    if (name != "/" && ParentOf(name) == directory) entries.emplace_back(NameIn(name));
  }
  return entries;
}

absl::Status MemoryMount::MakeDirectory(const std::string& path) const {
  const std::string normal = Normal(path);
  ARM_RETURN_IF_ERROR(Begin(Action::kName, normal));
  const absl::MutexLock lock(&state_->mutex);
  ARM_RETURN_IF_ERROR(CheckParent(normal));
  if (!state_->names.try_emplace(normal, nullptr).second) return absl::AlreadyExistsError(Cat(path, ": File exists"));
  // Entries of a directory of this name that was removed.
  std::erase_if(state_->durable, [&](const auto& entry) { return entry.first.starts_with(normal + "/"); });
  return absl::OkStatus();
}

absl::Status MemoryMount::SyncDirectory(const std::string& path) const {
  const std::string directory = Normal(path);
  ARM_RETURN_IF_ERROR(Begin(Action::kSyncNames, directory));
  const absl::MutexLock lock(&state_->mutex);
  ARM_RETURN_IF_ERROR(CheckBoot());
  if (!state_->names.contains(directory)) return absl::NotFoundError(Cat("cannot open directory ", path));
  const auto is_entry = [&](const auto& entry) { return entry.first != "/" && ParentOf(entry.first) == directory; };
  std::erase_if(state_->durable, is_entry);
  std::copy_if(state_->names.begin(), state_->names.end(), std::inserter(state_->durable, state_->durable.end()),
               is_entry);
  return absl::OkStatus();
}

absl::StatusOr<bool> MemoryMount::Remove(const std::string& path) const {
  const std::string normal = Normal(path);
  ARM_RETURN_IF_ERROR(Begin(Action::kName, normal));
  const absl::MutexLock lock(&state_->mutex);
  ARM_RETURN_IF_ERROR(CheckBoot());
  const bool has_entries = std::any_of(state_->names.begin(), state_->names.end(),
                                       [&](const auto& entry) { return entry.first.starts_with(normal + "/"); });
  if (has_entries) return UnavailableError(Cat("cannot remove ", path, ": Directory not empty"));
  return state_->names.erase(normal) > 0;
}

absl::Status MemoryMount::Rename(const std::string& from, const std::string& to) const {
  const std::string target = Normal(to);
  ARM_RETURN_IF_ERROR(Begin(Action::kName, target));
  const absl::MutexLock lock(&state_->mutex);
  ARM_RETURN_IF_ERROR(CheckParent(target));
  const auto found = state_->names.find(Normal(from));
  if (found == state_->names.end()) return absl::NotFoundError(Cat(from, " is missing"));
  if (found->second == nullptr) return UnavailableError(Cat("cannot rename directory ", from));
  const auto replaced = state_->names.find(target);
  if (replaced != state_->names.end() && replaced->second == nullptr) {
    return UnavailableError(Cat("cannot write ", to, ": Is a directory"));
  }
  MemoryNodePtr node = std::move(found->second);
  state_->names.erase(found);
  state_->names[target] = std::move(node);
  return absl::OkStatus();
}

absl::Status MemoryMount::Link(const std::string& from, const std::string& to) const {
  const std::string target = Normal(to);
  ARM_RETURN_IF_ERROR(Begin(Action::kName, target));
  const absl::MutexLock lock(&state_->mutex);
  ARM_RETURN_IF_ERROR(CheckParent(target));
  const auto found = state_->names.find(Normal(from));
  if (found == state_->names.end() || found->second == nullptr) return absl::NotFoundError(Cat(from, " is missing"));
  const bool is_new = state_->names.try_emplace(target, found->second).second;
  return is_new ? absl::OkStatus() : absl::AlreadyExistsError(Cat(to, ": File exists"));
}

absl::StatusOr<std::unique_ptr<VolumeLock>> MemoryMount::Lock(const std::string& path, bool alone, bool make) const {
  const std::string normal = Normal(path);
  ARM_RETURN_IF_ERROR(Begin(make ? Action::kName : Action::kRead, normal));
  const absl::MutexLock lock(&state_->mutex);
  ARM_RETURN_IF_ERROR(CheckParent(normal));
  auto found = state_->names.find(normal);
  if (found == state_->names.end() && !make) return absl::NotFoundError(Cat(path, " is missing"));
  if (found == state_->names.end()) {
    found = state_->names.emplace(normal, std::make_shared<MemoryNode>(++state_->number)).first;
  }
  MemoryNode* const node = found->second.get();
  if (node == nullptr) return UnavailableError(Cat("cannot open ", path, ": Is a directory"));
  if (node->is_locked_alone || (alone && node->shared_locks > 0)) {
    return FailedPreconditionError(Cat(path, " is locked"));
  }
  if (alone) node->is_locked_alone = true;
  if (!alone) ++node->shared_locks;
  return std::make_unique<MemoryLock>(shared_from_this(), found->second, alone);
}

DiskUsage MemoryMount::Measure() const {
  const absl::MutexLock lock(&state_->mutex);
  return {state_->size, state_->size - std::min(state_->size, state_->Used())};
}

uint64_t MemoryMount::NextNumber() const {
  const absl::MutexLock lock(&state_->mutex);
  return ++state_->number;
}

}  // namespace armature::store
