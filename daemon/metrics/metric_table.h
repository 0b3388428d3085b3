#ifndef ARMATURE_DAEMON_METRICS_METRIC_TABLE_H_
#define ARMATURE_DAEMON_METRICS_METRIC_TABLE_H_

// Every metric that the daemon publishes, declared once: what is scraped and docs/METRICS.md are made of this table.

#include <cstdint>
#include <span>
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

// A heading of the document, and the metrics under it.
struct MetricGroup {
  std::string_view title;
  std::span<const MetricDefinition> metrics;
};

std::span<const MetricGroup> MetricGroups();

// The metric called `name`, or null.
const MetricDefinition* FindMetric(std::string_view name);

// docs/METRICS.md.
std::string MetricsDocument();

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_METRICS_METRIC_TABLE_H_
