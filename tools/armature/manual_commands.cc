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
#include "tools/armature/manual/command_tree.h"
#include "tools/armature/manual/reference_page.h"
#include "tools/armature/profile.h"
#include "tools/armature/shell_words.h"
#include "tools/armature/sql/database_names.h"
#include "tools/armature/tables/table_arguments.h"
#include "tools/armature/tables/used_table.h"

namespace armature::cli {
namespace {

// ---- Completion: scripts that ask the program for words ----

// compgen quotes nothing and splits nothing: words are lines. complete-words has quoted them as bash needs it.
constexpr char kBashCompletion[] =
    R"(# Completion of armature for bash. Load it with: source <(armature completion bash)
_armature() {
  local word=${COMP_WORDS[COMP_CWORD]} program=${COMP_WORDS[0]} line files= IFS=$'\n'
  type -P -- "$program" >/dev/null || program=armature  # an alias
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == $'\t'files ]]; then files=yes; else COMPREPLY+=("$line"); fi
  done < <("$program" complete-words --bash -- "${COMP_WORDS[@]:1:$COMP_CWORD}" 2>/dev/null)
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

// compadd quotes words itself, as the quotes around the word demand.
constexpr char kZshCompletion[] = R"(#compdef armature
# Completion of armature for zsh. Load it with: source <(armature completion zsh)
_armature() {
  local line files=
  local -a typed=("${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}") found=()
  while IFS= read -r line; do
    if [[ $line == $'\t'files ]]; then files=yes; else found+=("$line"); fi
  done < <("${words[1]}" complete-words -- "${typed[@]}" 2>/dev/null)
  local SUFFIX=
  (( $#found )) && compadd -a found
  [[ -n $files ]] || return 0
  [[ $PREFIX == @* ]] && compset -P @
  _files
}
# As a file in fpath this is the body of the function itself, called for the first completion.
if [[ ${funcstack[1]} == _armature ]]; then _armature; else compdef _armature armature; fi
)";

// fish quotes words itself. The word that is being typed has its quotes, of which the last one may be missing.
constexpr char kFishCompletion[] = R"(# Completion of armature for fish. Load it with: armature completion fish | source
function __armature_complete
  set -l words (commandline -opc)
  set -l typed (commandline -ct)
  set -l last (string unescape -- "$typed"; or string unescape -- "$typed'"; or string unescape -- "$typed\"")
  for line in ($words[1] complete-words -- $words[2..-1] "$last" 2>/dev/null)
    if test "$line" = \tfiles
      __fish_complete_path "$last"
    else
      printf '%s\n' "$line"
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
  std::string head = absl::StrJoin(OptionNamesOf(option), ", ", [](std::string* out, const std::string& name) {
    *out += Cat("\\fB", Plain(name), "\\fR");
  });
  const std::string value = ValueNameOf(option);
  if (!value.empty()) head += Cat(head.empty() ? "" : " ", "\\fI", Plain(value), "\\fR");
  return Cat(".TP\n", head, option.get_required() ? " (required)" : "", "\n", Plain(option.get_description()), "\n");
}

std::string ManPage(const std::vector<KnownCommand>& commands) {
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
    if (path.empty() || IsGroup(*app)) continue;
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

// The words that bash has split at ':' and '=', and which have the quotes that were typed.
struct TypedWords {
  std::vector<std::string> words;  // whole and without quotes
  std::string kept;                // beginning of the last word that the shell does not replace
  char open_quote = 0;             // of the last word
  bool can_end = true;             // false: the shell would replace a part of the last word that is not known
};

TypedWords ReadBashWords(const std::vector<std::string>& typed) {
  const BashWords joined = JoinBashWords(typed);
  TypedWords result;
  for (const std::string& word : joined.words) result.words.push_back(ReadShellWord(word).text);
  if (joined.words.empty()) return result;
  result.kept = ReadShellWord(joined.kept).text;
  const ShellWord last = ReadShellWord(std::string_view(joined.words.back()).substr(joined.kept.size()));
  result.open_quote = last.open_quote;
  result.can_end = last.is_whole_in_quotes || last.open_quote == 0;
  return result;
}

// Prints what fits, and nothing about errors: they would be mixed into the line that is being typed.
absl::Status PrintWords(const Session& session, const CLI::App& app, const CompleteOptions& options) {
  const TypedWords typed = options.bash ? ReadBashWords(options.words) : TypedWords{.words = options.words, .kept = ""};
  if (!typed.can_end) return absl::OkStatus();
  NoNames no_names;
  NamesForCompletion names{.database = &no_names};
  std::optional<DatabaseNames> database;
  if (auto client = session.Connect(); client.ok()) names.database = &database.emplace(*client, kCompletionPatience);
  names.used_table = UsedTable(session).value_or("");
  if (const auto profiles = ReadProfiles(ProfilesPath()); profiles.ok()) {
    for (const Profile& profile : *profiles) names.profiles.push_back(profile.name);
  }
  names.begins_with_table = TakesTableFirst;
  const WordCompletions found = CompleteWords(app, typed.words, names);
  for (const std::string& word : found.words) {
    const std::string_view rest = std::string_view(word).substr(word.starts_with(typed.kept) ? typed.kept.size() : 0);
    // zsh and fish quote words themselves.
    const std::optional<std::string> shown =
        options.bash ? QuotedForShell(rest, typed.open_quote)
                     : (OneLine(rest) == rest ? std::optional(std::string(rest)) : std::nullopt);
    if (shown.has_value()) session.PrintText(Cat(*shown, "\n"));
  }
  if (found.files) session.PrintText("\tfiles\n");
  return absl::OkStatus();
}

void AddCompleteWords(CLI::App& app, Action* action) {
  CLI::App& complete = *app.add_subcommand(kCompleteWords, "Print the words that may end a command line, for shells");
  complete.group("");  // hidden
  const auto options = std::make_shared<CompleteOptions>();
  complete.add_flag("--bash", options->bash, "The words are split at ':' and '=', and have their quotes");
  complete.add_option("WORD", options->words, "The words of the command line; the last one is completed");
  SetAction(complete, action, [&app, options](const Session& session) { return PrintWords(session, app, *options); });
}

}  // namespace

void AddManualCommands(CLI::App& app, Action* action) {
  CLI::App& completion =
      *app.add_subcommand("completion", "Print what makes a shell complete armature's command lines");
  const auto shell = std::make_shared<std::string>();
  const auto alias = std::make_shared<std::string>();
  completion.add_option("SHELL", *shell, "The shell")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion.add_option("--alias", *alias, "Make this word mean armature, too, with its completion")
      ->check([](const std::string& word) {
        const bool is_word = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
          return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
        });
        return is_word ? std::string() : std::string("an alias has letters, digits and _");
      })
      ->type_name("WORD");
  completion.footer(
      "Examples:\n  source <(armature completion bash)\n  source <(armature completion bash --alias am)\n"
      "  armature completion bash >/etc/bash_completion.d/armature\n"
      "  armature completion fish >~/.config/fish/completions/armature.fish\n");
  SetAction(completion, action, [shell, alias](const Session& session) {
    session.PrintText(*shell == "bash"  ? std::string_view(kBashCompletion)
                      : *shell == "zsh" ? std::string_view(kZshCompletion)
                                        : std::string_view(kFishCompletion));
    if (alias->empty()) return absl::OkStatus();
    session.PrintText(Cat("alias ", *alias, "=armature\n"));
    // zsh expands aliases before it completes, and fish knows what an alias means.
    if (*shell == "bash") session.PrintText(Cat("complete -F _armature ", *alias, "\n"));
    return absl::OkStatus();
  });

  AddCompleteWords(app, action);

  CLI::App& man = *app.add_subcommand("man", "Print the manual page");
  man.footer("Examples:\n  armature man | man -l -\n  armature man >/usr/local/share/man/man1/armature.1\n");
  const auto as_markdown = std::make_shared<bool>(false);
  man.add_flag("--markdown", *as_markdown, "Print docs/reference/cli-commands.md instead");
  SetAction(man, action, [&app, as_markdown](const Session& session) {
    session.PrintText(*as_markdown ? ReferencePage(app) : ManPage(CommandsOf(app)));
    return absl::OkStatus();
  });
}

}  // namespace armature::cli
