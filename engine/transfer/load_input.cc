#include "engine/transfer/load_input.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/transfer/transfer_jobs.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::engine {
namespace {

FileCompression ToFileCompression(model::TransferCompression compression) {
  switch (compression) {
    case model::TransferCompression::kGzip:
      return FileCompression::kGzip;
    case model::TransferCompression::kZstd:
      return FileCompression::kZstd;
    case model::TransferCompression::kNone:
      break;
  }
  return FileCompression::kNone;
}

}  // namespace

absl::Status LoadInput::Open(std::map<std::string, std::string, std::less<>> csv_types) {
  const model::TransferInput& input = *job_->record().input;
  absl::StatusOr<DirectoryPtr> bucket = FindBucket(job_->options().import_directory, input.place.bucket);
  if (absl::IsNotFound(bucket.status())) return NoSuchBucketFailure(input.place.bucket);
  ARM_RETURN_IF_ERROR(bucket.status());
  bucket_ = *std::move(bucket);
  options_.format = input.format == model::TransferFormat::kCsv ? ItemFileFormat::kCsv : ItemFileFormat::kJsonLines;
  options_.compression = ToFileCompression(input.compression);
  options_.csv_header = input.csv_header;
  if (!input.csv_delimiter.empty()) options_.csv_delimiter = input.csv_delimiter[0];
  options_.csv_types = std::move(csv_types);
  options_.is_stopped = [job = job_] { return job->is_stopped(); };
  ARM_ASSIGN_OR_RETURN(files_, ListInput(bucket_, input.place.prefix));
  model::TransferProgress& progress = job_->record().progress;
  int64_t bytes_total = 0;
  for (const InputFile& file : files_) bytes_total += file.size;
  // Files that a restarted job has not read yet have no other trace in its record.
  if (bytes_total < progress.bytes_total) {
    return JobFailure(kInputChanged, Cat("The input has changed since the job began: it has ", bytes_total,
                                         " bytes instead of ", progress.bytes_total));
  }
  const bool is_new = std::exchange(progress.bytes_total, bytes_total) == 0;
  if (is_new) ARM_RETURN_IF_ERROR(job_->Save());
  return GoTo(progress);
}

absl::Status LoadInput::GoTo(const model::TransferProgress& progress) {
  while (next_ < files_.size() && files_[next_].name < progress.file) bytes_before_ += files_[next_++].size;
  if (progress.offset == 0) return absl::OkStatus();
  if (next_ == files_.size() || files_[next_].name != progress.file) {
    return InputChangedFailure(progress.file, "it is gone");
  }
  ARM_RETURN_IF_ERROR(OpenNext());
  const absl::Status skipped = reader_->SkipTo({progress.offset, progress.line, progress.checksum});
  return absl::IsDataLoss(skipped) ? InputChangedFailure(progress.file, Sv(skipped.message())) : skipped;
}

absl::Status LoadInput::OpenNext() {
  const InputFile& next = files_[next_];
  ARM_ASSIGN_OR_RETURN(FileDescriptor file, OpenInput(bucket_, next));
  opened_ = FileDescriptor(fcntl(file.get(), F_DUPFD_CLOEXEC, 0));
  if (!opened_.is_open()) return UnavailableError(Cat("cannot read ", next.name, ": ", std::strerror(errno)));
  ItemFileSource source{std::move(file), Cat(bucket_->path, "/", next.name)};
  ARM_ASSIGN_OR_RETURN(reader_, job_->files().OpenReader(std::move(source), options_));
  return absl::OkStatus();
}

// The records are those of the file only if it is still what it was.
absl::Status LoadInput::EndFile() {
  const absl::Status unchanged = CheckInput(opened_, files_[next_]);
  reader_.reset();
  opened_ = FileDescriptor();
  bytes_before_ += files_[next_++].size;
  return unchanged;
}

absl::StatusOr<bool> LoadInput::Next(ItemFileRecord* record) {
  while (next_ < files_.size()) {
    file_ = files_[next_].name;
    absl::Status status = reader_ == nullptr ? OpenNext() : absl::OkStatus();
    if (status.ok()) {
      const absl::StatusOr<bool> read = reader_->Next(record);
      if (read.ok() && *read) return true;
      status = read.status();
    }
    if (!status.ok() && !absl::IsDataLoss(status)) return status;
    ARM_RETURN_IF_ERROR(EndFile());
    if (status.ok()) continue;
    *record = ItemFileRecord{.item = absl::InvalidArgumentError(status.message()), .text = "", .line = 0};
    return true;
  }
  return false;
}

void LoadInput::NotePlace(model::TransferProgress* progress) const {
  progress->bytes_read = bytes_before_;
  if (reader_ != nullptr) {
    const ItemFilePosition position = reader_->position();
    progress->file = files_[next_].name;
    progress->offset = position.offset;
    progress->line = position.line;
    progress->checksum = position.checksum;
    progress->bytes_read += reader_->bytes_read();
    return;
  }
  // The begin of the next file. Behind the last one, a name that follows its name.
  if (files_.empty()) return;
  progress->file = next_ < files_.size() ? files_[next_].name : files_.back().name + '\0';
  progress->offset = 0;
  progress->line = 0;
  progress->checksum = 0;
}

}  // namespace armature::engine
