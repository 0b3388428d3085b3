#ifndef ARMATURE_ENGINE_TRANSFER_TRANSFER_JOBS_H_
#define ARMATURE_ENGINE_TRANSFER_TRANSFER_JOBS_H_

// Exports, imports and bulk operations: the jobs, one after another, and their records.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "engine/transfer/item_files.h"
#include "engine/transfer/transfer_requests.h"
#include "storage/base/monotonic_wait.h"
#include "storage/base/thread_pool.h"
#include "storage/model/transfer_record.h"

namespace armature::engine {

struct Parts;

struct TransferOptions {
  // Directories with a directory for each bucket; empty: none.
  std::string export_directory;  // exports, and the output of bulk operations
  std::string import_directory;  // imports, and the input of bulk operations
  std::shared_ptr<const ItemFiles> files;
};

struct TransferPage {
  std::vector<model::TransferRecord> records;
  std::optional<std::string> next_token;
};

struct TransferStats {
  size_t unfinished = 0;  // number of jobs that run or wait
  uint64_t done_total = 0;
  uint64_t failed_total = 0;
};

class TransferJob;

// One thread runs the jobs in the order in which they were started. A job that a stop or a crash interrupts goes on at
// the next start: an export from its beginning, the others from their last recorded position.
//
// Records of ended jobs are kept for 90 days, and at most kEndedMax of them.
//
// Thread-safety: thread-safe. Lifetime: a member of `parts`, used until Stop.
class TransferJobs {
 public:
  // Limit on jobs that run or wait.
  static constexpr size_t kUnfinishedMax = 50;
  static constexpr size_t kEndedMax = 1000;

  explicit TransferJobs(Parts* parts) : parts_(parts) {}
  ~TransferJobs() { Stop(); }
  TransferJobs(const TransferJobs&) = delete;
  TransferJobs& operator=(const TransferJobs&) = delete;

  // Reads the records and continues the jobs.
  void Start();
  // Interrupts the running job without waiting for it, and prevents others.
  void Interrupt() { stopping_.Stop(); }
  // Interrupts the running job. Returns when no thread of this object uses the parts any more.
  void Stop();

  // Starts a job without waiting for it. `prepare` completes the record and makes what the job needs; it runs if no
  // other request is repeated and there is room. A request with the token of a job of the same kind returns that job,
  // until 8 hours after its end. Blocks: it writes to disk.
  //
  // Errors: those of `prepare`; LimitExceededException; for a token of another request ExportConflictException,
  // ImportConflictException or IdempotentParameterMismatchException; ServiceUnavailable.
  absl::StatusOr<model::TransferRecord> Begin(model::TransferRecord record,
                                              absl::FunctionRef<absl::Status(model::TransferRecord*)> prepare);
  // Errors: the exception of the kind for a job that does not exist.
  absl::StatusOr<model::TransferRecord> Find(model::TransferKind kind, const std::string& arn) const;
  // The newest first; exports in descending order of their ARNs.
  TransferPage List(const ListTransfersRequest& request) const;
  // Asks a bulk operation to end. Has no effect on one that has ended. Blocks. Errors: as Find.
  absl::StatusOr<model::TransferRecord> Cancel(const std::string& arn);

  TransferStats stats() const;

 private:
  friend class TransferJob;

  struct Entry {
    model::TransferRecord record;
    std::atomic<bool> is_cancelled = false;
  };

  std::shared_ptr<Entry> FindEntry(std::string_view arn) const;
  absl::StatusOr<std::shared_ptr<Entry>> FindRepeated(const model::TransferRecord& record) const;
  void Add(const std::shared_ptr<Entry>& entry);
  void RemoveOld();
  void RemoveAbandonedTables();
  void Run(const std::shared_ptr<Entry>& entry);
  void End(TransferJob* job, const absl::Status& result);
  // Writes the job's record, with the state that the entry has, and shows it.
  absl::Status Save(Entry* entry, model::TransferRecord* record);
  void Show(Entry* entry, model::TransferRecord* record);

  Parts* const parts_;
  StopSignal stopping_;
  // Held while a job is started, and while records are written. Taken before mutex_.
  absl::Mutex begin_mutex_;
  absl::Mutex write_mutex_ ABSL_ACQUIRED_AFTER(begin_mutex_);
  mutable absl::Mutex mutex_ ABSL_ACQUIRED_AFTER(write_mutex_);
  std::map<std::string, std::shared_ptr<Entry>, std::less<>> entries_ ABSL_GUARDED_BY(mutex_);  // by ARN
  TransferStats stats_ ABSL_GUARDED_BY(mutex_);
  ThreadPool pool_{"arm-transfer", 1, kUnfinishedMax};
};

// The running job, as the code of its kind sees it. Used by the thread of TransferJobs only.
class TransferJob {
 public:
  TransferJob(TransferJobs* jobs, std::shared_ptr<TransferJobs::Entry> entry);

  Parts* parts() const { return jobs_->parts_; }
  const TransferOptions& options() const;
  const ItemFiles& files() const { return *options().files; }
  // The job's own copy of its record.
  model::TransferRecord& record() { return record_; }

  // True if the job should end soon: it is cancelled, or the server stops. It ends with StoppedError then.
  bool is_stopped() const;
  // Waits until is_stopped, at most `pause`. Returns is_stopped().
  bool WaitFor(absl::Duration pause) const;
  static absl::Status StoppedError() { return absl::CancelledError("the job is stopped"); }

  // Makes the record durable and shows it to clients. Errors: ServiceUnavailable.
  absl::Status Save() { return jobs_->Save(entry_.get(), &record_); }
  // Shows the record without making it durable.
  void Show() { jobs_->Show(entry_.get(), &record_); }

 private:
  friend class TransferJobs;
  TransferJobs* const jobs_;
  const std::shared_ptr<TransferJobs::Entry> entry_;
  model::TransferRecord record_;
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_TRANSFER_TRANSFER_JOBS_H_
