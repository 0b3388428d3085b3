#include "daemon/metrics/activity_log.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "storage/base/strings.h"
#include "storage/store/database.h"

namespace armature::daemon {
namespace {

constexpr std::array kAllFronts = {Front::kGrpc, Front::kHttp, Front::kPipeline};
constexpr double kNsInSecond = 1e9;

double ProcessorSeconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

uint64_t ResidentBytes() {
  uint64_t pages = 0;
  uint64_t resident_pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident_pages;
  return resident_pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// A number of JSON with six digits, which is more than a plot shows.
std::string NumberText(double number) { return absl::StrFormat("%.6g", number); }

// Counters that another thread raises may be read in any order.
uint64_t Grown(uint64_t now, uint64_t before) { return now > before ? now - before : 0; }

}  // namespace

ActivityLevels ReadActivityLevels(const MetricsSources& sources) {
  const store::Database& database = *sources.engine->database();
  const store::DatabaseStats stats = database.stats();
  ActivityLevels levels{.disk_bytes = stats.disk.usage.total_bytes,
                        .disk_free_bytes = stats.disk.usage.free_bytes,
                        .file_bytes = stats.files.file_bytes,
                        .memory_bytes = ResidentBytes(),
                        .cache_bytes = stats.files.cache_bytes,
                        .processor_s = ProcessorSeconds()};
  const int64_t now_ms = absl::ToUnixMillis(absl::Now());
  const auto catalog = database.catalog();
  for (const auto& [name, table] : catalog->tables()) {
    for (const store::Index& index : table->global_indexes) {
      if (index.progress == nullptr) continue;
      levels.backlog += index.progress->backlog().load().records;
      const int64_t oldest_ms = index.progress->backlog().state().oldest_ms;
      if (oldest_ms == 0) continue;
      levels.lag_s = std::max(levels.lag_s, static_cast<double>(now_ms - oldest_ms) / 1000);
    }
  }
  return levels;
}

double QuantileOf(const TimeHistogram::Counts& counts, double part) {
  uint64_t total = 0;
  for (const uint64_t count : counts.buckets) total += count;
  if (total == 0) return 0;
  const double rank = part * static_cast<double>(total);
  double below = 0;
  double lower_ns = 0;
  for (size_t i = 0; i < TimeHistogram::kBoundsNs.size(); ++i) {
    const auto in_bucket = static_cast<double>(counts.buckets[i]);
    const auto bound_ns = static_cast<double>(TimeHistogram::kBoundsNs[i]);
    if (in_bucket > 0 && below + in_bucket >= rank) {
      return (lower_ns + (bound_ns - lower_ns) * (rank - below) / in_bucket) / kNsInSecond;
    }
    below += in_bucket;
    lower_ns = bound_ns;
  }
  return lower_ns / kNsInSecond;
}

ActivityLog::ActivityLog(const RequestStats* requests, std::function<ActivityLevels()> levels)
    : requests_(requests), levels_(std::move(levels)), worker_("arm-activity", [this] {
        Record(absl::Now(), MonotonicNs());
        return Worker::Next::WhenWoken(has_samples_ ? kInterval : kFirstInterval);
      }) {}

void ActivityLog::Start() { worker_.Start(); }

ActivityLog::Reading ActivityLog::Read() const {
  const size_t ok = ResultOf(absl::OkStatus());
  Reading reading = {};
  for (size_t operation = 0; operation < kOperationCount; ++operation) {
    Counts& counts = reading[operation];
    for (const Front front : kAllFronts) {
      for (size_t result = 0; result < kResultCount; ++result) {
        const uint64_t finished = requests_->finished(front, operation, result);
        counts.finished += finished;
        if (result != ok) counts.errors += finished;
      }
      const TimeHistogram::Counts times = requests_->times(front, operation);
      for (size_t i = 0; i < times.buckets.size(); ++i) counts.times.buckets[i] += times.buckets[i];
    }
  }
  return reading;
}

void ActivityLog::Record(absl::Time now, int64_t mono_ns) {
  const Reading reading = Read();
  const ActivityLevels levels = levels_();
  const double seconds = static_cast<double>(mono_ns - last_ns_) / kNsInSecond;
  const bool is_first = last_ns_ == 0;
  last_ns_ = mono_ns;
  const Reading before = std::exchange(last_, reading);
  const ActivityLevels levels_before = std::exchange(last_levels_, levels);
  if (is_first || seconds <= 0) return;

  std::string requests;
  std::string latencies;
  uint64_t all = 0;
  uint64_t errors = 0;
  for (size_t operation = 0; operation < kOperationCount; ++operation) {
    const uint64_t finished = Grown(reading[operation].finished, before[operation].finished);
    if (finished == 0) continue;
    all += finished;
    errors += Grown(reading[operation].errors, before[operation].errors);
    TimeHistogram::Counts times;
    for (size_t i = 0; i < times.buckets.size(); ++i) {
      times.buckets[i] = Grown(reading[operation].times.buckets[i], before[operation].times.buckets[i]);
    }
    const std::string_view comma = requests.empty() ? "" : ",";
    const std::string_view name = OperationName(operation);
    requests += Cat(comma, "\"", name, "\":", NumberText(static_cast<double>(finished) / seconds));
    latencies += Cat(comma, "\"", name, R"(":{"p50":)", NumberText(QuantileOf(times, 0.5)), R"(,"p99":)",
                     NumberText(QuantileOf(times, 0.99)), "}");
  }
  std::string sample =
      Cat(R"({"time":)", absl::StrFormat("%.1f", absl::ToDoubleSeconds(now - absl::UnixEpoch())), R"(,"requests":{)",
          requests, R"(},"latencies":{)", latencies, R"(},"all":)", NumberText(static_cast<double>(all) / seconds),
          R"(,"errors":)", NumberText(static_cast<double>(errors) / seconds));
  sample += Cat(R"(,"lag":)", NumberText(levels.lag_s), R"(,"backlog":)", levels.backlog, R"(,"disk":)",
                levels.disk_bytes, R"(,"diskUsed":)", Grown(levels.disk_bytes, levels.disk_free_bytes), R"(,"files":)",
                levels.file_bytes, R"(,"memory":)", levels.memory_bytes, R"(,"cache":)", levels.cache_bytes,
                R"(,"processor":)", NumberText((levels.processor_s - levels_before.processor_s) / seconds), "}");

  has_samples_ = true;
  const absl::MutexLock lock(&mutex_);
  bytes_ += sample.size();
  samples_.push_back(std::move(sample));
  while (samples_.size() > kSamplesMax || bytes_ > kBytesMax) {
    bytes_ -= samples_.front().size();
    samples_.pop_front();
  }
}

std::string ActivityLog::Json() const {
  const absl::MutexLock lock(&mutex_);
  std::string json = "[";
  json.reserve(bytes_ + samples_.size() + 2);
  for (const std::string& sample : samples_) {
    if (json.size() > 1) json += ',';
    json += sample;
  }
  return json + "]";
}

}  // namespace armature::daemon
