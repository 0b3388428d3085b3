#include "tools/armature/unknown_word.h"

#include <algorithm>

#include "storage/base/did_you_mean.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

const CLI::Option* FindOption(const CLI::App* command, const std::string& name) {
  for (; command != nullptr; command = command->get_parent()) {
    if (const CLI::Option* const option = command->get_option_no_throw(name); option != nullptr) return option;
  }
  return nullptr;
}

std::vector<std::string> OptionNames(const CLI::App* command) {
  std::vector<std::string> names;
  for (; command != nullptr; command = command->get_parent()) {
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back(Cat("--", name));
    }
  }
  return names;
}

}  // namespace

std::string UnknownWord(const CLI::App& app, const std::vector<std::string>& arguments) {
  const CLI::App* command = &app;
  for (size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    const std::string& word = arguments[i];
    if (word.starts_with("--")) {
      const std::string name = word.substr(0, word.find('='));
      const CLI::Option* const option = FindOption(command, name);
      if (option == nullptr) return Cat("unknown option '", name, "'", DidYouMean(name, OptionNames(command)));
      if (option->get_items_expected_max() > 0 && name == word) ++i;  // its value
      continue;
    }
    if (word.starts_with("-")) continue;
    const std::vector<const CLI::App*> subcommands =
        command->get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); });
    if (subcommands.empty()) continue;  // a value
    std::vector<std::string> names;
    names.reserve(subcommands.size());
    for (const CLI::App* known : subcommands) names.push_back(known->get_name());
    const auto found = std::find_if(subcommands.begin(), subcommands.end(),
                                    [&word](const CLI::App* known) { return known->check_name(word); });
    if (found == subcommands.end()) return Cat("unknown command '", word, "'", DidYouMean(word, names));
    command = *found;
  }
  return {};
}

}  // namespace armature::cli
