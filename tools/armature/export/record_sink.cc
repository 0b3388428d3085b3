#include "tools/armature/export/record_sink.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/display.h"

namespace armature::cli {

using files::Compression;
using files::OutputFile;

absl::Status DataFiles::Add(const std::string& record, const std::string& head) {
  if (file_ == nullptr) ARM_RETURN_IF_ERROR(Begin(head));
  ARM_RETURN_IF_ERROR(AsInputError(file_->Write(record)));
  ++items_;
  return file_->bytes() >= options_.file_bytes_max ? End() : absl::OkStatus();
}

absl::Status DataFiles::End() {
  if (file_ == nullptr) return absl::OkStatus();
  absl::StatusOr<OutputFile::Finished> finished = file_->Finish();
  if (!finished.ok()) return AsInputError(finished.status());
  file_ = nullptr;
  manifest_->files.push_back({name_, std::exchange(items_, 0), finished->bytes, std::move(finished->sha256)});
  return absl::OkStatus();
}

absl::Status DataFiles::Begin(const std::string& head) {
  name_ = absl::StrFormat("data-%05d.%s%s", manifest_->files.size() + 1, options_.suffix, options_.gzip ? ".gz" : "");
  absl::StatusOr<std::unique_ptr<OutputFile>> file =
      OutputFile::Create(PathIn(options_.directory, name_), options_.gzip ? Compression::kGzip : Compression::kNone);
  if (!file.ok()) return AsInputError(file.status());
  file_ = *std::move(file);
  return AsInputError(file_->Write(head));
}

absl::Status PrintedRecords::Add(const std::string& record, const std::string& head) {
  if (bytes_ == 0) ARM_RETURN_IF_ERROR(Print(head));
  return Print(record);
}

absl::Status PrintedRecords::End() {
  session_.Flush();
  return session_.CheckOutput();
}

absl::Status PrintedRecords::Print(const std::string& text) {
  bytes_ += static_cast<int64_t>(text.size());
  session_.PrintText(session_.writes_terminal() ? WithoutControls(text) : text);
  return session_.CheckOutput();
}

}  // namespace armature::cli
