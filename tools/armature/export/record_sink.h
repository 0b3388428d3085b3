#ifndef ARMATURE_TOOLS_ARMATURE_EXPORT_RECORD_SINK_H_
#define ARMATURE_TOOLS_ARMATURE_EXPORT_RECORD_SINK_H_

// Where the records of an export go: into files, or to the standard output.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "storage/files/output_file.h"
#include "tools/armature/export/manifest.h"
#include "tools/armature/session.h"

namespace armature::cli {

// Not thread-safe.
class RecordSink {
 public:
  virtual ~RecordSink() = default;

  // Appends a record. Every file, and the standard output, begins with `head`. Errors: InputError.
  virtual absl::Status Add(const std::string& record, const std::string& head) = 0;
  // To be called once, after the last record. Errors: InputError.
  virtual absl::Status End() = 0;
  // Number of bytes so far.
  virtual int64_t bytes() const = 0;
};

// Writes the data files of an export, one after the other: data-00001.jsonl and so on.
class DataFiles final : public RecordSink {
 public:
  struct Options {
    std::string directory;
    std::string suffix;          // "jsonl"
    bool gzip = false;           // then the names end with .gz, too
    int64_t file_bytes_max = 0;  // a new file begins at about this size
  };

  // Each finished file is added to `manifest`. Lifetime: `manifest` must outlive it.
  DataFiles(Options options, Manifest* manifest) : options_(std::move(options)), manifest_(manifest) {}

  absl::Status Add(const std::string& record, const std::string& head) override;
  absl::Status End() override;
  int64_t bytes() const override { return manifest_->bytes() + (file_ == nullptr ? 0 : file_->bytes()); }

 private:
  absl::Status Begin(const std::string& head);

  const Options options_;
  Manifest* const manifest_;
  std::string name_;
  std::unique_ptr<files::OutputFile> file_;
  int64_t items_ = 0;  // number of items in `file_`
};

// Prints records.
class PrintedRecords final : public RecordSink {
 public:
  // Lifetime: `session` must outlive it.
  explicit PrintedRecords(const Session& session) : session_(session) {}

  absl::Status Add(const std::string& record, const std::string& head) override;
  absl::Status End() override;
  int64_t bytes() const override { return bytes_; }

 private:
  absl::Status Print(const std::string& text);

  const Session& session_;
  int64_t bytes_ = 0;
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_EXPORT_RECORD_SINK_H_
