#include "tools/armature/tables/table_arguments.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/command.h"
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

// The argument behind the first one; null if there is none.
CLI::Option* SecondArgumentOf(CLI::App& command) {
  CLI::Option* first = nullptr;
  for (CLI::Option* const option : command.get_options()) {
    if (!option->get_positional()) continue;
    if (first != nullptr) return option;
    first = option;
  }
  return nullptr;
}

// False for a word that is neither a table nor TABLE/INDEX: a key, a condition or an item.
bool MayBeTable(std::string_view word) {
  constexpr std::string_view kMarks = "_.-:/";
  return std::all_of(word.begin(), word.end(), [kMarks](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || kMarks.find(c) != kMarks.npos;
  });
}

// True for the table in use, and its indexes.
bool IsDot(std::string_view word) { return word == "." || word.starts_with("./"); }

// True for a word of an argument that takes files, which cannot name a table: it stands for a file or standard input.
bool IsFileOnly(const std::string& word) {
  if (word == ".") return false;  // the table in use
  if (word.starts_with("arn:")) return false;
  return word == "-" || word.find('/') != word.npos || !MayBeTable(word);
}

bool TakesFiles(const CLI::Option& argument) { return argument.get_type_name().ends_with("FILE"); }

// An error if the word names a table, as the user may have forgotten its key; or if the daemon does not answer.
absl::Status CheckIsKey(const Session& session, const std::string& word) {
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  const absl::Status status = DescribeTable(client, word).status();
  if (status.ok()) {
    return UsageError(Cat("KEY is required; for the key '", word, "' of the table in use write . ", word));
  }
  return ExitCodeOf(status) == ExitCode::kUnreachable ? status : absl::OkStatus();
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
    place.is_argument = true;
    place.rest = SecondArgumentOf(command);
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
  if (place.rest != nullptr) {
    place.is_rest_required = place.rest->get_required();
    place.rest->required(false);
  }
  place.may_be_used = (is_request || place.is_required) && !is_never_used;
  place.asks_before_key = path == "update" || path == "del";
  places_[&command] = place;
}

absl::Status TableArguments::FillRest(const Place& place, const std::optional<std::string>& used,
                                      const Session& session) {
  if (place.rest == nullptr) return absl::OkStatus();
  const std::string rest = place.rest->get_name(true);
  const bool is_missing = place.rest->count() == 0;
  if (used.has_value() && place.table->count() > 0) {
    const std::string word = place.table->results().front();
    const bool misses_value = is_missing && (rest == "KEY" || rest == "ITEM");
    if (!IsDot(word) && (misses_value || !MayBeTable(word))) {
      // A user who forgets the key of `del orders K9` would delete another item.
      if (place.asks_before_key && is_missing && MayBeTable(word)) ARM_RETURN_IF_ERROR(CheckIsKey(session, word));
      std::vector<std::string> words = place.rest->results();
      words.insert(words.begin(), word);
      Set(place.table, {*used});
      Set(place.rest, words);
      return absl::OkStatus();
    }
  }
  return place.is_rest_required && is_missing ? UsageError(Cat(rest, " is required")) : absl::OkStatus();
}

absl::StatusOr<bool> TableArguments::BeginsWithTable(const Place& place, const std::optional<std::string>& used,
                                                     const Session& session) {
  const std::vector<std::string> words = place.words->results();
  if (words.size() <= static_cast<size_t>(place.words->get_items_expected_min())) return false;
  const std::string& word = words.front();
  if (!TakesFiles(*place.words)) return true;
  if (IsFileOnly(word)) return false;
  std::error_code error;
  if (!used.has_value() || IsDot(word) || !std::filesystem::exists(word, error)) return true;
  // A file that is there, and the table in use: the word is a table only if there is one. Items must not get into the
  // wrong table.
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  const absl::Status status = DescribeTable(client, word).status();
  if (status.ok()) {
    return UsageError(Cat("'", word, "' is a table and a file: write ./", word,
                          " for the file of the table in use, or ", kOption, " ", word));
  }
  if (ExitCodeOf(status) == ExitCode::kUnreachable) return status;
  return false;
}

absl::Status TableArguments::FillFromWords(const Place& place, const std::optional<std::string>& used,
                                           const Session& session) {
  if (place.words == nullptr || !place.is_required || place.table->count() > 0) return absl::OkStatus();
  ARM_ASSIGN_OR_RETURN(const bool begins_with_table, BeginsWithTable(place, used, session));
  if (!begins_with_table) return absl::OkStatus();
  std::vector<std::string> words = place.words->results();
  Set(place.table, {words.front()});
  words.erase(words.begin());
  Set(place.words, words);
  return absl::OkStatus();
}

absl::Status TableArguments::FillDot(const Place& place, const std::optional<std::string>& used, CLI::Option* option) {
  if (option == nullptr || option->count() == 0) return absl::OkStatus();
  const std::string word = option->results().front();
  if (!IsDot(word)) return absl::OkStatus();
  if (!place.may_be_used) return UsageError("this command takes no table in use");
  if (!used.has_value()) return UsageError("no table is in use: armature use TABLE");
  // The index of an ARN stands behind a word of its own.
  const bool is_index_of_arn = word.size() > 1 && used->starts_with("arn:");
  Set(option, {Cat(*used, is_index_of_arn ? "/index" : "", word.substr(1))});
  return absl::OkStatus();
}

absl::Status TableArguments::Fill(const Session& session) const {
  const CLI::App* command = &app_;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  const auto found = places_.find(command);
  if (found == places_.end()) return absl::OkStatus();
  const Place& place = found->second;
  const std::optional<std::string> used = place.may_be_used ? UsedTable(session) : std::nullopt;
  const CLI::Option* const request = command->get_option_no_throw(kRequest);
  const bool has_request = request != nullptr && request->count() > 0;
  if (place.is_argument) ARM_RETURN_IF_ERROR(FillRest(place, used, session));
  if (!has_request) ARM_RETURN_IF_ERROR(FillFromWords(place, used, session));
  for (CLI::Option* const option : {place.table, place.long_form}) {
    ARM_RETURN_IF_ERROR(FillDot(place, used, option));
    if (option != nullptr && option->count() > 0) return absl::OkStatus();
  }
  if (has_request) return absl::OkStatus();
  if (used.has_value()) {
    Set(place.table, {*used});
  } else if (place.is_required) {
    return UsageError(Cat(place.table->get_name(), " is required"));
  }
  return absl::OkStatus();
}

}  // namespace armature::cli
