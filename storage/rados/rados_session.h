#ifndef ARMATURE_STORAGE_RADOS_RADOS_SESSION_H_
#define ARMATURE_STORAGE_RADOS_RADOS_SESSION_H_

// A connection to the namespace of a pool, and the operations on its objects. Inside this component only.

#include <rados/librados.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "storage/base/time_histogram.h"
#include "storage/rados/file_totals.h"
#include "storage/rados/rados_options.h"

namespace armature::rados {

// Changes of one object, which the cluster makes together or not at all.
//
// Thread-safety: thread-compatible.
class WriteOp {
 public:
  WriteOp() : op_(rados_create_write_op()) {}
  ~WriteOp() { rados_release_write_op(op_); }
  WriteOp(const WriteOp&) = delete;
  WriteOp& operator=(const WriteOp&) = delete;

  // Refuses all of it, with ECANCELED, unless the attribute has this value.
  void Require(const char* attribute, std::string_view value) {
    rados_write_op_cmpxattr(op_, attribute, LIBRADOS_CMPXATTR_OP_EQ, value.data(), value.size());
  }
  // Refuses all of it, with ECANCELED, if the attribute is a text behind `value`. An absent attribute is none.
  void RequireAtMost(const char* attribute, std::string_view value) {
    rados_write_op_cmpxattr(op_, attribute, LIBRADOS_CMPXATTR_OP_GTE, value.data(), value.size());
  }
  // Refuses all of it, with EEXIST, if the object exists.
  void CreateNew() { rados_write_op_create(op_, LIBRADOS_CREATE_EXCLUSIVE, nullptr); }
  void Create() { rados_write_op_create(op_, LIBRADOS_CREATE_IDEMPOTENT, nullptr); }
  void RequireExisting() { rados_write_op_assert_exists(op_); }
  void SetAttribute(const char* attribute, std::string_view value) {
    rados_write_op_setxattr(op_, attribute, value.data(), value.size());
  }
  void Write(uint64_t offset, std::string_view bytes) { rados_write_op_write(op_, bytes.data(), bytes.size(), offset); }
  void Truncate(uint64_t size) { rados_write_op_truncate(op_, size); }
  void Remove() { rados_write_op_remove(op_); }
  // Entries of the object's map.
  void SetEntry(const std::string& key, const std::string& value);
  void RemoveEntries(const std::vector<std::string>& keys);

  rados_write_op_t get() const { return op_; }

 private:
  const rados_write_op_t op_;
};

// An operation that was started.
//
// Thread-safety: thread-safe.
class Flight {
 public:
  Flight() { rados_aio_create_completion2(nullptr, nullptr, &completion_); }
  ~Flight() { rados_aio_release(completion_); }
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;

  bool has_landed() const { return rados_aio_is_complete(completion_) != 0; }
  // Waits for the end. Returns a negative errno, or the number of bytes read.
  int Wait() const {
    rados_aio_wait_for_complete(completion_);
    return rados_aio_get_return_value(completion_);
  }
  rados_completion_t get() const { return completion_; }

 private:
  rados_completion_t completion_ = nullptr;
};

// Results of operations are 0 or a positive number, or a negative errno as librados returns it.
//
// Thread-safety: thread-safe.
class RadosSession {
 public:
  // Errors: FailedPrecondition if the configuration, the pool or the user is missing or refused; Unavailable.
  static absl::StatusOr<std::shared_ptr<RadosSession>> Connect(const RadosVolumeOptions& options);
  // Waits for operations under way.
  ~RadosSession();
  RadosSession(const RadosSession&) = delete;
  RadosSession& operator=(const RadosSession&) = delete;

  const RadosVolumeOptions& options() const { return options_; }
  rados_t cluster() const { return cluster_; }
  rados_ioctx_t io() const { return io_; }
  // Address of this client, as the cluster blocks it.
  const std::string& address() const { return address_; }

  // Marks objects as written by this owner of the volume. 0 and empty: not the owner yet. Set before files
  // are written, once for each attempt to become the owner.
  uint64_t epoch() const { return epoch_; }
  const std::string& epoch_text() const { return epoch_text_; }
  void set_epoch(uint64_t epoch, std::string text) {
    epoch_ = epoch;
    epoch_text_ = std::move(text);
  }

  // Sums over the files of this session.
  FileTotals& totals() { return totals_; }
  // Durations of the syncs of logs.
  TimeHistogram& log_syncs() { return log_syncs_; }

  int Operate(const WriteOp& op, const std::string& object);
  // Bytes of `op` are copied; the flight may be dropped.
  int Start(const WriteOp& op, const std::string& object, const Flight& flight);
  int Stat(const std::string& object, uint64_t* size);
  // The wall clock of the process that changed the object last, in Unix seconds, at that moment.
  int ReadChangeTime(const std::string& object, int64_t* changed_s);
  int ReadAttribute(const std::string& object, const char* attribute, std::string* value);
  // An entry of an object's map; ENODATA if there is none.
  int ReadEntry(const std::string& object, const std::string& key, std::string* value);
  // All entries of an object's map, as they are after all changes that this session has begun before.
  int ReadEntries(const std::string& object, std::map<std::string, std::string>* entries);
  // Asks the monitors. `command` is their JSON. `answer` may be null.
  int Command(const std::string& command, std::string* answer);

  // True when the volume belongs to another process, or was given up. Nothing is written any more.
  bool is_lost() const { return is_lost_.load(std::memory_order_acquire); }
  // Errors: Unavailable if the volume is lost.
  absl::Status CheckOwned() const;
  void Lose(std::string_view reason);
  // Ends all writes without a call of on_lost, as the death of the process would.
  void Abandon();

  // The failure `result` of the action `what` on `path`. ResourceExhausted if the pool is full; Unavailable otherwise.
  // A refusal of this client by the cluster loses the volume.
  absl::Status Error(std::string_view what, std::string_view path, int result);
  // The failure `result` of an operation that requires this owner's epoch. ECANCELED, ENOENT and ENODATA mean that
  // another owner has taken or removed the object, and lose the volume.
  absl::Status GuardedError(std::string_view what, std::string_view path, int result);

 private:
  explicit RadosSession(const RadosVolumeOptions& options) : options_(options) {}
  absl::Status Open();
  absl::Status ReadConfiguration();
  absl::Status Connect();
  // The access by which a connection is tried: user, configuration file, monitors, keys.
  std::string Access() const;

  const RadosVolumeOptions options_;
  rados_t cluster_ = nullptr;
  rados_ioctx_t io_ = nullptr;
  std::string address_;
  uint64_t epoch_ = 0;
  std::string epoch_text_;
  FileTotals totals_;
  TimeHistogram log_syncs_;
  std::atomic<bool> is_lost_ = false;
  mutable absl::Mutex mutex_;
  std::string reason_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armature::rados

#endif  // ARMATURE_STORAGE_RADOS_RADOS_SESSION_H_
