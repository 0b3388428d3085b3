#include "tools/armature/cli_tree.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_split.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

// CLI11 keeps the values of IsMember in the name of the type: "TEXT:{json,table}".
std::vector<std::string> ValuesOf(std::string_view type) {
  const size_t open = type.find('{');
  const size_t close = type.rfind('}');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  return absl::StrSplit(Av(type.substr(open + 1, close - open - 1)), ',');
}

TreeOption OptionOf(const CLI::Option& option) {
  TreeOption result;
  for (const std::string& name : option.get_lnames()) result.names.push_back(Cat("--", name));
  for (const std::string& name : option.get_snames()) result.names.push_back(Cat("-", name));
  result.description = option.get_description();
  result.is_required = option.get_required();
  if (option.get_items_expected_max() == 0) return result;
  const std::string type = option.get_type_name();
  result.values = ValuesOf(type);
  result.value = type.substr(0, type.find(':'));
  if (result.value.empty()) result.value = "VALUE";
  return result;
}

void AddCommand(const CLI::App& app, const std::string& path, std::vector<TreeCommand>* commands) {
  TreeCommand command;
  command.path = path;
  command.description = app.get_description();
  command.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options()) command.options.push_back(OptionOf(*option));
  const std::vector<const CLI::App*> children = app.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* child : children) command.subcommands.push_back(child->get_name());
  commands->push_back(std::move(command));
  for (const CLI::App* child : children) {
    AddCommand(*child, path.empty() ? child->get_name() : Cat(path, " ", child->get_name()), commands);
  }
}

}  // namespace

std::vector<TreeCommand> CommandTree(const CLI::App& app) {
  std::vector<TreeCommand> commands;
  AddCommand(app, "", &commands);
  return commands;
}

}  // namespace armature::cli
