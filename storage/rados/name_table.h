#ifndef ARMATURE_STORAGE_RADOS_NAME_TABLE_H_
#define ARMATURE_STORAGE_RADOS_NAME_TABLE_H_

// Names of files and directories of a volume in RADOS: the map of one object. Inside this component only. Format:
// docs/reference/format.md, "Files in RADOS".
//
//   entry := "directory"
//          | "file " id " " size " " time          key: the path. size: decimal, or "open"; time: Unix seconds
//   id := "file." epoch "." number                 epoch decimal, number hexadecimal

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "storage/rados/rados_session.h"
#include "storage/rados/striped_file.h"
#include "storage/store/files/volume.h"

namespace armature::rados {

// A file: its content, its names, and who has it open. The fields are guarded by the table's mutex.
struct RadosNode {
  std::shared_ptr<StripedFile> file;
  uint64_t changed_s = 0;  // Unix time at which it was made
  std::set<std::string> names;
  int writers = 0;
  bool is_open = false;  // as the cluster knows it: its size there is that of its objects
  size_t shared_locks = 0;
  bool is_locked_alone = false;
};
using RadosNodePtr = std::shared_ptr<RadosNode>;

// All names, in memory and in the cluster. Every change is one operation that requires the owner's epoch, is durable
// when the call returns, and is then made in memory.
//
// Thread-safety: thread-safe. Errors: as Volume's, and AlreadyExists.
class NameTable {
 public:
  // Reads the names of a volume that `session` owns, and takes over files that its former owner may have open.
  static absl::StatusOr<std::unique_ptr<NameTable>> Load(std::shared_ptr<RadosSession> session, uint64_t stripe_bytes);

  static std::string Normal(std::string_view path);

  absl::StatusOr<RadosNodePtr> Find(const std::string& path);
  // Makes a file, in place of one of that name, which has a writer: see EndWriter.
  absl::StatusOr<RadosNodePtr> Create(const std::string& path);
  // Replaces a file by a complete one.
  absl::Status Replace(const std::string& path, std::string_view content);
  // Lets an existing file be written.
  absl::StatusOr<RadosNodePtr> OpenToChange(const std::string& path);
  // False if the file is complete: its size does not change.
  bool IsOpen(const RadosNodePtr& node) const;
  // Ends one writer of the file. After the last one the file is synced, and its size is noted.
  absl::Status EndWriter(const RadosNodePtr& node);

  absl::StatusOr<bool> Exists(const std::string& path);
  // True for a directory. Errors: NotFound.
  absl::StatusOr<bool> IsDirectory(const std::string& path);
  absl::StatusOr<std::vector<std::string>> List(const std::string& path);
  absl::Status MakeDirectory(const std::string& path);
  absl::StatusOr<bool> Remove(const std::string& path);
  absl::Status RemoveTree(const std::string& path);
  absl::Status Rename(const std::string& from, const std::string& to);
  absl::Status Link(const std::string& from, const std::string& to);
  absl::StatusOr<std::unique_ptr<store::VolumeLock>> Lock(const std::string& path, bool alone, bool make);
  // A number that no other call of any owner returns.
  std::string NewId();

  struct File {
    std::string id;
    std::vector<std::string> names;
    uint64_t size = 0;
    bool is_open = false;  // it may be written now, so that its size changes
  };
  // All files that have a name, by id.
  std::vector<File> Files() const;
  uint64_t stripe_bytes() const { return stripe_bytes_; }

 private:
  class HeldLock;
  // Null: a directory.
  using Names = std::map<std::string, RadosNodePtr, std::less<>>;

  NameTable(std::shared_ptr<RadosSession> session, uint64_t stripe_bytes)
      : session_(std::move(session)), stripe_bytes_(stripe_bytes) {}
  absl::Status Read() ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status TakeOverOpenFiles() ABSL_LOCKS_EXCLUDED(change_mutex_, mutex_);
  // Reads the names again after a change with an unknown outcome.
  absl::Status Settle() ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status SettleIfNeeded() ABSL_LOCKS_EXCLUDED(change_mutex_, mutex_);
  // Carries out a change of the object. `path` is for the message.
  absl::Status Apply(WriteOp* op, std::string_view path) ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  absl::Status CheckParent(const std::string& path) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckFileMayBe(const std::string& path) const ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<RadosNodePtr> FindFile(const std::string& path) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SetName(const std::string& path, RadosNodePtr node) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DropName(Names::iterator entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  RadosNodePtr NewNode(std::string id, StripesMade made, uint64_t size) const;
  // `replaced`: the file that had the name.
  absl::Status PutNew(const std::string& path, const RadosNodePtr& node, RadosNodePtr* replaced)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_) ABSL_LOCKS_EXCLUDED(mutex_);
  // Writes the node's entries, all of its names.
  absl::Status Note(const RadosNodePtr& node, bool is_open) ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_)
      ABSL_LOCKS_EXCLUDED(mutex_);

  const std::shared_ptr<RadosSession> session_;
  const uint64_t stripe_bytes_;
  std::atomic<uint64_t> last_number_ = 0;
  std::atomic<bool> is_uncertain_ = false;
  absl::Mutex change_mutex_ ABSL_ACQUIRED_BEFORE(mutex_);  // held for a change in the cluster
  mutable absl::Mutex mutex_;                              // held for moments only
  Names names_ ABSL_GUARDED_BY(mutex_) = {{"/", nullptr}};
};

// Reads a small file of a volume that another process may own. Errors: NotFound; FailedPrecondition if it is a
// directory; DataLoss if an object is missing; Unavailable, also while it is written.
absl::StatusOr<std::string> ReadFileOfOther(RadosSession* session, const std::string& path);

}  // namespace armature::rados

#endif  // ARMATURE_STORAGE_RADOS_NAME_TABLE_H_
