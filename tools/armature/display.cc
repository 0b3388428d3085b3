#include "tools/armature/display.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/str_format.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

constexpr int64_t kBarWidth = 20;
constexpr absl::Duration kRedrawAfter = absl::Milliseconds(100);

bool LooksNumeric(std::string_view text) { return text.find_first_not_of("0123456789+-.eE") == std::string_view::npos; }

std::string ShowScalar(const Json& json) { return json.is_string() ? json.get<std::string>() : CompactJson(json); }

std::string ShowMember(std::string_view name, const Json& json) {
  if (name.ends_with("Time") && json.is_number()) {
    return ShowTime(std::llround(json.get<double>() * 1000));
  }
  return ShowScalar(json);
}

// `show` makes the text of a member.
std::string ObjectsTable(const Json& objects, const std::vector<std::string>& columns,
                         std::string (*show)(std::string_view name, const Json& member)) {
  TextTable table(columns);
  for (const Json& object : objects) {
    std::vector<std::string> cells;
    cells.reserve(columns.size());
    for (const std::string& name : columns) cells.push_back(object.contains(name) ? show(name, object[name]) : "");
    table.AddRow(std::move(cells));
  }
  return table.ToString();
}

void AddDetails(const std::string& prefix, const Json& object, TextTable& table) {
  for (const auto& [name, member] : object.items()) {
    if (member.is_object()) {
      AddDetails(Cat(prefix, name, "."), member, table);
    } else if (!member.is_array()) {
      table.AddRow({prefix + name, ShowMember(name, member)});
    }
  }
}

// The text with escapes in place of the control characters that are not in `kept`.
std::string WithEscapes(std::string_view text, std::string_view kept) {
  std::string line;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    if (kept.find(c) != kept.npos) {
      line += c;
    } else if (c == '\n') {
      line += "\\n";
    } else if (c == '\t') {
      line += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      line += absl::StrFormat("\\x%02x", byte);
    } else if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {
      line += absl::StrFormat("\\x%02x", next);
      ++i;
    } else {
      line += c;
    }
  }
  return line;
}

}  // namespace

std::string OneLine(std::string_view text) { return WithEscapes(text, ""); }

std::string WithoutControls(std::string_view text) { return WithEscapes(text, "\n\t"); }

size_t TextWidth(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

TextTable::TextTable(std::vector<std::string> header) { AddRow(std::move(header)); }

void TextTable::AddRow(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = OneLine(cell);
  if (!rows_.empty()) cells.resize(rows_.front().size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::ToString() const {
  const size_t columns = rows_.front().size();
  std::vector<size_t> widths(columns, 0);
  std::vector<bool> right(columns, rows_.size() > 1);
  for (size_t row = 0; row < rows_.size(); ++row) {
    for (size_t i = 0; i < columns; ++i) {
      widths[i] = std::max(widths[i], TextWidth(rows_[row][i]));
      if (row > 0 && !LooksNumeric(rows_[row][i])) right[i] = false;
    }
  }
  std::string text;
  for (const std::vector<std::string>& row : rows_) {
    std::string line;
    for (size_t i = 0; i < columns; ++i) {
      const std::string blanks(widths[i] - TextWidth(row[i]), ' ');
      line += right[i] ? blanks + row[i] : row[i] + blanks;
      line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string ShowValue(const Json& value) {
  if (!value.is_object() || value.size() != 1) return CompactJson(value);
  const std::string& tag = value.begin().key();
  const Json& content = value.begin().value();
  if (tag == "NULL") return "null";
  if (tag != "SS" && tag != "NS" && tag != "BS") return ShowScalar(content);
  std::string text;
  for (const Json& element : content) text += Cat(text.empty() ? "{" : ", ", ShowScalar(element));
  return text + "}";
}

std::string ItemsTable(const Json& items) {
  std::set<std::string> names;
  for (const Json& item : items) {
    for (const auto& [name, value] : item.items()) names.insert(name);
  }
  if (names.empty()) return "";
  return ObjectsTable(items, {names.begin(), names.end()},
                      [](std::string_view /*name*/, const Json& value) { return ShowValue(value); });
}

std::string RecordsTable(const Json& records, const std::vector<std::string>& columns) {
  return ObjectsTable(records, columns, ShowMember);
}

std::string DetailsTable(const Json& object) {
  TextTable table({"Property", "Value"});
  AddDetails("", object, table);
  return table.ToString();
}

std::string WithCommas(int64_t number) {
  std::string text = std::to_string(number);
  const size_t begin = number < 0 ? 1 : 0;
  for (size_t i = text.size(); i > begin + 3;) {
    i -= 3;
    text.insert(i, ",");
  }
  return text;
}

int64_t PerSecond(int64_t count, absl::Duration elapsed) {
  return static_cast<int64_t>(static_cast<double>(count) / std::max(absl::ToDoubleSeconds(elapsed), 0.001));
}

std::string ShowBytes(uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1000 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  if (unit == 0 || value >= 100) return absl::StrFormat("%.0f %s", value, kUnits[unit]);
  return absl::StrFormat("%.1f %s", value, kUnits[unit]);
}

std::string ShowTime(int64_t ms) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", absl::FromUnixMillis(ms), absl::UTCTimeZone());
}

std::string ShowSeconds(int64_t seconds) {
  if (seconds < 60) return Cat(seconds, " s");
  if (seconds < 3600) return Cat(seconds / 60, " min ", seconds % 60, " s");
  return Cat(seconds / 3600, " h ", seconds / 60 % 60, " min");
}

std::string ProgressLine(const Progress& progress) {
  std::string line = progress.what;
  if (progress.total > 0) {
    const int64_t done = std::min(progress.done, progress.total);
    const auto filled =
        static_cast<size_t>(static_cast<double>(done) / static_cast<double>(progress.total) * kBarWidth);
    const auto percent = static_cast<int64_t>(static_cast<double>(done) / static_cast<double>(progress.total) * 100);
    line += Cat("  [", std::string(filled, '#'), std::string(static_cast<size_t>(kBarWidth) - filled, '.'), "]  ",
                percent, " %");
  }
  line += Cat("  ", WithCommas(progress.done));
  if (progress.total > 0) line += Cat(" of ", WithCommas(progress.total));
  if (progress.per_second > 0) line += Cat("  ", WithCommas(progress.per_second), "/s");
  if (progress.per_second > 0 && progress.total > progress.done) {
    line += Cat("  ", ShowSeconds(progress.seconds_left), " left");
  }
  if (!progress.note.empty()) line += Cat("  ", progress.note);
  return line;
}

namespace {

// Cuts a line so that it stays one on the terminal of the standard error: the next one could not be drawn over several.
void CutToTerminal(std::string* line) {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || line->size() < size.ws_col) return;
  size_t end = size.ws_col - size_t{1};
  // The bytes of a character stay together.
  while (end > 0 && (static_cast<unsigned char>((*line)[end]) & 0xc0) == 0x80) --end;
  line->resize(end);
}

}  // namespace

ProgressBar::~ProgressBar() {
  if (width_ > 0) *out_ << "\r" << std::string(width_, ' ') << "\r" << std::flush;
}

void ProgressBar::Show(Progress progress) {
  const absl::Time now = absl::Now();
  if (!live_ || now - last_drawn_ < kRedrawAfter) return;
  last_drawn_ = now;
  const double elapsed = absl::ToDoubleSeconds(now - start_);
  if (progress.per_second == 0 && elapsed > 0.5 && progress.done > 0) {
    const double rate = static_cast<double>(progress.done) / elapsed;
    progress.per_second = static_cast<int64_t>(rate);
    progress.seconds_left = static_cast<int64_t>(static_cast<double>(progress.total - progress.done) / rate);
  }
  std::string line = ProgressLine(progress);
  CutToTerminal(&line);
  *out_ << "\r" << line;
  if (line.size() < width_) *out_ << std::string(width_ - line.size(), ' ');
  *out_ << std::flush;
  width_ = line.size();
}

}  // namespace armature::cli
