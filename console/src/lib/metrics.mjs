// The daemon's metrics: their text, and what can be said of two readings one after another.

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

// Trouble that needs attention now: {severity: 'error' | 'warning', text}, the worst first.
export function attention(before, now, seconds) {
  const found = [];
  const add = (severity, text) => found.push({ severity, text });
  for (const { labels, value } of rowsOf(now, 'armature_disk_read_only')) {
    if (value > 0) add('error', READ_ONLY_TEXTS[labels.reason] ?? `Writes are refused: ${labels.reason}.`);
  }
  const on = (name) => rowsOf(now, name).filter((row) => row.value > 0);
  const damaged = on('armature_table_damaged');
  if (damaged.length > 0) add('error', `Damaged and set apart: ${namesOf(damaged)}. See armature verify.`);
  const stalled = on('armature_gsi_stalled');
  if (stalled.length > 0) {
    add('error', `Changes cannot be applied to ${namesOf(stalled)}: the index or its changes are damaged.`);
  }
  if (valueOf(now, 'armature_store_write_stopped') > 0) {
    add('error', 'Writes are stopped until compactions have caught up.');
  }
  const lagging = rowsOf(now, 'armature_gsi_lag_seconds').filter((row) => row.value > 5);
  if (lagging.length > 0) {
    add('warning', `${namesOf(lagging)} lags ${Math.round(maximum(lagging))} s behind its table.`);
  }
  const [free, reserve] = [valueOf(now, 'armature_disk_free_bytes'), valueOf(now, 'armature_disk_reserve_bytes')];
  if (free > 0 && free < 2 * reserve) {
    add('warning', 'The free space is close to the reserve below which writes are refused.');
  }
  const refused = total([...growth(before, now, 'armature_pool_refused_total', ({ pool }) => pool)]
    .map(([, value]) => ({ value })));
  if (refused > 0) add('warning', `Overload: ${Math.ceil(refused / seconds)} requests a second are throttled.`);
  const descriptors = valueOf(now, 'process_max_fds');
  if (descriptors > 0 && valueOf(now, 'process_open_fds') > 0.8 * descriptors) {
    add('warning', 'More than 80 % of the file descriptors are open.');
  }
  return found;
}
