#include "tools/armature/manual/reference_page.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "storage/base/strings.h"
#include "tools/armature/manual/command_tree.h"

namespace armature::cli {
namespace {

constexpr char kPageHead[] = R"(# Command line reference

All commands of `armature` with their arguments, options and an example. [Command line](cli.md) explains them, and
[Shell](shell.md) the statements of `armature sql`.

This page is made by `armature man --markdown`: changes belong to the parser in `tools/armature`. A test compares both,
and runs the examples with the tables of `armature demo`.

## Exit codes

| Code | Meaning |
| --- | --- |
| 0 | done |
| 1 | the daemon refused: also a condition of `--if` that is not met |
| 2 | wrong usage; nothing was sent that changes anything |
| 3 | no answer of the daemon or the cluster |
| 4 | an item that was named does not exist; something that was compared differs; a check of `doctor` has failed |
| 5 | a file or the output cannot be used, or an item cannot be shown as CSV |

The notes of a command say what its codes mean beyond this.
)";

// Text in a cell of a table. A bar would begin the next cell, and `<` an element of HTML.
std::string MarkdownCell(std::string_view text) {
  return absl::StrReplaceAll(Av(text), {{"|", "\\|"}, {"<", "&lt;"}, {"\n", " "}, {"*", "\\*"}});
}

std::string Code(std::string_view text) { return Cat("`", absl::StrReplaceAll(Av(text), {{"|", "\\|"}}), "`"); }

// The text behind the description: the default and the variable of the environment.
std::string Remarks(const CLI::Option& option) {
  std::string remarks;
  if (option.get_required()) remarks += "; required";
  if (!option.get_default_str().empty()) remarks += Cat("; default: ", Code(option.get_default_str()));
  if (!option.get_envname().empty()) remarks += Cat("; also `", option.get_envname(), "`");
  if (option.get_items_expected_max() > 1) remarks += "; may be repeated";
  return remarks;
}

std::string OptionRow(const CLI::Option& option) {
  std::vector<std::string> names = OptionNamesOf(option);
  const std::string value = ValueNameOf(option);
  std::string head;
  if (names.empty()) {
    head = Code(option.get_name(true));
  } else {
    for (std::string& name : names) name = Code(value.empty() ? name : Cat(name, " ", value));
    head = absl::StrJoin(names, ", ");
  }
  std::string text = MarkdownCell(option.get_description());
  while (text.ends_with('.')) text.pop_back();
  return Cat("| ", head, " | ", text, Remarks(option), " |\n");
}

std::string OptionTable(const CLI::App& command) {
  std::string rows;
  for (const bool is_argument : {true, false}) {
    for (const CLI::Option* option : command.get_options()) {
      const bool is_positional = OptionNamesOf(*option).empty();
      if (is_positional == is_argument && !option->check_sname("h")) rows += OptionRow(*option);
    }
  }
  return rows.empty() ? "" : Cat("\n| Argument or option | Meaning |\n| --- | --- |\n", rows);
}

// The notes of a command, without its further examples.
std::string NotesOf(const CLI::App& command) {
  std::string notes = command.get_footer();
  const size_t examples = notes.find("Example");
  if (examples != std::string::npos && (examples == 0 || notes[examples - 1] == '\n')) notes.resize(examples);
  absl::StripAsciiWhitespace(&notes);
  return notes.empty() ? "" : Cat("\n```text\n", notes, "\n```\n");
}

std::string_view Introduction(ExamplePlace place) {
  switch (place) {
    case ExamplePlace::kDaemon:
      return "Example:";
    case ExamplePlace::kStopped:
      return "Example, after the daemon has stopped:";
    case ExamplePlace::kElsewhere:
      return "Example, which no test runs:";
  }
  return "";
}

std::string CommandSection(const KnownCommand& command) {
  std::string text = Cat("\n## ", command.path, "\n\n", MarkdownCell(command.app->get_description()));
  if (!text.ends_with('.')) text += ".";
  const std::vector<std::string> aliases = command.app->get_aliases();
  if (!aliases.empty()) text += Cat(" Short: `", absl::StrJoin(aliases, "`, `"), "`.");
  text += Cat("\n", OptionTable(*command.app), NotesOf(*command.app));
  const CommandExample example = ExampleOf(command.path);
  if (!example.lines.empty()) text += Cat("\n", Introduction(example.place), "\n\n```sh\n", example.lines, "```\n");
  return text;
}

}  // namespace

std::string ReferencePage(const CLI::App& app) {
  std::vector<KnownCommand> commands = CommandsOf(app);
  std::sort(commands.begin(), commands.end(),
            [](const KnownCommand& a, const KnownCommand& b) { return a.path < b.path; });
  std::string text = Cat(kPageHead, "\n## Options of all commands\n\nThey may stand before or behind the command.\n",
                         OptionTable(app));
  for (const KnownCommand& command : commands) {
    if (!IsGroup(*command.app)) text += CommandSection(command);
  }
  return text;
}

}  // namespace armature::cli
