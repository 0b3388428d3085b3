#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "armature/client/table_export.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/command.h"
#include "tools/armature/display.h"
#include "tools/armature/export/item_writer.h"
#include "tools/armature/export/manifest.h"
#include "tools/armature/export/record_sink.h"
#include "tools/armature/items/read_request.h"
#include "tools/armature/items/table_keys.h"
#include "tools/armature/plain_json.h"

namespace armature::cli {
namespace {

namespace fs = std::filesystem;

// Limits of the first items, whose attributes are the columns of CSV. They are held in memory until the columns are
// known.
constexpr size_t kSampleItems = 1000;
constexpr size_t kSampleBytes = 16 << 20;

constexpr int64_t kFileMbMax = 1 << 20;

constexpr int64_t kFileMbDefault = 256;
constexpr char kToOutput[] = "-";

struct ExportOptions {
  std::string table_name;
  std::string to;      // a directory, or kToOutput
  std::string format;  // empty: that of the target, see FormatOfExport
  std::vector<std::string> columns;
  std::string where;
  std::string select;
  bool gzip = false;
  std::optional<int64_t> file_mb;

  bool is_printed() const { return to == kToOutput; }
  // A scan reads them: the daemon has no export of some items.
  bool has_selection() const { return !where.empty() || !select.empty(); }
};

enum class RecordFormat { kPlain, kTyped, kCsv };

// Without --format, a directory has the lines that other tools write and read.
RecordFormat FormatOfExport(const ExportOptions& options) {
  if (options.format == "csv") return RecordFormat::kCsv;
  if (options.format.empty()) return options.is_printed() ? RecordFormat::kPlain : RecordFormat::kTyped;
  return options.format == "typed" ? RecordFormat::kTyped : RecordFormat::kPlain;
}

// Turns items into records. Not thread-safe.
class Exporter {
 public:
  // `keys`: the key attributes of the table. Lifetime: `sink` must outlive it.
  Exporter(RecordFormat format, std::vector<std::string> keys, std::vector<std::string> columns, RecordSink* sink)
      : format_(format), keys_(std::move(keys)), sink_(*sink) {
    if (format_ != RecordFormat::kCsv) return;
    is_sampling_ = columns.empty();
    csv_ = std::make_unique<CsvWriter>(keys_, columns);
    head_ = csv_->Head();
  }

  absl::Status Take(api::v1::Item item) {
    if (!is_sampling_) return Write(item);
    csv_->Learn(item);
    sample_bytes_ += item.ByteSizeLong();
    sample_.push_back(std::move(item));
    return sample_.size() < kSampleItems && sample_bytes_ < kSampleBytes ? absl::OkStatus() : WriteSample();
  }

  // To be called once, after the last item.
  absl::Status End() {
    ARM_RETURN_IF_ERROR(WriteSample());
    return sink_.End();
  }

  int64_t items() const { return items_; }
  std::vector<ExportedColumn> columns() const {
    return csv_ == nullptr ? std::vector<ExportedColumn>() : csv_->columns();
  }

 private:
  absl::Status WriteSample() {
    if (std::exchange(is_sampling_, false)) head_ = csv_->Head();
    for (const api::v1::Item& item : sample_) ARM_RETURN_IF_ERROR(Write(item));
    sample_.clear();
    return absl::OkStatus();
  }

  absl::Status Write(const api::v1::Item& item) {
    record_.clear();
    ++items_;
    switch (format_) {
      case RecordFormat::kPlain:
        record_ = Cat(PlainItem(item, keys_), "\n");
        break;
      case RecordFormat::kTyped:
        AppendJsonLine(item, &record_);
        break;
      case RecordFormat::kCsv:
        ARM_RETURN_IF_ERROR(csv_->Append(item, &record_));
        break;
    }
    return sink_.Add(record_, head_);
  }

  const RecordFormat format_;
  const std::vector<std::string> keys_;
  RecordSink& sink_;
  std::unique_ptr<CsvWriter> csv_;  // null: another format
  std::string head_;                // first line of each file
  bool is_sampling_ = false;
  std::vector<api::v1::Item> sample_;
  size_t sample_bytes_ = 0;
  std::string record_;
  int64_t items_ = 0;
};

// The progress of an export. A terminal that shows the records shows no bar between them. Not thread-safe.
class ExportBar {
 public:
  ExportBar(const Session& session, const ExportOptions& options)
      : what_(Cat(options.table_name, " items")),
        bar_(&session.progress(), session.is_progress_live() && !(options.is_printed() && session.writes_terminal())) {}

  void Show(int64_t done, int64_t expected, const std::string& note) {
    bar_.Show({.what = what_, .done = done, .total = expected > 0 ? std::max(expected, done) : 0, .note = note});
  }

 private:
  const std::string what_;
  ProgressBar bar_;
};

std::string WrittenText(int64_t bytes) { return Cat(ShowBytes(static_cast<uint64_t>(bytes)), " written"); }

std::vector<std::string> KeysOf(const api::v1::TableDescription& table) {
  std::vector<std::string> keys;
  for (const auto& element : table.key_schema()) keys.push_back(element.attribute_name());
  return keys;
}

// Exports all items of one moment. Fills in `manifest`, to which `sink` may add its files.
absl::StatusOr<int64_t> ExportMoment(const Session& session, const client::Client& client, const ExportOptions& options,
                                     RecordSink* sink, Manifest* manifest) {
  admin::v1::ExportTableRequest request;
  request.set_table_name(options.table_name);
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<client::TableExport> table, client.ExportTable(request));
  const admin::v1::ExportHead& head = table->head();
  manifest->table = DefinitionOf(head.table());
  manifest->change_sequence = head.change_sequence();
  manifest->time = absl::FromUnixMillis(head.export_time_ms());
  const int64_t expected = head.table().item_count();
  Exporter exporter(FormatOfExport(options), KeysOf(head.table()), options.columns, sink);
  ExportBar bar(session, options);
  admin::v1::ExportTableResponse page;
  while (true) {
    ARM_ASSIGN_OR_RETURN(const bool has_page, table->Next(&page));
    if (!has_page) break;
    for (api::v1::Item& item : *page.mutable_items()) ARM_RETURN_IF_ERROR(exporter.Take(std::move(item)));
    bar.Show(exporter.items(), expected, WrittenText(sink->bytes()));
  }
  ARM_RETURN_IF_ERROR(exporter.End());
  manifest->columns = exporter.columns();
  return exporter.items();
}

// Exports the items that meet --where, with the attributes of --select, by a scan.
absl::StatusOr<int64_t> ExportSelection(const Session& session, const client::Client& client,
                                        const ExportOptions& options, RecordSink* sink) {
  ReadRequest read{.where = options.where, .select = options.select};
  ARM_ASSIGN_OR_RETURN(read.target, ParseTarget(options.table_name));
  if (!read.target.index.empty()) return UsageError("an export is of a table, not of an index; scan reads indexes");
  ARM_ASSIGN_OR_RETURN(const TargetKeys keys, FindKeys(client, read.target));
  ARM_ASSIGN_OR_RETURN(api::v1::ScanRequest request, MakeScan(session, keys, read));
  ARM_ASSIGN_OR_RETURN(const std::vector<std::string> selected, SelectedAttributes(session, read));
  const std::vector<std::string> first = selected.empty() ? keys.Names() : selected;
  Exporter exporter(FormatOfExport(options), first, selected.empty() ? options.columns : selected, sink);
  ExportBar bar(session, options);
  auto pages = client.ScanPages(std::move(request));
  int64_t scanned = 0;
  while (true) {
    ARM_ASSIGN_OR_RETURN(auto page, pages.NextPage());
    if (!page.has_value()) break;
    scanned += page->scanned_count();
    for (api::v1::Item& item : *page->mutable_items()) ARM_RETURN_IF_ERROR(exporter.Take(std::move(item)));
    bar.Show(scanned, keys.item_count, Cat(WithCommas(exporter.items()), " found, ", WrittenText(sink->bytes())));
  }
  ARM_RETURN_IF_ERROR(exporter.End());
  return exporter.items();
}

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

absl::Status CheckExportOptions(const ExportOptions& options) {
  if (!options.columns.empty() && options.format != "csv") return UsageError("--columns belongs to --format csv");
  if (!options.columns.empty() && !options.select.empty()) {
    return UsageError("--columns and --select: one of them names the columns");
  }
  if (options.is_printed() && (options.gzip || options.file_mb.has_value())) {
    return UsageError("--gzip and --file-mb are about the files of a directory; --to - is one stream");
  }
  if (!options.is_printed() && options.has_selection()) {
    return UsageError(
        "an export into a directory has all items of one moment; --where and --select belong to --to -, whose output "
        "may be any file");
  }
  return absl::OkStatus();
}

absl::Status ExportToDirectory(const Session& session, const ExportOptions& options) {
  ARM_RETURN_IF_ERROR(MakeEmptyDirectory(options.to));
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  const absl::Time start = absl::Now();
  const bool is_csv = FormatOfExport(options) == RecordFormat::kCsv;
  Manifest manifest;
  if (is_csv) manifest.format = LoadFormat::kCsv;
  DataFiles files({.directory = options.to,
                   .suffix = is_csv ? "csv" : "jsonl",
                   .gzip = options.gzip,
                   .file_bytes_max = options.file_mb.value_or(kFileMbDefault) << 20},
                  &manifest);
  ARM_RETURN_IF_ERROR(ExportMoment(session, client, options, &files, &manifest).status());
  ARM_RETURN_IF_ERROR(WriteManifest(options.to, manifest));
  PrintExport(session, manifest, absl::Now() - start);
  return absl::OkStatus();
}

// The option --types with which `armature load` reads the columns. Empty: they need none.
std::string TypesForLoad(const std::vector<ExportedColumn>& columns, const api::v1::CreateTableRequest& table) {
  std::string types;
  for (const ExportedColumn& column : columns) {
    const auto& definitions = table.attribute_definitions();
    const bool is_known = std::any_of(definitions.begin(), definitions.end(), [&](const auto& definition) {
      return definition.attribute_name() == column.name;
    });
    if (column.type != "S" && !is_known) types += Cat(types.empty() ? "" : ",", column.name, "=", column.type);
  }
  return types;
}

absl::Status ExportToOutput(const Session& session, const ExportOptions& options) {
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  const absl::Time start = absl::Now();
  PrintedRecords records(session);
  Manifest manifest;
  const absl::StatusOr<int64_t> items = options.has_selection()
                                            ? ExportSelection(session, client, options, &records)
                                            : ExportMoment(session, client, options, &records, &manifest);
  ARM_RETURN_IF_ERROR(items.status());
  if (!session.is_progress_live()) return absl::OkStatus();
  const int64_t rate = PerSecond(*items, absl::Now() - start);
  session.progress() << WithCommas(*items) << (*items == 1 ? " item, " : " items, ")
                     << ShowBytes(static_cast<uint64_t>(records.bytes())) << ", " << WithCommas(rate) << " items/s\n";
  const std::string types = TypesForLoad(manifest.columns, manifest.table);
  if (!types.empty()) session.progress() << "armature load reads them with --types " << OneLine(types) << "\n";
  return absl::OkStatus();
}

absl::Status Export(const Session& session, const ExportOptions& options) {
  ARM_RETURN_IF_ERROR(CheckExportOptions(options));
  return options.is_printed() ? ExportToOutput(session, options) : ExportToDirectory(session, options);
}

constexpr char kExportFooter[] =
    R"(The export has the items of one moment, whatever is written meanwhile. manifest.json is written last; it has the
definition of the table and the size and SHA-256 of each file. A directory without it is not an export.

Formats: typed has {"Item": {...}} with typed JSON on each line, as table exports do; jsonl has an item in plain
JSON on each line. armature load reads both without options. CSV has the key attributes first; its other columns
are the attributes of the first 1,000 items, or --columns. Sets, lists, maps, BOOL and NULL are written as JSON.
Items that CSV cannot represent end the export with exit code 5: an attribute without a column, an attribute with
several types, an empty string.

--to - prints the records, and nothing else. With --where or --select a scan reads them, so that they are not of
one moment.

During the export the daemon keeps the old versions of overwritten items of all tables. It runs up to four
exports at a time, and ends an export that nobody reads for two minutes.

Examples:
  armature export --table-name Thread --to thread-2026-01-31 --gzip
  armature export --table-name Orders --to orders --format csv --columns total,paid
  armature export Orders --to - | gzip >orders.jsonl.gz
  armature export Orders --to - --format csv --where 'total > 100' --select id,total >large.csv
)";

}  // namespace

void AddExportCommand(CLI::App& app, Action* action) {
  CLI::App& command = *app.add_subcommand("export", "Write the items of a table into files");
  ExportOptions& options = SetAction(command, action, Export);
  command.add_option("--table-name", options.table_name, "The table")->required()->type_name("NAME");
  command.add_option("--to", options.to, "An empty or missing directory, or - for the standard output")
      ->required()
      ->type_name("DIR");
  command.add_option("--format", options.format, "Default: typed in a directory, jsonl on the standard output")
      ->check(CLI::IsMember({"jsonl", "typed", "csv"}));
  command.add_option("--columns", options.columns, "CSV: write only the key and these attributes")
      ->delimiter(',')
      ->type_name("NAME,...");
  command.add_option("--where", options.where, "With --to -: only items that meet this condition")
      ->type_name("CONDITION");
  command.add_option("--select", options.select, "With --to -: only these attributes")->type_name("PATH,...");
  command.add_flag("--gzip", options.gzip, "Compress the files");
  command.add_option("--file-mb", options.file_mb, "Begin a new file at about this size; default: 256")
      ->check(CLI::Range(int64_t{1}, kFileMbMax))
      ->type_name("MB");
  command.footer(kExportFooter);
}

}  // namespace armature::cli
