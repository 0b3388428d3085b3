#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "armature/client/errors.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/commands.h"
#include "tools/armature/load/ack_tracker.h"
#include "tools/armature/load/item_source.h"
#include "tools/armature/load/load_state.h"
#include "tools/armature/load/put_stream.h"
#include "tools/armature/progress_bar.h"

namespace armature::cli {
namespace {

constexpr absl::Duration kStateEvery = absl::Milliseconds(200);
constexpr char kStandardInput[] = "-";

// Far more than a table takes, which the daemon refuses by itself; what is larger than a request may be would end the
// stream, and all others with it.
constexpr size_t kItemBytesMax = 4 << 20;

absl::Status TooLarge() {
  return absl::InvalidArgumentError(Av(Cat("the item is larger than ", kItemBytesMax, " bytes")));
}

struct LoadOptions {
  std::string table_name;
  std::vector<std::string> paths;
  std::string format = "auto";
  std::string types;
  std::string state_path;  // empty: beside each file
  bool resume = false;
  int64_t skip_bad = 0;
};

struct LoadCounts {
  int64_t items = 0;
  int64_t bad = 0;
};

// One file on its way into the table.
class FileLoad {
 public:
  FileLoad(const Session& session, const client::Client& client, const LoadOptions& options, const std::string& path,
           LoadCounts* counts)
      : session_(session),
        options_(options),
        path_(path),
        counts_(counts),
        bar_(&session.progress(), session.is_progress_live()),
        puts_(client, options.table_name, session.patience(),
              [this](const PendingPut& put, const absl::Status& status) { return Settle(put, status); }) {}

  // Errors: what stopped it. How far it came is in the state file either way.
  absl::Status Run(CsvTypes types) {
    ARM_RETURN_IF_ERROR(Begin(std::move(types)));
    absl::Status loaded = LoadAll();
    // What was answered since the state was last written.
    const absl::Status saved = SaveState();
    return loaded.ok() ? saved : loaded;
  }

  std::string StatePath() const { return options_.state_path.empty() ? StatePathOf(path_) : options_.state_path; }
  bool has_state() const { return path_ != kStandardInput || !options_.state_path.empty(); }

 private:
  absl::Status Begin(CsvTypes types) {
    const LoadFormat format = options_.format == "auto"  ? FormatOf(path_)
                              : options_.format == "csv" ? LoadFormat::kCsv
                                                         : LoadFormat::kJsonLines;
    ARM_ASSIGN_OR_RETURN(source_, ItemSource::Open(path_, format, std::move(types)));
    if (options_.resume) ARM_RETURN_IF_ERROR(Resume());
    tracker_.emplace(source_->text().position());
    // Where nothing can be written, that is known before anything is sent.
    return SaveState();
  }

  absl::Status Resume() {
    ARM_ASSIGN_OR_RETURN(const std::optional<LoadState> state, ReadLoadState(StatePath()));
    if (!state.has_value()) return absl::OkStatus();
    if (state->table_name != options_.table_name) {
      return UsageError(Cat(StatePath(), " is about the table ", state->table_name, "; remove it to begin anew"));
    }
    items_before_ = state->items;
    const absl::Status skipped = source_->SkipTo(state->position);
    return skipped.ok() ? skipped : UsageError(Cat(Sv(skipped.message()), "; remove ", StatePath(), " to begin anew"));
  }

  absl::Status LoadAll() {
    while (true) {
      SourceRecord record;
      const absl::StatusOr<bool> has_record = source_->Next(&record);
      if (!has_record.ok()) return StopFor(has_record.status());
      if (!*has_record) return puts_.Finish();
      if (record.item.ok() && record.item->ByteSizeLong() > kItemBytesMax) record.item = TooLarge();
      const uint64_t ticket = tracker_->Begin(record.end);
      if (record.item.ok()) {
        ARM_RETURN_IF_ERROR(puts_.Put({.item = *std::move(record.item), .ticket = ticket, .line = record.line}));
      } else {
        const absl::Status skipped = Skip(ticket, record.line, UsageError(Sv(record.item.status().message())));
        if (!skipped.ok()) return StopFor(skipped);
      }
      if (absl::Now() - last_saved_ >= kStateEvery) ARM_RETURN_IF_ERROR(SaveState());
      ShowProgress();
    }
  }

  // What is under way is settled before, so that the state tells all that is in the table.
  absl::Status StopFor(const absl::Status& why) {
    ARM_RETURN_IF_ERROR(puts_.Finish());
    return why;
  }

  absl::Status Settle(const PendingPut& put, const absl::Status& status) {
    if (status.ok()) {
      ++items_;
      ++counts_->items;
      tracker_->Done(put.ticket);
      return absl::OkStatus();
    }
    // Other refusals are about the table or ourselves, and would meet every item.
    if (client::ErrorName(status) != "ValidationException") return status;
    return Skip(put.ticket, put.line, status);
  }

  // Tells of a record that is no item, or none for this table. Errors: `why`, if it is one too many.
  absl::Status Skip(uint64_t ticket, int64_t line, const absl::Status& why) {
    session_.progress() << path_ << ":" << line << ": " << Sv(why.message()) << "\n" << std::flush;
    if (++counts_->bad > options_.skip_bad) {
      absl::Status stopped(why.code(), Av(Cat("stopped at ", path_, ":", line, ": ", Sv(why.message()))));
      why.ForEachPayload([&stopped](auto url, const auto& payload) { stopped.SetPayload(url, payload); });
      return stopped;
    }
    tracker_->Done(ticket);
    return absl::OkStatus();
  }

  absl::Status SaveState() {
    last_saved_ = absl::Now();
    if (!has_state()) return absl::OkStatus();
    return WriteLoadState(
        StatePath(),
        {.table_name = options_.table_name, .position = tracker_->position(), .items = items_before_ + items_});
  }

  void ShowProgress() {
    const LineReader& text = source_->text();
    if (text.file_bytes() == 0) {
      bar_.Show({.what = Cat(path_, " items"), .done = items_});
    } else {
      bar_.Show({.what = Cat(path_, " bytes"),
                 .done = text.file_bytes_read(),
                 .total = text.file_bytes(),
                 .note = Cat(WithCommas(items_), " items")});
    }
  }

  const Session& session_;
  const LoadOptions& options_;
  const std::string path_;
  LoadCounts* const counts_;
  ProgressBar bar_;
  std::unique_ptr<ItemSource> source_;
  std::optional<AckTracker> tracker_;
  int64_t items_ = 0;
  int64_t items_before_ = 0;
  absl::Time last_saved_ = absl::InfinitePast();
  PutStream puts_;
};

// Attributes of keys have the types of the table's schema, whatever else is said.
absl::StatusOr<CsvTypes> TypesOf(const client::Client& client, const LoadOptions& options) {
  ARM_ASSIGN_OR_RETURN(CsvTypes types, ParseCsvTypes(options.types));
  api::v1::DescribeTableRequest request;
  request.set_table_name(options.table_name);
  ARM_ASSIGN_OR_RETURN(const auto described, client.DescribeTable(request));
  for (const auto& definition : described.table().attribute_definitions()) {
    switch (definition.attribute_type()) {
      case api::v1::SCALAR_ATTRIBUTE_TYPE_N:
        types[definition.attribute_name()] = "N";
        break;
      case api::v1::SCALAR_ATTRIBUTE_TYPE_B:
        types[definition.attribute_name()] = "B";
        break;
      default:
        types[definition.attribute_name()] = "S";
    }
  }
  return types;
}

bool HasCsv(const LoadOptions& options) {
  if (options.format != "auto") return options.format == "csv";
  return std::any_of(options.paths.begin(), options.paths.end(),
                     [](const std::string& path) { return FormatOf(path) == LoadFormat::kCsv; });
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

void PrintCounts(const Session& session, const LoadCounts& counts, absl::Duration elapsed) {
  const double seconds = absl::ToDoubleSeconds(elapsed);
  const auto rate = static_cast<int64_t>(static_cast<double>(counts.items) / std::max(seconds, 0.001));
  if (session.format() == OutputFormat::kTable) {
    session.PrintText(Cat(WithCommas(counts.items), " items loaded, ", WithCommas(counts.bad), " lines skipped, ",
                          WithCommas(rate), " items/s\n"));
    return;
  }
  Json result = Json::object();
  result["Items"] = counts.items;
  result["Skipped"] = counts.bad;
  result["ItemsPerSecond"] = rate;
  session.Print(result);
}

absl::Status Load(const Session& session, const LoadOptions& options) {
  ARM_RETURN_IF_ERROR(CheckOptions(options));
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  CsvTypes types;
  if (HasCsv(options)) {
    ARM_ASSIGN_OR_RETURN(types, TypesOf(client, options));
  }
  const absl::Time start = absl::Now();
  LoadCounts counts;
  std::vector<std::string> states;
  for (const std::string& path : options.paths) {
    FileLoad load(session, client, options, path, &counts);
    ARM_RETURN_IF_ERROR(load.Run(types));
    if (load.has_state()) states.push_back(load.StatePath());
  }
  // As long as one file is missing, the others must not be loaded again.
  for (const std::string& state : states) RemoveLoadState(state);
  PrintCounts(session, counts, absl::Now() - start);
  return absl::OkStatus();
}

constexpr char kFooter[] =
    R"(Items that are there already are replaced; of several with one key any may be the last.
Formats: JSON lines, an item in its JSON form on each line, bare or as {"Item": {...}}, as table exports
have it; CSV with the names of the attributes on the first line, where an empty cell is no attribute and
key attributes have the types of the table. Files that gzip has packed are unpacked.

A line that is no item, or is refused as an item of the table, stops the load unless --skip-bad allows it;
each is reported as FILE:LINE.

How far a file has come is kept in FILE.load-state until all is loaded, and written five times a second. --resume
goes on from there, after a kill too: nothing is left out, and of what came after that place some is put a
second time. What follows the place may have been mended meanwhile; what stands before it may not.

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
  load.footer(kFooter);
  load.callback([options, action] { *action = [options](const Session& session) { return Load(session, *options); }; });
}

}  // namespace armature::cli
