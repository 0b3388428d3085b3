#ifndef ARMATURE_TOOLS_ARMATURE_DISPLAY_H_
#define ARMATURE_TOOLS_ARMATURE_DISPLAY_H_

// Prints for people: answers as aligned columns, numbers, and the progress of long commands. Programs use JSON.

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tools/armature/json_text.h"

namespace armature::cli {

// The text with escapes in place of control characters, which are not for a terminal: "\n", "\x1b".
std::string OneLine(std::string_view text);

// OneLine of each line and of each part between tabs: line breaks and tabs stay.
std::string WithoutControls(std::string_view text);

// Number of code points, which is the width of most texts on a terminal.
size_t TextWidth(std::string_view text);

// Rows of texts under a header. Control characters are escaped, so that each row is one line. Columns with only numbers
// are aligned to the right.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header);

  // Missing cells at the end are empty.
  void AddRow(std::vector<std::string> cells);

  // The table, with a line break after each line. Without rows only the header.
  std::string ToString() const;

 private:
  std::vector<std::vector<std::string>> rows_;  // begins with the header
};

// An attribute value in its JSON form, shortened for people: text without quotes, sets in {}, lists and maps as JSON.
std::string ShowValue(const Json& value);

// A table with one row for each item, and one column for each attribute of any item, sorted by name. Empty without
// items.
std::string ItemsTable(const Json& items);

// A table with one row for each object. `columns`: the names of its members, in order.
std::string RecordsTable(const Json& records, const std::vector<std::string>& columns);

// A table with one row for each member that is not an array: name and value. The members of an object have rows named
// "Outer.Inner". Times are printed as dates.
std::string DetailsTable(const Json& object);

// A moment in the progress of some work, printed as a line such as
//   orders/by_customer  [#########...........]  45 %  450,000 of 1,000,000  90,000/s  6 s left
struct Progress {
  std::string what;
  int64_t done = 0;
  int64_t total = 0;       // 0: unknown; then the line has no bar
  int64_t per_second = 0;  // 0: unknown
  int64_t seconds_left = 0;
  std::string note{};  // printed at the end of the line
};
std::string ProgressLine(const Progress& progress);

// The number with commas: 1,234,567.
std::string WithCommas(int64_t number);

int64_t PerSecond(int64_t count, absl::Duration elapsed);

// "512 B", "1.5 GB", in powers of 1,000.
std::string ShowBytes(uint64_t bytes);

// "2026-01-31 12:00:00 UTC". `ms`: since the epoch.
std::string ShowTime(int64_t ms);

// "7 s", "3 min 20 s", "2 h 5 min".
std::string ShowSeconds(int64_t seconds);

// Draws a line over the previous one, a few times a second. Not thread-safe.
class ProgressBar {
 public:
  // `live`: true if `out` is a terminal. Otherwise nothing is drawn.
  ProgressBar(std::ostream* out, bool live) : out_(out), live_(live) {}
  // Erases the line.
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Computes rate and remaining time from the age of the bar, unless `progress` has them.
  void Show(Progress progress);

 private:
  std::ostream* const out_;
  const bool live_;
  const absl::Time start_ = absl::Now();
  absl::Time last_drawn_ = absl::InfinitePast();
  size_t width_ = 0;  // width of the drawn line
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_DISPLAY_H_
