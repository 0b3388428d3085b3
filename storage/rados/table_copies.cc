#include "storage/rados/table_copies.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "glog/logging.h"
#include "storage/base/monotonic_wait.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/base/time_histogram.h"

namespace armature::rados {
namespace {

constexpr size_t kChunkBytes = size_t{16} << 10;
constexpr size_t kFetchBytes = size_t{1} << 20;
// Files that wait for their copy. Others are asked for again by their next reads.
constexpr size_t kWantedMax = 1000;
// One file must not drive out all others.
constexpr uint64_t kShareOfFile = 4;
// Part of the descriptors that copies may use, and their number if that is unlimited.
constexpr rlim_t kShareOfDescriptors = 8;
constexpr size_t kFilesMax = 100'000;
constexpr size_t kFilesMin = 16;
// Time without new fetches after the disk has failed: each would read a whole file from the cluster for nothing.
constexpr absl::Duration kFetchPause = absl::Minutes(1);
// Names are VOLUME.FILE.copy: a UUID, and an id that begins so.
constexpr size_t kVolumeIdSize = 36;
constexpr std::string_view kFilePart = ".file.";
constexpr std::string_view kEnding = ".copy";
constexpr std::string_view kUnfinished = ".part";
constexpr uint64_t kMagic = 0x3159504f434d5241;  // "ARMCOPY1"

struct Footer {
  uint64_t magic = kMagic;
  uint64_t size = 0;  // of the file
  uint64_t sums_hash = 0;
  uint64_t zero = 0;
};

size_t FilesMax() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kFilesMax;
  return std::clamp<size_t>(limit.rlim_cur / kShareOfDescriptors, kFilesMin, kFilesMax);
}

// True for names that copies, finished or not, of any volume have.
bool IsCopyName(std::string_view name) {
  const bool has_ending = name.ends_with(kEnding) || name.ends_with(Cat(kEnding, kUnfinished));
  return has_ending && name.size() > kVolumeIdSize && name.substr(kVolumeIdSize).starts_with(kFilePart);
}

uint32_t SumOf(std::string_view bytes) { return static_cast<uint32_t>(XXH3_64bits(bytes.data(), bytes.size())); }

uint64_t ChunksOf(uint64_t size) { return (size + kChunkBytes - 1) / kChunkBytes; }

uint64_t BytesOnDisk(uint64_t size) { return size + ChunksOf(size) * sizeof(uint32_t) + sizeof(Footer); }

uint64_t HashOf(uint64_t size, const std::vector<uint32_t>& sums) {
  return XXH3_64bits_withSeed(sums.data(), sums.size() * sizeof(uint32_t), size);
}

bool ReadExactly(int descriptor, uint64_t offset, size_t size, void* to) {
  auto* at = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t got = pread(descriptor, at, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    offset += static_cast<uint64_t>(got);
    size -= static_cast<size_t>(got);
  }
  return true;
}

bool WriteAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(descriptor, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return true;
}

// The copy in a file that an earlier process made; null if it is not complete. Chunks are compared when they are read.
std::shared_ptr<TableCopy> OpenCopy(const std::string& path, uint64_t bytes) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return nullptr;
  Footer footer;
  std::vector<uint32_t> sums;
  bool is_good = bytes >= sizeof footer && ReadExactly(descriptor, bytes - sizeof footer, sizeof footer, &footer) &&
                 footer.magic == kMagic && footer.size < bytes && BytesOnDisk(footer.size) == bytes;
  if (is_good) {
    sums.resize(ChunksOf(footer.size));
    is_good = ReadExactly(descriptor, footer.size, sums.size() * sizeof(uint32_t), sums.data()) &&
              HashOf(footer.size, sums) == footer.sums_hash;
  }
  if (is_good) return std::make_shared<TableCopy>(path, descriptor, footer.size, std::move(sums));
  close(descriptor);
  return nullptr;
}

}  // namespace

TableCopy::TableCopy(std::string path, int descriptor, uint64_t size, std::vector<uint32_t> sums)
    : path_(std::move(path)), size_(size), sums_(std::move(sums)), used_ns_(MonotonicNs()), descriptor_(descriptor) {}

TableCopy::~TableCopy() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool TableCopy::ReadChunks(uint64_t first, size_t size, char* to) const {
  if (!ReadExactly(descriptor_, first * kChunkBytes, size, to)) return false;
  for (size_t at = 0; at < size; at += kChunkBytes) {
    if (SumOf({to + at, std::min(kChunkBytes, size - at)}) != sums_[first + at / kChunkBytes]) return false;
  }
  return true;
}

TableCopy::Result TableCopy::ReadAt(uint64_t offset, size_t size, char* to, size_t* got) {
  used_ns_.store(MonotonicNs(), std::memory_order_relaxed);
  *got = 0;
  if (offset >= size_) return Result::kRead;
  size = std::min<uint64_t>(size, size_ - offset);
  thread_local std::string bytes;
  const absl::ReaderMutexLock lock(&mutex_);
  if (descriptor_ < 0) return Result::kGone;
  while (*got < size) {
    const uint64_t at = offset + *got;
    const size_t skip = at % kChunkBytes;
    // Whole chunks are read to their place at once.
    if (const size_t whole = (size - *got) / kChunkBytes * kChunkBytes; skip == 0 && whole > 0) {
      if (!ReadChunks(at / kChunkBytes, whole, to + *got)) return Result::kDamaged;
      *got += whole;
      continue;
    }
    bytes.resize(std::min<uint64_t>(kChunkBytes, size_ - (at - skip)));
    if (!ReadChunks(at / kChunkBytes, bytes.size(), bytes.data())) return Result::kDamaged;
    const size_t taken = std::min(size - *got, bytes.size() - skip);
    std::copy_n(bytes.data() + skip, taken, to + *got);
    *got += taken;
  }
  return Result::kRead;
}

void TableCopy::Remove() {
  unlink(path_.c_str());
  const absl::MutexLock lock(&mutex_);
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
}

CopyWriter::CopyWriter(TableCopies* copies, std::string id)
    : copies_(copies), id_(std::move(id)), path_(copies->PathOf(id_) + std::string(kUnfinished)) {
  descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  is_made_ = descriptor_ >= 0;
  // The file exists while another writer of it has not finished.
  has_disk_failed_ = !is_made_ && errno != EEXIST;
}

CopyWriter::~CopyWriter() {
  if (!is_made_) return;
  if (descriptor_ >= 0) close(descriptor_);
  unlink(path_.c_str());
  copies_->Release(reserved_);
}

void CopyWriter::Write(std::string_view bytes) {
  if (descriptor_ < 0) return;
  if (reserved_ + bytes.size() <= copies_->bytes_max_ / kShareOfFile && copies_->Reserve(bytes.size())) {
    reserved_ += bytes.size();
    if (WriteAll(descriptor_, bytes)) return;
    has_disk_failed_ = true;
  }
  close(descriptor_);
  descriptor_ = -1;
}

void CopyWriter::Append(std::string_view bytes) {
  size_ += bytes.size();
  while (!bytes.empty() && descriptor_ >= 0) {
    const std::string_view piece = bytes.substr(0, kChunkBytes - chunk_.size());
    chunk_ += piece;
    bytes.remove_prefix(piece.size());
    if (chunk_.size() < kChunkBytes) break;
    sums_.push_back(SumOf(chunk_));
    Write(chunk_);
    chunk_.clear();
  }
}

void CopyWriter::Finish() {
  if (!chunk_.empty()) {
    sums_.push_back(SumOf(chunk_));
    Write(chunk_);
  }
  Write({reinterpret_cast<const char*>(sums_.data()), sums_.size() * sizeof(uint32_t)});
  const Footer footer = {.size = size_, .sums_hash = HashOf(size_, sums_)};
  Write({reinterpret_cast<const char*>(&footer), sizeof footer});
  const std::string path = copies_->PathOf(id_);
  if (descriptor_ < 0) return;
  has_disk_failed_ = rename(path_.c_str(), path.c_str()) != 0;
  if (has_disk_failed_) return;
  is_made_ = false;
  auto copy = std::make_shared<TableCopy>(path, std::exchange(descriptor_, -1), size_, std::move(sums_));
  copies_->Add(id_, std::move(copy), std::exchange(reserved_, 0));
}

TableCopies::TableCopies(std::string directory, uint64_t bytes_max, std::string volume_id, int lock)
    : directory_(std::move(directory)),
      bytes_max_(bytes_max),
      files_max_(FilesMax()),
      volume_id_(std::move(volume_id)),
      lock_(lock) {}

absl::StatusOr<std::unique_ptr<TableCopies>> TableCopies::Open(const std::string& directory, uint64_t bytes_max,
                                                               const std::string& volume_id) {
  std::error_code failed;
  std::filesystem::create_directories(directory, failed);
  const std::string lock_path = Cat(directory, "/lock");
  const int lock = failed ? -1 : open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0) {
    return FailedPreconditionError(Cat("cannot use the directory ", directory, " for copies of table files: ",
                                       failed ? failed.message() : std::strerror(errno)));
  }
  auto copies = std::unique_ptr<TableCopies>(new TableCopies(directory, bytes_max, volume_id, lock));
  if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
    return FailedPreconditionError(
        Cat("the directory ", directory, " for copies of table files is used by another process"));
  }
  ARM_RETURN_IF_ERROR(copies->Load());
  copies->worker_.Start();
  return copies;
}

TableCopies::~TableCopies() {
  worker_.Stop();
  const TableCopiesCounters counted = counters();
  LOG(INFO) << "rados: copies of table files directory=" << directory_ << " bytes=" << counted.bytes
            << " files=" << counted.files << " hits=" << counted.hits << " misses=" << counted.misses
            << " damaged=" << counted.damaged;
  close(lock_);
}

absl::Status TableCopies::Load() {
  std::error_code failed;
  struct Found {
    std::filesystem::file_time_type written;
    std::string id;
    std::string path;
    uint64_t bytes = 0;
  };
  std::vector<Found> found;
  const std::string prefix = volume_id_ + ".";
  for (std::filesystem::directory_iterator at(directory_, failed), end; !failed && at != end; at.increment(failed)) {
    const std::string name = at->path().filename();
    const bool is_ours = name.ends_with(kEnding) && name.starts_with(prefix);
    std::error_code unknown;
    const uint64_t bytes = is_ours ? at->file_size(unknown) : 0;
    if (is_ours && !unknown) {
      found.push_back({.written = at->last_write_time(unknown),
                       .id = name.substr(prefix.size(), name.size() - prefix.size() - kEnding.size()),
                       .path = at->path(),
                       .bytes = bytes});
    } else if (IsCopyName(name)) {
      unlink(at->path().c_str());
    }
  }
  if (failed) return FailedPreconditionError(Cat("cannot read the directory ", directory_, ": ", failed.message()));
  // Oldest first, so that the newest count as used last.
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.written < b.written; });
  for (const Found& each : found) {
    std::shared_ptr<TableCopy> copy = OpenCopy(each.path, each.bytes);
    if (copy == nullptr) {
      unlink(each.path.c_str());
    } else if (Reserve(each.bytes)) {
      Add(each.id, std::move(copy), each.bytes);
    } else {
      copy->Remove();
    }
  }
  return absl::OkStatus();
}

std::string TableCopies::PathOf(const std::string& id) const {
  return Cat(directory_, "/", volume_id_, ".", id, kEnding);
}

std::shared_ptr<TableCopy> TableCopies::Find(const std::string& id) {
  const absl::MutexLock lock(&mutex_);
  const auto found = copies_.find(id);
  return found == copies_.end() ? nullptr : found->second;
}

std::unique_ptr<CopyWriter> TableCopies::Begin(const std::string& id) {
  if (Find(id) != nullptr) return nullptr;
  std::unique_ptr<CopyWriter> writer(new CopyWriter(this, id));
  return writer->is_usable() ? std::move(writer) : nullptr;
}

bool TableCopies::Reserve(uint64_t bytes) {
  std::vector<std::shared_ptr<TableCopy>> evicted;  // removed without the mutex
  {
    const absl::MutexLock lock(&mutex_);
    while ((bytes_ + bytes > bytes_max_ || copies_.size() >= files_max_) && !copies_.empty()) {
      const auto oldest = std::min_element(copies_.begin(), copies_.end(), [](const auto& a, const auto& b) {
        return a.second->used_ns() < b.second->used_ns();
      });
      bytes_ -= BytesOnDisk(oldest->second->size());
      evicted.push_back(std::move(oldest->second));
      copies_.erase(oldest);
    }
    if (bytes_ + bytes > bytes_max_) return false;
    bytes_ += bytes;
  }
  for (const std::shared_ptr<TableCopy>& copy : evicted) copy->Remove();
  return true;
}

void TableCopies::Release(uint64_t bytes) {
  const absl::MutexLock lock(&mutex_);
  bytes_ -= bytes;
}

void TableCopies::Add(const std::string& id, std::shared_ptr<TableCopy> copy, uint64_t reserved) {
  const absl::MutexLock lock(&mutex_);
  bytes_ += BytesOnDisk(copy->size());
  bytes_ -= reserved;
  copies_[id] = std::move(copy);
}

std::shared_ptr<TableCopy> TableCopies::TakeOut(const std::string& id, const TableCopy* expected) {
  const auto found = copies_.find(id);
  if (found == copies_.end() || (expected != nullptr && found->second.get() != expected)) return nullptr;
  std::shared_ptr<TableCopy> copy = std::move(found->second);
  bytes_ -= BytesOnDisk(copy->size());
  copies_.erase(found);
  return copy;
}

void TableCopies::Remove(const std::string& id) {
  std::shared_ptr<TableCopy> copy;
  {
    const absl::MutexLock lock(&mutex_);
    std::erase_if(wanted_, [&id](const Wanted& each) { return each.id == id; });
    if (making_ == id) making_.clear();
    copy = TakeOut(id, nullptr);
  }
  if (copy != nullptr) copy->Remove();
}

void TableCopies::RemoveDamaged(const std::string& id, const TableCopy* copy) {
  std::shared_ptr<TableCopy> removed;
  {
    const absl::MutexLock lock(&mutex_);
    removed = TakeOut(id, copy);
  }
  if (removed == nullptr) return;
  LOG(WARNING) << "rados: the local copy of a table file is damaged, and removed file=" << id;
  damaged_.fetch_add(1, std::memory_order_relaxed);
  removed->Remove();
}

void TableCopies::Fetch(const std::string& id, uint64_t size, Source source) {
  if (BytesOnDisk(size) > bytes_max_ / kShareOfFile) return;
  const absl::MutexLock lock(&mutex_);
  if (wanted_.size() >= kWantedMax || copies_.contains(id) || MonotonicNs() < paused_until_ns_) return;
  const bool is_wanted =
      std::any_of(wanted_.begin(), wanted_.end(), [&id](const Wanted& each) { return each.id == id; });
  if (is_wanted) return;
  wanted_.push_back({.id = id, .size = size, .source = std::move(source)});
  worker_.Wake();
}

bool TableCopies::MakeOne(const Wanted& wanted) {
  if (Find(wanted.id) != nullptr) return true;
  CopyWriter writer(this, wanted.id);
  std::string bytes;
  for (uint64_t at = 0; at < wanted.size;) {
    if (!writer.is_usable()) return !writer.has_disk_failed();
    if (worker_.is_stopping()) return true;
    {
      const absl::MutexLock lock(&mutex_);
      if (making_.empty()) return true;
    }
    bytes.resize(std::min<uint64_t>(kFetchBytes, wanted.size - at));
    const size_t got = wanted.source(at, bytes.size(), bytes.data());
    if (got == 0) return true;  // the cluster does not answer, or the file was removed
    writer.Append(std::string_view(bytes).substr(0, got));
    at += got;
  }
  writer.Finish();
  return !writer.has_disk_failed();
}

Worker::Next TableCopies::Work() {
  Wanted wanted;
  {
    const absl::MutexLock lock(&mutex_);
    if (wanted_.empty()) return Worker::Next::WhenWoken();
    wanted = std::move(wanted_.front());
    wanted_.pop_front();
    making_ = wanted.id;
  }
  const bool is_disk_good = MakeOne(wanted);
  bool is_removed = false;
  {
    const absl::MutexLock lock(&mutex_);
    is_removed = making_.empty();
    making_.clear();
    if (!is_disk_good) {
      paused_until_ns_ = MonotonicAfter(kFetchPause);
      wanted_.clear();
    }
  }
  // Its file was removed while it was made.
  if (is_removed) Remove(wanted.id);
  return Worker::Next::AtOnce();
}

bool TableCopies::are_fetches_paused() const {
  const absl::MutexLock lock(&mutex_);
  return MonotonicNs() < paused_until_ns_;
}

size_t TableCopies::fetches_wanted() const {
  const absl::MutexLock lock(&mutex_);
  return wanted_.size();
}

TableCopiesCounters TableCopies::counters() const {
  const absl::MutexLock lock(&mutex_);
  return {.bytes = bytes_,
          .bytes_max = bytes_max_,
          .files = copies_.size(),
          .hits = hits_.load(std::memory_order_relaxed),
          .misses = misses_.load(std::memory_order_relaxed),
          .damaged = damaged_.load(std::memory_order_relaxed)};
}

}  // namespace armature::rados
