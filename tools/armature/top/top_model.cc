#include "tools/armature/top/top_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/strings/numbers.h"

namespace armature::cli {
namespace {

constexpr double kTail = 0.99;
constexpr double kMillisInSecond = 1000;
constexpr double kUsPerSecond = 1e6;

// Bounds and counts of a histogram's buckets between two samples.
struct Buckets {
  std::map<double, double> counts;  // cumulative, by upper bound
  double sum = 0;
  double count = 0;

  void Add(const std::string& bound, double value) {
    double number = 0;
    if (bound == "+Inf") {
      counts[INFINITY] += value;
    } else if (absl::SimpleAtod(bound, &number)) {
      counts[number] += value;
    }
  }

  double Mean() const { return count > 0 ? sum / count : 0; }

  double Tail() const {
    std::vector<double> bounds;
    std::vector<double> alone;
    double below = 0;
    for (const auto& [bound, cumulative] : counts) {
      bounds.push_back(bound);
      alone.push_back(std::max(cumulative - below, 0.0));
      below = std::max(below, cumulative);
    }
    return Quantile(kTail, bounds, alone);
  }
};

// The differences of counters.
class Differences {
 public:
  Differences(const TopSample& before, const TopSample& now)
      : before_(before.metrics), now_(now.metrics), seconds_(absl::ToDoubleSeconds(now.time - before.time)) {}

  double seconds() const { return seconds_; }

  double PerSecond(const std::string& name) const { return Rate(now_.Sum(name) - before_.Sum(name)); }
  double Rate(double difference) const { return seconds_ > 0 ? std::max(difference, 0.0) / seconds_ : 0; }

  // Calls fn(series, difference) for each series of the metric now.
  template <class Fn>
  void ForEach(const std::string& name, const Fn& fn) const {
    std::map<std::map<std::string, std::string>, double> old;
    for (const Series& series : before_.Of(name)) old[series.labels] = series.value;
    for (const Series& series : now_.Of(name)) {
      const auto found = old.find(series.labels);
      fn(series, series.value - (found == old.end() ? 0 : found->second));
    }
  }

  // The histogram `name`, by the value of a label; all of it without a label.
  std::map<std::string, Buckets> Histograms(const std::string& name, const std::string& label) const {
    std::map<std::string, Buckets> histograms;
    const auto of = [&](const Series& series) -> Buckets& { return histograms[std::string(series.label(label))]; };
    ForEach(name + "_bucket", [&](const Series& series, double difference) {
      of(series).Add(std::string(series.label("le")), difference);
    });
    ForEach(name + "_sum", [&](const Series& series, double difference) { of(series).sum += difference; });
    ForEach(name + "_count", [&](const Series& series, double difference) { of(series).count += difference; });
    return histograms;
  }

 private:
  const Metrics& before_;
  const Metrics& now_;
  const double seconds_;
};

void AddOperations(const Differences& differences, TopView* view) {
  std::map<std::string, OperationRow> rows;
  differences.ForEach("armature_requests_total", [&](const Series& series, double difference) {
    if (difference <= 0) return;
    OperationRow& row = rows[std::string(series.label("operation"))];
    row.per_second += differences.Rate(difference);
    if (series.label("result") != "ok") row.errors_per_second += differences.Rate(difference);
  });
  const auto durations = differences.Histograms("armature_request_duration_seconds", "operation");
  for (auto& [name, row] : rows) {
    row.name = name;
    view->requests_per_second += row.per_second;
    if (const auto found = durations.find(name); found != durations.end()) {
      row.mean_ms = found->second.Mean() * kMillisInSecond;
      row.p99_ms = found->second.Tail() * kMillisInSecond;
    }
    view->operations.push_back(row);
  }
}

void AddStore(const Differences& differences, TopView* view) {
  view->log_bytes_per_second = differences.PerSecond("armature_store_log_bytes_total");
  view->flush_bytes_per_second = differences.PerSecond("armature_store_flush_bytes_total");
  view->compaction_read_per_second = differences.PerSecond("armature_store_compaction_read_bytes_total");
  view->compaction_written_per_second = differences.PerSecond("armature_store_compaction_written_bytes_total");
  view->commits_per_second = differences.PerSecond("armature_commit_batch_units_count");
  view->writes_per_second = differences.PerSecond("armature_commit_batch_units_sum");
  auto commits = differences.Histograms("armature_commit_duration_seconds", "none");
  view->commit_p99_ms = commits[""].Tail() * kMillisInSecond;
  const double hits = differences.PerSecond("armature_store_cache_hits_total");
  const double misses = differences.PerSecond("armature_store_cache_misses_total");
  if (hits + misses > 0) view->cache_hit_share = hits / (hits + misses);
}

void AddProcess(const TopSample& before, double seconds, TopView* view) {
  const auto cpu_us = [](const admin::v1::GetServerInfoResponse& server) {
    return static_cast<double>(server.cpu_user_us() + server.cpu_system_us());
  };
  if (seconds <= 0) return;
  view->cpu_cores = std::max(cpu_us(view->now.server) - cpu_us(before.server), 0.0) / kUsPerSecond / seconds;
  const auto stall_ms =
      static_cast<double>(view->now.server.stall_ms_total()) - static_cast<double>(before.server.stall_ms_total());
  view->stall_share = std::clamp(stall_ms / kMillisInSecond / seconds, 0.0, 1.0);
}

void AddTables(const TopSample* before, double seconds, TopView* view) {
  std::map<std::string, int64_t> old;
  if (before != nullptr) {
    for (const TableSample& table : before->tables) old[table.name] = table.items;
  }
  for (const TableSample& table : view->now.tables) {
    TableRow row{.now = table};
    const auto found = old.find(table.name);
    if (found != old.end() && seconds > 0) {
      row.items_per_second = static_cast<double>(table.items - found->second) / seconds;
    }
    view->tables.push_back(std::move(row));
  }
}

}  // namespace

double Quantile(double share, const std::vector<double>& bounds, const std::vector<double>& counts) {
  double total = 0;
  for (const double count : counts) total += count;
  if (total <= 0 || bounds.size() != counts.size()) return 0;
  const double rank = share * total;
  double below = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] <= 0 || below + counts[i] < rank) {
      below += counts[i];
      continue;
    }
    const double lower = i == 0 ? 0 : bounds[i - 1];
    if (std::isinf(bounds[i])) return lower;  // all that is known
    return lower + (bounds[i] - lower) * (rank - below) / counts[i];
  }
  return bounds.empty() || std::isinf(bounds.back()) ? 0 : bounds.back();
}

TopView CompareSamples(const TopSample* before, const TopSample& now) {
  TopView view;
  view.now = now;
  view.indexes = now.indexes;
  const bool is_same = before != nullptr && before->server.pid() == now.server.pid() &&
                       before->server.start_time_ms() == now.server.start_time_ms() && before->time < now.time;
  view.has_rates = is_same;
  const TopSample* const old = is_same ? before : nullptr;
  const double seconds = is_same ? absl::ToDoubleSeconds(now.time - before->time) : 0;
  AddTables(old, seconds, &view);
  if (old == nullptr) return view;
  AddProcess(*old, seconds, &view);
  if (old->metrics.empty() || now.metrics.empty()) return view;
  const Differences differences(*old, view.now);
  AddOperations(differences, &view);
  AddStore(differences, &view);
  return view;
}

void Sort(TopSort sort, TopView* view) {
  const bool by_rate = sort == TopSort::kRate;
  const bool by_name = sort == TopSort::kName;
  std::stable_sort(view->operations.begin(), view->operations.end(), [&](const OperationRow& a, const OperationRow& b) {
    const double weight_a = by_name ? 0 : by_rate ? a.per_second : a.p99_ms;
    const double weight_b = by_name ? 0 : by_rate ? b.per_second : b.p99_ms;
    return weight_a != weight_b ? weight_a > weight_b : a.name < b.name;
  });
  std::stable_sort(view->tables.begin(), view->tables.end(), [&](const TableRow& a, const TableRow& b) {
    const auto weight = [&](const TableRow& row) {
      if (by_name) return 0.0;
      if (!by_rate) return static_cast<double>(row.now.bytes);
      return std::fabs(row.items_per_second) + row.now.read_units_per_second + row.now.write_units_per_second;
    };
    return weight(a) != weight(b) ? weight(a) > weight(b) : a.now.name < b.now.name;
  });
  std::stable_sort(view->indexes.begin(), view->indexes.end(), [&](const auto& a, const auto& b) {
    const auto weight = [&](const admin::v1::IndexStatus& index) {
      if (by_name) return 0.0;
      return by_rate ? static_cast<double>(index.backlog_records()) : static_cast<double>(index.backlog_age_ms());
    };
    if (weight(a) != weight(b)) return weight(a) > weight(b);
    return std::tie(a.table_name(), a.index_name()) < std::tie(b.table_name(), b.index_name());
  });
}

}  // namespace armature::cli
