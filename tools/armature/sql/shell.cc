#include "tools/armature/sql/shell.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "storage/base/strings.h"
#include "tools/armature/command.h"
#include "tools/armature/display.h"
#include "tools/armature/message_json.h"
#include "tools/armature/sql/database_names.h"
#include "tools/armature/sql/interrupt.h"
#include "tools/armature/sql/line_editor.h"
#include "tools/armature/sql/run_statement.h"
#include "tools/armature/sql/sql_text.h"

namespace armature::cli {
namespace {

constexpr char kHelp[] = R"(Statements are PartiQL and end with a semicolon; they may have several lines.
  \d               tables
  \d TABLE         keys and indexes of a table
  \x               items one below the other, or as a table again
  \timing          print the time of each statement, or no longer
  \explain [on|off]     print the operations of a statement instead of executing it
  \consistent [on|off]  reads see all acknowledged writes
  \limit N         print at most N items; 0: all
  \?               this text
  \q, Ctrl-D       end
TAB completes keywords, tables, indexes and attributes. Ctrl-C drops the input, or ends a statement
after the current page; twice, it ends a call that does not return, and the program.
)";

constexpr char kInterruptNotice[] =
    "\nThe statement ends after its current page. Ctrl-C again ends the program at once.\n";

std::string HistoryFile() {
  if (const char* const file = std::getenv("ARMATURE_HISTORY"); file != nullptr) return file;
  const char* const home = std::getenv("HOME");
  return home == nullptr ? std::string() : Cat(home, "/.armature_history");
}

// One entry of the history: the lines of a statement.
std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return std::string(absl::StripAsciiWhitespace(text));
}

std::string KeyText(const Json& schema) {
  std::string text;
  for (const Json& element : schema) {
    if (!text.empty()) text += ", ";
    text += Cat(element.value("AttributeName", ""), element.value("KeyType", "") == "RANGE" ? " (sort)" : "");
  }
  return text;
}

class Shell {
 public:
  Shell(const Session& session, client::Client client, api::v1::ExecuteStatementRequest request, int64_t limit)
      : session_(session),
        client_(std::move(client)),
        names_(client_),
        editor_(
            &interrupt_, [this](std::string_view line) { return CompleteLine(line); }, HistoryFile()),
        request_(std::move(request)),
        limit_(limit > 0 ? limit : kShellLimit) {}

  void Run() {
    Print("PartiQL on " + session_.endpoint() + ". \\? for help.\n");
    std::string line;
    while (!is_over_) {
      switch (editor_.Read(PromptText(), &line)) {
        case LineEditor::Outcome::kEnd:
          Print("\n");
          return;
        case LineEditor::Outcome::kInterrupted:
          input_.clear();
          break;
        case LineEditor::Outcome::kLine:
          Take(line);
          break;
      }
    }
  }

 private:
  void Print(std::string_view text) const {
    session_.PrintText(text);
    session_.Flush();
  }

  std::string PromptText() const {
    if (input_.empty()) return "armature=> ";
    const char quote = SplitSql(input_).quote;
    return quote == 0 ? "       -> " : Cat("      ", std::string(1, quote), "> ");
  }

  Completions CompleteLine(std::string_view line) {
    Completions found = Complete(input_ + std::string(line), &names_);
    // Positions in the line. A word that began on an earlier line is not completed.
    if (found.word_begin < input_.size()) return {};
    found.word_begin -= input_.size();
    return found;
  }

  void Take(const std::string& line) {
    const std::string_view trimmed = Sv(absl::StripAsciiWhitespace(Av(line)));
    if (input_.empty() && trimmed.starts_with('\\')) {
      editor_.Remember(std::string(trimmed));
      return Command(trimmed);
    }
    if (input_.empty() && trimmed.empty()) return;
    input_ += line + "\n";
    const SplitText split = SplitSql(input_);
    if (split.statements.empty()) return;
    editor_.Remember(OneLine(input_));
    input_ = split.rest.empty() ? "" : split.rest + "\n";
    for (const std::string& statement : split.statements) {
      if (!Execute(statement)) break;
    }
    interrupt_.Take();
  }

  // False if the statements after it must not be executed.
  bool Execute(const std::string& statement) {
    request_.set_statement(statement);
    const absl::Time begin = absl::Now();
    const absl::StatusOr<StatementResult> result =
        RunStatement(client_, request_, limit_, [this] { return interrupt_.is_pending(); });
    const absl::Duration time = absl::Now() - begin;
    if (!result.ok()) {
      Print(ErrorLine(result.status(), session_.endpoint()) + "\n");
      return false;
    }
    Show(*result);
    if (has_timing_) Print(absl::StrFormat("Time: %.3f ms\n", absl::ToDoubleMilliseconds(time)));
    return !interrupt_.is_pending();
  }

  void Show(const StatementResult& result) const {
    if (!result.plan.empty()) return Print(result.plan + "\n");
    if (result.items.empty()) return Print("ok\n");
    Print(is_expanded_ ? Expanded(result.items) : ItemsTable(result.items));
    const auto count = static_cast<int64_t>(result.items.size());
    std::string more;
    if (result.has_more) more = interrupt_.is_pending() ? "; interrupted" : "; there are more (\\limit 0 prints all)";
    Print(Cat("(", WithCommas(count), count == 1 ? " item" : " items", more, ")\n"));
  }

  static std::string Expanded(const Json& items) {
    std::string text;
    for (size_t i = 0; i < items.size(); ++i) {
      TextTable table({Cat("- item ", i + 1, " -"), ""});
      for (const auto& [name, value] : items[i].items()) table.AddRow({name, ShowValue(value)});
      text += table.ToString();
    }
    return text;
  }

  void Command(std::string_view line) {
    const size_t blank = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, blank);
    const std::string argument(Sv(absl::StripAsciiWhitespace(Av(line.substr(blank)))));
    if (word == "\\q") {
      is_over_ = true;
    } else if (word == "\\?") {
      Print(kHelp);
    } else if (word == "\\d") {
      Describe(argument);
    } else if (word == "\\x") {
      Switch("Expanded display", argument, &is_expanded_);
    } else if (word == "\\timing") {
      Switch("Timing", argument, &has_timing_);
    } else if (word == "\\explain") {
      bool is_on = request_.explain_only();
      Switch("Explain", argument, &is_on);
      request_.set_explain_only(is_on);
    } else if (word == "\\consistent") {
      bool is_on = request_.consistent_read();
      Switch("Consistent reads", argument, &is_on);
      request_.set_consistent_read(is_on);
    } else if (word == "\\limit") {
      SetLimit(argument);
    } else {
      Print(Cat("There is no command ", word, "; \\? lists them.\n"));
    }
    interrupt_.Take();
  }

  void Switch(std::string_view what, std::string_view argument, bool* is_on) const {
    if (!argument.empty() && argument != "on" && argument != "off") {
      return Print("The argument is on or off, or nothing.\n");
    }
    *is_on = argument.empty() ? !*is_on : argument == "on";
    Print(Cat(what, *is_on ? " is on.\n" : " is off.\n"));
  }

  void SetLimit(const std::string& argument) {
    int64_t limit = -1;
    const auto [end, error] = std::from_chars(argument.data(), argument.data() + argument.size(), limit);
    if (error != std::errc() || end != argument.data() + argument.size() || limit < 0) {
      return Print("\\limit needs a number.\n");
    }
    limit_ = limit;
  }

  void Describe(std::string name) const {
    if (name.size() >= 2 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
    const absl::Status status = name.empty() ? DescribeAll() : DescribeOne(name);
    if (!status.ok()) Print(ErrorLine(status, session_.endpoint()) + "\n");
  }

  absl::Status DescribeAll() const {
    ARM_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListTableNames(client_));
    Json tables = Json::array();
    for (const std::string& name : names) {
      if (interrupt_.is_pending()) break;
      const auto table = DescribeTable(client_, name);
      // Deleted meanwhile.
      if (!table.ok()) continue;
      const Json json = MessageToJson(*table);
      tables.push_back({{"Table", name},
                        {"Key", KeyText(json.value("KeySchema", Json::array()))},
                        {"Items", WithCommas(table->item_count())},
                        {"Indexes", table->local_secondary_indexes_size() + table->global_secondary_indexes_size()}});
    }
    Print(RecordsTable(tables, {"Table", "Key", "Items", "Indexes"}));
    return absl::OkStatus();
  }

  absl::Status DescribeOne(const std::string& name) const {
    ARM_ASSIGN_OR_RETURN(const api::v1::TableDescription table, DescribeTable(client_, name));
    const Json json = MessageToJson(table);
    Json rows = Json::array();
    rows.push_back({{"Name", name}, {"Kind", "table"}, {"Key", KeyText(json.value("KeySchema", Json::array()))}});
    for (const auto& [member, kind] :
         {std::pair{"LocalSecondaryIndexes", "local index"}, std::pair{"GlobalSecondaryIndexes", "global index"}}) {
      for (const Json& index : json.value(member, Json::array())) {
        rows.push_back({{"Name", index.value("IndexName", "")},
                        {"Kind", kind},
                        {"Key", KeyText(index.value("KeySchema", Json::array()))},
                        {"Projection", index.value("Projection", Json::object()).value("ProjectionType", "")}});
      }
    }
    Print(RecordsTable(rows, {"Name", "Kind", "Key", "Projection"}));
    return absl::OkStatus();
  }

  const Session& session_;
  const client::Client client_;
  Interrupt interrupt_{kInterruptNotice};
  DatabaseNames names_;
  LineEditor editor_;
  api::v1::ExecuteStatementRequest request_;
  int64_t limit_;
  std::string input_;  // the lines of a statement that is not complete
  bool is_expanded_ = false;
  bool has_timing_ = false;
  bool is_over_ = false;
};

}  // namespace

absl::Status RunShell(const Session& session, client::Client client, api::v1::ExecuteStatementRequest request,
                      int64_t limit) {
  Shell(session, std::move(client), std::move(request), limit).Run();
  return absl::OkStatus();
}

}  // namespace armature::cli
