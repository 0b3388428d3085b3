// The messages of a stream of responses, with a deadline for each.

import type { ClientReadableStream } from '@grpc/grpc-js';

import type { Connection, Method } from './connection';
import { DeadlineExceededError } from './errors';
import { TIMER_MS_MAX } from './timers';

/**
 * The messages until the daemon ends the stream. The stream is cancelled when the reader stops.
 *
 * @throws the error that ended the stream; the reason of the signal; DeadlineExceededError if the daemon sends nothing for
 *   `patienceMs`.
 */
export async function* readStream<T>(
  connection: Connection,
  method: Method,
  stream: ClientReadableStream<unknown>,
  patienceMs: number,
  signal?: AbortSignal,
): AsyncGenerator<T, void> {
  let timer: NodeJS.Timeout | undefined;
  let isLate = false;
  const watch = (): void => {
    clearTimeout(timer);
    if (patienceMs === Infinity) return;
    timer = setTimeout(() => {
      isLate = true;
      stream.cancel();
    }, Math.min(patienceMs, TIMER_MS_MAX));
  };
  const abort = (): void => stream.cancel();
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted === true) abort();
  watch();
  try {
    for await (const message of stream as AsyncIterable<T>) {
      // The reader may take its time; the daemon may not.
      clearTimeout(timer);
      yield message;
      watch();
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (isLate) throw new DeadlineExceededError('the daemon has sent nothing in time', { code: 'DEADLINE_EXCEEDED' });
    throw connection.errorOf(error, method);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    stream.cancel();
  }
}
