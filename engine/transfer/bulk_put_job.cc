#include "engine/transfer/bulk_put_job.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/time/time.h"
#include "engine/items/row_mutation.h"
#include "engine/parts.h"
#include "engine/transfer/json_text.h"
#include "engine/transfer/load_input.h"
#include "engine/transfer/transfer_files.h"
#include "engine/transfer/transfer_jobs.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::engine {
namespace {

// Records that are put at the same time: enough to share an fsync, few enough not to delay clients' writes.
constexpr size_t kBatchRecords = 100;
constexpr size_t kBatchBytes = size_t{1} << 20;
constexpr absl::Duration kSaveInterval = absl::Seconds(1);
// A file of failed records is finished at the first place that is recorded after one of these.
constexpr absl::Duration kErrorFileAge = absl::Seconds(5);
constexpr int64_t kErrorFileBytes = int64_t{1} << 20;
constexpr absl::Duration kRetryFirst = absl::Milliseconds(20);
constexpr absl::Duration kRetryMax = absl::Seconds(1);

enum class Outcome { kWritten, kInvalid, kTryAgain, kNoTable, kFault };

Outcome OutcomeOf(const absl::Status& status) {
  if (status.ok()) return Outcome::kWritten;
  const std::optional<ApiError> error = GetApiError(status);
  if (!error.has_value()) return Outcome::kFault;
  switch (error->type) {
    case ApiErrorType::kThrottling:
    case ApiErrorType::kProvisionedThroughputExceeded:
    case ApiErrorType::kRequestLimitExceeded:
    case ApiErrorType::kServiceUnavailable:
    case ApiErrorType::kDeadlineExceeded:
    case ApiErrorType::kTransactionConflict:
      return Outcome::kTryAgain;
    case ApiErrorType::kResourceNotFound:
      return Outcome::kNoTable;
    case ApiErrorType::kDataLoss:
      return Outcome::kFault;
    default:
      return Outcome::kInvalid;
  }
}

struct PutRecord {
  ItemFileRecord read;
  std::string file;
  absl::StatusOr<WriteResult> result = absl::UnknownError("not put yet");
};

// The files of records that could not be written.
class ErrorFiles {
 public:
  explicit ErrorFiles(TransferJob* job) : job_(job) {}

  // Errors end the job: also if nothing fails, the bucket must exist.
  absl::Status Open() {
    const model::TransferPlace& place = *job_->record().output;
    const absl::StatusOr<DirectoryPtr> bucket = FindBucket(job_->options().export_directory, place.bucket);
    if (absl::IsNotFound(bucket.status())) return NoSuchBucketFailure(place.bucket);
    ARM_RETURN_IF_ERROR(bucket.status());
    bucket_ = *bucket;
    std::string_view prefix = place.prefix;
    if (prefix.ends_with('/')) prefix.remove_suffix(1);
    path_ = Cat(prefix, prefix.empty() ? "" : "/", "AWSDynamoDB/", TransferIdOf(job_->record().arn), "/errors");
    return absl::OkStatus();
  }

  absl::Status Add(const PutRecord& record, const absl::Status& reason) {
    if (!job_->record().writes_errors) return absl::OkStatus();
    if (writer_ == nullptr) {
      ARM_ASSIGN_OR_RETURN(directory_, MakeDirectories(bucket_, path_));
      const std::string name = absl::StrFormat("%06d.json", job_->record().progress.output_files + 1);
      ARM_ASSIGN_OR_RETURN(writer_, job_->files().CreateWriter(TargetIn(*directory_, name), ItemFileOptions()));
      due_ns_ = MonotonicAfter(kErrorFileAge);
    }
    JsonText line;
    line.Add("errorMessage", Sv(reason.message()));
    line.Add("inputFile", record.file);
    line.Add("line", record.read.line);
    line.Add("record", record.read.text);
    return writer_->AppendText(line.Take());
  }

  // True if the place behind the records may be recorded: all failed ones are in finished files.
  bool is_finished() const { return writer_ == nullptr; }
  bool is_due() const {
    return writer_ != nullptr && (writer_->bytes() >= kErrorFileBytes || MonotonicNs() >= due_ns_);
  }

  absl::Status Finish() {
    if (writer_ == nullptr) return absl::OkStatus();
    ARM_RETURN_IF_ERROR(writer_->Finish().status());
    writer_.reset();
    ++job_->record().progress.output_files;
    return absl::OkStatus();
  }

 private:
  TransferJob* const job_;
  DirectoryPtr bucket_;
  std::string path_;
  DirectoryPtr directory_;  // of the file that is being written
  std::unique_ptr<ItemFileWriter> writer_;
  int64_t due_ns_ = 0;
};

class BulkPutter {
 public:
  explicit BulkPutter(TransferJob* job) : job_(job), parts_(job->parts()), record_(job->record()) {}

  absl::Status Run() {
    ARM_RETURN_IF_ERROR(errors_.Open());
    ARM_RETURN_IF_ERROR(CheckTable());
    ARM_RETURN_IF_ERROR(input_.Open({}));
    // A mistyped prefix must not look as if its items were in the table.
    if (!input_.has_files()) {
      return JobFailure("S3NoSuchKey", Cat("No file begins with the prefix \"", record_.input->place.prefix, "\""));
    }
    ARM_RETURN_IF_ERROR(job_->Save());
    const absl::Status put = PutAll();
    // The place is recorded, however the job ends.
    const absl::Status recorded = RecordPlace();
    return put.ok() ? recorded : put;
  }

 private:
  absl::Status PutAll() {
    bool has_more = true;
    while (has_more) {
      if (job_->is_stopped()) return TransferJob::StoppedError();
      const int64_t begin_ns = MonotonicNs();
      ARM_ASSIGN_OR_RETURN(has_more, ReadBatch());
      ARM_RETURN_IF_ERROR(CheckTable());
      ARM_RETURN_IF_ERROR(PutBatch());
      ARM_RETURN_IF_ERROR(CountBatch());
      if (errors_.is_due() || (errors_.is_finished() && MonotonicNs() >= save_ns_)) {
        ARM_RETURN_IF_ERROR(RecordPlace());
      } else {
        job_->Show();
      }
      Pace(absl::Nanoseconds(MonotonicNs() - begin_ns));
    }
    return absl::OkStatus();
  }

  // A table that was created again under the name is another one.
  absl::Status CheckTable() const {
    const std::shared_ptr<const store::Table> table = parts_->database->catalog()->Hold(record_.table);
    const bool is_there = table != nullptr && table->descriptor.state != model::TableState::kDeleting;
    return is_there ? absl::OkStatus() : NoTable();
  }
  absl::Status NoTable() const {
    return JobFailure("ResourceNotFoundException", Cat("The table ", record_.table_name, " was deleted"));
  }

  absl::StatusOr<bool> ReadBatch() {
    batch_.clear();
    size_t bytes = 0;
    while (batch_.size() < kBatchRecords && bytes < kBatchBytes) {
      auto record = std::make_unique<PutRecord>();
      ARM_ASSIGN_OR_RETURN(const bool has_record, input_.Next(&record->read));
      if (!has_record) return false;
      record->file = input_.file();
      if (!record->read.item.ok()) record->result = record->read.item.status();
      bytes += record->read.text.size();
      batch_.push_back(std::move(record));
    }
    return true;
  }

  absl::Status PutBatch() {
    std::vector<PutRecord*> left;
    for (const std::unique_ptr<PutRecord>& each : batch_) {
      if (each->read.item.ok()) left.push_back(each.get());
    }
    for (absl::Duration pause = kRetryFirst; !left.empty(); pause = std::min(2 * pause, kRetryMax)) {
      ARM_RETURN_IF_ERROR(CheckTable());
      PutAtOnce(left);
      std::vector<PutRecord*> again;
      for (PutRecord* const each : left) {
        const Outcome outcome = OutcomeOf(each->result.status());
        if (outcome == Outcome::kNoTable) return NoTable();
        if (outcome == Outcome::kFault) return each->result.status();
        // Records behind a refused one are put again, too, since one of them may have its key.
        if (outcome == Outcome::kTryAgain || !again.empty()) again.push_back(each);
      }
      left = std::move(again);
      if (!left.empty() && job_->WaitFor(pause)) return TransferJob::StoppedError();
    }
    return absl::OkStatus();
  }

  // Puts of one key are made in the order of the records, because they queue for its row lock in this order.
  void PutAtOnce(const std::vector<PutRecord*>& records) {
    absl::BlockingCounter running(static_cast<int>(records.size()));
    for (PutRecord* const record : records) {
      WriteRequest request;
      request.table_name = record_.table_name;
      request.item_wire = *record->read.item;
      request.return_consumed_capacity = "TOTAL";
      request.message_bytes = request.item_wire->size();
      const auto done = [record, &running](absl::StatusOr<WriteResult> result) {
        record->result = std::move(result);
        running.DecrementCount();
      };
      absl::StatusOr<std::unique_ptr<const RowMutation>> mutation =
          MakeMutation(WriteKind::kPut, std::move(request), LayerOf(WriteKind::kPut), &parts_->parse_cache);
      if (!mutation.ok()) {
        done(mutation.status());
        continue;
      }
      RunMutation(parts_, {}, *std::move(mutation), done);
    }
    running.Wait();
  }

  absl::Status CountBatch() {
    units_ = 0;
    for (const std::unique_ptr<PutRecord>& each : batch_) {
      ++record_.progress.items;
      if (each->result.ok()) {
        ++record_.progress.written;
        units_ += each->result->capacity.has_value() ? each->result->capacity->total : 0;
        continue;
      }
      ++record_.progress.failed;
      ARM_RETURN_IF_ERROR(errors_.Add(*each, each->result.status()));
    }
    input_.NotePlace(&record_.progress);
    return absl::OkStatus();
  }

  absl::Status RecordPlace() {
    ARM_RETURN_IF_ERROR(errors_.Finish());
    save_ns_ = MonotonicAfter(kSaveInterval);
    return job_->Save();
  }

  // Waits until the units of the batch are within the rate.
  void Pace(absl::Duration taken) const {
    if (record_.write_units_max == 0) return;
    job_->WaitFor(absl::Seconds(units_ / static_cast<double>(record_.write_units_max)) - taken);
  }

  TransferJob* const job_;
  Parts* const parts_;
  model::TransferRecord& record_;
  LoadInput input_{job_};
  ErrorFiles errors_{job_};
  std::vector<std::unique_ptr<PutRecord>> batch_;
  double units_ = 0;  // of the batch
  int64_t save_ns_ = 0;
};

}  // namespace

absl::Status RunBulkPut(TransferJob* job) { return BulkPutter(job).Run(); }

}  // namespace armature::engine
