#include "tools/armature/manual/command_tree.h"

#include <cstddef>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

// A hidden command is for programs.
bool IsHiddenCommand(const CLI::App& command) { return command.get_group().empty(); }

std::vector<const CLI::App*> SubcommandsOf(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

void AppendTree(const CLI::App& app, const std::string& path, std::vector<KnownCommand>* commands) {
  commands->push_back({path, &app});
  for (const CLI::App* child : SubcommandsOf(app)) {
    if (IsHiddenCommand(*child)) continue;
    AppendTree(*child, path.empty() ? child->get_name() : Cat(path, " ", child->get_name()), commands);
  }
}

bool TakesNothing(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

// The allowed values; none if any value is allowed. CLI11 keeps the values of IsMember in the name of the type:
// "TEXT:{json,table}".
std::vector<std::string> ValuesOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t open = type.find('{');
  const size_t close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return absl::StrSplit(type.substr(open + 1, close - open - 1), ',');
}

}  // namespace

std::vector<KnownCommand> CommandsOf(const CLI::App& app) {
  std::vector<KnownCommand> commands;
  AppendTree(app, "", &commands);
  return commands;
}

bool IsGroup(const CLI::App& command) { return !SubcommandsOf(command).empty(); }

std::vector<std::string> OptionNamesOf(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_lnames()) names.push_back(Cat("--", name));
  for (const std::string& name : option.get_snames()) names.push_back(Cat("-", name));
  return names;
}

std::string ValueNameOf(const CLI::Option& option) {
  if (TakesNothing(option)) return "";
  const std::string type = option.get_type_name();
  std::string value = absl::StrJoin(ValuesOf(option), "|");
  if (value.empty()) value = type.substr(0, type.find(':'));
  return value.empty() ? "VALUE" : value;
}

}  // namespace armature::cli
