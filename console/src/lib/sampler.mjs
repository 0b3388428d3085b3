// Readings of the metrics over time, for as long as somebody looks at them.

import { fetchMetrics } from './api.mjs';
import { attention, parseMetrics, sampleOf } from './metrics.mjs';
import { Store } from './store.mjs';

const EVERY_MS = 3000;
const KEPT = 1200;  // an hour

// samples: {time: seconds since 1970, ...sampleOf}, or {time, isGap: true} where nobody looked. attention: of the last
// interval. error: of the last reading.
export const activity = new Store({ samples: [], attention: [], error: null, hasBegun: false });

let last = null;  // {metrics, at}
let timer = null;
let viewers = 0;
let controller = null;

async function read() {
  controller = new AbortController();
  try {
    const metrics = parseMetrics(await fetchMetrics({ signal: controller.signal }));
    const now = { metrics, at: performance.now() };
    const { samples } = activity.value;
    // Before the second reading there is no interval.
    if (last === null) activity.update({ error: null, hasBegun: true });
    else {
      const seconds = (now.at - last.at) / 1000;
      const sample = { time: Date.now() / 1000, ...sampleOf(last.metrics, metrics, seconds) };
      activity.update({
        samples: [...samples, sample].slice(-KEPT), attention: attention(last.metrics, metrics, seconds), error: null,
        hasBegun: true,
      });
    }
    last = now;
  } catch (error) {
    if (error.name === 'AbortError') return;
    last = null;
    activity.update({ error });
  }
  if (viewers > 0 && document.visibilityState === 'visible') timer = setTimeout(read, EVERY_MS);
}

function stop() {
  clearTimeout(timer);
  controller?.abort();
  timer = null;
  // Readings long apart say nothing of the time between.
  last = null;
  const { samples } = activity.value;
  if (samples.length === 0 || samples.at(-1).isGap) return;
  activity.update({ samples: [...samples, { time: Date.now() / 1000, isGap: true }] });
}

function start() {
  stop();
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
