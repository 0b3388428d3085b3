#include "tools/armature/complete_words.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

constexpr std::array<std::string_view, 8> kConnectionOptions = {
    "--endpoint", "--profile", "--tls", "--tls-ca", "--tls-cert", "--tls-key", "--access-key", "--secret-file"};
constexpr std::string_view kTlsFlag = "--tls";
// Options whose value is an attribute of the table, or begins with one.
constexpr std::array<std::string_view, 7> kAttributeOptions = {
    "--enable", "--columns",           "--projection-expression", "--key-condition-expression",
    "--where",  "--filter-expression", "--condition-expression"};

bool TakesNoValue(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

// A hidden command has no group.
std::vector<const CLI::App*> CommandsIn(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

// The option of this name of the command, or of one above it.
const CLI::Option* OptionNamed(const CLI::App* command, const std::string& name) {
  for (; command != nullptr; command = command->get_parent()) {
    if (const CLI::Option* const option = command->get_option_no_throw(name); option != nullptr) return option;
  }
  return nullptr;
}

// The values that an option allows; none if any value is allowed. CLI11 keeps them in the name of the type:
// "TEXT:{json,table}".
std::vector<std::string> AllowedValues(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t open = type.find('{');
  const size_t close = type.rfind('}');
  if (TakesNoValue(option) || open == std::string::npos || close == std::string::npos || close < open) return {};
  return absl::StrSplit(type.substr(open + 1, close - open - 1), ',');
}

bool IsNamed(const CLI::Option& option, std::string_view name) {
  return option.check_name(std::string(name)) ||
         (option.get_positional() && absl::EqualsIgnoreCase(Av(option.get_name(true)), Av(name)));
}

bool TakesFiles(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return absl::StrContains(type, "FILE") || absl::StrContains(type, "DIR") || absl::StrContains(type, "PATH");
}

// Understands the words before the last one, then completes that.
class Completer {
 public:
  Completer(const CLI::App& app, const NamesForCompletion& names) : names_(names), command_(&app) {}

  WordCompletions Run(const std::vector<std::string>& words) {
    const std::string last = words.empty() ? "" : words.back();
    for (size_t i = 0; i + 1 < words.size(); ++i) Read(words[i]);
    if (pending_ != nullptr && !(last.starts_with('-') && may_end_)) {
      AddValues(*pending_, "", last);
    } else if (const size_t equals = last.find('='); last.starts_with("--") && equals != std::string::npos) {
      const CLI::Option* const option = OptionNamed(command_, last.substr(0, equals));
      if (option != nullptr) AddValues(*option, last.substr(0, equals + 1), last.substr(equals + 1));
    } else if (last.starts_with('-') && !only_words_) {
      AddOptions();
    } else if (const auto commands = CommandsIn(*command_); !commands.empty()) {
      for (const CLI::App* command : commands) found_.words.push_back(command->get_name());
    } else {
      AddArgument(last);
    }
    std::erase_if(found_.words, [&](const std::string& word) { return !word.starts_with(last); });
    std::sort(found_.words.begin(), found_.words.end());
    found_.words.erase(std::unique(found_.words.begin(), found_.words.end()), found_.words.end());
    return std::move(found_);
  }

 private:
  void Read(const std::string& word) {
    if (word == "--") {
      only_words_ = true;
      pending_ = nullptr;
    } else if (word.starts_with('-') && word.size() > 1 && !only_words_ && (pending_ == nullptr || may_end_)) {
      ReadOption(word);
    } else if (pending_ != nullptr) {
      NoteValue(*pending_, word);
      may_end_ = true;
      if (++values_ >= pending_->get_items_expected_max()) pending_ = nullptr;
    } else {
      ReadWord(word);
    }
  }

  void ReadOption(const std::string& word) {
    const size_t equals = word.find('=');
    const CLI::Option* const option = OptionNamed(command_, word.substr(0, equals));
    pending_ = nullptr;
    if (option == nullptr || TakesNoValue(*option)) return;
    if (equals != std::string::npos) {
      NoteValue(*option, word.substr(equals + 1));
      return;
    }
    pending_ = option;
    values_ = 0;
    may_end_ = false;
  }

  void ReadWord(const std::string& word) {
    for (const CLI::App* command : CommandsIn(*command_)) {
      if (!command->check_name(word)) continue;
      command_ = command;
      return;
    }
    const CLI::Option* const argument = ArgumentAt(arguments_);
    if (argument != nullptr && (IsNamed(*argument, "TABLE") || IsTableFirst())) table_ = word;
    ++arguments_;
  }

  void NoteValue(const CLI::Option& option, const std::string& value) {
    if (!IsNamed(option, "--table-name")) return;
    table_ = value;
    is_table_given_ = true;
  }

  // The argument that the word at this position belongs to; null if there is none. The last one takes all further words
  // that it may.
  const CLI::Option* ArgumentAt(int position) const {
    for (const CLI::Option* option : command_->get_options()) {
      if (!option->get_positional()) continue;
      const int size = option->get_items_expected_max();
      if (position < size) return option;
      position -= size;
    }
    return nullptr;
  }

  // True if the next word is a table before the arguments of the command.
  bool IsTableFirst() const {
    return arguments_ == 0 && !is_table_given_ && names_.begins_with_table != nullptr &&
           names_.begins_with_table(*command_);
  }

  std::string Table() const { return table_.empty() ? names_.used_table : table_; }

  void Add(const std::vector<std::string>& words, const std::string& before) {
    for (const std::string& word : words) found_.words.push_back(before + word);
  }

  void AddOptions() {
    for (const CLI::App* command = command_; command != nullptr; command = command->get_parent()) {
      for (const CLI::Option* option : command->get_options()) {
        for (const std::string& name : option->get_lnames()) found_.words.push_back(Cat("--", name));
        for (const std::string& name : option->get_snames()) found_.words.push_back(Cat("-", name));
      }
    }
  }

  void AddArgument(const std::string& word) {
    const CLI::Option* const argument = ArgumentAt(arguments_);
    if (IsTableFirst()) {
      Add(names_.database->Tables(), "");
    } else if (argument != nullptr) {
      AddValues(*argument, "", word);
    }
  }

  // `before`: what stands before the value in the same word.
  void AddValues(const CLI::Option& option, const std::string& before, const std::string& value) {
    const std::vector<std::string> values = AllowedValues(option);
    if (!values.empty()) {
      Add(values, before);
    } else if (IsNamed(option, "--table-name") || IsNamed(option, "TABLE")) {
      Add(names_.database->Tables(), before);
    } else if (IsNamed(option, "--index-name") || IsNamed(option, "INDEX")) {
      if (!Table().empty()) Add(names_.database->Indexes(Table()), before);
    } else if (IsNamed(option, "--profile")) {
      Add(names_.profiles, before);
    } else if (IsAttribute(option)) {
      if (!Table().empty() && !value.starts_with('@')) Add(names_.database->Attributes(Table()), before);
    } else {
      found_.files = TakesFiles(option);
    }
  }

  static bool IsAttribute(const CLI::Option& option) {
    return IsNamed(option, "ATTRIBUTE") || std::any_of(kAttributeOptions.begin(), kAttributeOptions.end(),
                                                       [&](std::string_view name) { return IsNamed(option, name); });
  }

  const NamesForCompletion& names_;
  const CLI::App* command_;
  const CLI::Option* pending_ = nullptr;  // the option whose value comes next
  bool may_end_ = false;                  // it has a value, and may have more
  int values_ = 0;                        // number of its values so far
  bool only_words_ = false;               // behind --
  int arguments_ = 0;                     // number of words of the command so far
  std::string table_;
  bool is_table_given_ = false;
  WordCompletions found_;
};

}  // namespace

WordCompletions CompleteWords(const CLI::App& app, const std::vector<std::string>& words,
                              const NamesForCompletion& names) {
  return Completer(app, names).Run(words);
}

BashWords JoinBashWords(const std::vector<std::string>& words) {
  BashWords joined;
  bool is_open = false;  // the word before ends with ':' or '='
  for (const std::string& word : words) {
    const bool is_glue = !word.empty() && word.find_first_not_of(":=") == std::string::npos;
    if (!joined.words.empty() && (is_glue || is_open)) {
      joined.kept = Cat(joined.words.back(), is_glue ? word : "");
      joined.words.back() += word;
    } else {
      joined.words.push_back(word);
      joined.kept.clear();
    }
    is_open = is_glue;
  }
  return joined;
}

std::vector<std::string> ConnectionOptions(const std::vector<std::string>& words) {
  std::vector<std::string> options;
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string name = words[i].substr(0, words[i].find('='));
    if (std::find(kConnectionOptions.begin(), kConnectionOptions.end(), name) == kConnectionOptions.end()) continue;
    options.push_back(words[i]);
    if (name == words[i] && name != kTlsFlag && i + 2 < words.size()) {
      options.push_back(words[++i]);
    } else if (name == words[i] && name != kTlsFlag) {
      options.pop_back();  // its value is the last word
    }
  }
  return options;
}

}  // namespace armature::cli
