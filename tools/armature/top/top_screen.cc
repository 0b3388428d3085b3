#include "tools/armature/top/top_screen.h"

#include <algorithm>
#include <clocale>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "storage/base/strings.h"
#include "tools/armature/session.h"

// Last, because it defines OK, ERR and the like as macros.
#define NCURSES_NOMACROS 1
#include <ncurses.h>

namespace armature::cli {
namespace {

constexpr short kAlarmColors = 1;
constexpr int kRedraw = 'L' - '@';  // Ctrl-L, as elsewhere

class CursesScreen final : public TopScreen {
 public:
  explicit CursesScreen(SCREEN* screen) : screen_(screen) {
    cbreak();
    noecho();
    curs_set(0);
    keypad(stdscr, TRUE);
    if (has_colors()) {
      start_color();
      use_default_colors();
      init_pair(kAlarmColors, COLOR_RED, -1);
    }
  }

  ~CursesScreen() override {
    endwin();
    delscreen(screen_);
  }

  CursesScreen(const CursesScreen&) = delete;
  CursesScreen& operator=(const CursesScreen&) = delete;

  size_t width() const override { return static_cast<size_t>(std::max(getmaxx(stdscr), 1)); }
  size_t height() const override { return static_cast<size_t>(std::max(getmaxy(stdscr), 1)); }

  void Show(const std::vector<TopLine>& lines) override {
    erase();
    for (size_t i = 0; i < lines.size() && i < height(); ++i) {
      const attr_t attributes = AttributesOf(lines[i].style);
      attr_on(attributes, nullptr);
      mvaddnstr(static_cast<int>(i), 0, lines[i].text.c_str(), -1);
      attr_off(attributes, nullptr);
    }
    refresh();
  }

  int Key(absl::Duration patience) override {
    timeout(static_cast<int>(std::clamp<int64_t>(absl::ToInt64Milliseconds(patience), 0, INT32_MAX)));
    const int key = getch();
    if (key == kRedraw) clearok(curscr, TRUE);
    return key == ERR || key > UINT8_MAX ? kNoKey : key;
  }

 private:
  static attr_t AttributesOf(TopLine::Style style) {
    switch (style) {
      case TopLine::Style::kPlain:
        return A_NORMAL;
      case TopLine::Style::kTitle:
        return A_REVERSE;
      case TopLine::Style::kAlarm:
        return has_colors() ? A_BOLD | static_cast<attr_t>(COLOR_PAIR(kAlarmColors)) : A_BOLD;
    }
    return A_NORMAL;
  }

  SCREEN* const screen_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<TopScreen>> TopScreen::Open() {
  std::setlocale(LC_CTYPE, "");  // the terminal's characters
  SCREEN* const screen = newterm(nullptr, stdout, stdin);
  if (screen == nullptr) {
    const char* const type = std::getenv("TERM");
    return UsageError(
        Cat("cannot draw on this terminal (TERM=", type == nullptr ? "" : type, "); --once prints one frame"));
  }
  return std::unique_ptr<TopScreen>(std::make_unique<CursesScreen>(screen));
}

}  // namespace armature::cli
