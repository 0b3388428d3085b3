#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "armature/client/errors.h"
#include "armature/client/wait.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/command.h"
#include "tools/armature/display.h"
#include "tools/armature/export/manifest.h"
#include "tools/armature/load/file_load.h"

namespace armature::cli {
namespace {

constexpr char kStandardInput[] = "-";

struct LoadOptions {
  std::string table_name;
  std::vector<std::string> paths;
  std::string format = "auto";
  std::string types;
  std::string state_path;  // empty: next to each file
  bool resume = false;
  int64_t skip_bad = 0;
};

// Sets the types of the key attributes to their types in the table, overriding other types.
void AddKeyTypes(const api::v1::TableDescription& table, CsvTypes* types) {
  for (const auto& definition : table.attribute_definitions()) {
    const auto type = definition.attribute_type();
    (*types)[definition.attribute_name()] = type == api::v1::SCALAR_ATTRIBUTE_TYPE_N   ? "N"
                                            : type == api::v1::SCALAR_ATTRIBUTE_TYPE_B ? "B"
                                                                                       : "S";
  }
}

// Ends a load. Until all files are loaded, --resume must not load the finished ones again.
void Conclude(const Session& session, const LoadCounts& counts, const std::vector<std::string>& states,
              absl::Duration elapsed) {
  for (const std::string& state : states) RemoveLoadState(state);
  const int64_t rate = PerSecond(counts.items, elapsed);
  session.Print({{"Items", counts.items}, {"Skipped", counts.bad}, {"ItemsPerSecond", rate}}, [&counts, rate] {
    return Cat(WithCommas(counts.items), " items loaded, ", WithCommas(counts.bad), " lines skipped, ",
               WithCommas(rate), " items/s\n");
  });
}

// The types of CSV attributes. Describes the table for all formats, so that a wrong table name is an error of its own
// and not one of each line.
absl::StatusOr<CsvTypes> TypesOf(const client::Client& client, const LoadOptions& options) {
  ARM_ASSIGN_OR_RETURN(CsvTypes types, ParseCsvTypes(options.types));
  ARM_ASSIGN_OR_RETURN(const api::v1::TableDescription table, DescribeTable(client, options.table_name));
  AddKeyTypes(table, &types);
  return types;
}

absl::Status CheckOptions(const LoadOptions& options) {
  if (options.paths.size() > 1 && !options.state_path.empty()) {
    return UsageError("--state names the state of one file; without it each file has its own");
  }
  const bool has_input = std::find(options.paths.begin(), options.paths.end(), kStandardInput) != options.paths.end();
  if (has_input && (options.resume || !options.state_path.empty())) {
    return UsageError("standard input cannot be resumed");
  }
  return absl::OkStatus();
}

LoadFormat FormatOf(const LoadOptions& options, const std::string& path) {
  if (options.format == "auto") return cli::FormatOf(path);
  return options.format == "csv" ? LoadFormat::kCsv : LoadFormat::kJsonLines;
}

std::string StateOf(const LoadOptions& options, const std::string& path) {
  if (path == kStandardInput) return "";
  return options.state_path.empty() ? StatePathOf(path) : options.state_path;
}

absl::Status Load(const Session& session, const LoadOptions& options) {
  ARM_RETURN_IF_ERROR(CheckOptions(options));
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_ASSIGN_OR_RETURN(const CsvTypes types, TypesOf(client, options));
  const absl::Time start = absl::Now();
  LoadCounts counts;
  std::vector<std::string> states;
  for (const std::string& path : options.paths) {
    ProgressBar bar(&session.progress(), session.is_progress_live());
    const FileToLoad file{.table_name = options.table_name,
                          .path = path,
                          .format = FormatOf(options, path),
                          .types = types,
                          .state_path = StateOf(options, path),
                          .resume = options.resume,
                          .skip_bad = options.skip_bad};
    ARM_RETURN_IF_ERROR(FileLoad(session, client, file, {.bar = &bar, .what = path}, &counts).Run());
    if (!file.state_path.empty()) states.push_back(file.state_path);
  }
  Conclude(session, counts, states, absl::Now() - start);
  return absl::OkStatus();
}

constexpr char kLoadFooter[] =
    R"(The load replaces items that exist already. If several lines have the same key, any of them may be the last.
Formats: JSON lines, one item in typed or plain JSON on each line, bare or as {"Item": {...}}, as in table exports;
CSV with the attribute names on the first line. In CSV an empty cell is no attribute, and key attributes have
the types of the table. Files packed by gzip or zstd are unpacked.

A line that is not an item, or that the daemon refuses as an item of the table (also because of a full item
collection), stops the load unless --skip-bad allows it. Each such line is reported as FILE:LINE.

The position in a file is kept in FILE.load-state until all files are loaded, and written five times a second.
--resume continues there, after a kill too: no line is left out, and some lines after the position are put a
second time. The lines after the position may have been corrected meanwhile, the lines before it may not.

Exit code 5: a file cannot be read or has a line that is not an item, or its state cannot be read or written. The
table holds the items before that line. Exit code 1: the daemon refused an item, or the table.

Throttled puts are repeated. After --timeout seconds without any success the load stops.

Examples:
  armature load --table-name Thread threads.jsonl more.json.gz
  armature load --table-name Orders --types total=N,paid=BOOL --skip-bad 100 orders.csv
  armature load --table-name Orders --types total=N,paid=BOOL --resume orders.csv
  zcat export/*.gz | armature load --table-name Orders -
)";

struct ImportOptions {
  std::string directory;
  std::string table_name;       // empty: the name in the manifest
  std::string state_directory;  // empty: the directory of the export
  bool resume = false;
};

// Name, kind and type of each key attribute.
using Key = std::vector<std::tuple<std::string, int, int>>;

template <class Table>
Key KeyOf(const Table& table) {
  Key key;
  for (const api::v1::KeySchemaElement& element : table.key_schema()) {
    int type = 0;
    for (const api::v1::AttributeDefinition& definition : table.attribute_definitions()) {
      if (definition.attribute_name() == element.attribute_name()) type = definition.attribute_type();
    }
    key.emplace_back(element.attribute_name(), element.key_type(), type);
  }
  return key;
}

absl::Status CheckFiles(const Session& session, const std::string& directory, const Manifest& manifest) {
  ProgressBar bar(&session.progress(), session.is_progress_live());
  const int64_t all = manifest.bytes();
  int64_t before = 0;
  for (const ExportedFile& file : manifest.files) {
    ARM_RETURN_IF_ERROR(CheckFile(directory, file, [&bar, all, before](int64_t bytes) {
      bar.Show({.what = "check bytes", .done = before + bytes, .total = all});
    }));
    before += file.bytes;
  }
  return absl::OkStatus();
}

// The table with this definition. Creates it if it is missing and `may_create` is true.
absl::StatusOr<api::v1::TableDescription> FindTable(const Session& session, const client::Client& client,
                                                    const api::v1::CreateTableRequest& definition, bool may_create) {
  const absl::StatusOr<api::v1::TableDescription> described = DescribeTable(client, definition.table_name());
  if (may_create && client::ErrorName(described.status()) == "ResourceNotFoundException") {
    ARM_RETURN_IF_ERROR(client.CreateTable(definition).status());
  } else if (!described.ok()) {
    return described.status();
  } else if (KeyOf(*described) != KeyOf(definition)) {
    return InputError(Cat("the table ", definition.table_name(), " has another key than the exported one"));
  } else if (described->table_status() != api::v1::TABLE_STATUS_CREATING) {
    return described;
  }
  ARM_RETURN_IF_ERROR(client::WaitForTable(client, definition.table_name(), session.Deadline()));
  return DescribeTable(client, definition.table_name());
}

absl::Status LoadFiles(const Session& session, const client::Client& client, const ImportOptions& options,
                       const Manifest& manifest, const api::v1::TableDescription& table) {
  const absl::Time start = absl::Now();
  CsvTypes types;
  for (const ExportedColumn& column : manifest.columns) types[column.name] = column.type;
  AddKeyTypes(table, &types);
  const std::string& state_directory = options.state_directory.empty() ? options.directory : options.state_directory;
  LoadCounts counts;
  std::vector<std::string> states;
  {
    ProgressBar bar(&session.progress(), session.is_progress_live());
    LoadProgress progress{.bar = &bar, .what = table.table_name(), .bytes_before = 0, .bytes_all = manifest.bytes()};
    for (const ExportedFile& file : manifest.files) {
      const FileToLoad to_load{.table_name = table.table_name(),
                               .path = PathIn(options.directory, file.name),
                               .format = manifest.format,
                               .types = types,
                               .state_path = StatePathOf(PathIn(state_directory, file.name)),
                               .resume = options.resume};
      ARM_RETURN_IF_ERROR(FileLoad(session, client, to_load, progress, &counts).Run());
      states.push_back(to_load.state_path);
      progress.bytes_before += file.bytes;
    }
  }
  Conclude(session, counts, states, absl::Now() - start);
  return absl::OkStatus();
}

absl::Status Import(const Session& session, const ImportOptions& options) {
  ARM_ASSIGN_OR_RETURN(Manifest manifest, ReadManifest(options.directory));
  ARM_RETURN_IF_ERROR(CheckFiles(session, options.directory, manifest));
  if (!options.table_name.empty()) manifest.table.set_table_name(options.table_name);
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  // --resume needs the table of the interrupted import: a new table would not have the items loaded before.
  ARM_ASSIGN_OR_RETURN(const api::v1::TableDescription table,
                       FindTable(session, client, manifest.table, /*may_create=*/!options.resume));
  return LoadFiles(session, client, options, manifest, table);
}

constexpr char kImportFooter[] =
    R"(All files are checked against the manifest before anything is written. A missing table is created with its indexes.
An existing table must have the same key; it keeps its other items, and items with the same key are replaced.

The position in each file is kept next to it, or in --state, until all files are loaded. --resume continues there,
after a kill too.

Exit code 5: the directory is not an export, a file has changed, or the table has another key. Exit code 1: the
daemon refused.

Examples:
  armature import thread-2026-01-31
  armature import thread-2026-01-31 --table-name ThreadCopy
  armature import thread-2026-01-31 --table-name ThreadCopy --resume
)";

}  // namespace

void AddLoadCommand(CLI::App& app, Action* action) {
  CLI::App& load = *app.add_subcommand("load", "Put the items of files into a table");
  LoadOptions& options = SetAction(load, action, Load);
  load.add_option("--table-name", options.table_name, "The table")->required()->type_name("NAME");
  load.add_option("files", options.paths, "Files to load; - is standard input")->required()->type_name("FILE");
  load.add_option("--format", options.format, "jsonl or csv; auto decides by the file name")
      ->check(CLI::IsMember({"auto", "jsonl", "csv"}))
      ->capture_default_str();
  load.add_option("--types", options.types,
                  "Types of CSV attributes, such as age=N,tags=SS; other attributes are strings")
      ->type_name("NAME=TYPE,...");
  load.add_flag("--resume", options.resume, "Continue an interrupted load of the same files");
  load.add_option("--state", options.state_path, "File for the position in the loaded file")->type_name("FILE");
  load.add_option("--skip-bad", options.skip_bad, "Maximum number of bad or refused lines; each is reported")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->type_name("N");
  load.footer(kLoadFooter);
}

void AddImportCommand(CLI::App& app, Action* action) {
  CLI::App& command = *app.add_subcommand("import", "Put an export into a table");
  ImportOptions& options = SetAction(command, action, Import);
  command.add_option("directory", options.directory, "Directory that armature export wrote")
      ->required()
      ->type_name("DIR");
  command
      .add_option("--table-name", options.table_name, "Import into this table; default: the name of the exported table")
      ->type_name("NAME");
  command.add_flag("--resume", options.resume, "Continue an interrupted import");
  command.add_option("--state", options.state_directory, "Directory for the positions in the files")
      ->check(CLI::ExistingDirectory)
      ->type_name("DIR");
  command.footer(kImportFooter);
}

}  // namespace armature::cli
