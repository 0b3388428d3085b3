#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "armature/client/table_export.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/commands.h"
#include "tools/armature/export/item_writer.h"
#include "tools/armature/export/manifest.h"
#include "tools/armature/export/output_file.h"
#include "tools/armature/progress_bar.h"

namespace armature::cli {
namespace {

namespace fs = std::filesystem;

// Items that tell the columns of CSV. They are kept until the first of them is written, so their bytes are bounded too.
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

// The data files of an export, one after the other. Not thread-safe.
class DataFiles {
 public:
  // `manifest` gets a line for each.
  DataFiles(const ExportOptions& options, Manifest* manifest) : options_(options), manifest_(manifest) {}

  // `head` begins each file.
  absl::Status Add(const std::string& record, const std::string& head) {
    if (file_ == nullptr) ARM_RETURN_IF_ERROR(Begin(head));
    ARM_RETURN_IF_ERROR(file_->Write(record));
    ++items_;
    return file_->bytes() >= options_.file_mb << 20 ? End() : absl::OkStatus();
  }

  absl::Status End() {
    if (file_ == nullptr) return absl::OkStatus();
    ARM_ASSIGN_OR_RETURN(OutputFile::Finished finished, file_->Finish());
    file_ = nullptr;
    manifest_->files.push_back({name_, std::exchange(items_, 0), finished.bytes, std::move(finished.sha256)});
    return absl::OkStatus();
  }

  int64_t bytes() const { return manifest_->bytes() + (file_ == nullptr ? 0 : file_->bytes()); }

 private:
  absl::Status Begin(const std::string& head) {
    std::string number = Cat(manifest_->files.size() + 1);
    number.insert(0, number.size() < 5 ? 5 - number.size() : 0, '0');
    name_ = Cat("data-", number, ".", options_.format, options_.gzip ? ".gz" : "");
    ARM_ASSIGN_OR_RETURN(file_, OutputFile::Create(PathIn(options_.directory, name_),
                                                   options_.gzip ? Compression::kGzip : Compression::kNone));
    return file_->Write(head);
  }

  const ExportOptions& options_;
  Manifest* const manifest_;
  std::string name_;
  std::unique_ptr<OutputFile> file_;
  int64_t items_ = 0;  // in `file_`
};

// Not thread-safe.
class Exporter {
 public:
  Exporter(const Session& session, const ExportOptions& options)
      : options_(options), files_(options, &manifest_), bar_(&session.progress(), session.is_progress_live()) {}

  // Once. Answers what it has written.
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
    if (csv_ == nullptr) {
      AppendJsonLine(item, &record_);
      return files_.Add(record_, head_);
    }
    ARM_RETURN_IF_ERROR(csv_->Append(item, &record_));
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
  std::unique_ptr<CsvWriter> csv_;  // null: JSON lines
  std::string head_;                // of each file
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

void PrintResult(const Session& session, const Manifest& manifest, absl::Duration elapsed) {
  const double seconds = std::max(absl::ToDoubleSeconds(elapsed), 0.001);
  const auto rate = static_cast<int64_t>(static_cast<double>(manifest.items()) / seconds);
  if (session.format() == OutputFormat::kTable) {
    session.PrintText(Cat(WithCommas(manifest.items()), " items in ", manifest.files.size(), " files, ",
                          WithCommas(manifest.bytes()), " bytes, ", WithCommas(rate), " items/s\n"));
    return;
  }
  Json result = Json::object();
  result["Items"] = manifest.items();
  result["Files"] = manifest.files.size();
  result["Bytes"] = manifest.bytes();
  result["ItemsPerSecond"] = rate;
  result["ChangeSequence"] = manifest.change_sequence;
  session.Print(result);
}

absl::Status Export(const Session& session, const ExportOptions& options) {
  if (!options.columns.empty() && options.format != "csv") return UsageError("--columns belongs to --format csv");
  ARM_RETURN_IF_ERROR(MakeEmptyDirectory(options.directory));
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  const absl::Time start = absl::Now();
  ARM_ASSIGN_OR_RETURN(const Manifest manifest, Exporter(session, options).Run(client));
  PrintResult(session, manifest, absl::Now() - start);
  return absl::OkStatus();
}

constexpr char kExportFooter[] =
    R"(The items are those of one moment, whatever is written meanwhile. The last file written is manifest.json, with
the definition of the table and the size and SHA-256 of each file: a directory without it is no export.

JSON lines have {"Item": {...}} on each line, as table exports have it. CSV has the key attributes first; its
other columns are those of the first 1,000 items, or of --columns. Sets, lists, maps, BOOL and NULL stand there as
JSON. What CSV cannot tell ends the export with exit code 5: an attribute without a column, one of several types,
an empty string.

While it runs the daemon keeps old versions of what is overwritten, of all tables; it runs four exports at a time,
and ends one that nobody reads for two minutes.

Examples:
  armature export --table-name Thread --to thread-2026-01-31 --gzip
  armature export --table-name Orders --to orders --format csv --columns total,paid
)";

}  // namespace

void AddExportCommand(CLI::App& app, Action* action) {
  CLI::App& command = *app.add_subcommand("export", "Write the items of a table into files");
  const auto options = std::make_shared<ExportOptions>();
  command.add_option("--table-name", options->table_name, "The table")->required()->type_name("NAME");
  command.add_option("--to", options->directory, "A directory that is empty, or is not there")
      ->required()
      ->type_name("DIR");
  command.add_option("--format", options->format, "jsonl or csv")
      ->check(CLI::IsMember({"jsonl", "csv"}))
      ->capture_default_str();
  command.add_option("--columns", options->columns, "CSV: these attributes beside the key, and no others")
      ->delimiter(',')
      ->type_name("NAME,...");
  command.add_flag("--gzip", options->gzip, "Compress the files");
  command.add_option("--file-mb", options->file_mb, "Begin another file when one has about this size")
      ->check(CLI::Range(int64_t{1}, kFileMbMax))
      ->capture_default_str()
      ->type_name("MB");
  command.footer(kExportFooter);
  command.callback(
      [options, action] { *action = [options](const Session& session) { return Export(session, *options); }; });
}

}  // namespace armature::cli
