#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "armature/version.h"
#include "storage/base/strings.h"
#include "tools/armature/command.h"

namespace armature::cli {
namespace {

// A command of the parser.
struct Command {
  std::string path;  // "table create"; empty for the program itself
  const CLI::App* app;
};

std::vector<const CLI::App*> SubcommandsOf(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// Appends `app`, then all its commands, each before its subcommands.
void AppendTree(const CLI::App& app, const std::string& path, std::vector<Command>* commands) {
  commands->push_back({path, &app});
  for (const CLI::App* child : SubcommandsOf(app)) {
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

// ---- Completion: scripts with commands, options, and their values where these are fixed; else files ----

// The first line, escaped for single quotes.
std::string Brief(std::string_view text) {
  return absl::StrReplaceAll(Av(text.substr(0, text.find('\n'))), {{"'", "'\\''"}});
}

// The names of all options.
std::string OptionWords(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::Option* option : command.get_options()) {
    for (std::string& name : NamesOf(*option)) words.push_back(std::move(name));
  }
  return absl::StrJoin(words, " ");
}

std::string CommandWords(const CLI::App& command) {
  return absl::StrJoin(SubcommandsOf(command), " ",
                       [](std::string* out, const CLI::App* child) { *out += child->get_name(); });
}

// The words allowed in the place of an option: commands, or the values of an argument without a name.
std::string PlainWords(const CLI::App& command) {
  std::string words = CommandWords(command);
  for (const CLI::Option* option : command.get_options()) {
    if (!NamesOf(*option).empty()) continue;
    for (const std::string& value : ValuesOf(*option)) words += Cat(words.empty() ? "" : " ", value);
  }
  return words;
}

// Finds the completions of a word by command and option. The script is for bash, and for zsh through its emulation.
constexpr char kBashHead[] = R"(# Completion of armature for bash. Load it with: source <(armature completion bash)
_armature() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} path= i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$path ${COMP_WORDS[i]}" in
)";
constexpr char kBashMiddle[] = R"(    esac
  done
  local commands= options= values=
  case "$path" in
)";
constexpr char kBashTail[] = R"(  esac
  if [[ -n $values ]]; then
    COMPREPLY=($(compgen -W "$values" -- "$word"))
  elif [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif [[ -n $commands ]]; then
    COMPREPLY=($(compgen -W "$commands" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}
complete -o filenames -F _armature armature
)";

std::string BashCompletion(const std::vector<Command>& commands) {
  std::string script = kBashHead;
  for (const auto& [path, app] : commands) {
    if (!path.empty()) script += Cat("      \" ", path, "\") path=\" ", path, "\" ;;\n");
  }
  script += kBashMiddle;
  const std::string global = OptionWords(*commands.front().app);
  for (const auto& [path, app] : commands) {
    script += Cat("    \"", path.empty() ? "" : Cat(" ", path), "\")\n");
    script += Cat("      commands=\"", PlainWords(*app), "\"\n");
    script += Cat("      options=\"", OptionWords(*app), path.empty() ? "" : Cat(" ", global), "\" ;;\n");
  }
  script += "  esac\n  case \"$path $before\" in\n";
  // The program comes last, because a command may have an option with the name of a global option.
  for (auto command = commands.rbegin(); command != commands.rend(); ++command) {
    for (const CLI::Option* option : command->app->get_options()) {
      const std::string values = absl::StrJoin(ValuesOf(*option), " ");
      if (values.empty()) continue;
      for (const std::string& name : NamesOf(*option)) {
        script += Cat("    ", command->path.empty() ? "*\"" : Cat("\" ", command->path), " ", name, "\") values=\"",
                      values, "\" ;;\n");
      }
    }
  }
  return script + kBashTail;
}

std::string ZshCompletion(const std::vector<Command>& commands) {
  return Cat("#compdef armature\n# Load it with: source <(armature completion zsh)\n",
             "autoload -U +X bashcompinit && bashcompinit\n", BashCompletion(commands),
             "# As a file in fpath this is the body of the function itself, called for the first completion.\n"
             "if [[ ${funcstack[1]} == _armature ]]; then _bash_complete -o filenames -F _armature; fi\n");
}

std::string FishCompletion(const std::vector<Command>& commands) {
  std::string script = "# Completion of armature for fish. Load it with: armature completion fish | source\n";
  for (const auto& [path, app] : commands) {
    // True if all words of the command are typed, and no word of a subcommand.
    std::string when;
    for (const std::string& word : std::vector<std::string>(absl::StrSplit(path, ' ', absl::SkipEmpty()))) {
      when += Cat(when.empty() ? "" : "; and ", "__fish_seen_subcommand_from ", word);
    }
    const std::string open =
        Cat(when, when.empty() ? "" : "; and ", "not __fish_seen_subcommand_from ", CommandWords(*app));
    for (const CLI::App* child : SubcommandsOf(*app)) {
      script += Cat("complete -c armature -f -n '", open, "' -a ", child->get_name(), " -d '",
                    Brief(child->get_description()), "'\n");
    }
    for (const CLI::Option* option : app->get_options()) {
      const std::vector<std::string> names = NamesOf(*option);
      if (names.empty()) continue;
      script += "complete -c armature";
      if (!when.empty()) script += Cat(" -n '", when, "'");
      for (const std::string& name : names) {
        script += name.starts_with("--") ? Cat(" -l ", name.substr(2)) : Cat(" -s ", name.substr(1));
      }
      const std::string values = absl::StrJoin(ValuesOf(*option), " ");
      script += !values.empty() ? Cat(" -x -a '", values, "'") : IsFlag(*option) ? "" : " -r";
      script += Cat(" -d '", Brief(option->get_description()), "'\n");
    }
  }
  return script;
}

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
      ".SH SEE ALSO\narmatured(8), armature\\-bench(1); OPERATIONS.md, SECURITY.md and METRICS.md in "
      "share/doc/armature\n";
  return page;
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
  SetAction(completion, action, [&app, shell](const Session& session) {
    const std::vector<Command> commands = CommandsOf(app);
    session.PrintText(*shell == "bash"  ? BashCompletion(commands)
                      : *shell == "zsh" ? ZshCompletion(commands)
                                        : FishCompletion(commands));
    return absl::OkStatus();
  });

  CLI::App& man = *app.add_subcommand("man", "Print the manual page");
  man.footer("Examples:\n  armature man | man -l -\n  armature man >/usr/local/share/man/man1/armature.1\n");
  SetAction(man, action, [&app](const Session& session) {
    session.PrintText(ManPage(CommandsOf(app)));
    return absl::OkStatus();
  });
}

}  // namespace armature::cli
