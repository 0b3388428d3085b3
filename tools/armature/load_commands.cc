#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/command.h"
#include "tools/armature/commands.h"
#include "tools/armature/load/file_load.h"
#include "tools/armature/load/load_state.h"
#include "tools/armature/table_calls.h"

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
  // Until all files are loaded, --resume must not load the finished ones again.
  for (const std::string& state : states) RemoveLoadState(state);
  PrintCounts(session, counts, absl::Now() - start);
  return absl::OkStatus();
}

constexpr char kLoadFooter[] =
    R"(The load replaces items that exist already. If several lines have the same key, any of them may be the last.
Formats: JSON lines, one item in its JSON form on each line, bare or as {"Item": {...}}, as in table exports;
CSV with the attribute names on the first line. In CSV an empty cell is no attribute, and key attributes have
the types of the table. Files packed by gzip are unpacked.

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

}  // namespace armature::cli
