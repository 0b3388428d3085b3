#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "armature/client/table_export.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/files/output_file.h"
#include "tools/armature/command.h"
#include "tools/armature/display.h"
#include "tools/armature/export/item_writer.h"
#include "tools/armature/export/manifest.h"

namespace armature::cli {
namespace {

namespace fs = std::filesystem;
using files::Compression;
using files::OutputFile;

// Limits of the first items, whose attributes are the columns of CSV. They are held in memory until the columns are
// known.
constexpr size_t kSampleItems = 1000;
constexpr size_t kSampleBytes = 16 << 20;

constexpr int64_t kFileMbMax = 1 << 20;

struct ExportOptions {
  std::string table_name;
  std::string directory;
  std::string format = "jsonl";
  std::vector<std::string> columns;
  bool gzip = false;
  int64_t file_mb = 256;
};

// Writes the data files of an export, one after the other. Not thread-safe.
class DataFiles {
 public:
  // Each finished file is added to `manifest`.
  DataFiles(const ExportOptions& options, Manifest* manifest) : options_(options), manifest_(manifest) {}

  // Appends a record. A new file begins with `head`.
  absl::Status Add(const std::string& record, const std::string& head) {
    if (file_ == nullptr) ARM_RETURN_IF_ERROR(Begin(head));
    ARM_RETURN_IF_ERROR(AsInputError(file_->Write(record)));
    ++items_;
    return file_->bytes() >= options_.file_mb << 20 ? End() : absl::OkStatus();
  }

  absl::Status End() {
    if (file_ == nullptr) return absl::OkStatus();
    absl::StatusOr<OutputFile::Finished> finished = file_->Finish();
    if (!finished.ok()) return AsInputError(finished.status());
    file_ = nullptr;
    manifest_->files.push_back({name_, std::exchange(items_, 0), finished->bytes, std::move(finished->sha256)});
    return absl::OkStatus();
  }

  int64_t bytes() const { return manifest_->bytes() + (file_ == nullptr ? 0 : file_->bytes()); }

 private:
  absl::Status Begin(const std::string& head) {
    name_ = absl::StrFormat("data-%05d.%s%s", manifest_->files.size() + 1, options_.format, options_.gzip ? ".gz" : "");
    absl::StatusOr<std::unique_ptr<OutputFile>> file =
        OutputFile::Create(PathIn(options_.directory, name_), options_.gzip ? Compression::kGzip : Compression::kNone);
    if (!file.ok()) return AsInputError(file.status());
    file_ = *std::move(file);
    return AsInputError(file_->Write(head));
  }

  const ExportOptions& options_;
  Manifest* const manifest_;
  std::string name_;
  std::unique_ptr<OutputFile> file_;
  int64_t items_ = 0;  // number of items in `file_`
};

// Writes the items of one table. Not thread-safe.
class Exporter {
 public:
  Exporter(const Session& session, const ExportOptions& options)
      : options_(options), files_(options, &manifest_), bar_(&session.progress(), session.is_progress_live()) {}

  // Returns the manifest of the export. Called once.
  absl::StatusOr<Manifest> Run(const client::Client& client) {
    admin::v1::ExportTableRequest request;
    request.set_table_name(options_.table_name);
    ARM_ASSIGN_OR_RETURN(const std::unique_ptr<client::TableExport> table, client.ExportTable(request));
    Begin(table->head());
    admin::v1::ExportTableResponse page;
    while (true) {
      ARM_ASSIGN_OR_RETURN(const bool has_page, table->Next(&page));
      if (!has_page) break;
      for (api::v1::Item& item : *page.mutable_items()) ARM_RETURN_IF_ERROR(Take(std::move(item)));
      ShowProgress();
    }
    ARM_RETURN_IF_ERROR(WriteSample());
    ARM_RETURN_IF_ERROR(files_.End());
    if (csv_ != nullptr) manifest_.columns = csv_->columns();
    ARM_RETURN_IF_ERROR(WriteManifest(options_.directory, manifest_));
    return manifest_;
  }

 private:
  void Begin(const admin::v1::ExportHead& head) {
    manifest_.table = DefinitionOf(head.table());
    manifest_.change_sequence = head.change_sequence();
    manifest_.time = absl::FromUnixMillis(head.export_time_ms());
    items_expected_ = head.table().item_count();
    if (options_.format != "csv") return;
    manifest_.format = LoadFormat::kCsv;
    std::vector<std::string> keys;
    for (const auto& element : head.table().key_schema()) keys.push_back(element.attribute_name());
    csv_ = std::make_unique<CsvWriter>(keys, options_.columns);
    is_sampling_ = options_.columns.empty();
    head_ = csv_->Head();
  }

  absl::Status Take(api::v1::Item item) {
    if (!is_sampling_) return Write(item);
    csv_->Learn(item);
    sample_bytes_ += item.ByteSizeLong();
    sample_.push_back(std::move(item));
    return sample_.size() < kSampleItems && sample_bytes_ < kSampleBytes ? absl::OkStatus() : WriteSample();
  }

  absl::Status WriteSample() {
    if (std::exchange(is_sampling_, false)) head_ = csv_->Head();
    for (const api::v1::Item& item : sample_) ARM_RETURN_IF_ERROR(Write(item));
    sample_.clear();
    return absl::OkStatus();
  }

  absl::Status Write(const api::v1::Item& item) {
    record_.clear();
    ++items_;
    if (csv_ == nullptr) AppendJsonLine(item, &record_);
    if (csv_ != nullptr) ARM_RETURN_IF_ERROR(csv_->Append(item, &record_));
    return files_.Add(record_, head_);
  }

  void ShowProgress() {
    bar_.Show({.what = Cat(options_.table_name, " items"),
               .done = items_,
               .total = items_expected_ > 0 ? std::max(items_expected_, items_) : 0,
               .note = Cat(WithCommas(files_.bytes() >> 20), " MB written")});
  }

  const ExportOptions& options_;
  Manifest manifest_;
  DataFiles files_;
  ProgressBar bar_;
  std::unique_ptr<CsvWriter> csv_;  // null: the format is JSON lines
  std::string head_;                // first line of each file
  bool is_sampling_ = false;
  std::vector<api::v1::Item> sample_;
  size_t sample_bytes_ = 0;
  std::string record_;
  int64_t items_ = 0;
  int64_t items_expected_ = 0;
};

absl::Status MakeEmptyDirectory(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  const bool is_empty = !error && fs::is_empty(path, error);
  if (error) return InputError(Cat("cannot make the directory ", path, ": ", error.message()));
  if (is_empty) return absl::OkStatus();
  return InputError(Cat(path, " is not empty: an export has a directory of its own"));
}

void PrintExport(const Session& session, const Manifest& manifest, absl::Duration elapsed) {
  const int64_t rate = PerSecond(manifest.items(), elapsed);
  session.Print({{"Items", manifest.items()},
                 {"Files", manifest.files.size()},
                 {"Bytes", manifest.bytes()},
                 {"ItemsPerSecond", rate},
                 {"ChangeSequence", manifest.change_sequence}},
                [&] {
                  return Cat(WithCommas(manifest.items()), " items in ", manifest.files.size(), " files, ",
                             WithCommas(manifest.bytes()), " bytes, ", WithCommas(rate), " items/s\n");
                });
}

absl::Status Export(const Session& session, const ExportOptions& options) {
  if (!options.columns.empty() && options.format != "csv") return UsageError("--columns belongs to --format csv");
  ARM_RETURN_IF_ERROR(MakeEmptyDirectory(options.directory));
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  const absl::Time start = absl::Now();
  ARM_ASSIGN_OR_RETURN(const Manifest manifest, Exporter(session, options).Run(client));
  PrintExport(session, manifest, absl::Now() - start);
  return absl::OkStatus();
}

constexpr char kExportFooter[] =
    R"(The export has the items of one moment, whatever is written meanwhile. manifest.json is written last; it has the
definition of the table and the size and SHA-256 of each file. A directory without it is not an export.

JSON lines have {"Item": {...}} on each line, as table exports do. CSV has the key attributes first; its other
columns are the attributes of the first 1,000 items, or --columns. Sets, lists, maps, BOOL and NULL are written
as JSON. Items that CSV cannot represent end the export with exit code 5: an attribute without a column, an
attribute with several types, an empty string.

During the export the daemon keeps the old versions of overwritten items of all tables. It runs up to four
exports at a time, and ends an export that nobody reads for two minutes.

Examples:
  armature export --table-name Thread --to thread-2026-01-31 --gzip
  armature export --table-name Orders --to orders --format csv --columns total,paid
)";

}  // namespace

void AddExportCommand(CLI::App& app, Action* action) {
  CLI::App& command = *app.add_subcommand("export", "Write the items of a table into files");
  ExportOptions& options = SetAction(command, action, Export);
  command.add_option("--table-name", options.table_name, "The table")->required()->type_name("NAME");
  command.add_option("--to", options.directory, "An empty or missing directory")->required()->type_name("DIR");
  command.add_option("--format", options.format, "jsonl or csv")
      ->check(CLI::IsMember({"jsonl", "csv"}))
      ->capture_default_str();
  command.add_option("--columns", options.columns, "CSV: write only the key and these attributes")
      ->delimiter(',')
      ->type_name("NAME,...");
  command.add_flag("--gzip", options.gzip, "Compress the files");
  command.add_option("--file-mb", options.file_mb, "Begin a new file at about this size")
      ->check(CLI::Range(int64_t{1}, kFileMbMax))
      ->capture_default_str()
      ->type_name("MB");
  command.footer(kExportFooter);
}

}  // namespace armature::cli
