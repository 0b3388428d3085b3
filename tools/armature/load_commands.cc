#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/commands.h"
#include "tools/armature/load/file_load.h"
#include "tools/armature/load/load_state.h"

namespace armature::cli {
namespace {

constexpr char kStandardInput[] = "-";

struct LoadOptions {
  std::string table_name;
  std::vector<std::string> paths;
  std::string format = "auto";
  std::string types;
  std::string state_path;  // empty: beside each file
  bool resume = false;
  int64_t skip_bad = 0;
};

// Asked for all formats: what is wrong with the table's name would be told of each item, and taken for a fault of its
// line.
absl::StatusOr<CsvTypes> TypesOf(const client::Client& client, const LoadOptions& options) {
  ARM_ASSIGN_OR_RETURN(CsvTypes types, ParseCsvTypes(options.types));
  api::v1::DescribeTableRequest request;
  request.set_table_name(options.table_name);
  ARM_ASSIGN_OR_RETURN(const auto described, client.DescribeTable(request));
  AddKeyTypes(described.table(), &types);
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
  // As long as one file is missing, the others must not be loaded again.
  for (const std::string& state : states) RemoveLoadState(state);
  PrintCounts(session, counts, absl::Now() - start);
  return absl::OkStatus();
}

constexpr char kLoadFooter[] =
    R"(Items that are there already are replaced; of several with one key any may be the last.
Formats: JSON lines, an item in its JSON form on each line, bare or as {"Item": {...}}, as table exports
have it; CSV with the names of the attributes on the first line, where an empty cell is no attribute and
key attributes have the types of the table. Files that gzip has packed are unpacked.

A line that is no item, or is refused as an item of the table (a full item collection included), stops the load
unless --skip-bad allows it; each is reported as FILE:LINE.

How far a file has come is kept in FILE.load-state until all is loaded, and written five times a second. --resume
goes on from there, after a kill too: nothing is left out, and of what came after that place some is put a
second time. What follows the place may have been mended meanwhile; what stands before it may not.

Exit code 5: a file cannot be read, holds a line that is no item, or its state cannot be used or kept. What stands
before that place is in the table. 1: the daemon refused an item, or the table.

What the daemon throttles is repeated; after --timeout seconds without any success the load stops.

Examples:
  armature load --table-name Thread threads.jsonl more.json.gz
  armature load --table-name Orders --types total=N,paid=BOOL --skip-bad 100 orders.csv
  armature load --table-name Orders --types total=N,paid=BOOL --resume orders.csv
  zcat export/*.gz | armature load --table-name Orders -
)";

}  // namespace

void AddLoadCommand(CLI::App& app, Action* action) {
  CLI::App& load = *app.add_subcommand("load", "Put the items of files into a table");
  const auto options = std::make_shared<LoadOptions>();
  load.add_option("--table-name", options->table_name, "The table")->required()->type_name("NAME");
  load.add_option("files", options->paths, "Files; - is standard input")->required()->type_name("FILE");
  load.add_option("--format", options->format, "jsonl or csv; auto tells by the file's name")
      ->check(CLI::IsMember({"auto", "jsonl", "csv"}))
      ->capture_default_str();
  load.add_option("--types", options->types, "Types of CSV attributes, such as age=N,tags=SS; others are strings")
      ->type_name("NAME=TYPE,...");
  load.add_flag("--resume", options->resume, "Go on where an earlier load of the same files was interrupted");
  load.add_option("--state", options->state_path, "Keep there how far the file has come")->type_name("FILE");
  load.add_option("--skip-bad", options->skip_bad, "So many lines may be no items, or be refused; each is reported")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->type_name("N");
  load.footer(kLoadFooter);
  load.callback([options, action] { *action = [options](const Session& session) { return Load(session, *options); }; });
}

}  // namespace armature::cli
