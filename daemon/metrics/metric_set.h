#ifndef ARMATURE_DAEMON_METRICS_METRIC_SET_H_
#define ARMATURE_DAEMON_METRICS_METRIC_SET_H_

// The metric values of one scrape.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "prometheus/metric_family.h"
#include "storage/base/time_histogram.h"

namespace armature::daemon {

// Thread-safety: owned by one thread.
class MetricSet {
 public:
  using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

  // `name` must be in the table of metrics (checked).
  void Add(std::string_view name, double value, const Labels& labels = {});
  void Add(std::string_view name, uint64_t value, const Labels& labels = {}) {
    Add(name, static_cast<double>(value), labels);
  }
  void AddTimes(std::string_view name, const TimeHistogram::Counts& counts, const Labels& labels = {});
  // `counts` has one element more than `bounds`; each value is counted in one bucket only.
  void AddHistogram(std::string_view name, std::span<const double> bounds, std::span<const uint64_t> counts, double sum,
                    const Labels& labels = {});

  // The values in Prometheus' text format.
  std::string Text() const;

 private:
  prometheus::ClientMetric* NewMetric(std::string_view name, const Labels& labels);

  std::vector<prometheus::MetricFamily> families_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_METRICS_METRIC_SET_H_
