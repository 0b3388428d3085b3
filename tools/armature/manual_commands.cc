#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "armature/version.h"
#include "storage/base/strings.h"
#include "tools/armature/command.h"
#include "tools/armature/complete_words.h"
#include "tools/armature/display.h"
#include "tools/armature/profile.h"
#include "tools/armature/sql/database_names.h"
#include "tools/armature/tables/table_arguments.h"
#include "tools/armature/tables/used_table.h"

namespace armature::cli {
namespace {

// A command of the parser.
struct Command {
  std::string path;  // "table create"; empty for the program itself
  const CLI::App* app;
};

// A hidden command is for programs.
bool IsHidden(const CLI::App& command) { return command.get_group().empty(); }

std::vector<const CLI::App*> SubcommandsOf(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// Appends `app`, then all its commands, each before its subcommands.
void AppendTree(const CLI::App& app, const std::string& path, std::vector<Command>* commands) {
  commands->push_back({path, &app});
  for (const CLI::App* child : SubcommandsOf(app)) {
    if (IsHidden(*child)) continue;
    AppendTree(*child, path.empty() ? child->get_name() : Cat(path, " ", child->get_name()), commands);
  }
}

std::vector<Command> CommandsOf(const CLI::App& app) {
  std::vector<Command> commands;
  AppendTree(app, "", &commands);
  return commands;
}

// "--limit", "-h"; none for an argument without a name.
std::vector<std::string> NamesOf(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_lnames()) names.push_back(Cat("--", name));
  for (const std::string& name : option.get_snames()) names.push_back(Cat("-", name));
  return names;
}

bool IsFlag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

// The allowed values; none if any value is allowed. CLI11 keeps the values of IsMember in the name of the type:
// "TEXT:{json,table}".
std::vector<std::string> ValuesOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t open = type.find('{');
  const size_t close = type.rfind('}');
  if (IsFlag(option) || open == std::string::npos || close == std::string::npos || close < open) return {};
  return absl::StrSplit(type.substr(open + 1, close - open - 1), ',');
}

// ---- Completion: scripts that ask the program for words ----

// For bash, and for zsh through its emulation. compgen quotes nothing and splits nothing: words are lines.
constexpr char kBashCompletion[] =
    R"(# Completion of armature for bash. Load it with: source <(armature completion bash)
_armature() {
  local word=${COMP_WORDS[COMP_CWORD]} line files= IFS=$'\n'
  local typed=("${COMP_WORDS[@]:1:$COMP_CWORD}")
  [[ ${#typed[@]} -ge $COMP_CWORD ]] || typed+=("")  # zsh leaves out an empty word
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == $'\t'files ]]; then files=yes; else COMPREPLY+=("$line"); fi
  done < <("${COMP_WORDS[0]}" complete-words --bash -- "${typed[@]}" 2>/dev/null)
  [[ -n $files ]] || return 0
  compopt -o filenames 2>/dev/null
  if [[ $word == @* ]]; then
    COMPREPLY+=($(compgen -P @ -f -- "${word#@}"))
  else
    [[ $word == [:=]* ]] && word=
    COMPREPLY+=($(compgen -f -- "$word"))
  fi
}
complete -F _armature armature
)";

constexpr char kZshHead[] = R"(#compdef armature
# Load it with: source <(armature completion zsh)
autoload -U +X bashcompinit && bashcompinit
)";
constexpr char kZshTail[] =
    R"(# As a file in fpath this is the body of the function itself, called for the first completion.
if [[ ${funcstack[1]} == _armature ]]; then _bash_complete -F _armature; fi
)";

constexpr char kFishCompletion[] = R"(# Completion of armature for fish. Load it with: armature completion fish | source
function __armature_complete
  set -l words (commandline -opc) (commandline -ct)
  for line in ($words[1] complete-words -- $words[2..-1] 2>/dev/null)
    if test "$line" = \tfiles
      __fish_complete_path (commandline -ct)
    else
      echo $line
    end
  end
end
complete -c armature -f -a '(__armature_complete)'
)";

// ---- The manual in the form that man(1) reads ----

// Escapes text for roff: a hyphen would become a dash, and a dot at the beginning of a line is a command.
std::string Plain(std::string_view text) {
  std::string escaped = absl::StrReplaceAll(Av(text), {{"\\", "\\e"}, {"-", "\\-"}});
  if (!escaped.empty() && (escaped[0] == '.' || escaped[0] == '\'')) escaped.insert(0, "\\&");
  return escaped;
}

// Lines printed unchanged.
std::string Verbatim(std::string_view text) {
  std::string result = ".nf\n";
  for (const std::string_view line : std::vector<std::string>(absl::StrSplit(Av(text), '\n'))) {
    result += Cat(Plain(line), "\n");
  }
  return result + ".fi\n";
}

std::string OptionEntry(const CLI::Option& option) {
  std::string head = absl::StrJoin(NamesOf(option), ", ", [](std::string* out, const std::string& name) {
    *out += Cat("\\fB", Plain(name), "\\fR");
  });
  if (!IsFlag(option)) {
    const std::string type = option.get_type_name();
    std::string value = absl::StrJoin(ValuesOf(option), "|");
    if (value.empty()) value = type.substr(0, type.find(':'));
    if (value.empty()) value = "VALUE";
    head += Cat(head.empty() ? "" : " ", "\\fI", Plain(value), "\\fR");
  }
  return Cat(".TP\n", head, option.get_required() ? " (required)" : "", "\n", Plain(option.get_description()), "\n");
}

std::string ManPage(const std::vector<Command>& commands) {
  const CLI::App& program = *commands.front().app;
  std::string page = ".\\\" Made by 'armature man'.\n.TH ARMATURE 1 \"\" \"Armature ";
  page += Cat(kVersion, "\" \"User Commands\"\n");
  page += ".SH NAME\narmature \\- command line of the Armature database daemon\n";
  page += ".SH SYNOPSIS\n.B armature\n[\\fIOPTIONS\\fR] \\fICOMMAND\\fR ...\n";
  page += Cat(".SH DESCRIPTION\n", Plain(program.get_description()), "\n");
  page += ".SH OPTIONS\nThese may stand before or behind the command.\n";
  for (const CLI::Option* option : program.get_options()) page += OptionEntry(*option);
  page += ".SH COMMANDS\n";
  for (const auto& [path, app] : commands) {
    if (path.empty() || !SubcommandsOf(*app).empty()) continue;
    page += Cat(".SS armature ", Plain(path), "\n", Plain(app->get_description()), "\n");
    for (const CLI::Option* option : app->get_options()) {
      if (!option->check_sname("h")) page += OptionEntry(*option);
    }
    const std::string footer = app->get_footer();
    const std::string_view notes = Sv(absl::StripAsciiWhitespace(footer));
    if (!notes.empty()) page += Cat(".PP\n", Verbatim(notes));
  }
  const std::string footer = program.get_footer();
  page += Cat(".SH NOTES\n", Verbatim(Sv(absl::StripAsciiWhitespace(footer))));
  page +=
      ".SH SEE ALSO\narmatured(8), armature\\-bench(1); the documents in share/doc/armature: "
      "operate/README.md, reference/cli.md\n";
  return page;
}

// ---- The hidden command ----

// A person waits for the words, so the daemon has little time for each of its answers.
constexpr absl::Duration kCompletionPatience = absl::Milliseconds(100);

struct CompleteOptions {
  bool bash = false;
  std::vector<std::string> words;
};

// Names of no daemon.
class NoNames final : public SqlNames {
 public:
  std::vector<std::string> Tables() override { return {}; }
  std::vector<std::string> Indexes(const std::string& /*table*/) override { return {}; }
  std::vector<std::string> Attributes(const std::string& /*table*/) override { return {}; }
};

// True for a word that a shell takes as it is. Names in the database may be anything, also commands of a shell.
bool IsPlainWord(std::string_view word) {
  constexpr std::string_view kMarks = "_-.:/=@%+,";
  const bool has_plain_bytes = std::all_of(word.begin(), word.end(), [kMarks](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return absl::ascii_isalnum(byte) || byte >= 0x80 || kMarks.find(c) != kMarks.npos;
  });
  return has_plain_bytes && OneLine(word) == word;
}

// Prints what fits, and nothing about errors: they would be mixed into the line that is being typed.
absl::Status PrintWords(const Session& session, const CLI::App& app, const CompleteOptions& options) {
  const BashWords bash = options.bash ? JoinBashWords(options.words) : BashWords{options.words, ""};
  NoNames no_names;
  NamesForCompletion names{.database = &no_names};
  std::optional<DatabaseNames> database;
  if (auto client = session.Connect(); client.ok()) names.database = &database.emplace(*client, kCompletionPatience);
  names.used_table = UsedTable(session).value_or("");
  if (const auto profiles = ReadProfiles(ProfilesPath()); profiles.ok()) {
    for (const Profile& profile : *profiles) names.profiles.push_back(profile.name);
  }
  names.begins_with_table = TakesTableFirst;
  const WordCompletions found = CompleteWords(app, bash.words, names);
  for (const std::string& word : found.words) {
    if (!IsPlainWord(word)) continue;
    const bool is_split = word.starts_with(bash.kept);
    session.PrintText(Cat(is_split ? word.substr(bash.kept.size()) : word, "\n"));
  }
  if (found.files) session.PrintText("\tfiles\n");
  return absl::OkStatus();
}

void AddCompleteWords(CLI::App& app, Action* action) {
  CLI::App& complete = *app.add_subcommand(kCompleteWords, "Print the words that may end a command line, for shells");
  complete.group("");  // hidden
  const auto options = std::make_shared<CompleteOptions>();
  complete.add_flag("--bash", options->bash, "The words are split at ':' and '='");
  complete.add_option("WORD", options->words, "The words of the command line; the last one is completed");
  SetAction(complete, action, [&app, options](const Session& session) { return PrintWords(session, app, *options); });
}

}  // namespace

void AddManualCommands(CLI::App& app, Action* action) {
  CLI::App& completion =
      *app.add_subcommand("completion", "Print what makes a shell complete armature's command lines");
  const auto shell = std::make_shared<std::string>();
  completion.add_option("SHELL", *shell, "The shell")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion.footer(
      "Examples:\n  source <(armature completion bash)\n"
      "  armature completion bash >/etc/bash_completion.d/armature\n"
      "  armature completion fish >~/.config/fish/completions/armature.fish\n");
  SetAction(completion, action, [shell](const Session& session) {
    session.PrintText(*shell == "bash"  ? std::string(kBashCompletion)
                      : *shell == "zsh" ? Cat(kZshHead, kBashCompletion, kZshTail)
                                        : std::string(kFishCompletion));
    return absl::OkStatus();
  });

  AddCompleteWords(app, action);

  CLI::App& man = *app.add_subcommand("man", "Print the manual page");
  man.footer("Examples:\n  armature man | man -l -\n  armature man >/usr/local/share/man/man1/armature.1\n");
  SetAction(man, action, [&app](const Session& session) {
    session.PrintText(ManPage(CommandsOf(app)));
    return absl::OkStatus();
  });
}

}  // namespace armature::cli
