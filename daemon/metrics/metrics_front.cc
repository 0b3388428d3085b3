#include "daemon/metrics/metrics_front.h"

#include <jemalloc/jemalloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "armature/version.h"
#include "daemon/metrics/metric_table.h"
#include "daemon/net/coarse_clock.h"
#include "glog/logging.h"
#include "prometheus/metric_family.h"
#include "prometheus/text_serializer.h"
#include "storage/base/strings.h"
#include "storage/base/time_histogram.h"
#include "storage/store/database.h"
#include "storage/store/stream/stream_keeper.h"
#include "storage/store/stream/stream_log.h"

namespace armature::daemon {
namespace {

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

// The metric values of one scrape.
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

constexpr std::array kFronts = {Front::kGrpc, Front::kHttp, Front::kPipeline};
constexpr double kMicrosPerSecond = 1e6;

void AddCommits(const store::CommitterCounters& commits, uint64_t change_sequence, MetricSet* set) {
  std::array<double, store::CommitterCounters::kSizeBounds> bounds = {};
  for (size_t i = 0; i < bounds.size(); ++i) bounds[i] = static_cast<double>(uint64_t{1} << i);
  set->AddHistogram("armature_commit_batch_units", bounds, commits.sizes, static_cast<double>(commits.units));
  set->AddTimes("armature_commit_duration_seconds", commits.write_times);
  set->Add("armature_commit_bytes_total", commits.bytes);
  set->Add("armature_commit_index_changes_total", commits.index_changes_with_item);
  set->Add("armature_commit_logged_index_changes_total", commits.index_changes_logged);
  set->Add("armature_commit_queue_units", commits.queue_commits);
  set->Add("armature_commit_queue_bytes", commits.queue_bytes);
  set->Add("armature_change_sequence", change_sequence);
}

void AddDisk(const store::DiskReport& disk, MetricSet* set) {
  set->Add("armature_disk_total_bytes", disk.usage.total_bytes);
  set->Add("armature_disk_free_bytes", disk.usage.free_bytes);
  set->Add("armature_disk_reserve_bytes", disk.reserve_bytes);
  set->Add("armature_disk_read_only", disk.is_low ? 1.0 : 0.0, {{"reason", "low"}});
  set->Add("armature_disk_read_only", disk.has_failed ? 1.0 : 0.0, {{"reason", "full"}});
  set->Add("armature_disk_read_only", disk.has_no_descriptors ? 1.0 : 0.0, {{"reason", "descriptors"}});
  set->Add("armature_disk_read_only", disk.is_broken ? 1.0 : 0.0, {{"reason", "broken"}});
  set->Add("armature_disk_refused_writes_total", disk.refused_total);
  set->Add("armature_disk_failures_total", disk.failures_total);
  set->Add("armature_disk_resumes_total", disk.resumes_total);
}

void AddCertificates(const CertificateExpiry& expiry, MetricSet* set) {
  const std::pair<std::string_view, int64_t> times[] = {{"server", expiry.certificate_s.load()},
                                                        {"client_ca", expiry.client_ca_s.load()}};
  for (const auto& [certificate, expiry_s] : times) {
    if (expiry_s == 0) continue;
    set->Add("armature_tls_certificate_expiry_timestamp_seconds", static_cast<double>(expiry_s),
             {{"certificate", certificate}});
  }
}

void AddBackups(const engine::BackupStats& backups, MetricSet* set) {
  set->Add("armature_backups_total", backups.done_total, {{"result", "ok"}});
  set->Add("armature_backups_total", backups.failed_total, {{"result", "failed"}});
  set->Add("armature_backup_copied_bytes_total", backups.copied_bytes_total);
  set->Add("armature_backup_running", backups.is_running ? 1.0 : 0.0);
  set->Add("armature_backup_last_success_timestamp_seconds", static_cast<double>(backups.last_success_ms) / 1000);
  set->Add("armature_backup_interval_seconds", absl::ToDoubleSeconds(backups.interval));
}

// `shipper`: null without an archive.
void AddArchive(const archive::Shipper* shipper, MetricSet* set) {
  const archive::ShipperStats stats = shipper == nullptr ? archive::ShipperStats() : shipper->stats();
  const auto seconds = [](int64_t ms) { return static_cast<double>(ms) / 1000; };
  const int64_t lag_ms = stats.until_ms == 0 ? 0 : absl::ToUnixMillis(absl::Now()) - stats.until_ms;
  set->Add("armature_archive_paused", stats.paused_since_ms != 0 ? 1.0 : 0.0);
  set->Add("armature_archive_lag_seconds", seconds(std::max<int64_t>(lag_ms, 0)));
  set->Add("armature_archive_waiting_bytes", stats.waiting_bytes);
  set->Add("armature_archive_breaks", stats.breaks);
  set->Add("armature_archive_verified_timestamp_seconds", seconds(stats.last_verified_ms));
  set->Add("armature_archive_last_base_timestamp_seconds", seconds(stats.last_base_ms));
  set->Add("armature_archive_segments_total", stats.segments_total);
  set->Add("armature_archive_bytes_total", stats.bytes_total);
  set->Add("armature_archive_chains_total", stats.chains_total);
  set->Add("armature_archive_bases_total", stats.bases_total, {{"result", "ok"}});
  set->Add("armature_archive_bases_total", stats.bases_failed_total, {{"result", "failed"}});
  set->Add("armature_archive_clock_steps_total", stats.clock_steps_total);
}

void AddFiles(const store::FileStats& files, MetricSet* set) {
  set->Add("armature_store_cache_bytes", files.cache_bytes);
  set->Add("armature_store_cache_max_bytes", files.cache_max_bytes);
  set->Add("armature_store_cache_pinned_bytes", files.cache_pinned_bytes);
  set->Add("armature_store_cache_hits_total", files.cache_hits_total);
  set->Add("armature_store_cache_misses_total", files.cache_misses_total);
  set->Add("armature_store_filter_useful_total", files.filter_useful_total);
  set->Add("armature_store_memtable_bytes", files.memtable_bytes);
  set->Add("armature_store_memtable_max_bytes", files.memtable_max_bytes);
  set->Add("armature_store_table_reader_bytes", files.table_reader_bytes);
  set->Add("armature_store_file_bytes", files.file_bytes);
  set->Add("armature_store_log_bytes_total", files.log_bytes_total);
  set->Add("armature_store_log_syncs_total", files.log_syncs_total);
  set->Add("armature_store_flush_bytes_total", files.flush_bytes_total);
  set->Add("armature_store_compaction_read_bytes_total", files.compaction_read_bytes_total);
  set->Add("armature_store_compaction_written_bytes_total", files.compaction_written_bytes_total);
  set->Add("armature_store_compaction_pending_bytes", files.compaction_pending_bytes);
  set->Add("armature_store_flushes_running", files.flushes_running);
  set->Add("armature_store_compactions_running", files.compactions_running);
  set->Add("armature_store_write_stall_seconds_total",
           static_cast<double>(files.stall_micros_total) / kMicrosPerSecond);
  set->Add("armature_store_write_stopped", files.write_stopped);
  set->Add("armature_store_delayed_write_bytes_per_second", files.delayed_write_bytes_per_second);
  set->Add("armature_store_background_errors_total", files.background_errors_total);
}

// Number of entries in a folder of /proc/self; 0 if it cannot be read.
uint64_t CountEntries(const char* folder) {
  std::error_code error;
  uint64_t count = 0;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) ++count;
  return count;
}

double SecondsOf(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / kMicrosPerSecond;
}

uint64_t HeapBytes() {
  // jemalloc updates its statistics only when the epoch is written.
  uint64_t epoch = 1;
  mallctl("epoch", nullptr, nullptr, &epoch, sizeof epoch);
  size_t allocated = 0;
  size_t size = sizeof allocated;
  return mallctl("stats.allocated", &allocated, &size, nullptr, 0) == 0 ? allocated : 0;
}

void AddProcess(absl::Time start, MetricSet* set) {
  set->Add("armature_build_info", 1.0, {{"version", kVersion}});
  set->Add("armature_heap_bytes", HeapBytes());
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  set->Add("process_cpu_seconds_total", SecondsOf(usage.ru_utime) + SecondsOf(usage.ru_stime));
  uint64_t pages = 0;
  uint64_t resident_pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident_pages;
  set->Add("process_resident_memory_bytes", resident_pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)));
  set->Add("process_open_fds", CountEntries("/proc/self/fd"));
  rlimit descriptors = {};
  getrlimit(RLIMIT_NOFILE, &descriptors);
  set->Add("process_max_fds", uint64_t{descriptors.rlim_cur});
  set->Add("process_threads", CountEntries("/proc/self/task"));
  set->Add("process_start_time_seconds", absl::ToDoubleSeconds(start - absl::UnixEpoch()));
}

// Calls fn(table name, index) for each global index that receives writes.
template <class Fn>
void ForEachGlobalIndex(const store::CatalogSnapshot& catalog, Fn fn) {
  for (const auto& [name, table] : catalog.tables()) {
    for (const store::Index& index : table->global_indexes) {
      if (index.progress != nullptr) fn(name, index);
    }
  }
}

void AddRequests(const MetricsSources& sources, MetricSet* set) {
  const RequestStats& requests = *sources.requests;
  for (const Front front : kFronts) {
    for (size_t operation = 0; operation < kOperationCount; ++operation) {
      for (size_t result = 0; result < kResultCount; ++result) {
        const uint64_t count = requests.finished(front, operation, result);
        if (count == 0) continue;
        set->Add(
            "armature_requests_total", count,
            {{"front", FrontName(front)}, {"operation", OperationName(operation)}, {"result", ResultName(result)}});
      }
    }
  }
  for (const Front front : kFronts) {
    for (size_t operation = 0; operation < kOperationCount; ++operation) {
      const TimeHistogram::Counts times = requests.times(front, operation);
      if (times.sum_ns == 0) continue;
      set->AddTimes("armature_request_duration_seconds", times,
                    {{"front", FrontName(front)}, {"operation", OperationName(operation)}});
    }
  }
  for (const Front front : kFronts) {
    set->Add("armature_requests_in_flight", requests.in_flight(front), {{"front", FrontName(front)}});
  }
  const ConnectionCounts connections = sources.connections->counts();
  const H2Counts h2 = sources.fronts->h2_counts();
  set->Add("armature_http_connections", uint64_t{sources.fronts->connections() - h2.connections});
  set->Add("armature_grpc_connections", uint64_t{h2.connections});
  set->Add("armature_connections_refused_total", connections.refused_total_limit, {{"reason", "limit"}});
  set->Add("armature_connections_refused_total", connections.refused_address_limit, {{"reason", "address"}});
  set->Add("armature_connections_refused_total", connections.refused_descriptors, {{"reason", "descriptors"}});
  set->Add("armature_request_memory_bytes", uint64_t{sources.memory->held()});
  set->Add("armature_grpc_calls_ended_total", h2.stalled, {{"reason", "stalled"}});
  set->Add("armature_grpc_calls_ended_total", h2.memory, {{"reason", "memory"}});
  set->Add("armature_grpc_calls_ended_total", sources.rpc->refused_surplus(), {{"reason", "surplus"}});
  set->Add("armature_grpc_connections_broken_total", h2.flooding, {{"reason", "flooding"}});
  set->Add("armature_grpc_connections_broken_total", h2.heads, {{"reason", "heads"}});
  set->Add("armature_grpc_connections_broken_total", h2.protocol, {{"reason", "protocol"}});
  set->Add("armature_grpc_calls_refused_total", sources.gate->refused() + sources.rpc->refused_memory());
  set->Add("armature_audit_lines_lost_total", sources.audit == nullptr ? 0 : sources.audit->lost_lines());
}

bool IsInTrouble(const store::Index& index) {
  return index.build != nullptr || index.progress->is_stalled() || index.progress->backlog().load().records > 0;
}

void AddTables(const store::CatalogSnapshot& catalog, const std::vector<store::DamagedPart>& damages,
               TableMetrics tables, MetricSet* set) {
  const bool adds_all = tables == TableMetrics::kAll;
  const auto each_index = [&](std::string_view metric, auto value) {
    ForEachGlobalIndex(catalog, [&](const std::string& table, const store::Index& index) {
      if (!adds_all && !IsInTrouble(index)) return;
      set->Add(metric, value(index), {{"table", table}, {"index", index.descriptor.name}});
    });
  };
  const int64_t now_ms = absl::ToUnixMillis(absl::Now());
  each_index("armature_gsi_backlog_records",
             [](const store::Index& index) { return index.progress->backlog().load().records; });
  each_index("armature_gsi_backlog_bytes",
             [](const store::Index& index) { return index.progress->backlog().load().bytes; });
  each_index("armature_gsi_lag_seconds", [now_ms](const store::Index& index) {
    const int64_t oldest_ms = index.progress->backlog().state().oldest_ms;
    return oldest_ms == 0 ? 0.0 : static_cast<double>(std::max<int64_t>(now_ms - oldest_ms, 0)) / 1000;
  });
  each_index("armature_gsi_stalled",
             [](const store::Index& index) { return index.progress->is_stalled() ? 1.0 : 0.0; });
  each_index("armature_gsi_building", [](const store::Index& index) { return index.build != nullptr ? 1.0 : 0.0; });
  const auto each_table = [&](std::string_view metric, auto value) {
    if (!adds_all) return;
    for (const auto& [name, table] : catalog.tables()) {
      if (table->data.stats != nullptr)
        set->Add(metric, static_cast<double>(value(*table->data.stats)), {{"table", name}});
    }
  };
  each_table("armature_table_items", [](const store::KeyspaceStats& stats) { return stats.items(); });
  std::map<std::string, int> damaged;
  for (const store::DamagedPart& part : damages) ++damaged[part.table];
  for (const auto& [name, table] : catalog.tables()) {
    const auto found = damaged.find(name);
    if (!adds_all && found == damaged.end()) continue;
    set->Add("armature_table_damaged", found == damaged.end() ? 0.0 : found->second, {{"table", name}});
  }
  each_table("armature_table_bytes", [](const store::KeyspaceStats& stats) { return stats.bytes(); });
}

// Tables that were not used have no series: with very many tables most are not.
void AddUses(const store::CatalogSnapshot& catalog, MetricSet* set) {
  const auto add = [&catalog, set](std::string_view metric, double (*value)(const store::UseCount& count)) {
    const auto add_uses = [&](const std::string& table, const std::string& index, const store::CapacityBuckets& of) {
      for (const auto& [use, count] : {std::pair("read", &of.reads), std::pair("write", &of.writes)}) {
        if (count->requests() == 0 && count->throttled() == 0) continue;
        set->Add(metric, value(*count), {{"table", table}, {"index", index}, {"use", use}});
      }
    };
    for (const auto& [name, table] : catalog.tables()) {
      add_uses(name, "", *table->buckets);
      for (const store::Index& index : table->global_indexes) add_uses(name, index.descriptor.name, *index.buckets);
    }
  };
  add("armature_table_requests_total",
      [](const store::UseCount& count) { return static_cast<double>(count.requests()); });
  add("armature_table_units_total", [](const store::UseCount& count) { return count.units(); });
  add("armature_table_throttled_total",
      [](const store::UseCount& count) { return static_cast<double>(count.throttled()); });
}

void AddHotKeys(const std::vector<engine::HotKeyShare>& shares, MetricSet* set) {
  constexpr std::string_view kUseNames[] = {"read", "write", "throttled"};
  for (const engine::HotKeyShare& share : shares) {
    set->Add(
        "armature_hot_key_share", share.share,
        {{"table", share.table_name}, {"index", share.index_name}, {"use", kUseNames[static_cast<size_t>(share.use)]}});
  }
}

void AddStreams(const store::Database& database, MetricSet* set) {
  uint64_t enabled = 0;
  const std::vector<model::StreamDescriptor> streams = database.streams().streams();
  for (const model::StreamDescriptor& stream : streams) enabled += stream.is_enabled() ? 1 : 0;
  set->Add("armature_stream_count", enabled, {{"state", "enabled"}});
  set->Add("armature_stream_count", streams.size() - enabled, {{"state", "disabled"}});
  const store::StreamKeeper& keeper = database.stream_keeper();
  set->Add("armature_stream_bytes", database.streams().bytes());
  set->Add("armature_stream_max_bytes", keeper.options().bytes_max);
  const std::vector<store::StreamSegment> segments = database.streams().segments();
  const int64_t now_ms = absl::ToUnixMillis(absl::Now());
  const int64_t age_ms = segments.empty() ? 0 : std::max<int64_t>(0, now_ms - segments.front().begin_ms);
  set->Add("armature_stream_age_seconds", static_cast<double>(age_ms) / 1000);
  set->Add("armature_stream_segments_trimmed_early_total", keeper.trimmed_early());
}

void AddExpiry(const engine::ExpiryStats& expiry, MetricSet* set) {
  set->Add("armature_expired_items_total", expiry.expired);
  set->Add("armature_expiry_waiting_items", expiry.waiting);
  set->Add("armature_expiry_overdue_seconds", static_cast<double>(expiry.overdue_ms) / 1000);
  set->Add("armature_expiry_filling_tables", expiry.filling);
}

void AddWatches(const engine::WatchStats& watches, MetricSet* set) {
  set->Add("armature_watches", uint64_t{watches.open});
  set->Add("armature_watch_records_total", watches.records);
  set->Add("armature_watches_fell_behind_total", watches.fell_behind);
}

void AddTransfers(const engine::TransferStats& transfers, MetricSet* set) {
  set->Add("armature_transfers_in_progress", uint64_t{transfers.unfinished});
  set->Add("armature_transfers_total", transfers.done_total, {{"result", "ok"}});
  set->Add("armature_transfers_total", transfers.failed_total, {{"result", "failed"}});
}

void AddRados(const std::optional<rados::VolumeStats>& stats, MetricSet* set) {
  if (!stats.has_value()) return;
  set->Add("armature_standby", uint64_t{0});
  set->Add("armature_rados_epoch", stats->epoch);
  set->Add("armature_rados_lease_left_seconds", stats->lease_left_s);
  set->Add("armature_rados_objects", stats->objects);
  set->Add("armature_rados_lost_objects", stats->lost_objects);
  set->Add("armature_rados_file_bytes", stats->file_bytes);
  set->AddTimes("armature_rados_log_sync_duration_seconds", stats->log_syncs);
  set->Add("armature_rados_copies_bytes", stats->copies.bytes);
  set->Add("armature_rados_copies_max_bytes", stats->copies.bytes_max);
  set->Add("armature_rados_copies_files", stats->copies.files);
  set->Add("armature_rados_table_reads_total", stats->copies.hits, {{"from", "copy"}});
  set->Add("armature_rados_table_reads_total", stats->copies.misses, {{"from", "cluster"}});
  set->Add("armature_rados_copies_damaged_total", stats->copies.damaged);
}

void AddBackupPlaces(const place::SharedBackupPlaces& places, MetricSet* set) {
  const std::vector<place::SharedBackupPlaces::Owned> owned = places.owned();
  for (const auto& [name, stats] : owned) set->Add("armature_backup_place_epoch", stats.epoch, {{"place", name}});
  for (const auto& [name, stats] : owned) {
    set->Add("armature_backup_place_lease_left_seconds", stats.lease_left_s, {{"place", name}});
  }
}

}  // namespace

std::string MetricsText(const MetricsSources& sources, absl::Time start, TableMetrics tables) {
  MetricSet set;
  AddRequests(sources, &set);
  if (sources.certificates != nullptr) AddCertificates(*sources.certificates, &set);
  const store::DatabaseStats database = sources.engine->database()->stats();
  AddCommits(database.committer, database.change_sequence, &set);
  AddTables(*sources.engine->database()->catalog(), sources.engine->database()->damages().All(), tables, &set);
  if (tables == TableMetrics::kAll) AddUses(*sources.engine->database()->catalog(), &set);
  AddHotKeys(sources.engine->HotKeyShares(), &set);
  AddStreams(*sources.engine->database(), &set);
  set.Add("armature_column_families", uint64_t{database.column_families});
  set.Add("armature_column_families_needed", uint64_t{database.column_families_needed});
  set.Add("armature_column_families_max", uint64_t{database.column_families_max});
  const engine::EngineStats engine = sources.engine->stats();
  set.Add("armature_pool_queue_tasks", uint64_t{engine.read_queue_tasks}, {{"pool", "read"}});
  set.Add("armature_pool_queue_tasks", uint64_t{engine.parked_writes}, {{"pool", "writes"}});
  set.Add("armature_pool_queue_tasks", uint64_t{engine.plan_queue_tasks}, {{"pool", "plans"}});
  set.Add("armature_pool_queue_tasks", uint64_t{engine.holder_queue_tasks}, {{"pool", "locks"}});
  set.Add("armature_pool_queue_tasks", uint64_t{engine.table_queue_tasks}, {{"pool", "tables"}});
  set.Add("armature_pool_queue_tasks", uint64_t{engine.backup_queue_tasks}, {{"pool", "backups"}});
  set.Add("armature_pool_queue_tasks", uint64_t{engine.check_queue_tasks}, {{"pool", "check"}});
  set.Add("armature_pool_queue_tasks", uint64_t{sources.long_requests->queue_length()}, {{"pool", "long"}});
  set.Add("armature_pool_refused_total", engine.read_queue_refused, {{"pool", "read"}});
  set.Add("armature_pool_refused_total", engine.plan_queue_refused, {{"pool", "plans"}});
  set.Add("armature_pool_refused_total", engine.parked_writes_refused, {{"pool", "writes"}});
  set.Add("armature_pool_refused_total", sources.fronts->late_requests(), {{"pool", "fronts"}});
  set.Add("armature_pool_refused_total", sources.long_requests->refused(), {{"pool", "long"}});
  set.Add("armature_long_requests_total", sources.long_requests->accepted());
  set.Add("armature_statements_planned_total", engine.plans);
  AddExpiry(engine.expiry, &set);
  AddWatches(engine.watches, &set);
  AddDisk(database.disk, &set);
  AddBackups(sources.engine->backups()->stats(), &set);
  AddBackupPlaces(*sources.backup_places, &set);
  AddArchive(sources.archive, &set);
  AddTransfers(engine.transfers, &set);
  AddFiles(database.files, &set);
  AddRados(sources.place->stats(), &set);
  AddProcess(start, &set);
  return set.Text();
}

namespace {

HttpResponse Text(unsigned status, std::string body, std::string_view type = "text/plain; charset=utf-8") {
  HttpResponse response{.status = status, .headers = {}, .body = std::move(body)};
  response.headers.emplace_back("Content-Type", type);
  return response;
}

}  // namespace

HttpResponse MetricsFront::Answer(const HttpRequest& request) const {
  if (const std::string refusal = sites_.Check(request).refusal; !refusal.empty()) return Text(403, refusal + "\n");
  const std::string_view path = std::string_view(request.target).substr(0, request.target.find('?'));
  if (path != "/metrics" && path != "/healthz" && path != "/readyz") return Text(404, "not found\n");
  if (!IsReadMethod(request)) return Text(405, "only GET\n");
  if (path == "/metrics") return Text(200, MetricsText(sources_, start_), "text/plain; version=0.0.4; charset=utf-8");
  if (path == "/healthz") return Text(200, "ok\n");
  HttpResponse page = ReadinessPage(sources_.readiness());
  // For operators only: names of tables. Another daemon would not help, so this one stays ready.
  for (const store::DamagedPart& part : sources_.engine->database()->damages().All()) {
    page.body += Cat("damaged: ", store::NameOf(part), "\n");
  }
  return page;
}

void MetricsFront::Handle(HttpRequest request, Done done) { std::move(done)(Answer(request)); }

}  // namespace armature::daemon
