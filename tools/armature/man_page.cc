#include "tools/armature/man_page.h"

#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "armature/version.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

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

std::string OptionEntry(const TreeOption& option) {
  std::string names = absl::StrJoin(
      option.names, ", ", [](std::string* out, const std::string& name) { *out += Cat("\\fB", Plain(name), "\\fR"); });
  const std::string value = option.values.empty() ? option.value : absl::StrJoin(option.values, "|");
  if (!value.empty()) names += Cat(names.empty() ? "" : " ", "\\fI", Plain(value), "\\fR");
  return Cat(".TP\n", names, option.is_required ? " (required)" : "", "\n", Plain(option.description), "\n");
}

}  // namespace

std::string ManPage(const std::vector<TreeCommand>& commands) {
  const TreeCommand& program = commands.front();
  std::string page = ".\\\" Made by 'armature man'.\n.TH ARMATURE 1 \"\" \"Armature ";
  page += Cat(kVersion, "\" \"User Commands\"\n");
  page += ".SH NAME\narmature \\- command line of the Armature database daemon\n";
  page += ".SH SYNOPSIS\n.B armature\n[\\fIOPTIONS\\fR] \\fICOMMAND\\fR ...\n";
  page += Cat(".SH DESCRIPTION\n", Plain(program.description), "\n");
  page += ".SH OPTIONS\nThese may stand before or behind the command.\n";
  for (const TreeOption& option : program.options) page += OptionEntry(option);
  page += ".SH COMMANDS\n";
  for (const TreeCommand& command : commands) {
    if (command.path.empty() || !command.subcommands.empty()) continue;
    page += Cat(".SS armature ", Plain(command.path), "\n", Plain(command.description), "\n");
    for (const TreeOption& option : command.options) {
      if (option.names.empty() || option.names.back() != "-h") page += OptionEntry(option);
    }
    const std::string_view footer = Sv(absl::StripAsciiWhitespace(command.footer));
    if (!footer.empty()) page += Cat(".PP\n", Verbatim(footer));
  }
  page += Cat(".SH NOTES\n", Verbatim(Sv(absl::StripAsciiWhitespace(program.footer))));
  page +=
      ".SH SEE ALSO\narmatured(8), armature\\-bench(1); OPERATIONS.md, SECURITY.md and METRICS.md in "
      "share/doc/armature\n";
  return page;
}

}  // namespace armature::cli
