#include "tools/armature/sql/console.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/pager.h"
#include "tools/armature/sql/console_commands.h"
#include "tools/armature/sql/error_place.h"

namespace armature::cli {
namespace {

constexpr int kTextDepthMax = 16;  // files that name files
constexpr double kWatchSecondsMax = 86400;

std::string TrimmedText(std::string_view text) { return std::string(Sv(absl::StripAsciiWhitespace(Av(text)))); }

// The argument without the quotes around it and without a semicolon behind it.
std::string PlainArgument(std::string_view argument) {
  std::string text = TrimmedText(argument);
  while (!text.empty() && text.back() == ';') text = TrimmedText(std::string_view(text).substr(0, text.size() - 1));
  const bool is_quoted =
      text.size() >= 2 && text.front() == text.back() && (text.front() == '\'' || text.front() == '"');
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

std::string_view ConsoleHelp() {
  return R"(Statements are PartiQL and the SQL of docs/reference/shell.md. They end with a semicolon and may have several
lines.
  \d [TABLE]            tables; keys and indexes of a table
  \x [on|off]           items one below the other
  \format FORMAT        table, json, jsonl, csv or document
  \pager [on|off|COMMAND]  results longer than the screen go through it
  \o [FILE]             print results into a file; back to the terminal
  \i FILE               execute the statements of a file
  \e [FILE]             edit the statement, or a file, with $EDITOR
  \g  \p  \r            execute, print or drop the statement that is being typed
  \watch [SECONDS]      repeat the last statement until Ctrl-C; 2 seconds
  \copy TABLE to FILE   write all items into a file, *.csv as CSV, else as JSON lines
  \copy TABLE from FILE put the items of a file
  \timing [on|off]      print the time of each statement
  \explain [on|off]     print the plan of a statement instead of executing it, as EXPLAIN does
  \consistent [on|off]  reads see all acknowledged writes
  \limit N              print at most N items; 0: all
  \maxitems N           items that a statement reads for groups, sums and orders
  \conninfo             the daemon
  \?, help              this text
  \q, quit, exit, Ctrl-D  end
TAB completes keywords, tables, indexes and attributes. Ctrl-C drops the input, or ends a statement
after the current page; twice, it ends a call that does not return, and the program.
)";
}

Console::Console(const Session& session, client::Client client, Options options, Interrupt* interrupt)
    : session_(session),
      client_(std::move(client)),
      options_(std::move(options)),
      interrupt_(interrupt),
      output_(session, options_.format) {
  if (session.is_interactive() && session.may_page()) output_.set_pager(PagerCommand());
}

SqlContext Console::MakeContext() const {
  return {.session = session_,
          .client = client_,
          .is_interrupted = [this] { return interrupt_->is_pending(); },
          .settings = options_.settings,
          .parameters = options_.parameters};
}

absl::Status Console::Execute(const SqlPiece& piece, StatementReader* reader) {
  if (piece.kind == SqlPiece::Kind::kCommand) return Command(piece.text, reader);
  return Statement(piece.text);
}

absl::Status Console::Statement(const std::string& text) {
  last_statement_ = text;
  const absl::Time begin = absl::Now();
  const absl::StatusOr<SqlResult> result = runner_.Run(MakeContext(), text);
  const absl::Duration time = absl::Now() - begin;
  ARM_RETURN_IF_ERROR(result.status());
  ARM_RETURN_IF_ERROR(
      output_.Show(*result, interrupt_->is_pending() ? std::string_view("interrupted") : options_.limit_hint));
  if (has_timing_) output_.Say(absl::StrFormat("Time: %.3f ms\n", absl::ToDoubleMilliseconds(time)));
  return absl::OkStatus();
}

void Console::PrintError(const absl::Status& status, std::string_view piece) const {
  const std::string detail = ErrorDetail(status);
  const std::string text =
      Cat(ErrorLine(status, session_.endpoint()), "\n", detail.empty() ? PlaceLinesOf(status, piece) : detail);
  if (session_.is_interactive()) {
    output_.Say(text);
  } else {
    session_.progress() << text << std::flush;
  }
}

absl::Status Console::ExecuteText(std::istream& text, const std::string& name) {
  if (depth_ >= kTextDepthMax) return InputError(Cat("more than ", kTextDepthMax, " files name each other"));
  ++depth_;
  StatementReader reader;
  absl::Status first = absl::OkStatus();
  const auto run = [&](const SqlPiece& piece) {
    absl::Status status = Execute(piece, &reader);
    if (status.ok()) return true;
    status = WithSource(status, Cat(name, ":", piece.line), PlaceLinesOf(status, piece.text));
    const bool goes_on = options_.keep_going && !absl::IsCancelled(status);
    if (goes_on) PrintError(status, piece.text);
    if (first.ok()) first = goes_on ? Reported(status) : status;
    return goes_on;
  };
  bool goes_on = true;
  std::string line;
  while (goes_on && !is_over_ && std::getline(text, line)) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    reader.AddLine(line);
    while (goes_on && !is_over_) {
      const std::optional<SqlPiece> piece = reader.Next();
      if (!piece.has_value()) break;
      goes_on = run(*piece);
      if (interrupt_->is_pending()) goes_on = false;
    }
  }
  if (goes_on && !is_over_) {
    if (const std::optional<SqlPiece> rest = reader.TakeBuffer(); rest.has_value()) run(*rest);
  }
  --depth_;
  if (depth_ == 0 && first.ok()) first = CheckEnd();
  return first;
}

absl::Status Console::ExecuteFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::error_code error;
  if (!file.is_open() || std::filesystem::is_directory(path, error)) return InputError(Cat("cannot read ", path));
  const absl::Status status = ExecuteText(file, path);
  return status.ok() && file.bad() ? InputError(Cat("cannot read ", path, " to its end")) : status;
}

absl::Status Console::CheckEnd() const { return runner_.CheckEnd(); }

absl::Status Console::Command(std::string_view line, StatementReader* reader) {
  const size_t blank = std::min(line.find_first_of(" \t;"), line.size());
  const std::string word(line.substr(0, blank));
  const std::string raw = TrimmedText(line.substr(blank));
  const std::string argument = PlainArgument(raw);
  bool is_command = true;
  const absl::Status switched = SwitchCommand(word, argument, &is_command);
  if (is_command) return switched;
  const std::map<std::string_view, std::function<absl::Status()>> commands = {
      {"\\d", [&] { return DescribeCommand(argument); }},
      {"\\dt", [&] { return DescribeAll(); }},
      {"\\o", [&] { return output_.SetFile(argument); }},
      {"\\i", [&] { return argument.empty() ? UsageError("\\i needs a file") : ExecuteFile(argument); }},
      {"\\e", [&] { return EditCommand(argument, reader); }},
      {"\\g", [&] { return RunBuffer(reader); }},
      {"\\watch", [&] { return WatchCommand(argument, reader); }},
      {"\\copy", [&] { return CopyCommand(raw); }},
  };
  const auto found = commands.find(word);
  if (found != commands.end()) return found->second();
  if (word == "\\q") {
    is_over_ = true;
  } else if (word == "\\?" || word == "\\h") {
    output_.Say(ConsoleHelp());
  } else if (word == "\\p") {
    output_.Say(Cat(reader->buffer().empty() ? last_statement_ : TrimmedText(reader->buffer()), "\n"));
  } else if (word == "\\r") {
    reader->Clear();
    output_.Say("The input is dropped.\n");
  } else if (word == "\\conninfo") {
    output_.Say(Cat("The daemon at ", session_.endpoint(), ".\n"));
  } else {
    return UsageError(Cat("there is no command ", word, "; \\? lists them"));
  }
  return absl::OkStatus();
}

absl::Status Console::SwitchCommand(std::string_view word, const std::string& argument, bool* is_command) {
  SqlSettings& settings = options_.settings;
  if (word == "\\timing") return Switch("Timing", argument, &has_timing_);
  if (word == "\\explain") return Switch("Explain", argument, &settings.explain);
  if (word == "\\consistent") return Switch("Consistent reads", argument, &settings.consistent_read);
  if (word == "\\limit") return SetNumber(word, argument, &settings.limit);
  if (word == "\\maxitems") return SetNumber(word, argument, &settings.computed_max);
  if (word == "\\format") return SetFormat(argument);
  if (word == "\\pager") return SetPager(argument);
  if (word == "\\x") {
    bool is_on = output_.is_expanded();
    const absl::Status status = Switch("Expanded display", argument, &is_on);
    output_.set_is_expanded(is_on);
    return status;
  }
  *is_command = false;
  return absl::OkStatus();
}

absl::Status Console::Switch(std::string_view what, std::string_view argument, bool* is_on) const {
  if (!argument.empty() && argument != "on" && argument != "off") {
    return UsageError("the argument is on or off, or nothing");
  }
  *is_on = argument.empty() ? !*is_on : argument == "on";
  output_.Say(Cat(what, *is_on ? " is on.\n" : " is off.\n"));
  return absl::OkStatus();
}

absl::Status Console::SetNumber(std::string_view word, const std::string& argument, int64_t* number) const {
  int64_t value = -1;
  const char* const end = argument.data() + argument.size();
  const auto parsed = std::from_chars(argument.data(), end, value);
  const int64_t min = number == &options_.settings.computed_max ? 1 : 0;
  if (parsed.ec != std::errc() || parsed.ptr != end || value < min) return UsageError(Cat(word, " needs a number"));
  *number = value;
  return absl::OkStatus();
}

absl::Status Console::SetFormat(const std::string& argument) {
  if (argument.empty()) {
    output_.Say(Cat("The format is ", SqlFormatName(output_.format()), ".\n"));
    return absl::OkStatus();
  }
  const std::optional<SqlFormat> format = ParseSqlFormat(argument);
  if (!format.has_value()) return UsageError("\\format is table, json, jsonl, csv or document");
  output_.set_format(*format);
  return absl::OkStatus();
}

absl::Status Console::SetPager(const std::string& argument) {
  if (argument == "off" || (argument.empty() && !output_.pager().empty())) {
    output_.set_pager("");
  } else {
    const std::string pager = argument.empty() || argument == "on" ? PagerCommand() : UsablePager(argument);
    if (pager.empty()) return UsageError("there is no such pager; $ARMATURE_PAGER, $PAGER or less is taken");
    output_.set_pager(pager);
  }
  output_.Say(output_.pager().empty() ? "The pager is off.\n" : Cat("The pager is ", output_.pager(), ".\n"));
  return absl::OkStatus();
}

absl::Status Console::DescribeCommand(std::string name) const {
  if (name.empty()) return DescribeAll();
  ARM_ASSIGN_OR_RETURN(const std::string text, DescribedTable(client_, name));
  output_.Say(text);
  return absl::OkStatus();
}

absl::Status Console::DescribeAll() const {
  ARM_ASSIGN_OR_RETURN(const std::string text, DescribedTables(client_, [this] { return interrupt_->is_pending(); }));
  output_.Say(text);
  return absl::OkStatus();
}

absl::Status Console::CopyCommand(const std::string& arguments) const {
  ARM_ASSIGN_OR_RETURN(const CopyArguments copy, ParseCopy(arguments));
  ARM_ASSIGN_OR_RETURN(const std::string text, RunCopy(MakeContext(), copy));
  output_.Say(text + "\n");
  return absl::OkStatus();
}

absl::Status Console::EditCommand(const std::string& path, StatementReader* reader) const {
  const std::string buffer = TrimmedText(reader->buffer());
  ARM_ASSIGN_OR_RETURN(
      const std::string text,
      EditText(path, buffer.empty() ? Cat(last_statement_, last_statement_.empty() ? "" : ";") : buffer));
  reader->Clear();
  output_.Say(text);
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    reader->AddLine(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
  }
  return absl::OkStatus();
}

// The place of an error is in the statement, not in the command that executes it.
absl::Status Console::Repeat() {
  const std::string statement = last_statement_;
  const absl::Status status = Statement(statement);
  return WithSource(status, "", PlaceLinesOf(status, statement));
}

absl::Status Console::RunBuffer(StatementReader* reader) {
  const std::optional<SqlPiece> piece = reader->TakeBuffer();
  if (piece.has_value() && piece->kind == SqlPiece::Kind::kCommand) return Execute(*piece, reader);
  if (piece.has_value()) last_statement_ = piece->text;
  if (last_statement_.empty()) return UsageError("there is no statement");
  return Repeat();
}

absl::Status Console::WatchCommand(const std::string& argument, StatementReader* reader) {
  double seconds = 2;
  if (!argument.empty()) {
    const char* const end = argument.data() + argument.size();
    const auto parsed = std::from_chars(argument.data(), end, seconds);
    if (parsed.ec != std::errc() || parsed.ptr != end || !(seconds > 0) || seconds > kWatchSecondsMax) {
      return UsageError("\\watch needs a number of seconds");
    }
  }
  if (const std::optional<SqlPiece> piece = reader->TakeBuffer(); piece.has_value()) last_statement_ = piece->text;
  if (last_statement_.empty()) return UsageError("there is no statement to watch");
  while (!interrupt_->is_pending()) {
    output_.Say(Cat(absl::FormatTime("%a %Y-%m-%d %H:%M:%S", absl::Now(), absl::LocalTimeZone()),
                    absl::StrFormat(" (every %g s)\n", seconds)));
    ARM_RETURN_IF_ERROR(Repeat());
    interrupt_->Wait(absl::Seconds(seconds));
  }
  return absl::OkStatus();
}

}  // namespace armature::cli
