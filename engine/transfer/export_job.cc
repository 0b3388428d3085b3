#include "engine/transfer/export_job.h"

#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "engine/parts.h"
#include "engine/tables/table_description.h"
#include "engine/transfer/json_text.h"
#include "engine/transfer/transfer_files.h"
#include "engine/transfer/transfer_jobs.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/stored_item.h"
#include "storage/model/table_name.h"

namespace armature::engine {
namespace {

// Size of a data file, compressed, at which the next one begins.
constexpr int64_t kDataFileBytes = int64_t{256} << 20;
constexpr int64_t kShowEvery = 1000;  // items
// Source: exports of the original service.
constexpr std::string_view kManifestVersion = "2023-08-01";

std::string TimeText(int64_t time_ms) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::FromUnixMillis(time_ms), absl::UTCTimeZone());
}

struct DataFile {
  std::string key;  // below the bucket
  ItemFileWriter::Finished written;
};

class Exporter {
 public:
  explicit Exporter(TransferJob* job) : job_(job), parts_(job->parts()), record_(job->record()) {}

  absl::Status Run() {
    ARM_RETURN_IF_ERROR(OpenDirectory());
    ARM_RETURN_IF_ERROR(TakeSnapshot());
    ARM_RETURN_IF_ERROR(job_->Save());
    ARM_RETURN_IF_ERROR(job_->files().WriteTextFile(TargetIn(*directory_, "_started"), "").status());
    ARM_RETURN_IF_ERROR(WriteItems());
    snapshot_.reset();
    lease_.reset();
    return WriteManifest();
  }

 private:
  absl::Status OpenDirectory() {
    const model::TransferPlace& place = *record_.output;
    const absl::StatusOr<DirectoryPtr> bucket = FindBucket(job_->options().export_directory, place.bucket);
    if (absl::IsNotFound(bucket.status())) return NoSuchBucketFailure(place.bucket);
    ARM_RETURN_IF_ERROR(bucket.status());
    std::string_view prefix = place.prefix;
    if (prefix.ends_with('/')) prefix.remove_suffix(1);
    prefix_ = Cat(prefix, prefix.empty() ? "" : "/", "AWSDynamoDB/", TransferIdOf(record_.arn));
    ARM_ASSIGN_OR_RETURN(directory_, MakeDirectories(*bucket, prefix_));
    ARM_ASSIGN_OR_RETURN(data_, MakeDirectories(directory_, "data"));
    // Files of a run before a restart; first the one that says that the others are whole.
    ARM_RETURN_IF_ERROR(RemoveFile(*directory_, "manifest-summary.json"));
    return RemoveFiles(*data_);
  }

  absl::Status TakeSnapshot() {
    const absl::StatusOr<PinnedTable> pinned = FindTable(*parts_->database, record_.table_name);
    if (!pinned.ok() || pinned->table->descriptor.id != record_.table) {
      return JobFailure("TableNotFound", Cat("The table ", record_.table_name, " was deleted"));
    }
    lease_ = pinned->table->lease;
    snapshot_ = parts_->database->rows().TakeSnapshot(pinned->table->data);
    record_.data_time_ms = absl::ToUnixMillis(absl::Now());
    record_.progress = {};
    return absl::OkStatus();
  }

  absl::Status WriteItems() {
    absl::Status status;
    ARM_RETURN_IF_ERROR(snapshot_
                            ->ReadRange({"", ""},
                                        [&](std::string_view key, std::string_view value) {
                                          status = job_->is_stopped() ? TransferJob::StoppedError() : Add(key, value);
                                          return status.ok() ? store::RowVerdict::kContinue : store::RowVerdict::kStop;
                                        })
                            .status());
    ARM_RETURN_IF_ERROR(status);
    // An empty table has a data file, too.
    if (writer_ == nullptr && files_.empty()) ARM_RETURN_IF_ERROR(OpenDataFile());
    return FinishDataFile();
  }

  absl::Status Add(std::string_view key, std::string_view value) {
    const absl::StatusOr<codec::StoredItemView> stored = codec::ParseStoredItem(value);
    if (!stored.ok()) {
      return JobFailure("DataLoss",
                        Cat("row ", Sv(absl::BytesToHexString(Av(key))), ": ", Sv(stored.status().message())));
    }
    if (writer_ == nullptr) ARM_RETURN_IF_ERROR(OpenDataFile());
    ARM_RETURN_IF_ERROR(writer_->Append(stored->item.bytes()));
    ++record_.progress.items;
    record_.progress.item_bytes += static_cast<int64_t>(stored->api_size);
    if (record_.progress.items % kShowEvery == 0) job_->Show();
    return writer_->bytes() < kDataFileBytes ? absl::OkStatus() : FinishDataFile();
  }

  absl::Status OpenDataFile() {
    std::random_device random;
    std::string name = absl::StrFormat("%04d%08x%08x", files_.size(), random(), random());
    files_.push_back({Cat(prefix_, "/data/", name, ".json.gz"), {}});
    ItemFileOptions options;
    options.compression = FileCompression::kGzip;
    ARM_ASSIGN_OR_RETURN(writer_, job_->files().CreateWriter(TargetIn(*data_, Cat(name, ".json.gz")), options));
    return absl::OkStatus();
  }

  absl::Status FinishDataFile() {
    if (writer_ == nullptr) return absl::OkStatus();
    ARM_ASSIGN_OR_RETURN(files_.back().written, writer_->Finish());
    writer_.reset();
    record_.progress.output_files = static_cast<int64_t>(files_.size());
    return absl::OkStatus();
  }

  // Writes a file of the manifest, and its checksum beside it.
  absl::Status WriteWithChecksum(std::string_view name, std::string_view text) {
    ARM_ASSIGN_OR_RETURN(const ItemFileWriter::Finished written,
                         job_->files().WriteTextFile(TargetIn(*directory_, Cat(name, ".json")), text));
    return job_->files().WriteTextFile(TargetIn(*directory_, Cat(name, ".md5")), written.md5_base64).status();
  }

  absl::Status WriteManifest() {
    std::string list;
    for (const DataFile& file : files_) {
      std::string md5;
      absl::Base64Unescape(file.written.md5_base64, &md5);
      JsonText line;
      line.Add("itemCount", file.written.items);
      line.Add("md5Checksum", file.written.md5_base64);
      line.Add("etag", absl::BytesToHexString(md5));
      line.Add("dataFileS3Key", file.key);
      list += Cat(line.Take(), "\n");
    }
    ARM_RETURN_IF_ERROR(WriteWithChecksum("manifest-files", list));
    if (job_->is_stopped()) return TransferJob::StoppedError();
    const model::TransferPlace& place = *record_.output;
    JsonText summary;
    summary.Add("version", kManifestVersion);
    summary.Add("exportArn", record_.arn);
    summary.Add("startTime", TimeText(record_.start_time_ms));
    summary.Add("endTime", TimeText(absl::ToUnixMillis(absl::Now())));
    summary.Add("tableArn", model::TableArn(record_.table_name));
    summary.Add("tableId", record_.table_uuid);
    summary.Add("exportTime", TimeText(record_.data_time_ms));
    summary.Add("s3Bucket", place.bucket);
    summary.AddOrNull("s3Prefix", place.prefix);
    summary.AddOrNull("s3SseAlgorithm", "");
    summary.AddOrNull("s3SseKmsKeyId", "");
    summary.Add("manifestFilesS3Key", Cat(prefix_, "/manifest-files.json"));
    summary.Add("billedSizeBytes", record_.progress.item_bytes);
    summary.Add("itemCount", record_.progress.items);
    summary.Add("outputFormat", "DYNAMODB_JSON");
    summary.Add("exportType", "FULL_EXPORT");
    return WriteWithChecksum("manifest-summary", summary.Take());
  }

  TransferJob* const job_;
  Parts* const parts_;
  model::TransferRecord& record_;
  std::string prefix_;      // of this export, below the bucket
  DirectoryPtr directory_;  // the directory of this export
  DirectoryPtr data_;       // of the data files
  // The rows stay on disk even if the table is deleted. The snapshot is destroyed first.
  std::shared_ptr<const store::FamilyLease> lease_;
  std::unique_ptr<const store::KeyspaceSnapshot> snapshot_;
  std::vector<DataFile> files_;
  std::unique_ptr<ItemFileWriter> writer_;  // of the last one; null: finished
};

}  // namespace

absl::Status RunExport(TransferJob* job) { return Exporter(job).Run(); }

}  // namespace armature::engine
