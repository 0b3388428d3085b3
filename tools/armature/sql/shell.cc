#include "tools/armature/sql/shell.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "storage/base/strings.h"
#include "tools/armature/sql/database_names.h"
#include "tools/armature/sql/line_editor.h"
#include "tools/armature/sql/statement_reader.h"

namespace armature::cli {
namespace {

std::string HistoryFile() {
  if (const char* const file = std::getenv("ARMATURE_HISTORY"); file != nullptr) return file;
  const char* const home = std::getenv("HOME");
  return home == nullptr ? std::string() : Cat(home, "/.armature_history");
}

// One entry of the history: the lines of a statement.
std::string HistoryEntry(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return std::string(absl::StripAsciiWhitespace(text));
}

class Shell {
 public:
  Shell(const Session& session, client::Client client, Console::Options options, Interrupt* interrupt)
      : session_(session),
        interrupt_(interrupt),
        names_(client),
        editor_(
            interrupt, [this](std::string_view line) { return CompleteLine(line); }, HistoryFile()),
        console_(session, std::move(client), std::move(options), interrupt) {}

  void Run() {
    Print("Armature SQL on " + session_.endpoint() + ". help or \\? for help, quit or Ctrl-D to leave.\n");
    std::string line;
    while (!console_.is_over()) {
      switch (editor_.Read(PromptText(), &line)) {
        case LineEditor::Outcome::kEnd:
          Print("\n");
          return Leave();
        case LineEditor::Outcome::kInterrupted:
          Drop();
          break;
        case LineEditor::Outcome::kLine:
          Take(line);
          break;
      }
    }
    Leave();
  }

 private:
  void Print(std::string_view text) const {
    session_.PrintText(text);
    session_.Flush();
  }

  void Leave() const {
    if (const absl::Status open = console_.CheckEnd(); !open.ok()) console_.PrintError(open, "");
  }

  std::string PromptText() const {
    const bool is_open = !reader_.buffer().empty() || reader_.open_quote() != 0;
    if (!is_open) return Cat("armature", console_.prompt_mark(), "> ");
    const char quote = reader_.open_quote();
    return Cat(quote == 0 ? "       -" : "       ", quote == 0 ? "" : std::string(1, quote), "> ");
  }

  Completions CompleteLine(std::string_view line) {
    const std::string& buffer = reader_.buffer();
    Completions found = Complete(buffer + std::string(line), &names_);
    // Positions in the line. A word that began on an earlier line is not completed.
    if (found.word_begin < buffer.size()) return {};
    found.word_begin -= buffer.size();
    return found;
  }

  void Drop() {
    reader_.Clear();
    entry_.clear();
  }

  void Take(const std::string& line) {
    if (entry_.empty() && absl::StripAsciiWhitespace(line).empty()) return;
    entry_ += line + "\n";
    reader_.AddLine(line);
    const std::optional<SqlPiece> first = reader_.Next();
    if (!first.has_value()) return HintAtEnd(line);
    editor_.Remember(HistoryEntry(std::exchange(entry_, "")));
    for (std::optional<SqlPiece> piece = first; piece.has_value() && !console_.is_over(); piece = reader_.Next()) {
      const absl::Status status = console_.Execute(*piece, &reader_);
      if (status.ok() && !interrupt_->is_pending()) continue;
      if (!status.ok()) console_.PrintError(status, piece->text);
      // The statements behind it are not executed.
      while (reader_.Next().has_value()) {
      }
      break;
    }
    if (!reader_.buffer().empty()) entry_ = reader_.buffer();
    interrupt_->Take();
  }

  // Somebody who wants to leave is told how.
  void HintAtEnd(std::string_view line) {
    const std::string word = absl::AsciiStrToLower(absl::StripAsciiWhitespace(Av(line)));
    if (word == "quit" || word == "exit" || word == "help") {
      Print("A statement is being typed: end it by ; or drop it by Ctrl-C. \\q ends the shell.\n");
    }
  }

  const Session& session_;
  Interrupt* const interrupt_;
  DatabaseNames names_;
  LineEditor editor_;
  Console console_;
  StatementReader reader_;
  std::string entry_;  // lines of the statement, for the history
};

}  // namespace

void RunShell(const Session& session, client::Client client, Console::Options options, Interrupt* interrupt) {
  Shell(session, std::move(client), std::move(options), interrupt).Run();
}

const char kInterruptNotice[] = "\nThe statement ends after its current page. Ctrl-C again ends the program at once.\n";

}  // namespace armature::cli
