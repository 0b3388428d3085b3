#include "tools/armature/completion.h"

#include <string_view>

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

// The first line, escaped for single quotes.
std::string Brief(std::string_view text) {
  return absl::StrReplaceAll(Av(text.substr(0, text.find('\n'))), {{"'", "'\\''"}});
}

std::string NamesOf(const TreeCommand& command) {
  std::vector<std::string> words;
  for (const TreeOption& option : command.options) words.insert(words.end(), option.names.begin(), option.names.end());
  return absl::StrJoin(words, " ");
}

// The words allowed in the place of an option: commands, or the values of an argument without a name.
std::string WordsOf(const TreeCommand& command) {
  std::vector<std::string> words = command.subcommands;
  for (const TreeOption& option : command.options) {
    if (option.names.empty()) words.insert(words.end(), option.values.begin(), option.values.end());
  }
  return absl::StrJoin(words, " ");
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

}  // namespace

std::string BashCompletion(const std::vector<TreeCommand>& commands) {
  std::string script = kBashHead;
  for (const TreeCommand& command : commands) {
    if (!command.path.empty()) script += Cat("      \" ", command.path, "\") path=\" ", command.path, "\" ;;\n");
  }
  script += kBashMiddle;
  const std::string global = NamesOf(commands.front());
  for (const TreeCommand& command : commands) {
    script += Cat("    \"", command.path.empty() ? "" : Cat(" ", command.path), "\")\n");
    script += Cat("      commands=\"", WordsOf(command), "\"\n");
    script += Cat("      options=\"", NamesOf(command), command.path.empty() ? "" : Cat(" ", global), "\" ;;\n");
  }
  script += "  esac\n  case \"$path $before\" in\n";
  // The program comes last, because a command may have an option with the name of a global option.
  for (auto command = commands.rbegin(); command != commands.rend(); ++command) {
    for (const TreeOption& option : command->options) {
      if (option.values.empty()) continue;
      for (const std::string& name : option.names) {
        script += Cat("    ", command->path.empty() ? "*\"" : Cat("\" ", command->path), " ", name, "\") values=\"",
                      absl::StrJoin(option.values, " "), "\" ;;\n");
      }
    }
  }
  return script + kBashTail;
}

std::string ZshCompletion(const std::vector<TreeCommand>& commands) {
  return Cat("#compdef armature\n# Load it with: source <(armature completion zsh)\n",
             "autoload -U +X bashcompinit && bashcompinit\n", BashCompletion(commands),
             "# As a file in fpath this is the body of the function itself, called for the first completion.\n"
             "if [[ ${funcstack[1]} == _armature ]]; then _bash_complete -o filenames -F _armature; fi\n");
}

std::string FishCompletion(const std::vector<TreeCommand>& commands) {
  std::string script = "# Completion of armature for fish. Load it with: armature completion fish | source\n";
  for (const TreeCommand& command : commands) {
    const std::vector<std::string> words = absl::StrSplit(command.path, ' ', absl::SkipEmpty());
    // True if all words of the command are typed, and no word of a subcommand.
    std::string when = absl::StrJoin(words, "; and ", [](std::string* out, const std::string& word) {
      *out += Cat("__fish_seen_subcommand_from ", word);
    });
    const std::string open = Cat(
        when, when.empty() || command.subcommands.empty() ? "" : "; and ",
        command.subcommands.empty() ? ""
                                    : Cat("not __fish_seen_subcommand_from ", absl::StrJoin(command.subcommands, " ")));
    for (const std::string& name : command.subcommands) {
      const std::string path = command.path.empty() ? name : Cat(command.path, " ", name);
      for (const TreeCommand& child : commands) {
        if (child.path != path) continue;
        script += Cat("complete -c armature -f -n '", open, "' -a ", name, " -d '", Brief(child.description), "'\n");
      }
    }
    for (const TreeOption& option : command.options) {
      std::string line = "complete -c armature";
      if (!when.empty()) line += Cat(" -n '", when, "'");
      for (const std::string& name : option.names) {
        line += name.substr(0, 2) == "--" ? Cat(" -l ", name.substr(2)) : Cat(" -s ", name.substr(1));
      }
      if (option.names.empty()) continue;
      if (!option.values.empty()) {
        line += Cat(" -x -a '", absl::StrJoin(option.values, " "), "'");
      } else if (!option.value.empty()) {
        line += " -r";
      }
      script += Cat(line, " -d '", Brief(option.description), "'\n");
    }
  }
  return script;
}

}  // namespace armature::cli
