#ifndef ARMATURE_TOOLS_ARMATURE_TOP_METRICS_TEXT_H_
#define ARMATURE_TOOLS_ARMATURE_TOP_METRICS_TEXT_H_

// The daemon's metrics page as numbers.

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace armature::cli {

struct Series {
  std::map<std::string, std::string> labels;
  double value = 0;

  // The value of a label; empty without it.
  std::string_view label(const std::string& name) const;
};

// Series by the name of their metric.
class Metrics {
 public:
  // The text format of Prometheus. Lines that are none of a series are skipped.
  static Metrics Parse(std::string_view text);

  bool empty() const { return series_.empty(); }
  // All series of a metric, in the order of the page.
  const std::vector<Series>& Of(const std::string& name) const;
  // Sum of the values of all series of a metric; 0 without one.
  double Sum(const std::string& name) const;

 private:
  std::map<std::string, std::vector<Series>> series_;
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_TOP_METRICS_TEXT_H_
