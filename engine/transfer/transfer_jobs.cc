#include "engine/transfer/transfer_jobs.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "engine/parts.h"
#include "engine/transfer/bulk_put_job.h"
#include "engine/transfer/export_job.h"
#include "engine/transfer/import_job.h"
#include "engine/transfer/transfer_files.h"
#include "glog/logging.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/base/unix_time.h"
#include "storage/model/table_name.h"

namespace armature::engine {
namespace {

using model::TransferKind;
using model::TransferRecord;
using model::TransferState;

// Source: the API reference, ClientToken and ListExports.
constexpr absl::Duration kTokenLife = absl::Hours(8);
constexpr absl::Duration kEndedLife = absl::Hours(24 * 90);
constexpr size_t kEndedBytesMax = size_t{16} << 20;  // of the requests of ended jobs, which are in memory
constexpr int64_t kTransferPageDefault = 25;
constexpr int64_t kBulkPageDefault = 10;
constexpr absl::Duration kLook = absl::Milliseconds(50);
constexpr absl::Duration kSaveEvery = absl::Seconds(1);
constexpr size_t kFailureTextMax = 1000;

absl::Status TokenConflict(TransferKind kind, std::string_view token) {
  if (kind == TransferKind::kBulkPut) return IdempotentParameterMismatchError();
  if (kind == TransferKind::kExport) {
    return ExportConflictError("Export conflict: Duplicate request detected with conflicting parameters");
  }
  return ImportConflictError(Cat("The client token ", token, " belongs to a request with other parameters"));
}

// Position of a job in a list: exports by their ARN, others by their time, which begins their id.
std::string PlaceOf(TransferKind kind, std::string_view arn) {
  return kind == TransferKind::kExport ? std::string(arn) : Cat(TransferIdOf(arn), " ", arn);
}

absl::Status RunJob(TransferJob* job) {
  switch (job->record().kind) {
    case TransferKind::kExport:
      return RunExport(job);
    case TransferKind::kImport:
      return RunImport(job);
    case TransferKind::kBulkPut:
      break;
  }
  return RunBulkPut(job);
}

// False in a process without the directories of the job, or without the code for files: a tool, or a daemon that was
// started without the flags.
bool CanRun(const TransferOptions& options, const TransferRecord& record) {
  return options.files != nullptr && (!record.input.has_value() || !options.import_directory.empty()) &&
         (!record.output.has_value() || !options.export_directory.empty());
}

std::string_view NameOf(TransferKind kind) {
  constexpr std::string_view kNames[] = {"export", "import", "bulk put"};
  return kNames[static_cast<size_t>(kind) - 1];
}

}  // namespace

TransferJob::TransferJob(TransferJobs* jobs, std::shared_ptr<TransferJobs::Entry> entry)
    : jobs_(jobs), entry_(std::move(entry)) {
  const absl::MutexLock lock(&jobs_->mutex_);
  record_ = entry_->record;
}

const TransferOptions& TransferJob::options() const { return jobs_->parts_->options.transfer; }

bool TransferJob::is_stopped() const { return entry_->is_cancelled || jobs_->stopping_.is_stopped(); }

bool TransferJob::WaitFor(absl::Duration pause) const {
  const int64_t due_ns = MonotonicAfter(pause);
  while (!is_stopped()) {
    const absl::Duration left = absl::Nanoseconds(due_ns - MonotonicNs());
    if (left <= absl::ZeroDuration()) return false;
    jobs_->stopping_.WaitFor(std::min(left, kLook));
  }
  return true;
}

void TransferJobs::Start() {
  absl::StatusOr<std::vector<TransferRecord>> records = parts_->database->transfers().ReadAll();
  if (!records.ok()) {
    LOG(ERROR) << "transfer: the records cannot be read, no job goes on status=" << records.status();
    return;
  }
  std::vector<std::shared_ptr<Entry>> unfinished;
  {
    const absl::MutexLock lock(&mutex_);
    for (TransferRecord& record : *records) {
      auto entry = std::make_shared<Entry>();
      entry->is_cancelled = record.state == TransferState::kCancelling;
      entry->record = std::move(record);
      entries_[entry->record.arn] = entry;
      if (!entry->record.has_ended()) unfinished.push_back(entry);
    }
    stats_.unfinished = unfinished.size();
  }
  RemoveAbandonedTables();
  RemoveOld();
  std::sort(unfinished.begin(), unfinished.end(),
            [](const auto& a, const auto& b) { return TransferIdOf(a->record.arn) < TransferIdOf(b->record.arn); });
  for (const std::shared_ptr<Entry>& entry : unfinished) {
    if (!CanRun(parts_->options.transfer, entry->record)) {
      LOG(WARNING) << "transfer: a job waits for a start with its directories arn=" << entry->record.arn;
      continue;
    }
    LOG(INFO) << "transfer: going on with a job arn=" << entry->record.arn;
    pool_.RunAdmitted([this, entry] { Run(entry); });
  }
}

void TransferJobs::Stop() {
  stopping_.Stop();
  pool_.Stop();
}

// A crash may have left a table of an import whose record was not written.
void TransferJobs::RemoveAbandonedTables() {
  const std::shared_ptr<const store::CatalogSnapshot> catalog = parts_->database->catalog();
  for (const auto& [name, table] : catalog->tables()) {
    if (!table->descriptor.is_being_imported()) continue;
    const TableId id = table->descriptor.id;
    {
      const absl::MutexLock lock(&mutex_);
      const bool has_job = std::any_of(entries_.begin(), entries_.end(), [id](const auto& each) {
        return each.second->record.table == id && !each.second->record.has_ended();
      });
      if (has_job) continue;
    }
    LOG(WARNING) << "transfer: deleting a table whose import has not begun table=" << name;
    const absl::Status removed = parts_->database->tables().AbandonRestore(id);
    LOG_IF(ERROR, !removed.ok()) << "transfer: cannot delete the table table=" << name << " status=" << removed;
  }
}

absl::StatusOr<std::shared_ptr<TransferJobs::Entry>> TransferJobs::FindRepeated(const TransferRecord& record) const {
  if (record.client_token.empty()) return nullptr;
  const int64_t oldest_end_ms = UnixNowMs() - absl::ToInt64Milliseconds(kTokenLife);
  const absl::MutexLock lock(&mutex_);
  for (const auto& [arn, entry] : entries_) {
    const TransferRecord& other = entry->record;
    if (other.kind != record.kind || other.client_token != record.client_token) continue;
    if (other.has_ended() && other.end_time_ms < oldest_end_ms) continue;
    if (other.request != record.request) return TokenConflict(record.kind, record.client_token);
    return entry;
  }
  return nullptr;
}

absl::StatusOr<TransferRecord> TransferJobs::Begin(TransferRecord record,
                                                   absl::FunctionRef<absl::Status(TransferRecord*)> prepare) {
  const absl::MutexLock begin_lock(&begin_mutex_);
  ARM_ASSIGN_OR_RETURN(const std::shared_ptr<Entry> repeated, FindRepeated(record));
  if (repeated != nullptr) {
    const absl::MutexLock lock(&mutex_);
    return repeated->record;
  }
  if (stopping_.is_stopped()) return ServiceUnavailableError("The server is stopping");
  {
    const absl::MutexLock lock(&mutex_);
    if (stats_.unfinished >= kUnfinishedMax) {
      return LimitExceededError(
          Cat("At most ", kUnfinishedMax, " exports, imports and bulk operations can be in progress"));
    }
  }
  RemoveOld();
  ARM_RETURN_IF_ERROR(prepare(&record));
  absl::Status saved;
  {
    const absl::MutexLock write_lock(&write_mutex_);
    saved = parts_->database->transfers().Put(record);
  }
  if (!saved.ok()) {
    if (record.kind == TransferKind::kImport)
      static_cast<void>(parts_->database->tables().AbandonRestore(record.table));
    return saved;
  }
  auto entry = std::make_shared<Entry>();
  entry->record = record;
  Add(entry);
  LOG(INFO) << "transfer: started kind=" << NameOf(record.kind) << " arn=" << record.arn;
  return record;
}

void TransferJobs::Add(const std::shared_ptr<Entry>& entry) {
  {
    const absl::MutexLock lock(&mutex_);
    entries_[entry->record.arn] = entry;
    ++stats_.unfinished;
  }
  // Never refused: the number of unfinished jobs is limited.
  pool_.RunAdmitted([this, entry] { Run(entry); });
}

std::shared_ptr<TransferJobs::Entry> TransferJobs::FindEntry(std::string_view arn) const {
  const absl::MutexLock lock(&mutex_);
  const auto found = entries_.find(arn);
  return found == entries_.end() ? nullptr : found->second;
}

absl::StatusOr<TransferRecord> TransferJobs::Find(TransferKind kind, const std::string& arn) const {
  const std::shared_ptr<Entry> entry = FindEntry(arn);
  const absl::MutexLock lock(&mutex_);
  if (entry == nullptr || entry->record.kind != kind) return NoSuchTransferError(kind, arn);
  return entry->record;
}

TransferPage TransferJobs::List(const ListTransfersRequest& request) const {
  const bool is_export = request.kind == TransferKind::kExport;
  const std::string_view table = !request.table_arn.has_value() ? std::string_view()
                                 : is_export                    ? model::TableNamePart(*request.table_arn)
                                                                : model::LocalTableName(*request.table_arn);
  // Exports are listed with their table: none once it is deleted, also if another one has its name now. Imports made
  // theirs.
  std::optional<TableId> exported;
  if (request.table_arn.has_value() && request.kind == TransferKind::kExport) {
    const std::shared_ptr<const store::Table> found = parts_->database->catalog()->Hold(table);
    if (found == nullptr) return {};
    exported = found->descriptor.id;
  }
  std::string before;
  if (request.next_token.has_value()) before = PlaceOf(request.kind, ParsePageToken(*request.next_token).value_or(""));
  const int64_t normal = request.kind == TransferKind::kBulkPut ? kBulkPageDefault : kTransferPageDefault;
  const auto page_size = static_cast<size_t>(request.max.value_or(normal));
  TransferPage page;
  const absl::MutexLock lock(&mutex_);
  std::map<std::string, const TransferRecord*, std::greater<>> found;
  for (const auto& [arn, entry] : entries_) {
    if (entry->record.kind != request.kind) continue;
    if (request.table_arn.has_value() && entry->record.table_name != table) continue;
    if (exported.has_value() && entry->record.table != *exported) continue;
    std::string place = PlaceOf(request.kind, arn);
    if (!before.empty() && place >= before) continue;
    found.emplace(std::move(place), &entry->record);
  }
  for (const auto& [place, record] : found) {
    if (page.records.size() == page_size) {
      page.next_token = MakePageToken(page.records.back().arn);
      break;
    }
    page.records.push_back(*record);
  }
  return page;
}

absl::StatusOr<TransferRecord> TransferJobs::Cancel(const std::string& arn) {
  const absl::MutexLock write_lock(&write_mutex_);
  ARM_ASSIGN_OR_RETURN(TransferRecord record, Find(TransferKind::kBulkPut, arn));
  if (record.has_ended()) return record;
  record.state = TransferState::kCancelling;
  ARM_RETURN_IF_ERROR(parts_->database->transfers().Put(record));
  const std::shared_ptr<Entry> entry = FindEntry(arn);
  const absl::MutexLock lock(&mutex_);
  entry->record.state = TransferState::kCancelling;
  entry->is_cancelled = true;
  return record;
}

TransferStats TransferJobs::stats() const {
  const absl::MutexLock lock(&mutex_);
  return stats_;
}

absl::Status TransferJobs::Save(Entry* entry, TransferRecord* record) {
  const absl::MutexLock write_lock(&write_mutex_);
  if (!record->has_ended()) {
    const absl::MutexLock lock(&mutex_);
    record->state = entry->record.state;  // a client may have cancelled it
  }
  ARM_RETURN_IF_ERROR(parts_->database->transfers().Put(*record));
  const absl::MutexLock lock(&mutex_);
  entry->record = *record;
  return absl::OkStatus();
}

void TransferJobs::Show(Entry* entry, TransferRecord* record) {
  const absl::MutexLock lock(&mutex_);
  record->state = entry->record.state;
  entry->record = *record;
}

void TransferJobs::Run(const std::shared_ptr<Entry>& entry) {
  if (stopping_.is_stopped()) return;
  TransferJob job(this, entry);
  const absl::Status result = job.is_stopped() ? TransferJob::StoppedError() : RunJob(&job);
  // An interrupted job goes on at the next start.
  if (stopping_.is_stopped() && !result.ok()) return;
  End(&job, result);
}

void TransferJobs::End(TransferJob* job, const absl::Status& result) {
  TransferRecord& record = job->record();
  record.end_time_ms = UnixNowMs();
  if (result.ok()) {
    const bool has_errors = record.kind == TransferKind::kBulkPut && record.progress.failed > 0;
    record.state = has_errors ? TransferState::kCompletedWithErrors : TransferState::kCompleted;
  } else if (job->entry_->is_cancelled && absl::IsCancelled(result)) {
    record.state = TransferState::kCancelled;
    record.failure_code = "Cancelled";
    record.failure_message = "The bulk operation was cancelled";
  } else {
    record.state = TransferState::kFailed;
    record.failure_code = JobFailureCode(result);
    record.failure_message = model::Shown(Sv(result.message()), kFailureTextMax);
  }
  LOG(INFO) << "transfer: ended arn=" << record.arn << " items=" << record.progress.items
            << " failed=" << record.progress.failed << " status=" << result;
  absl::Status saved = Save(job->entry_.get(), &record);
  while (!saved.ok()) {
    LOG_EVERY_N(ERROR, 60) << "transfer: cannot record the end of a job yet arn=" << record.arn << " status=" << saved;
    if (stopping_.WaitFor(kSaveEvery)) return;
    saved = Save(job->entry_.get(), &record);
  }
  const absl::MutexLock lock(&mutex_);
  --stats_.unfinished;
  ++(record.state == TransferState::kFailed ? stats_.failed_total : stats_.done_total);
}

void TransferJobs::RemoveOld() {
  std::vector<std::string> removed;
  {
    const absl::MutexLock lock(&mutex_);
    std::vector<const TransferRecord*> ended;
    for (const auto& [arn, entry] : entries_) {
      if (entry->record.has_ended()) ended.push_back(&entry->record);
    }
    std::sort(ended.begin(), ended.end(),
              [](const TransferRecord* a, const TransferRecord* b) { return a->end_time_ms > b->end_time_ms; });
    const int64_t oldest_ms = UnixNowMs() - absl::ToInt64Milliseconds(kEndedLife);
    size_t bytes = 0;
    for (size_t i = 0; i < ended.size(); ++i) {
      bytes += ended[i]->request.size();
      if (i >= kEndedMax || bytes > kEndedBytesMax || ended[i]->end_time_ms < oldest_ms)
        removed.push_back(ended[i]->arn);
    }
    for (const std::string& arn : removed) entries_.erase(arn);
  }
  const absl::Status status = parts_->database->transfers().Remove(removed);
  LOG_IF(ERROR, !status.ok()) << "transfer: cannot remove old records status=" << status;
}

}  // namespace armature::engine
