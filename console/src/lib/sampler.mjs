// The daemon's load over time: its own record of the last hour, then readings of the metrics while somebody looks.

import { fetchHistory, fetchMetrics, fetchRequests } from './api.mjs';
import { attention, parseMetrics, sampleOf } from './metrics.mjs';
import { Store } from './store.mjs';

const EVERY_MS = 3000;
const KEPT = 1200;  // an hour

// samples: {time: seconds since 1970, ...sampleOf}, or {time, isGap: true} where nothing is known. attention: of the
// last interval, null until there is one. requests: {running, slow} of fetchRequests, null until they are read. error: of
// the last reading.
export const activity = new Store({ samples: [], attention: null, requests: null, error: null });

let last = null;  // {metrics, at}
let timer = null;
let viewers = 0;
let controller = null;

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
  // Before the second reading there is no interval.
  if (last !== null) {
    const seconds = (now.at - last.at) / 1000;
    put([...activity.value.samples, { time: Date.now() / 1000, ...sampleOf(last.metrics, metrics, seconds) }]);
    activity.update({ attention: attention(last.metrics, metrics, seconds) });
  }
  last = now;
}

async function read() {
  controller = new AbortController();
  const { signal } = controller;
  try {
    if (last === null) await readHistory(signal);
    await readMetrics(signal);
    activity.update({ requests: await fetchRequests({ signal }) });
    activity.update({ error: null });
  } catch (error) {
    if (error.name === 'AbortError') return;
    last = null;
    putGap();
    activity.update({ error });
    // Rights do not come by asking again, and the daemon logs each refusal.
    if (error.name === 'AccessDeniedException') return;
  }
  if (!signal.aborted) timer = setTimeout(read, EVERY_MS);
}

function stop() {
  clearTimeout(timer);
  controller?.abort();
  timer = null;
  // Readings long apart say nothing of the time between.
  last = null;
  putGap();
}

function start() {
  stop();
  activity.update({ attention: null });
  read();
}

document.addEventListener('visibilitychange', () => {
  if (viewers === 0) return;
  if (document.visibilityState === 'visible') start();
  else stop();
});

// Reads until the returned function is called, while the page is visible.
export function look() {
  viewers += 1;
  if (viewers === 1) start();
  return () => {
    viewers -= 1;
    if (viewers === 0) stop();
  };
}
