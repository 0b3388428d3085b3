#include "storage/rados/name_table.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <iterator>
#include <utility>

#include "absl/strings/str_split.h"
#include "glog/logging.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/rados/volume_record.h"

namespace armature::rados {
namespace {

using store::NameIn;
using store::ParentOf;

constexpr std::string_view kDirectoryEntry = "directory";
constexpr std::string_view kFileEntry = "file";
constexpr std::string_view kOpenSize = "open";
constexpr uint64_t kSmallFileBytesMax = uint64_t{64} << 10;

struct Entry {
  bool is_directory = false;
  std::string id;
  bool is_open = false;
  uint64_t size = 0;
  uint64_t changed_s = 0;
};

std::string EncodeFile(const RadosNode& node, bool is_open) {
  const std::string size = is_open ? std::string(kOpenSize) : Cat(node.file->Size());
  return Cat(kFileEntry, " ", node.file->id(), " ", size, " ", node.changed_s);
}

bool ParseNumber(std::string_view text, uint64_t* number) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && rest == text.data() + text.size() && !text.empty();
}

// False if it is no entry.
bool Decode(const std::string& text, Entry* entry) {
  entry->is_directory = text == kDirectoryEntry;
  if (entry->is_directory) return true;
  const std::vector<std::string> words = absl::StrSplit(text, ' ');
  if (words.size() != 4 || words[0] != kFileEntry || words[1].empty()) return false;
  entry->id = words[1];
  entry->is_open = words[2] == kOpenSize;
  return (entry->is_open || ParseNumber(words[2], &entry->size)) && ParseNumber(words[3], &entry->changed_s);
}

// Table files have a name before they are complete, too, but count only once a manifest names them.
StripesMade MadeWhen(std::string_view path) {
  return path.ends_with(".sst") ? StripesMade::kWhenNeeded : StripesMade::kAhead;
}

absl::Status Missing(std::string_view path) { return absl::NotFoundError(Cat(path, " is missing")); }

}  // namespace

class NameTable::HeldLock final : public store::VolumeLock {
 public:
  HeldLock(NameTable* table, RadosNodePtr node, bool alone) : table_(table), node_(std::move(node)), alone_(alone) {}
  ~HeldLock() override {
    const absl::MutexLock lock(&table_->mutex_);
    if (alone_) node_->is_locked_alone = false;
    if (!alone_) --node_->shared_locks;
  }
  HeldLock(const HeldLock&) = delete;
  HeldLock& operator=(const HeldLock&) = delete;

  bool IsLinked() const override {
    const absl::MutexLock lock(&table_->mutex_);
    return !node_->names.empty() && !table_->session_->is_lost();
  }

 private:
  NameTable* const table_;
  const RadosNodePtr node_;
  const bool alone_;
};

std::string NameTable::Normal(std::string_view path) {
  std::string normal;
  for (const char c : Cat("/", path, "/")) {
    if (c != '/' || !normal.ends_with('/')) normal += c;
  }
  if (normal.size() > 1) normal.pop_back();
  return normal;
}

absl::StatusOr<std::unique_ptr<NameTable>> NameTable::Load(std::shared_ptr<RadosSession> session,
                                                           uint64_t stripe_bytes) {
  auto table = std::unique_ptr<NameTable>(new NameTable(std::move(session), stripe_bytes));
  {
    const absl::MutexLock change(&table->change_mutex_);
    ARM_RETURN_IF_ERROR(table->Read());
  }
  ARM_RETURN_IF_ERROR(table->TakeOverOpenFiles());
  return table;
}

absl::Status NameTable::Read() {
  std::map<std::string, std::string> entries;
  if (const int read = session_->ReadEntries(kDirectoryObject, &entries); read < 0) {
    return session_->Error("read", kDirectoryObject, read);
  }
  const absl::MutexLock lock(&mutex_);
  std::map<std::string, RadosNodePtr> known;
  for (auto& [path, node] : names_) {
    if (node != nullptr) known[node->file->id()] = node;
  }
  Names names = {{"/", nullptr}};
  for (const auto& [path, text] : entries) {
    Entry entry;
    if (!Decode(text, &entry)) {
      return DataLossError(Cat("RADOS: the entry of ", path, " in ", kDirectoryObject, " is damaged: ", text));
    }
    if (entry.is_directory) {
      names[path] = nullptr;
      continue;
    }
    RadosNodePtr& node = known[entry.id];
    if (node == nullptr) {
      node = NewNode(entry.id, MadeWhen(path), entry.size);
      node->changed_s = entry.changed_s;
    }
    node->is_open = entry.is_open;
    names[path] = node;
  }
  // Files whose last name is gone are left to the collection of orphans: a change that was not answered removed it.
  for (auto& [id, node] : known) node->names.clear();
  for (auto& [path, node] : names) {
    if (node != nullptr) node->names.insert(path);
  }
  names_ = std::move(names);
  return absl::OkStatus();
}

absl::Status NameTable::TakeOverOpenFiles() {
  std::vector<RadosNodePtr> open;
  {
    const absl::MutexLock lock(&mutex_);
    for (auto& [path, node] : names_) {
      if (node != nullptr && node->is_open && *node->names.begin() == path) open.push_back(node);
    }
  }
  const RadosVolumeOptions::Fence fence = session_->options().fence;
  const bool takes = fence == RadosVolumeOptions::Fence::kFull || fence == RadosVolumeOptions::Fence::kTakeOver;
  const auto former = takes ? StripedFile::Former::kFenced : StripedFile::Former::kLeft;
  for (const RadosNodePtr& node : open) {
    const absl::Status taken = node->file->TakeOver(former, StripedFile::Known::kNothing);
    if (!taken.ok()) {
      const absl::MutexLock lock(&mutex_);
      return WithContext(taken, *node->names.begin());
    }
    const absl::MutexLock change(&change_mutex_);
    ARM_RETURN_IF_ERROR(Note(node, /*is_open=*/false));
  }
  return absl::OkStatus();
}

absl::Status NameTable::Settle() {
  if (!is_uncertain_.load()) return absl::OkStatus();
  ARM_RETURN_IF_ERROR(Read());
  is_uncertain_.store(false);
  return absl::OkStatus();
}

absl::Status NameTable::SettleIfNeeded() {
  ARM_RETURN_IF_ERROR(session_->CheckOwned());
  if (!is_uncertain_.load()) return absl::OkStatus();
  const absl::MutexLock change(&change_mutex_);
  return Settle();
}

absl::Status NameTable::Apply(WriteOp* op, std::string_view path) {
  ARM_RETURN_IF_ERROR(session_->CheckOwned());
  op->Require(kEpochAttribute, session_->epoch_text());
  const int result = session_->Operate(*op, kDirectoryObject);
  if (result >= 0) return absl::OkStatus();
  if (result == -ETIMEDOUT) is_uncertain_.store(true);
  if (result == -ECANCELED || result == -ENOENT) {
    return session_->GuardedError("change the name", kDirectoryObject, result);
  }
  return session_->Error("change the name", path, result);
}

std::string NameTable::NewId() {
  char number[17];
  const auto end = std::to_chars(number, number + sizeof number, last_number_.fetch_add(1) + 1, 16);
  return Cat("file.", session_->epoch(), ".", std::string_view(number, static_cast<size_t>(end.ptr - number)));
}

RadosNodePtr NameTable::NewNode(std::string id, StripesMade made, uint64_t size) const {
  auto node = std::make_shared<RadosNode>();
  node->file = std::make_shared<StripedFile>(session_, std::move(id), stripe_bytes_, made, size);
  node->changed_s = static_cast<uint64_t>(std::time(nullptr));
  return node;
}

absl::Status NameTable::CheckParent(const std::string& path) const {
  const auto found = names_.find(ParentOf(path));
  if (found == names_.end()) return absl::NotFoundError(Cat(path, ": its directory is missing"));
  if (found->second != nullptr) return UnavailableError(Cat(ParentOf(path), ": Not a directory"));
  return absl::OkStatus();
}

absl::Status NameTable::CheckFileMayBe(const std::string& path) const {
  const absl::MutexLock lock(&mutex_);
  ARM_RETURN_IF_ERROR(CheckParent(path));
  const auto found = names_.find(path);
  const bool is_directory = found != names_.end() && found->second == nullptr;
  return is_directory ? UnavailableError(Cat("cannot write ", path, ": Is a directory")) : absl::OkStatus();
}

absl::StatusOr<RadosNodePtr> NameTable::FindFile(const std::string& path) const {
  const auto found = names_.find(Normal(path));
  if (found == names_.end()) return Missing(path);
  if (found->second == nullptr) return UnavailableError(Cat("cannot read ", path, ": Is a directory"));
  return found->second;
}

absl::StatusOr<RadosNodePtr> NameTable::Find(const std::string& path) {
  ARM_RETURN_IF_ERROR(SettleIfNeeded());
  const absl::MutexLock lock(&mutex_);
  return FindFile(path);
}

void NameTable::SetName(const std::string& path, RadosNodePtr node) {
  if (const auto replaced = names_.find(path); replaced != names_.end()) DropName(replaced);
  if (node != nullptr) node->names.insert(path);
  names_[path] = std::move(node);
}

void NameTable::DropName(Names::iterator entry) {
  if (const RadosNodePtr& node = entry->second; node != nullptr) {
    node->names.erase(entry->first);
    if (node->names.empty()) node->file->Unlink();
  }
  names_.erase(entry);
}

absl::Status NameTable::PutNew(const std::string& path, const RadosNodePtr& node, RadosNodePtr* replaced) {
  ARM_RETURN_IF_ERROR(CheckFileMayBe(path));
  WriteOp op;
  op.SetEntry(path, EncodeFile(*node, node->is_open));
  if (absl::Status put = Apply(&op, path); !put.ok()) {
    // Unless the name may be there, nobody will find the objects.
    if (!is_uncertain_.load()) node->file->Unlink();
    return put;
  }
  const absl::MutexLock lock(&mutex_);
  if (const auto found = names_.find(path); found != names_.end()) *replaced = found->second;
  SetName(path, node);
  return absl::OkStatus();
}

absl::StatusOr<RadosNodePtr> NameTable::Create(const std::string& path) {
  const std::string normal = Normal(path);
  ARM_RETURN_IF_ERROR(SettleIfNeeded());
  ARM_RETURN_IF_ERROR(CheckFileMayBe(normal));
  RadosNodePtr node = NewNode(NewId(), MadeWhen(normal), 0);
  node->is_open = true;
  node->writers = 1;
  // Before the name: see StripesMade.
  if (absl::Status made = node->file->Prepare(); !made.ok()) {
    node->file->Unlink();
    return made;
  }
  RadosNodePtr replaced;  // its objects are removed without the mutex
  const absl::MutexLock change(&change_mutex_);
  ARM_RETURN_IF_ERROR(Settle());
  ARM_RETURN_IF_ERROR(PutNew(normal, node, &replaced));
  return node;
}

absl::Status NameTable::Replace(const std::string& path, std::string_view content) {
  const std::string normal = Normal(path);
  ARM_RETURN_IF_ERROR(SettleIfNeeded());
  ARM_RETURN_IF_ERROR(CheckFileMayBe(normal));
  RadosNodePtr node = NewNode(NewId(), StripesMade::kWhenNeeded, 0);
  absl::Status written = node->file->Prepare();
  if (written.ok()) written = node->file->Append(content);
  if (written.ok()) written = node->file->Sync();
  if (!written.ok()) {
    node->file->Unlink();
    return WithContext(written, Cat("cannot write ", path));
  }
  RadosNodePtr replaced;  // its objects are removed without the mutex
  const absl::MutexLock change(&change_mutex_);
  ARM_RETURN_IF_ERROR(Settle());
  return PutNew(normal, node, &replaced);
}

absl::Status NameTable::Note(const RadosNodePtr& node, bool is_open) {
  WriteOp op;
  std::string first;
  {
    const absl::MutexLock lock(&mutex_);
    if (node->names.empty()) return absl::OkStatus();
    first = *node->names.begin();
    for (const std::string& name : node->names) op.SetEntry(name, EncodeFile(*node, is_open));
  }
  ARM_RETURN_IF_ERROR(Apply(&op, first));
  const absl::MutexLock lock(&mutex_);
  node->is_open = is_open;
  return absl::OkStatus();
}

absl::StatusOr<RadosNodePtr> NameTable::OpenToChange(const std::string& path) {
  const absl::MutexLock change(&change_mutex_);
  ARM_RETURN_IF_ERROR(session_->CheckOwned());
  ARM_RETURN_IF_ERROR(Settle());
  RadosNodePtr node;
  bool was_open = false;
  {
    const absl::MutexLock lock(&mutex_);
    ARM_ASSIGN_OR_RETURN(node, FindFile(path));
    was_open = node->is_open;
    ++node->writers;
  }
  absl::Status opened = node->file->TakeOver(StripedFile::Former::kFenced, StripedFile::Known::kSize);
  // Its objects are ahead before it is noted as open, and it is noted before it is written: the next owner takes over
  // all that this one may write.
  if (opened.ok()) opened = node->file->PrepareToChange(MadeWhen(Normal(path)));
  if (opened.ok() && !was_open) opened = Note(node, /*is_open=*/true);
  if (opened.ok()) return node;
  const absl::MutexLock lock(&mutex_);
  --node->writers;
  return WithContext(opened, path);
}

bool NameTable::IsOpen(const RadosNodePtr& node) const {
  const absl::MutexLock lock(&mutex_);
  return node->is_open || node->writers > 0;
}

absl::Status NameTable::EndWriter(const RadosNodePtr& node) {
  // A file that could not be written stays open in the table: the next owner finds out what it holds. Its bytes are
  // sent before names are locked.
  const absl::Status synced = node->file->Sync();
  const absl::MutexLock change(&change_mutex_);
  {
    const absl::MutexLock lock(&mutex_);
    if (--node->writers > 0 || !node->is_open || node->names.empty()) return synced;
  }
  ARM_RETURN_IF_ERROR(synced);
  ARM_RETURN_IF_ERROR(Settle());
  return Note(node, /*is_open=*/false);
}

absl::StatusOr<bool> NameTable::Exists(const std::string& path) {
  ARM_RETURN_IF_ERROR(SettleIfNeeded());
  const absl::MutexLock lock(&mutex_);
  return names_.contains(Normal(path));
}

absl::StatusOr<bool> NameTable::IsDirectory(const std::string& path) {
  ARM_RETURN_IF_ERROR(SettleIfNeeded());
  const absl::MutexLock lock(&mutex_);
  const auto found = names_.find(Normal(path));
  if (found == names_.end()) return Missing(path);
  return found->second == nullptr;
}

absl::StatusOr<std::vector<std::string>> NameTable::List(const std::string& path) {
  ARM_RETURN_IF_ERROR(SettleIfNeeded());
  const std::string directory = Normal(path);
  const absl::MutexLock lock(&mutex_);
  const auto found = names_.find(directory);
  if (found == names_.end()) {
    return absl::NotFoundError(Cat("cannot read directory ", path, ": No such file or directory"));
  }
  if (found->second != nullptr) {
    return FailedPreconditionError(Cat("cannot read directory ", path, ": Not a directory"));
  }
  std::vector<std::string> entries;
  const std::string prefix = directory == "/" ? directory : Cat(directory, "/");
  for (auto at = names_.lower_bound(prefix); at != names_.end() && at->first.starts_with(prefix); ++at) {
    if (at->first != "/" && ParentOf(at->first) == directory) entries.emplace_back(NameIn(at->first));
  }
  return entries;
}

std::vector<NameTable::File> NameTable::Files() const {
  const absl::MutexLock lock(&mutex_);
  std::map<std::string, File> files;
  for (const auto& [path, node] : names_) {
    if (node == nullptr) continue;
    File& file = files[node->file->id()];
    file.names.push_back(path);
    file.id = node->file->id();
    file.size = node->file->Size();
    file.is_open = node->is_open;
  }
  std::vector<File> all;
  all.reserve(files.size());
  for (auto& [id, file] : files) all.push_back(std::move(file));
  return all;
}

absl::Status NameTable::MakeDirectory(const std::string& path) {
  const std::string normal = Normal(path);
  const absl::MutexLock change(&change_mutex_);
  ARM_RETURN_IF_ERROR(Settle());
  {
    const absl::MutexLock lock(&mutex_);
    if (names_.contains(normal)) return absl::AlreadyExistsError(Cat(path, ": File exists"));
    ARM_RETURN_IF_ERROR(CheckParent(normal));
  }
  WriteOp op;
  op.SetEntry(normal, std::string(kDirectoryEntry));
  ARM_RETURN_IF_ERROR(Apply(&op, normal));
  const absl::MutexLock lock(&mutex_);
  names_[normal] = nullptr;
  return absl::OkStatus();
}

absl::StatusOr<bool> NameTable::Remove(const std::string& path) {
  const std::string normal = Normal(path);
  RadosNodePtr removed;  // its objects are removed without the mutex
  const absl::MutexLock change(&change_mutex_);
  ARM_RETURN_IF_ERROR(session_->CheckOwned());
  ARM_RETURN_IF_ERROR(Settle());
  {
    const absl::MutexLock lock(&mutex_);
    if (!names_.contains(normal)) return false;
    const auto below = names_.lower_bound(normal + "/");
    const bool has_entries = below != names_.end() && below->first.starts_with(normal + "/");
    if (has_entries || normal == "/") return UnavailableError(Cat("cannot remove ", path, ": Directory not empty"));
  }
  WriteOp op;
  op.RemoveEntries({normal});
  ARM_RETURN_IF_ERROR(Apply(&op, normal));
  const absl::MutexLock lock(&mutex_);
  const auto found = names_.find(normal);
  removed = found->second;
  DropName(found);
  return true;
}

absl::Status NameTable::RemoveTree(const std::string& path) {
  const std::string normal = Normal(path);
  std::vector<RadosNodePtr> removed;  // their objects are removed without the mutex
  const absl::MutexLock change(&change_mutex_);
  ARM_RETURN_IF_ERROR(Settle());
  std::vector<std::string> names;
  {
    const absl::MutexLock lock(&mutex_);
    const auto top = names_.find(normal);
    if (top == names_.end()) return absl::OkStatus();
    const std::string prefix = normal == "/" ? normal : normal + "/";
    for (auto at = names_.lower_bound(prefix); at != names_.end() && at->first.starts_with(prefix); ++at) {
      if (at->first != "/") names.push_back(at->first);
    }
    if (normal != "/") names.push_back(normal);
  }
  WriteOp op;
  op.RemoveEntries(names);
  ARM_RETURN_IF_ERROR(Apply(&op, normal));
  const absl::MutexLock lock(&mutex_);
  for (const std::string& name : names) {
    const auto found = names_.find(name);
    removed.push_back(found->second);
    DropName(found);
  }
  return absl::OkStatus();
}

absl::Status NameTable::Rename(const std::string& from, const std::string& to) {
  const std::string source = Normal(from);
  const std::string target = Normal(to);
  RadosNodePtr replaced;  // its objects are removed without the mutex
  const absl::MutexLock change(&change_mutex_);
  ARM_RETURN_IF_ERROR(Settle());
  RadosNodePtr node;
  {
    const absl::MutexLock lock(&mutex_);
    ARM_ASSIGN_OR_RETURN(node, FindFile(from));
  }
  ARM_RETURN_IF_ERROR(CheckFileMayBe(target));
  if (source == target) return absl::OkStatus();
  WriteOp op;
  op.RemoveEntries({source});
  op.SetEntry(target, EncodeFile(*node, node->is_open));
  ARM_RETURN_IF_ERROR(Apply(&op, source));
  const absl::MutexLock lock(&mutex_);
  if (const auto found = names_.find(target); found != names_.end()) replaced = found->second;
  SetName(target, node);
  node->names.erase(source);
  names_.erase(source);
  return absl::OkStatus();
}

absl::Status NameTable::Link(const std::string& from, const std::string& to) {
  const std::string target = Normal(to);
  const absl::MutexLock change(&change_mutex_);
  ARM_RETURN_IF_ERROR(Settle());
  RadosNodePtr node;
  {
    const absl::MutexLock lock(&mutex_);
    ARM_ASSIGN_OR_RETURN(node, FindFile(from));
    ARM_RETURN_IF_ERROR(CheckParent(target));
    if (names_.contains(target)) return absl::AlreadyExistsError(Cat(to, ": File exists"));
  }
  WriteOp op;
  op.SetEntry(target, EncodeFile(*node, node->is_open));
  ARM_RETURN_IF_ERROR(Apply(&op, target));
  const absl::MutexLock lock(&mutex_);
  SetName(target, node);
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadFileOfOther(RadosSession* session, const std::string& path) {
  std::string text;
  const int found = session->ReadEntry(kDirectoryObject, path, &text);
  if (found == -ENODATA || found == -ENOENT) return Missing(path);
  if (found < 0) return session->Error("read", kDirectoryObject, found);
  Entry entry;
  if (!Decode(text, &entry)) return DataLossError(Cat("RADOS: the entry of ", path, " is damaged: ", text));
  if (entry.is_directory) return FailedPreconditionError(Cat(path, " is a directory"));
  if (entry.is_open || entry.size > kSmallFileBytesMax) return UnavailableError(Cat(path, " is being written"));
  const std::string object = Cat(entry.id, ".0");
  std::string content(entry.size, '\0');
  const int read = entry.size == 0 ? 0 : rados_read(session->io(), object.c_str(), content.data(), content.size(), 0);
  if (read == -ENOENT) return DataLossError(Cat(path, ": RADOS: object ", object, " is missing"));
  if (read < 0) return session->Error("read", object, read);
  content.resize(static_cast<size_t>(read));
  return content;
}

absl::StatusOr<std::unique_ptr<store::VolumeLock>> NameTable::Lock(const std::string& path, bool alone, bool make) {
  ARM_ASSIGN_OR_RETURN(const bool exists, Exists(path));
  if (!exists && make) ARM_RETURN_IF_ERROR(Replace(path, ""));
  const absl::MutexLock lock(&mutex_);
  ARM_ASSIGN_OR_RETURN(RadosNodePtr node, FindFile(path));
  if (node->is_locked_alone || (alone && node->shared_locks > 0)) {
    return FailedPreconditionError(Cat(path, " is locked"));
  }
  if (alone) node->is_locked_alone = true;
  if (!alone) ++node->shared_locks;
  return std::make_unique<HeldLock>(this, std::move(node), alone);
}

}  // namespace armature::rados
