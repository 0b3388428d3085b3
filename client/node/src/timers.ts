// Times of any length. A timer of Node.js that is longer than it can be fires at once.

import { setTimeout as timer } from 'node:timers/promises';

/** The longest time of a timer in milliseconds. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

/** Waits, also for Infinity. @throws an AbortError as soon as the signal is aborted. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  const options = signal === undefined ? {} : { signal };
  let left = ms;
  for (; left > TIMER_MS_MAX; left -= TIMER_MS_MAX) await timer(TIMER_MS_MAX, undefined, options);
  await timer(left, undefined, options);
}
