#include "daemon/metrics/metric_table.h"

#include <span>

#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

constexpr MetricKind kCounter = MetricKind::kCounter;
constexpr MetricKind kGauge = MetricKind::kGauge;
constexpr MetricKind kHistogram = MetricKind::kHistogram;

constexpr MetricDefinition kRequests[] = {
    {"armature_requests_total", kCounter, "front, operation, result",
     "Requests answered. `front` is grpc, http, or pipeline for requests in a Pipeline stream; the streams themselves "
     "count as operation Pipeline of grpc. `result` is ok or the name of the exception."},
    {"armature_request_duration_seconds", kHistogram, "front, operation",
     "Time from the moment a request was read to its answer, without the network."},
    {"armature_requests_in_flight", kGauge, "front", "Requests started and not yet answered."},
    {"armature_http_connections", kGauge, "", "Open connections with HTTP/1.1, or without a request so far."},
    {"armature_grpc_connections", kGauge, "", "Open connections with HTTP/2, which gRPC uses."},
    {"armature_connections_refused_total", kCounter, "reason",
     "Connections closed at once. `reason` is limit (--connections_max), address (--connections_per_address_max), "
     "or descriptors (the rest is reserved for the database's files)."},
    {"armature_request_memory_bytes", kGauge, "",
     "Memory of both fronts for requests being received, answers not yet sent and TLS handshakes; at most "
     "--request_memory_mb."},
    {"armature_grpc_calls_ended_total", kCounter, "reason",
     "gRPC calls whose clients did not finish their requests or read their answers, or had too many. `reason` is "
     "stalled "
     "(for 20 s), memory (--request_memory_mb was used up) or surplus (more than 400 on a connection)."},
    {"armature_grpc_connections_broken_total", kCounter, "reason",
     "HTTP/2 connections broken off. `reason` is flooding (frames that belong to no request, or too many requests that "
     "were cancelled), heads (a request with 64 KB of headers) or protocol (bytes that are no HTTP/2)."},
    {"armature_grpc_calls_refused_total", kCounter, "", "gRPC calls refused because --request_memory_mb was used up."},
    {"armature_audit_lines_lost_total", kCounter, "", "Lines that the audit log lost."},
    {"armature_tls_certificate_expiry_timestamp_seconds", kGauge, "certificate",
     "When a certificate in use expires, in seconds since 1970. `certificate` is server (the daemon's own, --tls_cert) "
     "or "
     "client_ca (the first to expire of --tls_client_ca). Only with TLS."},
};

constexpr MetricDefinition kCommit[] = {
    {"armature_commit_batch_units", kHistogram, "", "Write units in one group commit, which has one fsync."},
    {"armature_commit_duration_seconds", kHistogram, "", "Time to write one group commit, with its fsync."},
    {"armature_commit_bytes_total", kCounter, "", "Bytes of write units taken from the commit queue."},
    {"armature_commit_index_changes_total", kCounter, "",
     "Changes of global indexes written in the batch of their item, see --index_updates."},
    {"armature_commit_logged_index_changes_total", kCounter, "",
     "Changes of global indexes written to the change log, to be applied later."},
    {"armature_commit_queue_units", kGauge, "", "Write units in the commit queue."},
    {"armature_commit_queue_bytes", kGauge, "",
     "Bytes of write units in the commit queue, and of values and answers held until they are durable."},
    {"armature_change_sequence", kGauge, "", "The last change sequence assigned."},
};

constexpr MetricDefinition kIndexes[] = {
    {"armature_gsi_backlog_records", kGauge, "table, index",
     "Changes not yet applied to a global index. After a start they are counted while the daemon serves: until then "
     "the "
     "value is too small."},
    {"armature_gsi_backlog_bytes", kGauge, "table, index", "Bytes of index rows in the changes not yet applied."},
    {"armature_gsi_lag_seconds", kGauge, "table, index",
     "Age of the oldest change not yet applied; 0 without a backlog."},
    {"armature_gsi_stalled", kGauge, "table, index",
     "1 while changes cannot be applied to the index, because they or the index are damaged."},
    {"armature_gsi_building", kGauge, "table, index", "1 while the index is being built."},
};

constexpr MetricDefinition kTables[] = {
    {"armature_table_items", kGauge, "table", "Exact number of items."},
    {"armature_table_bytes", kGauge, "table", "Sum of the item sizes as the API counts them."},
    {"armature_table_requests_total", kCounter, "table, index, use",
     "Uses of a table, or of a global index, since the start: each read, page of a read, write and member of a batch "
     "or "
     "transaction counts. `index` is empty for the table itself; `use` is read or write. Tables and indexes that were "
     "not used are left out, as they are in the next two."},
    {"armature_table_units_total", kCounter, "table, index, use", "The capacity units that these uses took."},
    {"armature_table_throttled_total", kCounter, "table, index, use",
     "Uses that were refused because of the throughput of the table or index, or the backlog of the index."},
    {"armature_table_damaged", kGauge, "table",
     "Number of the table's parts, itself and its indexes, that are set apart because a file is damaged."},
    {"armature_hot_key_share", kGauge, "table, index, use",
     "Share of one partition key, the most used one, in the capacity units (throttled: in the requests) of all counted "
     "keys in the last ten minutes, at least; 0 to 1. Only for tables and global indexes with contributor insights. "
     "`index` is empty for the table itself; `use` is read, write or throttled."},
    {"armature_column_families", kGauge, "",
     "Column families that are made: one for each table and index that was written, and five."},
    {"armature_column_families_needed", kGauge, "",
     "Column families that all tables and indexes need once each was written."},
    {"armature_column_families_max", kGauge, "",
     "The limit on the column families that tables and indexes may need, --column_families_max."},
};

constexpr MetricDefinition kStreams[] = {
    {"armature_stream_count", kGauge, "state",
     "Streams of tables whose records are kept. `state` is enabled, or disabled: also those of deleted tables."},
    {"armature_stream_bytes", kGauge, "", "Size of the records of all streams, approximately."},
    {"armature_stream_max_bytes", kGauge, "", "The limit on the size of the records, --stream_mb_max."},
    {"armature_stream_age_seconds", kGauge, "", "Age of the oldest records: time since their segment began."},
    {"armature_stream_segments_trimmed_early_total", kCounter, "",
     "Segments of the streams that were removed before their time, because of --stream_mb_max."},
};

constexpr MetricDefinition kWatches[] = {
    {"armature_watches", kGauge, "", "Open watches; at most --watch_max."},
    {"armature_watch_records_total", kCounter, "", "Changes delivered to watches."},
    {"armature_watches_fell_behind_total", kCounter, "",
     "Watches that ended because the changes behind their position were no longer kept."},
};

constexpr MetricDefinition kExpiry[] = {
    {"armature_expired_items_total", kCounter, "", "Items deleted because their time to live was over."},
    {"armature_expiry_waiting_items", kGauge, "",
     "Items whose time to live is over and that are still there; up to 100,000 are counted in each table."},
    {"armature_expiry_overdue_seconds", kGauge, "",
     "Time since the oldest of these items should have been deleted; 0 if there is none."},
    {"armature_expiry_filling_tables", kGauge, "",
     "Tables that are being read for items with a time to live, because it was switched on."},
};

constexpr MetricDefinition kPools[] = {
    {"armature_pool_queue_tasks", kGauge, "pool",
     "Tasks that wait for a thread. `pool` is read (queries, scans, reads from disk), plans (statements that are to be "
     "planned), locks (requests that hold row locks), tables (operations on tables), backups (lists of backups and "
     "other operations on them), check (armature verify), writes (writes that are held back during an overload), "
     "or long (requests that take long to read or to authorise)."},
    {"armature_pool_refused_total", kCounter, "pool",
     "Requests that were throttled without being run, because too many waited for a thread of the pool, or they had "
     "waited too long. `pool` is read, plans, writes, long, or fronts (requests that waited for the I/O threads)."},
    {"armature_long_requests_total", kCounter, "",
     "Requests that were read and authorised on threads of their own: large ones, and those with many comparisons of "
     "policies."},
    {"armature_statements_planned_total", kCounter, "",
     "PartiQL statements that were planned, each one of a batch or transaction. Denied ones are not."},
};

constexpr MetricDefinition kDisk[] = {
    {"armature_disk_total_bytes", kGauge, "", "Size of the file system that holds the database."},
    {"armature_disk_free_bytes", kGauge, "", "Free space on the file system that holds the database."},
    {"armature_disk_reserve_bytes", kGauge, "", "Free space below which writes are refused, --disk_reserve."},
    {"armature_disk_read_only", kGauge, "reason",
     "1 while writes are refused. `reason` is low (less than the reserve is free), full (a write has failed; writes "
     "resume when there is space), descriptors (no file could be opened; writes resume when that is possible again) or "
     "broken (needs a restart)."},
    {"armature_disk_refused_writes_total", kCounter, "", "Writes refused because of the disk."},
    {"armature_disk_failures_total", kCounter, "", "Failed writes of the storage engine."},
    {"armature_disk_resumes_total", kCounter, "", "Number of times that writes resumed after a failure."},
};

constexpr MetricDefinition kBackups[] = {
    {"armature_backups_total", kCounter, "result", "Backups completed (ok) or failed (failed)."},
    {"armature_backup_copied_bytes_total", kCounter, "", "Bytes copied by backups."},
    {"armature_backup_running", kGauge, "", "1 while a backup runs."},
    {"armature_backup_last_success_timestamp_seconds", kGauge, "",
     "Completion time of the last backup, also one before this start if it is in --backup_dir; 0 without one."},
    {"armature_backup_interval_seconds", kGauge, "", "Interval of the schedule, --backup_interval; 0 without one."},
    {"armature_backup_place_epoch", kGauge, "place",
     "Number of owners so far of a place of backups in Ceph RADOS, while this daemon owns it."},
    {"armature_backup_place_lease_left_seconds", kGauge, "place",
     "Time for which it is the owner of that place for certain."},
};

constexpr MetricDefinition kArchive[] = {
    {"armature_archive_paused", kGauge, "",
     "1 while the archive cannot be written; the log has the reason. It resumes by itself."},
    {"armature_archive_lag_seconds", kGauge, "",
     "Age of the moment up to which the archive is complete; 0 before the first segment."},
    {"armature_archive_waiting_bytes", kGauge, "",
     "Size of the log files that wait for the archive only; at most --archive_wait_mb."},
    {"armature_archive_breaks", kGauge, "",
     "Missing or damaged segments of the present chain, as its background reader has found them."},
    {"armature_archive_verified_timestamp_seconds", kGauge, "",
     "Time at which that reader had read the whole chain last; 0: not yet."},
    {"armature_archive_last_base_timestamp_seconds", kGauge, "", "Time of the last base; 0 without one."},
    {"armature_archive_segments_total", kCounter, "", "Segments shipped."},
    {"armature_archive_bytes_total", kCounter, "", "Their size."},
    {"armature_archive_chains_total", kCounter, "",
     "Chains begun since the start of the daemon: each means that moments before it and behind the last chain cannot "
     "be "
     "restored. The log has the reason."},
    {"armature_archive_bases_total", kCounter, "result", "Bases made (ok) or failed (failed)."},
    {"armature_archive_clock_steps_total", kCounter, "",
     "Times that the clock went back by a second or more between writes."},
};

constexpr MetricDefinition kTransfers[] = {
    {"armature_transfers_in_progress", kGauge, "",
     "Exports, imports and bulk operations that run or wait; at most 50."},
    {"armature_transfers_total", kCounter, "result",
     "Exports, imports and bulk operations that have ended (ok) or failed (failed)."},
};

constexpr MetricDefinition kStore[] = {
    {"armature_store_cache_bytes", kGauge, "", "Memory of the block cache."},
    {"armature_store_cache_max_bytes", kGauge, "", "Limit of the block cache, --cache_mb."},
    {"armature_store_cache_pinned_bytes", kGauge, "", "Memory of the block cache that is pinned."},
    {"armature_store_cache_hits_total", kCounter, "", "Block reads served by the block cache."},
    {"armature_store_cache_misses_total", kCounter, "", "Block reads that missed the block cache."},
    {"armature_store_filter_useful_total", kCounter, "", "File reads avoided by a Bloom filter."},
    {"armature_store_memtable_bytes", kGauge, "", "Memory of all memtables."},
    {"armature_store_memtable_max_bytes", kGauge, "",
     "Budget of all memtables: --memtables_mb, and what an empty one of each column family takes."},
    {"armature_store_table_reader_bytes", kGauge, "", "Memory for open files outside the cache."},
    {"armature_store_file_bytes", kGauge, "", "Sizes of all live table files."},
    {"armature_store_log_bytes_total", kCounter, "", "Bytes written to the write-ahead log."},
    {"armature_store_log_syncs_total", kCounter, "", "Syncs of the write-ahead log."},
    {"armature_store_flush_bytes_total", kCounter, "", "Bytes written by flushes of memtables."},
    {"armature_store_compaction_read_bytes_total", kCounter, "", "Bytes read by compactions."},
    {"armature_store_compaction_written_bytes_total", kCounter, "", "Bytes written by compactions."},
    {"armature_store_compaction_pending_bytes", kGauge, "", "Estimated bytes that compactions have yet to rewrite."},
    {"armature_store_flushes_running", kGauge, "", "Running flushes."},
    {"armature_store_compactions_running", kGauge, "", "Running compactions."},
    {"armature_store_write_stall_seconds_total", kCounter, "", "Time for which flushes or compactions delayed writes."},
    {"armature_store_write_stopped", kGauge, "", "1 while writes are stopped."},
    {"armature_store_delayed_write_bytes_per_second", kGauge, "",
     "Rate to which writes are throttled; 0 without throttling."},
    {"armature_store_background_errors_total", kCounter, "", "Failed flushes and compactions."},
};

constexpr MetricDefinition kRados[] = {
    {"armature_standby", kGauge, "", "1 while the daemon waits for a database that another one serves; else 0."},
    {"armature_standby_unfit", kGauge, "reason",
     "1 if the daemon that waits could not take the database over, for this reason: address, clock, cluster, damage, "
     "lease, place, rights or version. Its log and /readyz have the details."},
    {"armature_rados_epoch", kGauge, "", "Number of owners of the database so far: it rises with each takeover."},
    {"armature_rados_lease_left_seconds", kGauge, "",
     "Time for which the daemon is the owner for certain; 0: reads are refused."},
    {"armature_rados_objects", kGauge, "",
     "Objects of the database's files, those of removed files that are still open among them."},
    {"armature_rados_lost_objects", kGauge, "",
     "Objects that were missing or too short when the daemon looked for them after its start. Its log has their "
     "names."},
    {"armature_rados_file_bytes", kGauge, "", "Size of these files. Each replica takes as much."},
    {"armature_rados_log_sync_duration_seconds", kHistogram, "",
     "Time until all replicas have the bytes of a sync of the log. Several syncs may be under way."},
    {"armature_rados_copies_bytes", kGauge, "", "Size of the copies in --sst_cache_dir."},
    {"armature_rados_copies_max_bytes", kGauge, "", "Its limit; 0: no copies."},
    {"armature_rados_copies_files", kGauge, "", "Number of copies."},
    {"armature_rados_table_reads_total", kCounter, "from",
     "Reads of table files from their copies (from=copy) and, with copies, from the cluster (from=cluster)."},
    {"armature_rados_copies_damaged_total", kCounter, "", "Copies that were removed because of their checksum."},
};

constexpr MetricDefinition kProcess[] = {
    {"armature_build_info", kGauge, "version", "Always 1."},
    {"armature_heap_bytes", kGauge, "", "Memory that the process has allocated and not freed."},
    {"process_cpu_seconds_total", kCounter, "", "Processor time, user and system."},
    {"process_resident_memory_bytes", kGauge, "", "Resident memory."},
    {"process_open_fds", kGauge, "", "Open file descriptors."},
    {"process_max_fds", kGauge, "", "Limit on open file descriptors."},
    {"process_threads", kGauge, "", "Threads."},
    {"process_start_time_seconds", kGauge, "", "Start time of the process, in seconds since 1970."},
};

// A heading of the document and the metrics below it.
struct MetricGroup {
  std::string_view title;
  std::span<const MetricDefinition> metrics;
};
constexpr MetricGroup kGroups[] = {
    {"Requests", kRequests},      {"Group commit", kCommit},
    {"Global indexes", kIndexes}, {"Tables", kTables},
    {"Streams", kStreams},        {"Watches", kWatches},
    {"Expiry", kExpiry},          {"Pools", kPools},
    {"Disk space", kDisk},        {"Backups", kBackups},
    {"Archive", kArchive},        {"Exports and imports", kTransfers},
    {"Storage engine", kStore},   {"Databases in Ceph RADOS", kRados},
    {"Process", kProcess},
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
    text += Cat("\n## ", group.title, "\n\n| metric | kind | labels | meaning |\n| --- | --- | --- | --- |\n");
    for (const MetricDefinition& metric : group.metrics) {
      text += Cat("| `", metric.name, "` | ", KindName(metric.kind), " | ", metric.labels, " | ", metric.help, " |\n");
    }
  }
  return text;
}

}  // namespace armature::daemon
