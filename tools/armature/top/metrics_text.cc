#include "tools/armature/top/metrics_text.h"

#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

// Reads {name="value",...} at the begin of *text and removes it. Absent if the text has another form.
std::optional<std::map<std::string, std::string>> TakeLabels(std::string_view* text) {
  std::map<std::string, std::string> labels;
  size_t i = 1;  // behind the brace
  while (i < text->size() && (*text)[i] != '}') {
    const size_t equals = text->find("=\"", i);
    if (equals == text->npos) return std::nullopt;
    const std::string name(text->substr(i, equals - i));
    std::string value;
    for (i = equals + 2; i < text->size() && (*text)[i] != '"'; ++i) {
      if ((*text)[i] == '\\' && i + 1 < text->size()) {
        ++i;
        value += (*text)[i] == 'n' ? '\n' : (*text)[i];
      } else {
        value += (*text)[i];
      }
    }
    if (i >= text->size()) return std::nullopt;
    ++i;  // the quote
    labels[name] = std::move(value);
    if (i < text->size() && (*text)[i] == ',') ++i;
  }
  if (i >= text->size()) return std::nullopt;
  text->remove_prefix(i + 1);
  return labels;
}

}  // namespace

std::string_view Series::label(const std::string& name) const {
  const auto found = labels.find(name);
  return found == labels.end() ? std::string_view() : std::string_view(found->second);
}

Metrics Metrics::Parse(std::string_view text) {
  Metrics metrics;
  for (const absl::string_view each : absl::StrSplit(Av(text), '\n', absl::SkipEmpty())) {
    std::string_view line = Sv(each);
    if (line.front() == '#') continue;
    const size_t end = line.find_first_of("{ ");
    if (end == line.npos || end == 0) continue;
    const std::string name(line.substr(0, end));
    line.remove_prefix(end);
    Series series;
    if (line.front() == '{') {
      auto labels = TakeLabels(&line);
      if (!labels.has_value()) continue;
      series.labels = *std::move(labels);
    }
    // A time may follow the value.
    const std::vector<absl::string_view> numbers = absl::StrSplit(Av(line), ' ', absl::SkipEmpty());
    if (numbers.empty() || !absl::SimpleAtod(numbers.front(), &series.value)) continue;
    metrics.series_[name].push_back(std::move(series));
  }
  return metrics;
}

const std::vector<Series>& Metrics::Of(const std::string& name) const {
  static const std::vector<Series> kNone;
  const auto found = series_.find(name);
  return found == series_.end() ? kNone : found->second;
}

double Metrics::Sum(const std::string& name) const {
  double sum = 0;
  for (const Series& series : Of(name)) sum += series.value;
  return sum;
}

}  // namespace armature::cli
