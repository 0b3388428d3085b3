#include "tools/armature/progress_bar.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_format.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

constexpr int64_t kBarWidth = 20;
constexpr absl::Duration kRedrawAfter = absl::Milliseconds(100);

}  // namespace

std::string WithCommas(int64_t number) {
  std::string text = std::to_string(number);
  const size_t begin = number < 0 ? 1 : 0;
  for (size_t i = text.size(); i > begin + 3;) {
    i -= 3;
    text.insert(i, ",");
  }
  return text;
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
  const std::string line = ProgressLine(progress);
  *out_ << "\r" << line;
  if (line.size() < width_) *out_ << std::string(width_ - line.size(), ' ');
  *out_ << std::flush;
  width_ = line.size();
}

}  // namespace armature::cli
