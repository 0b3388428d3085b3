#ifndef ARMATURE_DAEMON_METRICS_METRIC_TABLE_H_
#define ARMATURE_DAEMON_METRICS_METRIC_TABLE_H_

// The table of all metrics: /metrics and docs/reference/metrics.md are generated from it.

#include <cstdint>
#include <string>
#include <string_view>

namespace armature::daemon {

enum class MetricKind : uint8_t { kCounter, kGauge, kHistogram };

struct MetricDefinition {
  std::string_view name;
  MetricKind kind = MetricKind::kCounter;
  std::string_view labels;  // "operation, result"; empty: none
  std::string_view help;
};

// The metric with that name, or null.
const MetricDefinition* FindMetric(std::string_view name);

// The content of docs/reference/metrics.md.
std::string MetricsDocument();

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_METRICS_METRIC_TABLE_H_
