#include "engine/transfer/import_job.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/backup/loaded_chunks.h"
#include "engine/items/row_mutation.h"
#include "engine/items/row_write.h"
#include "engine/parts.h"
#include "engine/transfer/load_input.h"
#include "engine/transfer/transfer_files.h"
#include "engine/transfer/transfer_jobs.h"
#include "glog/logging.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::engine {
namespace {

// Records committed together: enough to make the fsync cheap, few enough not to delay clients' writes.
constexpr size_t kImportChunkRecords = 500;
constexpr size_t kImportChunkBytes = size_t{1} << 20;
constexpr int64_t kLoggedMax = 20;  // failed records of a run
constexpr absl::Duration kImportPause = absl::Milliseconds(100);
constexpr absl::Duration kDeleteEvery = absl::Seconds(1);

bool IsThrottled(const absl::Status& status) {
  const std::optional<ApiError> error = GetApiError(status);
  return error.has_value() && error->type == ApiErrorType::kThrottling;
}

std::map<std::string, std::string, std::less<>> CsvTypesOf(const model::TableDescriptor& table) {
  std::map<std::string, std::string, std::less<>> types;
  for (const model::KeyAttribute& attribute : table.attribute_definitions) {
    types.emplace(attribute.name, model::ScalarTypeName(attribute.type));
  }
  return types;
}

class Importer {
 public:
  explicit Importer(TransferJob* job) : job_(job), parts_(job->parts()), record_(job->record()) {}

  absl::Status Run() {
    while (!parts_->database->tables().AwaitOpen(record_.table, kLoadPatience)) {
      if (job_->is_stopped()) return TransferJob::StoppedError();
    }
    ARM_RETURN_IF_ERROR(Pin());
    // The table was finished before a restart, and is in use; only the end of the job was not recorded.
    if (!pinned_.table->descriptor.is_being_imported()) return absl::OkStatus();
    ARM_RETURN_IF_ERROR(input_.Open(CsvTypesOf(pinned_.table->descriptor)));
    ItemFileRecord read;
    while (true) {
      if (job_->is_stopped()) return TransferJob::StoppedError();
      ARM_ASSIGN_OR_RETURN(const bool has_record, input_.Next(&read));
      if (!has_record) break;
      ARM_RETURN_IF_ERROR(Add(read));
      input_.NotePlace(&record_.progress);
      if (++chunk_records_ >= kImportChunkRecords || bytes_ >= kImportChunkBytes) ARM_RETURN_IF_ERROR(Flush());
    }
    ARM_RETURN_IF_ERROR(Flush());
    // The table is complete when its indexes are.
    ARM_RETURN_IF_ERROR(chunks_.AwaitAll(*pinned_.table));
    return parts_->database->tables().FinishRestore(record_.table);
  }

 private:
  absl::Status Pin() {
    pinned_.table = parts_->database->catalog()->Hold(record_.table);
    if (pinned_.table != nullptr) return absl::OkStatus();
    return JobFailure("TableNotFound", Cat("The table ", record_.table_name, " is gone"));
  }

  absl::Status Add(const ItemFileRecord& read) {
    const absl::Status added = read.item.ok() ? AddItem(*read.item) : read.item.status();
    ARM_RETURN_IF_ERROR(flushed_);
    if (!added.ok() && !absl::IsInvalidArgument(added)) return added;
    ++record_.progress.items;
    if (added.ok()) {
      ++record_.progress.written;
      return absl::OkStatus();
    }
    ++record_.progress.failed;
    LOG_IF(WARNING, logged_++ < kLoggedMax)
        << "transfer: a record is no item of the table arn=" << record_.arn << " file=" << input_.file()
        << " line=" << read.line << " status=" << added;
    return absl::OkStatus();
  }

  // Errors: InvalidArgument, as ValidationException is, for an item that the table cannot have; others end the job, as
  // do those in flushed_.
  absl::Status AddItem(const std::string& item) {
    WriteRequest request;
    request.table_name = record_.table_name;
    request.item_wire = item;
    auto row = std::make_unique<RowWrite>();
    ARM_ASSIGN_OR_RETURN(row->mutation, MakeMutation(WriteKind::kPut, std::move(request), LayerOf(WriteKind::kPut),
                                                     &parts_->parse_cache));
    row->pinned = pinned_;
    ARM_ASSIGN_OR_RETURN(row->key, row->mutation->EncodeKey(row->table()));
    ARM_RETURN_IF_ERROR(row->mutation->CheckSchema(row->table()));
    // The rows of a chunk are read before it is committed.
    if (keys_.contains(row->key)) {
      flushed_ = Flush();
      ARM_RETURN_IF_ERROR(flushed_);
      row->pinned = pinned_;
    }
    // No other request can write to the table.
    ARM_RETURN_IF_ERROR(ReadBefore(*parts_, store::ReadMode::kMayBlock, /*with_collection=*/false, row.get(),
                                   /*is_locked=*/false)
                            .status());
    ARM_RETURN_IF_ERROR(MakeEffect(row.get()));
    if (row->changes_nothing()) return absl::OkStatus();
    keys_.insert(row->key);
    bytes_ += row->key.size() + row->new_size();
    record_.progress.item_bytes += static_cast<int64_t>(row->new_size());
    rows_.push_back(std::move(row));
    return absl::OkStatus();
  }

  absl::StatusOr<ChangeSequence> Commit() {
    std::vector<store::WriteUnit> units;
    for (const std::unique_ptr<RowWrite>& row : rows_) units.push_back(BuildUnit(row.get()));
    parts_->database->transfers().AddTo(record_, &units.emplace_back(pinned_.table));
    return Await<absl::StatusOr<ChangeSequence>>(
        [&](auto then) { parts_->database->commits().CommitAll(std::move(units), std::move(then)); });
  }

  // Commits the chunk together with the place behind it. Errors end the job.
  absl::Status Flush() {
    if (chunk_records_ == 0) return absl::OkStatus();
    absl::StatusOr<ChangeSequence> committed = Commit();
    // The commit queue is full of clients' writes.
    while (IsThrottled(committed.status())) {
      if (job_->WaitFor(kImportPause)) return TransferJob::StoppedError();
      committed = Commit();
    }
    ARM_RETURN_IF_ERROR(committed.status());
    rows_.clear();
    keys_.clear();
    bytes_ = 0;
    chunk_records_ = 0;
    job_->Show();
    // Pins the table anew, because no one should hold an earlier state of it for long.
    ARM_RETURN_IF_ERROR(Pin());
    return chunks_.Add(*pinned_.table, *committed);
  }

  TransferJob* const job_;
  Parts* const parts_;
  model::TransferRecord& record_;
  LoadInput input_{job_};
  PinnedTable pinned_;
  LoadedChunks chunks_{parts_, [this] { return job_->is_stopped(); }};
  std::set<std::string> keys_;  // of the chunk
  std::vector<std::unique_ptr<RowWrite>> rows_;
  size_t chunk_records_ = 0;
  size_t bytes_ = 0;
  int64_t logged_ = 0;
  absl::Status flushed_;  // error of a Flush inside AddItem
};

// Deletes the table of a failed import. Retried until it succeeds: the table's rows may be what fills the disk.
absl::Status DeleteImported(TransferJob* job) {
  store::Database* const database = job->parts()->database;
  absl::Status deleted = database->tables().AbandonRestore(job->record().table);
  while (!deleted.ok()) {
    LOG_EVERY_N(ERROR, 60) << "transfer: cannot delete the table yet arn=" << job->record().arn
                           << " status=" << deleted;
    if (job->WaitFor(kDeleteEvery)) return TransferJob::StoppedError();
    deleted = database->tables().AbandonRestore(job->record().table);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RunImport(TransferJob* job) {
  const absl::Status imported = Importer(job).Run();
  if (!imported.ok()) {
    if (job->is_stopped()) return imported;
    ARM_RETURN_IF_ERROR(DeleteImported(job));
    return imported;
  }
  // The table stays, with the items that are good. Source: imports of the original service, captured in 2026.
  const model::TransferProgress& progress = job->record().progress;
  if (progress.failed == 0) return absl::OkStatus();
  return JobFailure("ItemValidationError",
                    Cat("Some of the items failed validation checks: ", progress.failed, " of ", progress.items,
                        " records. The first ones are in the log of the server"));
}

}  // namespace armature::engine
