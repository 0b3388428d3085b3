// When to ask the daemon again: not while the page is hidden, and seldom while nobody uses it.

import { useEffect, useRef } from '../../vendor/htm-preact.mjs';

const IDLE_AFTER_MS = 120_000;
const IDLE_EVERY_MS = 60_000;
const USES = ['pointermove', 'pointerdown', 'keydown', 'wheel', 'touchstart'];

let usedAt = Date.now();
const sleepers = new Set();

const isVisible = () => document.visibilityState === 'visible';
export const isIdle = () => Date.now() - usedAt > IDLE_AFTER_MS;

function wakeAll() {
  for (const wake of [...sleepers]) wake();
}

function noteUse() {
  const wasIdle = isIdle();
  usedAt = Date.now();
  if (wasIdle) wakeAll();
}

for (const name of USES) addEventListener(name, noteUse, { passive: true, capture: true });
document.addEventListener('visibilitychange', () => {
  if (isVisible()) usedAt = Date.now();
  wakeAll();
});

// Calls `task(signal)` at once and again `everyMs` after its end, or after a minute while nobody uses the page; never
// while the page is hidden. It ends when the task returns false, or by the function that is returned. A task whose page
// is hidden is aborted, and begins anew when it is seen.
export function repeat(task, everyMs) {
  let controller = null;
  let timer = null;
  let isEnded = false;
  let dueAt = 0;  // by the clock of Date.now
  const pause = () => {
    clearTimeout(timer);
    timer = null;
  };
  const plan = () => {
    pause();
    if (isEnded || controller !== null || !isVisible()) return;
    const wait = isIdle() ? Math.max(dueAt - everyMs + IDLE_EVERY_MS, dueAt) : dueAt;
    timer = setTimeout(run, Math.max(wait - Date.now(), 0));
  };
  const run = async () => {
    timer = null;
    const own = new AbortController();
    controller = own;
    let goesOn = true;
    try {
      goesOn = await task(own.signal) !== false;
    } catch (error) {
      if (error.name !== 'AbortError') console.error(error);
    }
    if (controller === own) controller = null;
    if (!goesOn && !own.signal.aborted) isEnded = true;
    dueAt = own.signal.aborted ? 0 : Date.now() + everyMs;
    plan();
  };
  const wake = () => {
    if (!isVisible()) controller?.abort();
    plan();
  };
  sleepers.add(wake);
  plan();
  return () => {
    isEnded = true;
    sleepers.delete(wake);
    pause();
    controller?.abort();
  };
}

// Repeats the task of the latest drawing while the view is there. everyMs null: not now.
export function useRepeat(task, everyMs, dependencies) {
  const latest = useRef(task);
  latest.current = task;
  useEffect(() => (everyMs === null ? undefined : repeat((signal) => latest.current(signal), everyMs)),
    [everyMs === null, ...dependencies]);
}
