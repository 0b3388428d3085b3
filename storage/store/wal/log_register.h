#ifndef ARMATURE_STORAGE_STORE_WAL_LOG_REGISTER_H_
#define ARMATURE_STORAGE_STORE_WAL_LOG_REGISTER_H_

// The register of a database's log files: which files exist, and how far each is known to be on disk. A start compares
// it with the files that are there. RocksDB itself does not notice that a file of the write-ahead log is missing.
// Format: docs/reference/format.md, "Register of log files". Inside the store only.
//
//   register := magic slot*
//   magic := "armature logs 1\n" and 16 spaces
//   slot := 32 zeros                               free
//         | number synced flags checksum           each fixed64, big-endian
//   flags := kind in the lowest byte; 0x100 abandoned
//   checksum := XXH3-64 of the 24 bytes before

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "storage/store/files/volume.h"

namespace armature::store {

// kBoot is no file: its entry holds the run of the machine in which the database was last open.
enum class LogKind : uint8_t { kWriteAhead = 1, kManifest = 2, kBoot = 3 };

// Name of the register in the directory of the database.
inline constexpr std::string_view kLogRegisterFile = "armature.logs";

// A log file of RocksDB by kind and number. The number is part of the file's name.
struct LogName {
  LogKind kind = LogKind::kWriteAhead;
  uint64_t number = 0;

  auto operator<=>(const LogName&) const = default;  // NOLINT(modernize-use-nullptr): a fault of clang-tidy 14
};

// The file's name without its directory, such as 000012.log.
std::string FileName(LogName name);
// Parses a file name, with or without a directory. False if it is not the name of a log file.
bool ParseLogName(std::string_view file_name, LogName* name);

struct LogEntry {
  uint64_t synced = 0;        // the bytes up to here were synced: damage before is not the effect of a power cut
  bool is_abandoned = false;  // a write or a sync of the file failed: later writes are in later files
};

// Thread-safety: thread-safe.
class LogRegister {
 public:
  // kRead: the register is not to be changed. kCreate: an empty register is made if the file is missing. kReplace: an
  // empty register is made in any case.
  enum class Access { kRead, kCreate, kReplace };
  // Opens the register `path`. An entry that fails its checksum, which a power cut may leave, is dropped with a
  // warning. Errors: NotFound; DataLoss if it is not a register; Unavailable; ResourceExhausted.
  static absl::StatusOr<std::unique_ptr<LogRegister>> Open(Volume* volume, const std::string& path, Access access);
  LogRegister(const LogRegister&) = delete;
  LogRegister& operator=(const LogRegister&) = delete;

  std::map<LogName, LogEntry> entries() const;
  // Volume::boot() when the database was last open; 0 if unknown.
  uint64_t boot() const;

  // Adds or removes an entry, durably. A file is added after it was made and before it holds anything. Its entry is
  // removed before the file is deleted. So a crash leaves a file without an entry, never an entry without a file.
  absl::Status Add(LogName name);
  absl::Status Remove(LogName name);

  // Notes how far a file is synced. The note survives a crash of the process at once, and a power cut some time later;
  // an older value is still true then.
  void SetSynced(LogName name, uint64_t synced);
  void Abandon(LogName name);

  // To be called when the files are known to be good. Lasts like SetSynced: a machine that was started again has
  // another boot in any case.
  absl::Status SetBoot(uint64_t boot);

 private:
  struct Slot {
    size_t index = 0;
    LogEntry entry;
  };

  LogRegister(std::string path, std::unique_ptr<VolumeFile> file) : path_(std::move(path)), file_(std::move(file)) {}
  absl::Status Load(std::string_view bytes) ABSL_LOCKS_EXCLUDED(mutex_);
  Slot& TakeSlot(LogName name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status WriteSlot(LogName name, const Slot& slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status WriteBytes(size_t index, std::string_view bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string path_;
  const std::unique_ptr<VolumeFile> file_;
  mutable absl::Mutex mutex_;
  std::map<LogName, Slot> slots_ ABSL_GUARDED_BY(mutex_);
  std::vector<size_t> free_ ABSL_GUARDED_BY(mutex_);  // indexes of free slots
  size_t slot_count_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_WAL_LOG_REGISTER_H_
