// Trouble that needs attention, for all views: the metrics twice a minute, for users who may read them.

import { fetchMetrics } from './api.mjs';
import { attention, parseMetrics } from './metrics.mjs';
import { daemonTime } from './session.mjs';
import { Store } from './store.mjs';

// found: of `attention`; null until it is known, or if the user may not.
export const trouble = new Store({ found: null });

let last = null;  // {metrics, at}

// One reading. Returns false if the user may not read the metrics.
export async function readTrouble(signal) {
  try {
    const metrics = parseMetrics(await fetchMetrics({ signal }));
    const now = { metrics, at: performance.now() };
    const before = last ?? now;
    last = now;
    trouble.set({ found: attention(before.metrics, metrics, (now.at - before.at) / 1000, daemonTime().getTime() / 1000) });
    return true;
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    last = null;
    trouble.set({ found: null });
    return error.name !== 'AccessDeniedException';
  }
}
