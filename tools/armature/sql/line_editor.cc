#include "tools/armature/sql/line_editor.h"

#include <fcntl.h>
#include <histedit.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cwchar>
#include <utility>
#include <vector>

namespace armature::cli {
namespace {

constexpr int kHistoryMax = 1000;
constexpr size_t kShownMax = 100;  // candidates for a completion

// Number of characters of a UTF-8 text.
int CharacterCount(std::string_view text) {
  return static_cast<int>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// Items of the database must not move the cursor or change the terminal.
std::string Printable(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7F') c = '?';
  }
  return text;
}

}  // namespace

struct LineEditor::Impl {
  Interrupt* interrupt;
  Completer complete;
  std::string history_file;
  std::string prompt = {};
  EditLine* editor = nullptr;
  History* history = nullptr;
  bool was_interrupted = false;

  static Impl* Of(EditLine* editor) {
    void* data = nullptr;
    el_get(editor, EL_CLIENTDATA, &data);
    return static_cast<Impl*>(data);
  }

  static char* Prompt(EditLine* editor) { return Of(editor)->prompt.data(); }

  // Waits for a byte of the terminal or for an interrupt. False after an interrupt.
  bool AwaitInput() {
    interrupt->set_is_quiet(true);
    const bool is_there = AwaitByte();
    interrupt->set_is_quiet(false);
    return is_there;
  }

  bool AwaitByte() {
    while (true) {
      std::array<pollfd, 2> files = {pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{interrupt->descriptor(), POLLIN, 0}};
      if (poll(files.data(), files.size(), /*timeout=*/-1) < 0 && errno != EINTR) return true;
      if (interrupt->Take()) {
        was_interrupted = true;
        return false;
      }
      if (files[0].revents != 0) return true;
    }
  }

  // Reads one character: 1, or 0 at the end of the input, or -1.
  static int ReadCharacter(EditLine* editor, wchar_t* to) {
    Impl* const self = Of(editor);
    std::mbstate_t state = {};
    while (true) {
      if (!self->AwaitInput()) return -1;
      char byte = 0;
      const ssize_t count = read(STDIN_FILENO, &byte, 1);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return static_cast<int>(count);
      const size_t used = std::mbrtowc(to, &byte, 1, &state);
      if (used == static_cast<size_t>(-2)) continue;  // the character has more bytes
      if (used == static_cast<size_t>(-1)) {
        state = {};
        continue;
      }
      return 1;
    }
  }

  static unsigned char CompleteWord(EditLine* editor, int /*character*/) {
    Impl* const self = Of(editor);
    const LineInfo* const line = el_line(editor);
    const std::string_view before(line->buffer, static_cast<size_t>(line->cursor - line->buffer));
    const Completions found = self->complete(before);
    if (found.words.empty()) return CC_REFRESH_BEEP;
    const std::string_view word = before.substr(std::min(found.word_begin, before.size()));
    const bool is_one = found.words.size() == 1;
    const std::string text = is_one ? found.words.front() + " " : CommonPrefix(found.words);
    if (is_one || text.size() > word.size()) {
      el_deletestr(editor, CharacterCount(word));
      el_insertstr(editor, Printable(text).c_str());
      return CC_REFRESH;
    }
    std::fputs("\n", stdout);
    for (size_t i = 0; i < std::min(found.words.size(), kShownMax); ++i) {
      std::fprintf(stdout, "%s  ", Printable(found.words[i]).c_str());
    }
    std::fputs(found.words.size() > kShownMax ? "...\n" : "\n", stdout);
    std::fflush(stdout);
    return CC_REDISPLAY;
  }
};

LineEditor::LineEditor(Interrupt* interrupt, Completer complete, std::string history_file)
    : impl_(
          new Impl{.interrupt = interrupt, .complete = std::move(complete), .history_file = std::move(history_file)}) {
  std::setlocale(LC_CTYPE, "");
  if (MB_CUR_MAX == 1) std::setlocale(LC_CTYPE, "C.UTF-8");
  impl_->editor = el_init("armature", stdin, stdout, stderr);
  impl_->history = history_init();
  HistEvent event = {};
  history(impl_->history, &event, H_SETSIZE, kHistoryMax);
  history(impl_->history, &event, H_SETUNIQUE, 1);
  if (!impl_->history_file.empty()) history(impl_->history, &event, H_LOAD, impl_->history_file.c_str());
  EditLine* const editor = impl_->editor;
  el_set(editor, EL_CLIENTDATA, impl_.get());
  el_set(editor, EL_PROMPT, &Impl::Prompt);
  el_set(editor, EL_EDITOR, "emacs");
  el_set(editor, EL_HIST, history, impl_->history);
  el_set(editor, EL_GETCFN, &Impl::ReadCharacter);
  el_set(editor, EL_ADDFN, "armature-complete", "Complete the word", &Impl::CompleteWord);
  el_set(editor, EL_BIND, "^I", "armature-complete", nullptr);
  el_set(editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  el_source(editor, nullptr);  // the user's ~/.editrc
}

LineEditor::~LineEditor() {
  history_end(impl_->history);
  el_end(impl_->editor);
}

LineEditor::Outcome LineEditor::Read(const std::string& prompt, std::string* line) {
  impl_->prompt = prompt;
  impl_->was_interrupted = false;
  int count = 0;
  const char* const text = el_gets(impl_->editor, &count);
  if (impl_->was_interrupted) {
    std::fputs("^C\n", stdout);
    return Outcome::kInterrupted;
  }
  if (text == nullptr || count <= 0) return Outcome::kEnd;
  *line = text;
  while (!line->empty() && (line->back() == '\n' || line->back() == '\r')) line->pop_back();
  return Outcome::kLine;
}

void LineEditor::Remember(const std::string& entry) {
  HistEvent event = {};
  history(impl_->history, &event, H_ENTER, entry.c_str());
  if (impl_->history_file.empty()) return;
  // Created with the right mode before anything is written into it. Several shells may write in turns: the last one
  // counts.
  const int file = open(impl_->history_file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
  if (file < 0) return;
  const bool is_own = fchmod(file, S_IRUSR | S_IWUSR) == 0;
  close(file);
  if (is_own) history(impl_->history, &event, H_SAVE, impl_->history_file.c_str());
}

}  // namespace armature::cli
