#include <unistd.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "armature/version.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/archive_commands.h"
#include "tools/armature/color.h"
#include "tools/armature/command.h"
#include "tools/armature/complete_words.h"
#include "tools/armature/copy/copy_command.h"
#include "tools/armature/data_place.h"
#include "tools/armature/display.h"
#include "tools/armature/doctor/doctor_command.h"
#include "tools/armature/error_hints.h"
#include "tools/armature/items/short_reads.h"
#include "tools/armature/pager.h"
#include "tools/armature/profile.h"
#include "tools/armature/schema/schema_command.h"
#include "tools/armature/shell_words.h"
#include "tools/armature/tables/table_arguments.h"
#include "tools/armature/unknown_word.h"

namespace armature::cli {
namespace {

constexpr double kTimeoutSecondsMax = 86400;
constexpr std::string_view kOutputFault = "the output cannot be written to its end";

constexpr char kExamples[] = R"(On a terminal, armature without arguments is the shell of armature sql.

Examples:
  armature table list
  armature --endpoint db.local:7700 --output table scan --table-name Thread
  armature status
  armature query --help
  ARMATURE_SECRET_KEY=... armature --tls-ca ca.pem --access-key AKAPP table list

Colours and a pager are for terminals: --color, NO_COLOR, --no-pager, ARMATURE_PAGER, PAGER.

Exit codes: 0 ok, 1 the daemon refused, 2 wrong usage, 3 no answer from the daemon or the cluster,
4 something that was compared differs, or the item does not exist,
5 a file to load, of an export or of a data directory cannot be used, or not all of it.
)";

// Options about the form of the output.
struct OutputChoice {
  std::string format;  // as given; empty: none was
  std::string color = "auto";
  bool has_no_pager = false;
};

void AddOutputOptions(CLI::App& app, OutputChoice* choice) {
  app.add_option("--color", choice->color, "Colours: auto is on a terminal, unless NO_COLOR is set")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  app.add_flag("--no-pager", choice->has_no_pager,
               "Do not send an output that is longer than the screen to $ARMATURE_PAGER, $PAGER or less");
}

void AddGlobalOptions(CLI::App& app, Session::Options* options, std::string* format) {
  options->endpoint = kDefaultEndpoint;
  app.add_option("--endpoint", options->endpoint, "The daemon, as host:port or unix:/path")
      ->envname("ARMATURE_ENDPOINT")
      ->capture_default_str()
      ->type_name("ADDRESS");
  app.add_option(
         "--output", *format,
         "Without it: table on a terminal, json elsewhere. advise prints text if it is not given. jsonl is json: "
         "watch and stream read print a document on each line. get, update and the short forms of query and scan also "
         "take csv and yaml; without it, they print plain JSON lines elsewhere")
      ->check(CLI::IsMember({"json", "jsonl", "table", "csv", "yaml"}));
  app.add_flag("-y,--yes", options->yes, "Do not ask before something is destroyed");
  app.add_option("--timeout", options->timeout_seconds, "Seconds to wait for an answer, of the daemon or of a cluster")
      ->check(CLI::Range(0.001, kTimeoutSecondsMax))
      ->capture_default_str()
      ->type_name("SECONDS");
  app.add_option("--rados-conf", RadosAccess().rados_conf,
                 "Ceph's configuration file, for --data-dir rados://POOL/NAMESPACE; default: where Ceph looks")
      ->envname("ARMATURE_RADOS_CONF")
      ->type_name("FILE");
  app.add_option("--rados-user", RadosAccess().rados_user, "Ceph's user for it, without \"client.\"; default: admin")
      ->envname("ARMATURE_RADOS_USER")
      ->type_name("NAME");
}

void AddProfileOption(CLI::App& app, std::string* name) {
  app.add_option("--profile", *name,
                 "A section of ~/.config/armature/config.toml with these options; default: [default]")
      ->envname("ARMATURE_PROFILE")
      ->type_name("NAME");
}

absl::Status UseProfile(CLI::App* app, const std::string& name) {
  const std::string path = ProfilesPath();
  ARM_ASSIGN_OR_RETURN(const std::vector<Profile> profiles, ReadProfiles(path));
  return ApplyProfile(profiles, name, path, app);
}

void AddSecurityOptions(CLI::App& app, Session::Options* options) {
  app.add_flag("--tls", options->tls, "Connect by TLS; implied by the files below")->envname("ARMATURE_TLS");
  app.add_option("--tls-ca", options->tls_files.ca_file, "Authorities that may vouch for the daemon, a PEM file")
      ->envname("ARMATURE_TLS_CA")
      ->type_name("FILE");
  app.add_option("--tls-cert", options->tls_files.certificate_file, "Our own certificate, a PEM file")
      ->envname("ARMATURE_TLS_CERT")
      ->type_name("FILE");
  app.add_option("--tls-key", options->tls_files.key_file, "Its key, a PEM file")
      ->envname("ARMATURE_TLS_KEY")
      ->type_name("FILE");
  app.add_option("--access-key", options->access_key_id,
                 "Id of an access key; its secret is in $ARMATURE_SECRET_KEY or in --secret-file")
      ->envname("ARMATURE_ACCESS_KEY")
      ->type_name("ID");
  app.add_option("--secret-file", options->secret_file, "File whose first line is the secret of --access-key")
      ->envname("ARMATURE_SECRET_FILE")
      ->type_name("FILE");
}

// True if the parsed command prints items in their own formats, beside tables and JSON.
bool TakesItemFormats(const CLI::App& app) {
  const CLI::App& command = *app.get_subcommands().front();
  const std::string name = command.get_name();
  if (name != "get" && name != "update" && name != "query" && name != "scan") return false;
  // The long form of a command.
  if ((name == "query" || name == "scan") && IsLongForm(command)) return false;
  const CLI::Option* const table = command.get_option_no_throw("TABLE");
  return table != nullptr && table->count() > 0;
}

// True if a person reads the output and gives the input.
bool HasTerminal(const std::ostream& out, const std::ostream& err) {
  return &out == &std::cout && &err == &std::cerr && isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 &&
         isatty(STDERR_FILENO) == 1;
}

// The commands, in the order of the help.
void AddCommands(CLI::App& app, Action* action) {
  for (const auto add :
       {AddTableCommands,       AddItemCommands,   AddGroupCommands,      AddSqlCommand,      AddStreamCommands,
        AddWatchCommand,        AddPolicyCommands, AddHotKeysCommand,     AddIndexCommands,   AddStatusCommands,
        AddCredentialsCommands, AddAdviseCommand,  AddVerifyCommand,      AddLoadCommand,     AddOverviewCommand,
        AddManualCommands,      AddExportCommand,  AddImportCommand,      AddBackupCommands,  AddInspectCommands,
        AddRecoverCommand,      AddStoreCommands,  AddShortTableCommands, AddDemoCommand,     AddTopCommand,
        AddRequestCommands,     AddDoctorCommand,  AddSchemaCommands,     AddArchiveCommands, AddCopyCommand}) {
    add(app, action);
  }
  for (CLI::App* group : app.get_subcommands({})) {
    group->fallthrough();
    for (CLI::App* command : group->get_subcommands({})) command->fallthrough();
  }
}

// The arguments in the order that CLI11 expects, which is the reverse one. Without arguments, a terminal gets the
// shell.
std::vector<std::string> Reversed(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return {"sql"};
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  if (arguments.front() == kCompleteWords) {
    std::vector<std::string> words = JoinBashWords(arguments).words;
    const bool is_bash = arguments.size() > 1 && arguments[1] == "--bash";
    if (is_bash)
      std::transform(words.begin(), words.end(), words.begin(),
                     [](const auto& word) { return ReadShellWord(word).text; });
    const std::vector<std::string> connection = ConnectionOptions(words);
    reversed.insert(reversed.end(), connection.rbegin(), connection.rend());
  }
  return reversed;
}

// CLI11 takes the brackets off a word such as [vip], so that another key would be meant. Refuses such words of the
// commands whose words are values.
absl::Status CheckBrackets(const CLI::App& app, const std::vector<std::string>& arguments) {
  constexpr std::array<std::string_view, 5> kCommands = {"get", "del", "update", "query", "count"};
  const std::string& command = app.get_subcommands().front()->get_name();
  if (std::find(kCommands.begin(), kCommands.end(), command) == kCommands.end()) return absl::OkStatus();
  for (const std::string& word : arguments) {
    if (!word.starts_with('[') || !word.ends_with(']')) continue;
    return UsageError(Cat("a value in brackets needs the name of its attribute: NAME=", word));
  }
  return absl::OkStatus();
}

// Fills in tables. An argument that an option cannot take for that reason is a wrong one.
absl::Status FillTables(const TableArguments& tables, const Session& session) {
  try {
    return tables.Fill(session);
  } catch (const CLI::ParseError& error) {
    return UsageError(error.what());
  }
}

// Runs the parsed command. `format`: as given.
absl::Status Run(const CLI::App& app, const TableArguments& tables, const std::string& format, const Action& action,
                 const Session& session) {
  ARM_RETURN_IF_ERROR(FillTables(tables, session));
  if ((format == "csv" || format == "yaml") && !TakesItemFormats(app)) {
    return UsageError(Cat("--output ", format, " is for get, update, and the short forms of query and scan"));
  }
  return action(session);
}

// True for commands that print a document and end. All others talk with the user, go on for ever, or print little.
bool IsPaged(const CLI::App& app) {
  constexpr std::array<std::string_view, 20> kCommands = {"get",
                                                          "query",
                                                          "scan",
                                                          "ls",
                                                          "describe",
                                                          "running",
                                                          "slow",
                                                          "man",
                                                          "table list",
                                                          "table describe",
                                                          "item get",
                                                          "backup list",
                                                          "archive list",
                                                          "stream list",
                                                          "stream describe",
                                                          "inspect directory",
                                                          "inspect catalog",
                                                          "inspect rows",
                                                          "inspect log",
                                                          "inspect meta"};
  std::string path;
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    path += Cat(path.empty() ? "" : " ", command->get_name());
  }
  return std::find(kCommands.begin(), kCommands.end(), path) != kCommands.end();
}

struct Streams {
  std::ostream& out;
  std::ostream& err;
  bool writes_terminal;
  bool reads_terminal;  // a person reads `err`

  Streams(std::ostream& out_stream, std::ostream& err_stream)
      : out(out_stream),
        err(err_stream),
        writes_terminal(&out == &std::cout && isatty(STDOUT_FILENO) == 1),
        reads_terminal(&err == &std::cerr && isatty(STDERR_FILENO) == 1) {}
};

// The help or the version, which the parser prints.
int PrintHelp(const CLI::App& app, const CLI::Success& help, const Streams& streams) {
  Pager pager(streams.writes_terminal ? PagerOnTerminal() : PagerOptions(), streams.out, streams.err);
  return app.exit(help, pager.out(), pager.err());
}

void PrintFailure(const Session& session, const CLI::App& app, const absl::Status& status, const std::string& line,
                  bool has_colors, std::ostream& err) {
  if (line.empty()) return;
  const size_t end = std::min(line.find(':'), line.size());
  err << (has_colors ? Cat(Colored(line.substr(0, end), Ink::kError), line.substr(end)) : line) << "\n"
      << ErrorDetail(status);
  const std::string head = has_colors ? Colored("hint", Ink::kHint) : "hint";
  for (const std::string& hint : HintsFor(session, app, status)) err << head << ": " << OneLine(hint) << "\n";
}

// Runs the parsed command with its output.
int RunParsed(const CLI::App& app, const TableArguments& tables, const OutputChoice& choice, const Action& action,
              Session::Options options, const Streams& streams) {
  const bool as_table = choice.format.empty() ? streams.writes_terminal : choice.format == "table";
  options.format = as_table ? OutputFormat::kTable : OutputFormat::kJson;
  options.output = choice.format;
  options.writes_terminal = streams.writes_terminal;
  options.has_colors = WantsColor(choice.color, streams.writes_terminal);
  options.may_page = !choice.has_no_pager;
  const bool can_ask = streams.reads_terminal && isatty(STDIN_FILENO) == 1;
  const bool has_pager = streams.writes_terminal && options.may_page && IsPaged(app);
  const std::string endpoint = options.endpoint;
  Pager pager(has_pager ? PagerOnTerminal() : PagerOptions(), streams.out, streams.err);
  const Session session(std::move(options), pager.out(), pager.err(), streams.reads_terminal,
                        can_ask ? &std::cin : nullptr);
  absl::Status status = Run(app, tables, choice.format, action, session);
  session.Flush();
  pager.Finish();
  if (status.ok() && !pager.was_quit() && streams.out.fail()) status = InputError(kOutputFault);
  const std::string line = ErrorLine(status, session.has_connected() ? endpoint : "");
  PrintFailure(session, app, status, line, WantsColor(choice.color, streams.reads_terminal), streams.err);
  return static_cast<int>(ExitCodeOf(status));
}

}  // namespace

int RunCli(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  CLI::App app("The command line of the Armature database daemon.", "armature");
  Session::Options options;
  OutputChoice choice;
  std::string profile;
  Action action;
  AddGlobalOptions(app, &options, &choice.format);
  AddOutputOptions(app, &choice);
  AddSecurityOptions(app, &options);
  AddProfileOption(app, &profile);
  app.fallthrough();  // global options are also allowed after the command
  app.require_subcommand(1);
  app.footer(kExamples);
  app.set_version_flag("--version", Cat("armature ", kVersion));
  AddCommands(app, &action);
  const TableArguments tables(app);

  if (arguments.empty() && !HasTerminal(out, err)) {
    out << app.help();
    return static_cast<int>(ExitCode::kUsageError);
  }
  const Streams streams(out, err);
  try {
    app.parse(Reversed(arguments));
  } catch (const CLI::Success& help) {
    return PrintHelp(app, help, streams);
  } catch (const CLI::ParseError& error) {
    const std::string unknown = UnknownWord(app, arguments);
    err << "armature: " << (unknown.empty() ? error.what() : unknown) << "\n";
    return static_cast<int>(ExitCode::kUsageError);
  }
  absl::Status usable = UseProfile(&app, profile);
  if (usable.ok()) usable = CheckBrackets(app, arguments);
  if (!usable.ok()) {
    err << ErrorLine(usable, "") << "\n";
    return static_cast<int>(ExitCodeOf(usable));
  }
  RadosAccess().op_timeout = RadosAccess().monitor_timeout = absl::Seconds(options.timeout_seconds);
  return RunParsed(app, tables, choice, action, std::move(options), streams);
}

}  // namespace armature::cli
