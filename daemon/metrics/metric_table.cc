#include "daemon/metrics/metric_table.h"

#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

constexpr MetricKind kCounter = MetricKind::kCounter;
constexpr MetricKind kGauge = MetricKind::kGauge;
constexpr MetricKind kHistogram = MetricKind::kHistogram;

constexpr MetricDefinition kRequests[] = {
    {"armature_requests_total", kCounter, "front, operation, result",
     "Requests that were answered. `front` is grpc, http, or pipeline for what came as one of many in a stream; the "
     "streams themselves count as operation Pipeline of grpc. `result` is ok or the exception that the client got."},
    {"armature_request_duration_seconds", kHistogram, "front, operation",
     "From the moment a request was read to its answer, the client's network not included."},
    {"armature_requests_in_flight", kGauge, "front", "Requests that have begun and are not answered."},
    {"armature_http_connections", kGauge, "", "Open connections of the HTTP front."},
    {"armature_http_held_bytes", kGauge, "",
     "Memory for requests being received and answers not yet read, HTTP front."},
    {"armature_audit_lines_lost_total", kCounter, "", "Lines that the audit log could not take."},
};

constexpr MetricDefinition kCommit[] = {
    {"armature_commit_batch_units", kHistogram, "", "Write units in one group commit, which has one fsync."},
    {"armature_commit_duration_seconds", kHistogram, "", "Writing one group commit, with its fsync."},
    {"armature_commit_bytes_total", kCounter, "", "Bytes of write units that were taken from the queue."},
    {"armature_commit_queue_units", kGauge, "", "Commits that wait for their batch."},
    {"armature_commit_queue_bytes", kGauge, "", "Their bytes."},
    {"armature_change_sequence", kGauge, "", "The last change sequence that was given out."},
};

constexpr MetricDefinition kIndexes[] = {
    {"armature_gsi_backlog_records", kGauge, "table, index", "Changes that wait to be applied to a global index."},
    {"armature_gsi_backlog_bytes", kGauge, "table, index", "Bytes of index rows in these changes."},
    {"armature_gsi_lag_seconds", kGauge, "table, index", "Age of the oldest of these changes; 0 if none waits."},
    {"armature_gsi_building", kGauge, "table, index", "1 while the index is being filled."},
};

constexpr MetricDefinition kTables[] = {
    {"armature_table_items", kGauge, "table", "Items, exactly."},
    {"armature_table_bytes", kGauge, "table", "Their sizes as the API counts them."},
    {"armature_column_families", kGauge, "", "Column families in use: about one for each table and index."},
    {"armature_column_families_max", kGauge, "", "The ceiling on those of tables and indexes, --column_families_max."},
};

constexpr MetricDefinition kPools[] = {
    {"armature_pool_queue_tasks", kGauge, "pool",
     "Tasks that wait for a thread. `pool` is read (queries, scans, reads from disk) or check (armature verify, "
     "exports)."},
};

constexpr MetricDefinition kDisk[] = {
    {"armature_disk_total_bytes", kGauge, "", "Size of the file system that holds the database."},
    {"armature_disk_free_bytes", kGauge, "", "What of it is free."},
    {"armature_disk_reserve_bytes", kGauge, "", "Writes are refused when less is free, --disk_reserve."},
    {"armature_disk_read_only", kGauge, "reason",
     "1 while writes are refused. `reason` is low (less than the reserve is free), full (a write has failed; taken up "
     "again when there is space) or broken (only a restart helps)."},
    {"armature_disk_refused_writes_total", kCounter, "", "Writes that were refused for it."},
    {"armature_disk_failures_total", kCounter, "", "Writes of the storage engine that have failed."},
    {"armature_disk_resumes_total", kCounter, "", "How often writes were taken up again after a failure."},
};

constexpr MetricDefinition kBackups[] = {
    {"armature_backups_total", kCounter, "result", "Backups that were made (ok) or not (failed)."},
    {"armature_backup_copied_bytes_total", kCounter, "", "Bytes that they have copied."},
    {"armature_backup_running", kGauge, "", "1 while one is made."},
    {"armature_backup_last_success_timestamp_seconds", kGauge, "",
     "When the last one was complete, also before this start if it is in --backup_dir; 0: there is none."},
};

constexpr MetricDefinition kStore[] = {
    {"armature_store_cache_bytes", kGauge, "", "Memory of the block cache."},
    {"armature_store_cache_max_bytes", kGauge, "", "Its bound, --cache_mb."},
    {"armature_store_cache_pinned_bytes", kGauge, "", "What of it cannot be given up."},
    {"armature_store_cache_hits_total", kCounter, "", "Blocks that were found in the cache."},
    {"armature_store_cache_misses_total", kCounter, "", "Blocks that were not."},
    {"armature_store_filter_useful_total", kCounter, "", "Reads of a file that a Bloom filter has spared."},
    {"armature_store_memtable_bytes", kGauge, "", "Memory of all memtables."},
    {"armature_store_table_reader_bytes", kGauge, "", "Memory for open files outside the cache."},
    {"armature_store_file_bytes", kGauge, "", "Sizes of all live table files."},
    {"armature_store_log_bytes_total", kCounter, "", "Bytes written to the write-ahead log."},
    {"armature_store_log_syncs_total", kCounter, "", "How often it was synced."},
    {"armature_store_flush_bytes_total", kCounter, "", "Bytes that flushes of memtables have written."},
    {"armature_store_compaction_read_bytes_total", kCounter, "", "Bytes that compactions have read."},
    {"armature_store_compaction_written_bytes_total", kCounter, "", "Bytes that compactions have written."},
    {"armature_store_compaction_pending_bytes", kGauge, "", "Estimate of what compactions have yet to rewrite."},
    {"armature_store_flushes_running", kGauge, "", "Flushes under way."},
    {"armature_store_compactions_running", kGauge, "", "Compactions under way."},
    {"armature_store_write_stall_seconds_total", kCounter, "",
     "How long writes were held back by flushes or compactions."},
    {"armature_store_write_stopped", kGauge, "", "1 while writes are held back altogether."},
    {"armature_store_delayed_write_bytes_per_second", kGauge, "", "The rate that writes are held to; 0: none."},
    {"armature_store_background_errors_total", kCounter, "", "Flushes and compactions that have failed."},
};

constexpr MetricDefinition kProcess[] = {
    {"armature_build_info", kGauge, "version", "Always 1."},
    {"armature_heap_bytes", kGauge, "", "Memory that the process has allocated and not freed."},
    {"process_cpu_seconds_total", kCounter, "", "Processor time, user and system."},
    {"process_resident_memory_bytes", kGauge, "", "Resident memory."},
    {"process_open_fds", kGauge, "", "Open file descriptors."},
    {"process_max_fds", kGauge, "", "Their limit."},
    {"process_threads", kGauge, "", "Threads."},
    {"process_start_time_seconds", kGauge, "", "When the process began, in seconds since 1970."},
};

constexpr MetricGroup kGroups[] = {
    {"Requests", kRequests}, {"Group commit", kCommit},  {"Global indexes", kIndexes},
    {"Tables", kTables},     {"Pools", kPools},          {"Disk space", kDisk},
    {"Backups", kBackups},   {"Storage engine", kStore}, {"Process", kProcess},
};

std::string_view KindName(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter:
      return "counter";
    case MetricKind::kGauge:
      return "gauge";
    case MetricKind::kHistogram:
      break;
  }
  return "histogram";
}

}  // namespace

std::span<const MetricGroup> MetricGroups() { return kGroups; }

const MetricDefinition* FindMetric(std::string_view name) {
  for (const MetricGroup& group : kGroups) {
    for (const MetricDefinition& metric : group.metrics) {
      if (metric.name == name) return &metric;
    }
  }
  return nullptr;
}

std::string MetricsDocument() {
  std::string text =
      "# Metrics\n\n"
      "`armatured --metrics_listen=127.0.0.1:7702` publishes these at `/metrics`, in the text format of Prometheus. "
      "This page\n"
      "is printed by `armatured --print_metrics_doc`.\n";
  for (const MetricGroup& group : kGroups) {
    text += Cat("\n## ", group.title, "\n\n| metric | kind | labels | what |\n| --- | --- | --- | --- |\n");
    for (const MetricDefinition& metric : group.metrics) {
      text += Cat("| `", metric.name, "` | ", KindName(metric.kind), " | ", metric.labels, " | ", metric.help, " |\n");
    }
  }
  return text;
}

}  // namespace armature::daemon
