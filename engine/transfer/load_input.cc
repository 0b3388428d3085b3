#include "engine/transfer/load_input.h"

#include <algorithm>
#include <utility>

#include "engine/transfer/transfer_jobs.h"
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

absl::Status InputChanged(std::string_view file, std::string_view reason) {
  return JobFailure("InputChanged", Cat("The file ", file, " has changed since the job began: ", reason));
}

}  // namespace

absl::Status LoadInput::Open(std::map<std::string, std::string, std::less<>> csv_types) {
  const model::TransferInput& input = *job_->record().input;
  absl::StatusOr<std::string> bucket = FindBucket(job_->options().import_directory, input.place.bucket);
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
  if (files_.empty()) {
    return JobFailure("S3NoSuchKey", Cat("No file begins with the prefix \"", input.place.prefix, "\""));
  }
  model::TransferProgress& progress = job_->record().progress;
  progress.bytes_total = 0;
  for (const InputFile& file : files_) progress.bytes_total += file.size;
  return GoTo(progress);
}

absl::Status LoadInput::GoTo(const model::TransferProgress& progress) {
  while (next_ < files_.size() && files_[next_].name < progress.file) bytes_before_ += files_[next_++].size;
  if (progress.offset == 0) return absl::OkStatus();
  if (next_ == files_.size() || files_[next_].name != progress.file) return InputChanged(progress.file, "it is gone");
  ARM_RETURN_IF_ERROR(OpenNext());
  const absl::Status skipped = reader_->SkipTo({progress.offset, progress.line, progress.checksum});
  return absl::IsDataLoss(skipped) ? InputChanged(progress.file, Sv(skipped.message())) : skipped;
}

absl::Status LoadInput::OpenNext() {
  ARM_ASSIGN_OR_RETURN(reader_, job_->files().OpenReader(Cat(bucket_, "/", files_[next_].name), options_));
  return absl::OkStatus();
}

void LoadInput::EndFile() {
  reader_.reset();
  bytes_before_ += files_[next_++].size;
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
    if (!status.ok() && !absl::IsDataLoss(status) && !absl::IsNotFound(status)) return status;
    EndFile();
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
  progress->file = next_ < files_.size() ? files_[next_].name : files_.back().name + '\0';
  progress->offset = 0;
  progress->line = 0;
  progress->checksum = 0;
}

}  // namespace armature::engine
