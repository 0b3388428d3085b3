#include "tools/armature/tables/table_arguments.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "storage/base/strings.h"
#include "tools/armature/items/short_reads.h"
#include "tools/armature/tables/used_table.h"

namespace armature::cli {
namespace {

constexpr char kOption[] = "--table-name";
constexpr char kArgument[] = "TABLE";
constexpr char kRequest[] = "--cli-input-json";
// Begin of the type of an argument whose words may begin with the table.
constexpr std::string_view kTableFirst = "[TABLE] ";

// Commands that never take the table in use: they make or delete tables, or do something else without a table.
constexpr std::array<std::string_view, 9> kNeverUsed = {
    "table create", "table delete",         "create",       "drop",       "truncate",
    "use",          "backup restore-table", "index status", "stream list"};

// The first argument of the command; null if it has none.
CLI::Option* ArgumentOf(CLI::App& command) {
  for (CLI::Option* const option : command.get_options()) {
    if (option->get_positional()) return option;
  }
  return nullptr;
}

// Gives the option a value after the parser has finished with it.
void Set(CLI::Option* option, const std::vector<std::string>& values) {
  option->clear();
  for (const std::string& value : values) option->add_result(value);
  option->run_callback();
}

// An argument that sets `table`, so that the program and its help know `describe TABLE`.
void AddArgument(CLI::App& command, CLI::Option* table) {
  const auto set = [table](const std::string& word) {
    if (table->count() > 0) {
      throw CLI::ValidationError(Cat("the table is given twice: ", table->results().front(), " and ", word));
    }
    Set(table, {word});
  };
  command.add_option_function<std::string>(kArgument, set, "The same as --table-name")->type_name("");
}

}  // namespace

bool TakesTableFirst(const CLI::App& command) {
  const std::vector<const CLI::Option*> options = command.get_options();
  return std::any_of(options.begin(), options.end(), [](const CLI::Option* option) {
    return option->get_positional() && option->get_type_name().starts_with(kTableFirst);
  });
}

TableArguments::TableArguments(CLI::App& app) : app_(app) { Visit(app, ""); }

void TableArguments::Visit(CLI::App& command, const std::string& path) {
  for (CLI::App* const child : command.get_subcommands({})) {
    Visit(*child, path.empty() ? child->get_name() : Cat(path, " ", child->get_name()));
  }
  CLI::Option* const argument = ArgumentOf(command);
  Place place;
  place.table = command.get_option_no_throw(kOption);
  if (argument != nullptr && absl::EqualsIgnoreCase(argument->get_name(true), kArgument)) {
    // With --table-name, this is the long form of a command whose short form has the argument.
    if (argument != place.table) place.long_form = place.table;
    place.table = argument;
  } else if (place.table == nullptr) {
    return;
  } else if (argument == nullptr) {
    AddArgument(command, place.table);
  } else if (argument != place.table) {
    place.words = argument;
  }
  // Requests may have their table in --cli-input-json: they miss it themselves.
  const bool is_request = command.get_option_no_throw(kRequest) != nullptr;
  place.is_required = place.table->get_required();
  place.table->required(false);
  const bool is_never_used = std::find(kNeverUsed.begin(), kNeverUsed.end(), path) != kNeverUsed.end();
  if (place.words != nullptr && place.is_required && !place.words->get_type_name().starts_with(kTableFirst)) {
    place.words->type_name(Cat(kTableFirst, place.words->get_type_name()));
  }
  place.may_be_used = (is_request || place.is_required) && !is_never_used;
  places_[&command] = place;
}

absl::Status TableArguments::Fill(const Session& session) const {
  const CLI::App* command = &app_;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  const auto found = places_.find(command);
  if (found == places_.end() || found->second.table->count() > 0) return absl::OkStatus();
  const Place& place = found->second;
  if (place.long_form != nullptr && place.long_form->count() > 0) return absl::OkStatus();
  const CLI::Option* const request = command->get_option_no_throw(kRequest);
  if (request != nullptr && request->count() > 0) return absl::OkStatus();
  if (place.words != nullptr && place.is_required) {
    std::vector<std::string> words = place.words->results();
    if (words.size() > static_cast<size_t>(place.words->get_items_expected_min())) {
      Set(place.table, {words.front()});
      words.erase(words.begin());
      Set(place.words, words);
      return absl::OkStatus();
    }
  }
  const std::optional<std::string> used = place.may_be_used ? UsedTable(session) : std::nullopt;
  if (used.has_value()) {
    Set(place.long_form != nullptr && IsLongForm(*command) ? place.long_form : place.table, {*used});
  } else if (place.is_required) {
    return UsageError(Cat(place.table->get_name(), " is required"));
  }
  return absl::OkStatus();
}

}  // namespace armature::cli
