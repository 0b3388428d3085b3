// The daemon's load over time: its own record of the last hour, then readings of the metrics while somebody looks.

import { fetchHistory, fetchMetrics, fetchRequests } from './api.mjs';
import { attention, parseMetrics, sampleOf } from './metrics.mjs';
import { repeat } from './pace.mjs';
import { daemonTime } from './session.mjs';
import { Store } from './store.mjs';

const EVERY_MS = 3000;
const REST_MS = 20_000;
const KEPT = 1200;  // an hour

// samples: {time: seconds since 1970, ...sampleOf}, or {time, isGap: true} where nothing is known. attention: of the
// last interval, null until there is one. requests: {running, slow} of fetchRequests, null until they are read. error: of
// the last reading.
export const activity = new Store({ samples: [], attention: null, requests: null, error: null });

let last = null;  // {metrics, at}
let viewers = 0;
let stopReading = null;

const put = (samples) => activity.update({ samples: samples.slice(-KEPT) });

function putGap() {
  const { samples } = activity.value;
  if (samples.length > 0 && !samples.at(-1).isGap) put([...samples, { time: Date.now() / 1000, isGap: true }]);
}

// The daemon's record replaces what this page has read in its time.
async function readHistory(signal) {
  const history = await fetchHistory({ signal });
  if (history.length === 0) return;
  const end = history.at(-1).time;
  const before = activity.value.samples.filter(({ time }) => time < history[0].time);
  const later = activity.value.samples.filter(({ time, isGap }) => time > end && !isGap);
  put([...before, ...history, ...later]);
}

async function readMetrics(signal) {
  const metrics = parseMetrics(await fetchMetrics({ signal }));
  const now = { metrics, at: performance.now() };
  const before = last ?? now;
  const seconds = (now.at - before.at) / 1000;
  // Before the second reading there is no interval.
  if (last !== null) {
    put([...activity.value.samples, { time: Date.now() / 1000, ...sampleOf(before.metrics, metrics, seconds) }]);
  }
  activity.update({ attention: attention(before.metrics, metrics, seconds, daemonTime().getTime() / 1000) });
  last = now;
}

// Returns false if it is of no use to read again.
async function read(signal) {
  try {
    // The daemon's own record has more of a longer time.
    if (last !== null && performance.now() - last.at > REST_MS) last = null;
    if (last === null) await readHistory(signal);
    await readMetrics(signal);
    activity.update({ requests: await fetchRequests({ signal }), error: null });
    return true;
  } catch (error) {
    // Readings long apart say nothing of the time between.
    last = null;
    putGap();
    if (error.name === 'AbortError') throw error;
    activity.update({ error });
    // Rights do not come by asking again, and the daemon logs each refusal.
    return error.name !== 'AccessDeniedException';
  }
}

// Reads until the returned function is called, while the page is visible.
export function look() {
  viewers += 1;
  if (viewers === 1) {
    activity.update({ attention: null });
    stopReading = repeat(read, EVERY_MS);
  }
  return () => {
    viewers -= 1;
    if (viewers > 0) return;
    stopReading();
    last = null;
    putGap();
  };
}
