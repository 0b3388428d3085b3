#include "daemon/metrics/metric_set.h"

#include <array>
#include <limits>
#include <sstream>

#include "daemon/metrics/metric_table.h"
#include "glog/logging.h"
#include "prometheus/text_serializer.h"

namespace armature::daemon {
namespace {

constexpr double kNsPerSecond = 1e9;

prometheus::MetricType TypeOf(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter:
      return prometheus::MetricType::Counter;
    case MetricKind::kGauge:
      return prometheus::MetricType::Gauge;
    case MetricKind::kHistogram:
      break;
  }
  return prometheus::MetricType::Histogram;
}

}  // namespace

prometheus::ClientMetric* MetricSet::NewMetric(std::string_view name, const Labels& labels) {
  // Metrics of one family are added one after another.
  if (families_.empty() || families_.back().name != name) {
    const MetricDefinition* const definition = FindMetric(name);
    CHECK(definition != nullptr) << name << " is not in the table of metrics";
    prometheus::MetricFamily& family = families_.emplace_back();
    family.name = std::string(name);
    family.help = std::string(definition->help);
    family.type = TypeOf(definition->kind);
  }
  prometheus::ClientMetric& metric = families_.back().metric.emplace_back();
  for (const auto& [label, value] : labels) metric.label.push_back({std::string(label), std::string(value)});
  return &metric;
}

void MetricSet::Add(std::string_view name, double value, const Labels& labels) {
  prometheus::ClientMetric* const metric = NewMetric(name, labels);
  // The family's type decides which value is printed.
  metric->counter.value = value;
  metric->gauge.value = value;
}

void MetricSet::AddHistogram(std::string_view name, std::span<const double> bounds, std::span<const uint64_t> counts,
                             double sum, const Labels& labels) {
  prometheus::ClientMetric::Histogram& histogram = NewMetric(name, labels)->histogram;
  uint64_t total = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    total += counts[i];
    histogram.bucket.push_back({total, i < bounds.size() ? bounds[i] : std::numeric_limits<double>::infinity()});
  }
  histogram.sample_count = total;
  histogram.sample_sum = sum;
}

void MetricSet::AddTimes(std::string_view name, const TimeHistogram::Counts& counts, const Labels& labels) {
  std::array<double, TimeHistogram::kBoundsNs.size()> bounds = {};
  for (size_t i = 0; i < bounds.size(); ++i)
    bounds[i] = static_cast<double>(TimeHistogram::kBoundsNs[i]) / kNsPerSecond;
  AddHistogram(name, bounds, counts.buckets, static_cast<double>(counts.sum_ns) / kNsPerSecond, labels);
}

std::string MetricSet::Text() const {
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, families_);
  return text.str();
}

}  // namespace armature::daemon
