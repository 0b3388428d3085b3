#ifndef ARMATURE_STORAGE_RADOS_STRIPED_FILE_H_
#define ARMATURE_STORAGE_RADOS_STRIPED_FILE_H_

// The content of a file in RADOS: objects of a fixed size, named ID.0, ID.1, ... Inside this component only. Format:
// docs/reference/format.md, "Files in RADOS".

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "storage/rados/file_totals.h"
#include "storage/rados/rados_session.h"

namespace armature::rados {

// When the objects of a file are made.
//
// kAhead: before the file needs them, each while the one before it begins to be filled, and the first two before the
// file has a name. A former owner can therefore never acknowledge a write into an object that it makes after its
// replacement: everything it may still write lies in objects that the new owner has taken over or removed. For files
// whose sync acknowledges something by itself: logs, manifests, small files. kWhenNeeded: by the first write. For files
// that count only once their name is written elsewhere: table files, and files that get their name when they are
// complete.
enum class StripesMade : uint8_t { kAhead, kWhenNeeded };

// One file's content. Bytes that were written are readable at once; they are in memory until they are sent, and durable
// on all replicas after Sync.
//
// Thread-safety: thread-safe. Errors: ResourceExhausted if the pool is full; DataLoss if an object is missing;
// Unavailable. After a failed write everything fails until Truncate has removed what is uncertain.
class StripedFile {
 public:
  // A file of `size` bytes, all of them in RADOS.
  StripedFile(std::shared_ptr<RadosSession> session, std::string id, uint64_t stripe_bytes, StripesMade made,
              uint64_t size);
  // Removes the objects if the file was unlinked.
  ~StripedFile();
  StripedFile(const StripedFile&) = delete;
  StripedFile& operator=(const StripedFile&) = delete;

  const std::string& id() const { return id_; }
  uint64_t Size() const;
  // True if its last name was removed: its objects go with its last reader.
  bool IsUnlinked() const;

  // Makes the objects of a file of kind kAhead that must exist before its next write. To be called for every new file.
  absl::Status Prepare();
  // Makes the objects that must exist before an existing file is noted as open. The file is of the kind `made` from now
  // on.
  absl::Status PrepareToChange(StripesMade made);
  // Takes the file over from its former owner: nothing that this one sends is applied afterwards. Finds the size, and
  // removes what lies behind the first gap. kLeft, for tests, leaves the former owner able to write. With a known size,
  // does nothing in a file that is ours already, and removes what lies behind that size. Errors: DataLoss if an object
  // is missing before others, or before the known size.
  enum class Former : uint8_t { kFenced, kLeft };
  enum class Known : uint8_t { kNothing, kSize };
  absl::Status TakeOver(Former former, Known known);
  // The objects are removed when nobody has the file open any more.
  void Unlink();

  absl::StatusOr<size_t> ReadAt(uint64_t offset, size_t size, char* to) const;
  absl::Status Append(std::string_view bytes);
  absl::Status WriteAt(uint64_t offset, std::string_view bytes);
  // Begins to send unless something is under way already, which bounds what the death of the process loses.
  absl::Status Flush();
  // Returns when all bytes written before are on all replicas. Several syncs may be under way.
  absl::Status Sync();
  absl::Status Truncate(uint64_t size);

 private:
  struct Piece;

  std::string NameOf(uint64_t stripe) const;
  absl::Status CheckGood() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Notes that a write of the bytes from `offset` on was refused.
  void Fail(uint64_t offset, int result) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Marks an object as ours and finds its size. Returns 0, -ENOENT or another negative errno.
  int TakeStripe(uint64_t stripe, Former former, uint64_t* size);
  absl::Status PrepareLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // True if one of the next kLookedBehind objects exists behind a missing one.
  absl::StatusOr<bool> HasStripeBehind(uint64_t stripe);
  // Makes an object, which nothing is sent to before.
  void MakeStripe(uint64_t stripe) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SendPiece(uint64_t stripe, uint64_t offset, std::string_view bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SendTail() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SendPatches() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AddPatch(uint64_t offset, std::string_view bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Collects results of operations, oldest first, until at most `left` are under way.
  void Land(size_t left) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CutStripes(uint64_t size) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<size_t> ReadStored(uint64_t offset, size_t size, char* to) const;

  const std::shared_ptr<RadosSession> session_;
  const std::string id_;
  const uint64_t stripe_bytes_;

  mutable absl::Mutex mutex_;
  StripesMade made_when_ ABSL_GUARDED_BY(mutex_);
  PartOfTotal size_ ABSL_GUARDED_BY(mutex_);
  uint64_t sent_ ABSL_GUARDED_BY(mutex_);        // bytes before have been sent; tail_ holds the others
  PartOfTotal stripes_ ABSL_GUARDED_BY(mutex_);  // objects that exist
  std::string tail_ ABSL_GUARDED_BY(mutex_);
  std::map<uint64_t, std::string> patches_ ABSL_GUARDED_BY(mutex_);  // changed bytes before sent_, by offset
  size_t patched_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  struct Sent {
    std::shared_ptr<Flight> flight;
    uint64_t offset = 0;
  };
  std::deque<Sent> flights_ ABSL_GUARDED_BY(mutex_);
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  uint64_t first_failed_ ABSL_GUARDED_BY(mutex_) = 0;  // with failure_: bytes from here on may be missing
  bool is_ours_ ABSL_GUARDED_BY(mutex_) = false;       // its objects carry our epoch
  bool is_unlinked_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace armature::rados

#endif  // ARMATURE_STORAGE_RADOS_STRIPED_FILE_H_
