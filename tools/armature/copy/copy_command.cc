#include "tools/armature/copy/copy_command.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/command.h"
#include "tools/armature/copy/copier.h"
#include "tools/armature/copy/copy_settings.h"
#include "tools/armature/copy/copy_state.h"
#include "tools/armature/copy/endpoint.h"
#include "tools/armature/copy/table_pairs.h"
#include "tools/armature/copy/table_verify.h"
#include "tools/armature/display.h"

namespace armature::cli {
namespace {

struct CopyOptions {
  copy::EndpointArguments from;
  copy::EndpointArguments to;
  std::vector<std::string> tables;
  std::string prefix;
  std::vector<std::string> renames;
  std::vector<std::string> prefix_renames;
  bool reverse = false;
  bool verify = false;
  bool compresses = false;
  double until_lag = -1;
  std::vector<std::string> hashed;
  std::string hash_key_file;
  std::string state_path = "armature-copy.state";
  copy::CopySettings settings;
};

absl::Status CheckCopyOptions(const CopyOptions& options) {
  const copy::CopySettings& settings = options.settings;
  if (!options.tables.empty() && !options.prefix.empty()) return UsageError("either tables or --prefix");
  if (options.verify && settings.follow) {
    return UsageError("--verify compares instead of copying: run it after the cut-over of --follow");
  }
  if (settings.mend && !options.verify) return UsageError("--mend is for --verify");
  if ((settings.enable_stream || settings.until_lag.has_value()) && !settings.follow) {
    return UsageError("--enable-stream and --until-lag are for --follow");
  }
  if (settings.follow && settings.is_eventual) {
    return UsageError("--eventual may read old items, whose changes --follow does not see");
  }
  if (options.reverse && !options.hashed.empty()) return UsageError("hashed values cannot be copied back");
  return absl::OkStatus();
}

absl::StatusOr<copy::ValueHash> HashOf(const Session& session, const CopyOptions& options) {
  if (options.hashed.empty()) {
    if (!options.hash_key_file.empty()) return UsageError("--hash-key-file is for --hash");
    return copy::ValueHash();
  }
  bool is_new = false;
  ARM_ASSIGN_OR_RETURN(std::string key, copy::ReadHashKey(options.hash_key_file, &is_new));
  if (is_new) {
    session.progress() << "the key of --hash, which is shown once and needed to continue or verify this copy: " << key
                       << "\n"
                       << std::flush;
  }
  return copy::ValueHash(std::move(key), options.hashed);
}

// The tables to copy, by their names at both sides.
absl::StatusOr<std::vector<copy::TablePair>> PairsOf(const CopyOptions& options, copy::Remote* source,
                                                     copy::Remote* target) {
  ARM_ASSIGN_OR_RETURN(copy::TableNames names, copy::TableNames::Parse(options.renames, options.prefix_renames));
  std::vector<std::string> sources = options.tables;
  std::string prefix = options.prefix;
  if (options.reverse) {
    for (std::string& table : sources) table = names.TargetOf(table);
    prefix = names.TargetOf(prefix);
    names = names.Reversed();
  }
  if (sources.empty()) {
    ARM_ASSIGN_OR_RETURN(sources, copy::ListTables(source, prefix));
    if (sources.empty())
      return UsageError(Cat("the source has no table", prefix.empty() ? "" : Cat(" that begins with ", prefix)));
  }
  ARM_ASSIGN_OR_RETURN(std::vector<copy::TablePair> pairs, names.PairsOf(sources));
  for (const copy::TablePair& pair : pairs) {
    if (source->address() == target->address() && pair.source == pair.target) {
      return UsageError(Cat("the table ", pair.source, " would be copied onto itself"));
    }
  }
  return pairs;
}

const char* NameOfKind(copy::DifferenceKind kind) {
  switch (kind) {
    case copy::DifferenceKind::kMissing:
      return "missing";
    case copy::DifferenceKind::kDifferent:
      return "different";
    case copy::DifferenceKind::kExtra:
      return "extra";
  }
  return "";
}

Json ToJson(const copy::TablePair& pair, const copy::VerifyResult& result) {
  Json differences = Json::array();
  for (const copy::Difference& each : result.differences) {
    Json key = Json::parse(each.key, nullptr, /*allow_exceptions=*/false);
    differences.push_back({{"Kind", NameOfKind(each.kind)}, {"Key", std::move(key)}});
  }
  return {{"Source", pair.source},
          {"Target", pair.target},
          {"SourceItems", result.source_items},
          {"TargetItems", result.target_items},
          {"Missing", result.missing},
          {"Different", result.different},
          {"Extra", result.extra},
          {"Mended", result.mended},
          {"Differences", std::move(differences)},
          {"Definition", result.definition}};
}

std::string VerifyText(const copy::TablePair& pair, const copy::VerifyResult& result) {
  std::string text = Cat(pair.source, " -> ", pair.target, ": ", WithCommas(result.source_items), " items, ",
                         WithCommas(result.missing), " missing, ", WithCommas(result.different), " different, ",
                         WithCommas(result.extra), " extra, ", WithCommas(result.mended), " mended\n");
  for (const copy::Difference& each : result.differences) {
    text += Cat("  ", NameOfKind(each.kind), " ", OneLine(each.key), "\n");
  }
  for (const std::string& each : result.definition) text += Cat("  definition: ", OneLine(each), "\n");
  return text;
}

absl::Status Verify(const copy::CopySides& sides, const CopyOptions& options,
                    const std::vector<copy::TablePair>& pairs) {
  if (options.settings.mend) {
    ARM_RETURN_IF_ERROR(sides.session.Confirm("Items that only the target has will be deleted"));
  }
  Json tables = Json::array();
  std::string text;
  int64_t differences = 0;
  for (const copy::TablePair& pair : pairs) {
    ARM_ASSIGN_OR_RETURN(const copy::VerifyResult result, copy::VerifyTable(sides, options.settings, pair));
    differences += result.count() - result.mended;
    tables.push_back(ToJson(pair, result));
    text += VerifyText(pair, result);
  }
  sides.session.Print({{"Tables", std::move(tables)}}, [&text] { return text; });
  if (differences == 0) return absl::OkStatus();
  return DifferencesError(Cat(WithCommas(differences), " items differ"));
}

void PrintCopied(const Session& session, const copy::StateKeeper& state, const std::vector<copy::TablePair>& pairs,
                 int64_t items, absl::Duration elapsed) {
  Json tables = Json::array();
  std::string text;
  for (const copy::TablePair& pair : pairs) {
    const copy::TableState table = *state.Table(pair.source);
    tables.push_back(
        {{"Source", pair.source}, {"Target", pair.target}, {"Items", table.items}, {"Changes", table.changes}});
    text += Cat(pair.source, " -> ", pair.target, ": ", WithCommas(table.items), " items, ", WithCommas(table.changes),
                " changes\n");
  }
  const int64_t rate = PerSecond(items, elapsed);
  text += Cat(WithCommas(rate), " items/s\n");
  session.Print({{"Tables", std::move(tables)}, {"ItemsPerSecond", rate}}, [&text] { return text; });
}

absl::Status CopyTables(const copy::CopySides& sides, const CopyOptions& options,
                        const std::vector<copy::TablePair>& pairs) {
  copy::CopyState begin{
      .from = sides.source.address(), .to = sides.target.address(), .hash = sides.hash.Check(), .tables = {}};
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<copy::StateKeeper> state,
                       copy::StateKeeper::Open(options.state_path, std::move(begin)));
  if (state->is_resumed())
    sides.session.progress() << "continues the copy of " << options.state_path << "\n" << std::flush;
  for (const std::string& source : state->Sources()) {
    const bool is_named =
        std::any_of(pairs.begin(), pairs.end(), [&](const auto& pair) { return pair.source == source; });
    if (is_named) continue;
    return InputError(Cat(options.state_path, " is the state of a copy of ", source,
                          ", too: repeat that command, or name another file by --state"));
  }
  // An unwritable state file is an error before anything is copied.
  ARM_RETURN_IF_ERROR(state->Save());
  const absl::Time start = absl::Now();
  const int64_t items = state->items();
  ARM_RETURN_IF_ERROR(copy::Copier(sides, options.settings, state.get()).Run(pairs));
  PrintCopied(sides.session, *state, pairs, state->items() - items, absl::Now() - start);
  state->Remove();
  return absl::OkStatus();
}

absl::Status Copy(const Session& session, const CopyOptions& given) {
  CopyOptions options = given;
  if (options.until_lag >= 0) options.settings.until_lag = options.until_lag;
  ARM_RETURN_IF_ERROR(CheckCopyOptions(options));
  if (options.reverse) std::swap(options.from, options.to);
  for (copy::EndpointArguments* const side : {&options.from, &options.to}) {
    side->timeout = session.patience();
    side->compresses = options.compresses;
  }
  copy::StopSignal stop;
  ARM_ASSIGN_OR_RETURN(copy::Endpoint from, copy::ResolveEndpoint("source", options.from));
  ARM_ASSIGN_OR_RETURN(copy::Endpoint to, copy::ResolveEndpoint("target", options.to));
  copy::Remote source(std::move(from), session.patience(), &stop);
  copy::Remote target(std::move(to), session.patience(), &stop);
  ARM_ASSIGN_OR_RETURN(const copy::ValueHash hash, HashOf(session, options));
  ARM_ASSIGN_OR_RETURN(const std::vector<copy::TablePair> pairs, PairsOf(options, &source, &target));
  copy::RateLimit write_rate(options.settings.rate);
  const copy::CopySides sides{session, source, target, hash, stop, write_rate};
  return options.verify ? Verify(sides, options, pairs) : CopyTables(sides, options, pairs);
}

constexpr char kCopyFooter[] =
    R"(Both sides speak the original HTTP/JSON protocol: the cloud, DynamoDB Local and other emulators, Alternator, armatured.
FROM and TO are addresses (https://HOST:PORT, HOST:PORT, unix:/PATH), profiles of ~/.config/armature/config.toml, or
profiles of ~/.aws/config. Without tables and --prefix all tables are copied. The daemon of --endpoint is not called.

The copy creates the tables, puts their items, and then enables streams and time to live as the source has them. What is
done is kept in the state file (--state) until the copy is complete. The same command continues a copy that was
stopped or killed.

--follow then applies the changes of the source, in their order, until Ctrl-C, Enter on a terminal, or --until-lag. Stop
the writers of the source, cut over, and compare with --verify.

Exit codes: 1 a side refused; 3 a side does not answer for --timeout seconds; 4 the sides differ, or
the target has the table already; 5 the state file cannot be used.

Examples:
  armature copy --from eu-prod --to 127.0.0.1:8000 --prefix prod- --rename-prefix prod-=
  armature copy --from eu-prod --to live orders --follow --enable-stream
  armature copy --from eu-prod --to live orders --verify --mend
  armature copy --from live --to 127.0.0.1:8000 customers --hash email,name --hash-key-file key.txt
)";

void AddSideOptions(CLI::App& command, CopyOptions* options) {
  command.add_option("--from", options->from.place, "The source: an address, or a profile")->type_name("URL|PROFILE");
  command.add_option("--to", options->to.place, "The target: an address, or a profile")->type_name("URL|PROFILE");
  command.add_option("--from-profile", options->from.profile, "The profile of AWS that signs for the source")
      ->type_name("NAME");
  command.add_option("--to-profile", options->to.profile, "The profile of AWS that signs for the target")
      ->type_name("NAME");
  command.add_option("--from-region", options->from.region, "The region of the source")->type_name("REGION");
  command.add_option("--to-region", options->to.region, "The region of the target")->type_name("REGION");
  command.add_flag("--gzip", options->compresses, "Ask both sides for compressed answers");
}

void AddTableOptions(CLI::App& command, CopyOptions* options) {
  command.add_option("tables", options->tables, "Tables of the source; default: all")->type_name("TABLES");
  command.add_option("--prefix", options->prefix, "All tables whose names begin so")->type_name("TEXT");
  command.add_option("--rename", options->renames, "The name of a table at the target; may be repeated")
      ->allow_extra_args(false)
      ->type_name("OLD=NEW");
  command
      .add_option("--rename-prefix", options->prefix_renames,
                  "The begin of names at the target, for tables without --rename; may be repeated")
      ->allow_extra_args(false)
      ->type_name("OLD=NEW");
  command.add_flag("--reverse", options->reverse, "Copy back: from --to to --from, with the old names");
  command.add_flag("--into-existing", options->settings.into_existing,
                   "Copy into tables that exist; items with other keys stay, differences of definitions are named");
}

void AddCopyOptions(CLI::App& command, CopyOptions* options) {
  copy::CopySettings& settings = options->settings;
  command.add_option("--segments", settings.segments, "Segments of a table that are read and written side by side")
      ->check(CLI::Range(1, 256))
      ->capture_default_str()
      ->type_name("N");
  command.add_option("--rate", settings.rate, "Items per second that are written; 0: no limit")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  command.add_option("--read-share", settings.read_share, "Percent of the source's provisioned read capacity to use")
      ->check(CLI::Range(0, 100))
      ->type_name("PERCENT");
  command.add_flag("--eventual", settings.is_eventual, "Read without consistency, for half the capacity");
  command.add_flag("--follow", settings.follow, "Then apply the changes of the source until the cut-over");
  command.add_flag("--enable-stream", settings.enable_stream, "Enable a stream of the source if it has none");
  command.add_option("--until-lag", options->until_lag, "Cut over at this lag; 0: when no change is left")
      ->check(CLI::NonNegativeNumber)
      ->type_name("SECONDS");
  command.add_flag("--verify", options->verify, "Compare the items of both sides instead of copying");
  command.add_flag(
      "--mend", settings.mend,
      "Write the differences that --verify finds to the target, and delete items that only the target has");
  command.add_option("--differences", settings.differences_max, "Differences of a table that are listed at most")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str()
      ->type_name("N");
  command.add_option("--hash", options->hashed, "Replace the values of these attributes by keyed hashes")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("ATTRIBUTE,...");
  command
      .add_option("--hash-key-file", options->hash_key_file,
                  "File whose first line is the key of --hash; default: $ARMATURE_COPY_HASH_KEY, else a new key")
      ->type_name("FILE");
  command.add_option("--state", options->state_path, "File for what is done")->capture_default_str()->type_name("FILE");
}

}  // namespace

void AddCopyCommand(CLI::App& app, Action* action) {
  CLI::App& command = *app.add_subcommand("copy", "Copy tables between any two servers of the original protocol");
  CopyOptions& options = SetAction(command, action, Copy);
  AddSideOptions(command, &options);
  AddTableOptions(command, &options);
  AddCopyOptions(command, &options);
  command.footer(kCopyFooter);
}

}  // namespace armature::cli
