// The daemon's metrics: their text, and what can be said of two readings one after another.

import { bytes, duration } from './format.mjs';

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? ([^ ]+)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

// Name of a metric -> list of {labels, value}. Buckets of a histogram have the name with _bucket.
export function parseMetrics(text) {
  const metrics = new Map();
  for (const line of text.split('\n')) {
    const found = LINE.exec(line);
    if (found === null) continue;
    const [, name, labelText, value] = found;
    const labels = {};
    for (const [, label, content] of (labelText ?? '').matchAll(LABEL)) {
      labels[label] = content.replace(/\\(.)/g, (_, letter) => (letter === 'n' ? '\n' : letter));
    }
    if (!metrics.has(name)) metrics.set(name, []);
    metrics.get(name).push({ labels, value: Number(value) });
  }
  return metrics;
}

const rowsOf = (metrics, name) => metrics.get(name) ?? [];
export const valueOf = (metrics, name) => rowsOf(metrics, name)[0]?.value ?? 0;
const total = (rows) => rows.reduce((sum, row) => sum + row.value, 0);
const maximum = (rows) => rows.reduce((most, row) => Math.max(most, row.value), 0);

// Growth of a counter by a label. A counter that shrank began anew with a new process.
function growth(before, now, name, labelOf) {
  const sums = (metrics) => {
    const byLabel = new Map();
    for (const { labels, value } of rowsOf(metrics, name)) {
      const label = labelOf(labels);
      byLabel.set(label, (byLabel.get(label) ?? 0) + value);
    }
    return byLabel;
  };
  const [old, current] = [sums(before), sums(now)];
  const grown = new Map();
  for (const [label, value] of current) {
    const from = old.get(label) ?? 0;
    grown.set(label, value >= from ? value - from : value);
  }
  return grown;
}

// The quantile of a histogram's growth, in its unit; null without observations. Linear within a bucket.
export function quantile(buckets, part) {
  const sorted = [...buckets].sort((a, b) => a.bound - b.bound);
  const all = sorted.at(-1)?.count ?? 0;
  if (all <= 0) return null;
  const rank = part * all;
  let [lower, below] = [0, 0];
  for (const { bound, count } of sorted) {
    if (count >= rank) {
      if (bound === Infinity) return lower;
      return count === below ? bound : lower + (bound - lower) * ((rank - below) / (count - below));
    }
    [lower, below] = [bound, count];
  }
  return lower;
}

function latencies(before, now) {
  const name = 'armature_request_duration_seconds_bucket';
  const grown = growth(before, now, name, ({ operation, le }) => `${operation}\n${le}`);
  const byOperation = new Map();
  for (const [label, count] of grown) {
    const [operation, le] = label.split('\n');
    if (!byOperation.has(operation)) byOperation.set(operation, []);
    byOperation.get(operation).push({ bound: le === '+Inf' ? Infinity : Number(le), count });
  }
  const found = {};
  for (const [operation, buckets] of byOperation) {
    const [p50, p99] = [quantile(buckets, 0.5), quantile(buckets, 0.99)];
    if (p50 !== null) found[operation] = { p50, p99 };
  }
  return found;
}

// The values of one interval. `seconds`: its length.
export function sampleOf(before, now, seconds) {
  const requests = {};
  let [all, errors] = [0, 0];
  const grown = growth(before, now, 'armature_requests_total', ({ operation, result }) => `${operation}\n${result}`);
  for (const [label, count] of grown) {
    const [operation, result] = label.split('\n');
    requests[operation] = (requests[operation] ?? 0) + count / seconds;
    all += count / seconds;
    if (result !== 'ok') errors += count / seconds;
  }
  const disk = valueOf(now, 'armature_disk_total_bytes');
  return {
    requests, all, errors, latencies: latencies(before, now),
    lag: maximum(rowsOf(now, 'armature_gsi_lag_seconds')), backlog: total(rowsOf(now, 'armature_gsi_backlog_records')),
    diskUsed: disk - valueOf(now, 'armature_disk_free_bytes'), disk, files: valueOf(now, 'armature_store_file_bytes'),
    memory: valueOf(now, 'process_resident_memory_bytes'), cache: valueOf(now, 'armature_store_cache_bytes'),
    processor: (valueOf(now, 'process_cpu_seconds_total') - valueOf(before, 'process_cpu_seconds_total')) / seconds,
  };
}

const namesOf = (rows) => rows.map(({ labels }) => (labels.index ? `${labels.table}/${labels.index}` : labels.table))
  .slice(0, 5).join(', ');

const READ_ONLY_TEXTS = {
  low: 'Writes are refused: less than the reserve is free on the disk.',
  full: 'Writes are refused: the disk is full. They resume when there is space.',
  descriptors: 'Writes are refused: the process has no file descriptors left.',
  broken: 'Writes are refused until the daemon is restarted: the disk has failed.',
};

const DAY = 86400;
const hour = (time) => new Date(time * 1000).toTimeString().slice(0, 5);
const TABLE_PLACE = (rows) => ['tables', rows[0].labels.table, rows[0].labels.index ? 'settings' : 'structure'];
const LAGS_NAMED = 3;
const LAG_S = 5;

// Indexes that are behind their tables, the worst first.
function lagTrouble(now, time, add) {
  const lagging = rowsOf(now, 'armature_gsi_lag_seconds').filter((row) => row.value > LAG_S)
    .sort((a, b) => b.value - a.value);
  for (const row of lagging.slice(0, LAGS_NAMED)) {
    add('warning', `Index ${namesOf([row])} is ${duration(row.value)} behind since ${hour(time - row.value)}.`,
      TABLE_PLACE([row]));
  }
  if (lagging.length > LAGS_NAMED) {
    add('warning', `${lagging.length - LAGS_NAMED} more indexes are behind their tables.`, ['activity']);
  }
}

function certificateTrouble(now, time, add) {
  for (const { labels, value } of rowsOf(now, 'armature_tls_certificate_expiry_timestamp_seconds')) {
    const left = value - time;
    const name = labels.certificate === 'client_ca' ? 'A certificate of --tls_client_ca' : 'The certificate of the daemon';
    if (left <= 0) add('error', `${name} has ended: clients refuse the connection.`, ['daemon']);
    else if (left < 21 * DAY) {
      add(left < 3 * DAY ? 'error' : 'warning', `${name} ends in ${duration(left)}. Replace the file, then send SIGHUP.`,
        ['daemon']);
    }
  }
}

function archiveTrouble(now, add) {
  const lag = valueOf(now, 'armature_archive_lag_seconds');
  if (valueOf(now, 'armature_archive_paused') > 0) {
    add('error', `The archive is paused, and ${duration(lag)} behind. The daemon's log has the reason.`, ['daemon']);
  } else if (lag > 600) {
    add('warning', `The archive is ${duration(lag)} behind.`, ['daemon']);
  }
  const breaks = valueOf(now, 'armature_archive_breaks');
  if (breaks > 0) {
    add('error', `The archive has ${breaks === 1 ? 'a missing or damaged segment' : `${breaks} missing or damaged segments`}:`
      + ' moments behind it cannot be restored.', ['daemon']);
  }
}

function backupTrouble(now, time, add) {
  const interval = valueOf(now, 'armature_backup_interval_seconds');
  if (interval <= 0) return;
  const last = valueOf(now, 'armature_backup_last_success_timestamp_seconds');
  const since = Math.max(last, valueOf(now, 'process_start_time_seconds'));
  if (since > 0 && time - since > 2 * interval) {
    add('warning', last === 0 ? 'No backup of the database has succeeded yet, although there is a schedule.'
      : `The last backup of the database is ${duration(time - last)} old; the schedule makes one every ${duration(interval)}.`,
    ['daemon']);
  }
}

function clusterTrouble(now, add) {
  const lost = valueOf(now, 'armature_rados_lost_objects');
  if (lost > 0) add('error', `${lost} objects of the database are missing in RADOS. The daemon's log has their names.`, ['daemon']);
  const lease = rowsOf(now, 'armature_rados_lease_left_seconds');
  if (lease.length > 0 && lease[0].value <= 0) {
    add('error', 'The lease on the database has run out: reads are refused until it is renewed.', ['daemon']);
  }
}

function limitTrouble(before, now, seconds, add) {
  const refused = total([...growth(before, now, 'armature_pool_refused_total', ({ pool }) => pool)]
    .map(([, value]) => ({ value })));
  if (refused > 0) {
    add('warning', `Overload: ${Math.ceil(refused / seconds)} requests a second are throttled.`, ['activity']);
  }
  const descriptors = valueOf(now, 'process_max_fds');
  if (descriptors > 0 && valueOf(now, 'process_open_fds') > 0.8 * descriptors) {
    add('warning', 'More than 80 % of the file descriptors are open.', ['activity']);
  }
  const families = valueOf(now, 'armature_column_families_max');
  if (families > 0 && valueOf(now, 'armature_column_families_needed') > 0.9 * families) {
    add('warning', 'More than 90 % of --column_families_max is used: soon no table or index can be made.', ['daemon']);
  }
  if (valueOf(now, 'armature_expiry_overdue_seconds') > 3600) {
    add('warning', `Expired items wait for ${duration(valueOf(now, 'armature_expiry_overdue_seconds'))} to be deleted.`,
      ['activity']);
  }
  const trimmed = total([...growth(before, now, 'armature_stream_segments_trimmed_early_total', () => '')]
    .map(([, value]) => ({ value })));
  if (trimmed > 0) add('warning', 'Records of streams are removed before their time, because of --stream_mb_max.', ['daemon']);
  if (valueOf(now, 'armature_audit_lines_lost_total') > 0) {
    add('warning', 'The audit log has lost lines. The daemon\'s log has the reason.', ['daemon']);
  }
}

// Trouble that needs attention now: {severity: 'error' | 'warning', text, place: route of the view about it}, the worst
// first. `seconds`: between the two readings, which may be one and the same. `time`: of the daemon, since 1970.
export function attention(before, now, seconds, time = Date.now() / 1000) {
  const found = [];
  const add = (severity, text, place) => found.push({ severity, text, place });
  for (const { labels, value } of rowsOf(now, 'armature_disk_read_only')) {
    if (value > 0) add('error', READ_ONLY_TEXTS[labels.reason] ?? `Writes are refused: ${labels.reason}.`, ['activity']);
  }
  const on = (name) => rowsOf(now, name).filter((row) => row.value > 0);
  const damaged = on('armature_table_damaged');
  if (damaged.length > 0) {
    add('error', `Damaged and set apart: ${namesOf(damaged)}. See armature verify.`, TABLE_PLACE(damaged));
  }
  const stalled = on('armature_gsi_stalled');
  if (stalled.length > 0) {
    add('error', `Changes cannot be applied to ${namesOf(stalled)}: the index or its changes are damaged.`,
      TABLE_PLACE(stalled));
  }
  if (valueOf(now, 'armature_store_write_stopped') > 0) {
    add('error', 'Writes are stopped until compactions have caught up.', ['activity']);
  }
  const [free, reserve] = [valueOf(now, 'armature_disk_free_bytes'), valueOf(now, 'armature_disk_reserve_bytes')];
  if (free > 0 && free < 2 * reserve) {
    add('warning', `The disk is nearly full: ${bytes(free)} are free, and below ${bytes(reserve)} writes are refused.`,
      ['activity']);
  }
  lagTrouble(now, time, add);
  certificateTrouble(now, time, add);
  archiveTrouble(now, add);
  backupTrouble(now, time, add);
  clusterTrouble(now, add);
  limitTrouble(before, now, Math.max(seconds, 1), add);
  return [...found.filter((each) => each.severity === 'error'), ...found.filter((each) => each.severity !== 'error')];
}
