#include <unistd.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "armature/version.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/archive_commands.h"
#include "tools/armature/command.h"
#include "tools/armature/complete_words.h"
#include "tools/armature/copy/copy_command.h"
#include "tools/armature/data_place.h"
#include "tools/armature/display.h"
#include "tools/armature/doctor/doctor_command.h"
#include "tools/armature/error_hints.h"
#include "tools/armature/items/short_reads.h"
#include "tools/armature/profile.h"
#include "tools/armature/schema/schema_command.h"
#include "tools/armature/tables/table_arguments.h"
#include "tools/armature/unknown_word.h"

namespace armature::cli {
namespace {

constexpr double kTimeoutSecondsMax = 86400;

constexpr char kExamples[] = R"(On a terminal, armature without arguments is the shell of armature sql.

Examples:
  armature table list
  armature --endpoint db.local:7700 --output table scan --table-name Thread
  armature status
  armature query --help
  ARMATURE_SECRET_KEY=... armature --tls-ca ca.pem --access-key AKAPP table list

Exit codes: 0 ok, 1 the daemon refused, 2 wrong usage, 3 no answer from the daemon or the cluster,
4 something that was compared differs, or the item does not exist,
5 a file to load, of an export or of a data directory cannot be used, or not all of it.
)";

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
    const std::vector<std::string> connection = ConnectionOptions(JoinBashWords(arguments).words);
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

}  // namespace

int RunCli(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  CLI::App app("The command line of the Armature database daemon.", "armature");
  Session::Options options;
  std::string format;
  std::string profile;
  Action action;
  AddGlobalOptions(app, &options, &format);
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
  try {
    app.parse(Reversed(arguments));
  } catch (const CLI::Success& help) {
    return app.exit(help, out, err);
  } catch (const CLI::ParseError& error) {
    const std::string unknown = UnknownWord(app, arguments);
    err << "armature: " << (unknown.empty() ? error.what() : unknown) << "\n";
    return static_cast<int>(ExitCode::kUsageError);
  }
  if (const absl::Status used = UseProfile(&app, profile); !used.ok()) {
    err << ErrorLine(used, "") << "\n";
    return static_cast<int>(ExitCodeOf(used));
  }
  const bool reads_terminal = &err == &std::cerr && isatty(STDERR_FILENO) == 1;
  const bool writes_terminal = &out == &std::cout && isatty(STDOUT_FILENO) == 1;
  const bool as_table = format.empty() ? writes_terminal : format == "table";
  options.format = as_table ? OutputFormat::kTable : OutputFormat::kJson;
  options.output = format;
  options.writes_terminal = writes_terminal;
  const bool can_ask = reads_terminal && isatty(STDIN_FILENO) == 1;
  RadosAccess().op_timeout = RadosAccess().monitor_timeout = absl::Seconds(options.timeout_seconds);
  const Session session(options, out, err, reads_terminal, can_ask ? &std::cin : nullptr);
  absl::Status status = CheckBrackets(app, arguments);
  if (status.ok()) status = Run(app, tables, format, action, session);
  const std::string line = ErrorLine(status, session.has_connected() ? options.endpoint : "");
  if (!line.empty()) {
    err << line << "\n" << ErrorDetail(status);
    for (const std::string& hint : HintsFor(session, app, status)) err << "hint: " << OneLine(hint) << "\n";
  }
  return static_cast<int>(ExitCodeOf(status));
}

}  // namespace armature::cli
