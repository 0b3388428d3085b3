// The changes of a table as they are made.

import { inspect } from 'node:util';

import { Caller, deadlineOf } from './caller';
import { ArmatureError } from './errors';
import { methods } from './generated/operations';
import type { ChangeRecord, WatchRequest, WatchResponse } from './generated/types';
import { checkMembers, Names } from './known';
import { encode } from './messages';
import { readStream } from './response-stream';
import { isTransient } from './retry';
import { sleep } from './timers';

const HEARTBEAT_MS = 5000; // of the daemon, unless the request has another one
const HEARTBEATS_MISSED = 3; // a daemon that has sent nothing for so many is lost

export interface WatchOptions {
  /** Ends the watch: iterating fails with the signal's reason. */
  signal?: AbortSignal;
  /** Milliseconds for which the watch tries to reach a daemon that it has lost, or does not reach. Default Infinity. */
  reconnectForMs?: number;
}

const NAMES: Names<WatchOptions> = { signal: true, reconnectForMs: true };

// Codes of calls that the network has ended, not the daemon.
const LOST = new Set(['CANCELLED', 'DEADLINE_EXCEEDED', 'INTERNAL', 'UNKNOWN', 'UNAVAILABLE']);

/**
 * A watch.
 *
 *     const watcher = client.watch({ tableName: 'orders', start: 'OLDEST' });
 *     for await (const { records, position } of watcher) {
 *       for (const record of records) handle(record);
 *       await store(position);
 *     }
 *
 * `records()` gives the changes one by one, with `position` behind the last of them. When the connection is lost, or the
 * daemon is restarted, the watch continues behind the last response that was given: no change is lost and none is given
 * twice. A program that is restarted continues with the position that it has stored, as `afterSequenceNumber`.
 *
 * Leaving the loop, or `cancel()`, ends the watch. It is iterated once.
 */
export class Watcher implements AsyncIterable<WatchResponse> {
  private readonly controller = new AbortController();
  private readonly request: WatchRequest;
  private lastPosition: string | undefined;
  private stands!: () => void;
  /** Fulfilled when the daemon watches: changes that are made from now on are given. Rejected if the watch fails before. */
  readonly started: Promise<void>;
  private fail!: (error: unknown) => void;
  private readonly responses: AsyncGenerator<WatchResponse, void>;
  private ahead: Promise<IteratorResult<WatchResponse, void>> | undefined;

  /** @internal */
  constructor(
    private readonly caller: Caller,
    request: WatchRequest,
    private readonly options: WatchOptions = {},
  ) {
    checkMembers('the options of a watch', options, NAMES);
    this.request = { ...request };
    this.started = new Promise((resolve, reject) => {
      this.stands = resolve;
      this.fail = reject;
    });
    this.started.catch(() => undefined);
    const { signal } = options;
    if (signal?.aborted === true) this.controller.abort(signal.reason);
    // The listener goes with the watch.
    signal?.addEventListener('abort', () => this.controller.abort(signal.reason), { signal: this.controller.signal });
    this.responses = this.run();
    // The watch begins now, so that it stands before the first response is asked for.
    this.ahead = this.responses.next();
    this.ahead.catch(() => undefined);
  }

  toString(): string {
    return `Watcher(${this.request.tableName}, ${this.caller.connection.addresses.join(', ')})`;
  }

  [inspect.custom](): string {
    return this.toString();
  }

  /** Behind the changes that were given: to be stored, and given as `afterSequenceNumber` later. */
  get position(): string | undefined {
    return this.lastPosition;
  }

  /** Ends the watch. A loop over it ends. */
  cancel(): void {
    this.controller.abort();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchResponse, void> {
    for await (const response of this.received()) {
      this.lastPosition = response.position;
      yield response;
    }
  }

  /** The changes one by one. `position` is behind the last one that was given. */
  async *records(): AsyncGenerator<ChangeRecord, void> {
    for await (const { records, position } of this.received()) {
      if (records.length === 0) this.lastPosition = position;
      let left = records.length;
      for (const record of records) {
        // That of the response is behind all its changes, and those that the filter has left out.
        this.lastPosition = --left === 0 ? position : (record.dynamodb?.sequenceNumber ?? this.lastPosition);
        yield record;
      }
    }
  }

  // The responses from the beginning. The watch ends with the generator.
  private async *received(): AsyncGenerator<WatchResponse, void> {
    try {
      for (;;) {
        const next = await (this.ahead ?? this.responses.next());
        this.ahead = undefined;
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      this.cancel();
      await this.responses.return();
    }
  }

  private async *run(): AsyncGenerator<WatchResponse, void> {
    let hasWatched = false;
    for (let attempt = 1, lost = Date.now(); ; ++attempt) {
      try {
        for await (const response of this.watchOnce()) {
          hasWatched = true;
          attempt = 1;
          delete this.request.start;
          this.request.afterSequenceNumber = response.position;
          this.stands();
          yield response;
          lost = Date.now();
        }
      } catch (error) {
        if (this.controller.signal.aborted) return this.aborted();
        const pause = this.caller.retry.backoffMs(attempt);
        const until = lost + (this.options.reconnectForMs ?? Infinity);
        if (error instanceof ArmatureError) this.caller.hinted(error, this.request);
        if (!(error instanceof ArmatureError) || !mayReconnect(error, hasWatched) || Date.now() + pause > until) {
          this.fail(error);
          throw error;
        }
      }
      if (this.controller.signal.aborted) return this.aborted();
      await sleep(this.caller.retry.backoffMs(attempt), this.controller.signal).catch(() => undefined);
    }
  }

  // cancel() ends the loop; a signal of the program fails it.
  private aborted(): void {
    const reason: unknown = this.options.signal?.aborted === true ? this.options.signal.reason : undefined;
    this.fail(reason ?? new ArmatureError('the watch was cancelled', { code: 'CANCELLED', notApplied: true }));
    if (reason !== undefined) throw reason;
  }

  private async *watchOnce(): AsyncGenerator<WatchResponse, void> {
    const { caller } = this;
    const { signal } = this.controller;
    const bytes = encode(methods.watch.request, this.request);
    const attempt = { deadline: deadlineOf(caller.timeoutMs), signal };
    const stream = await caller.connection.serverStream(methods.watch, bytes, attempt, { deadline: Infinity });
    const patienceMs = HEARTBEATS_MISSED * (this.request.heartbeatMs ?? HEARTBEAT_MS) + caller.timeoutMs;
    yield* readStream<WatchResponse>(caller.connection, methods.watch, stream, patienceMs, signal);
  }
}

function mayReconnect(error: ArmatureError, hasWatched: boolean): boolean {
  if (isTransient(error)) return true;
  // The daemon may not know yet that the connection of the watch was lost, whose place is taken so long.
  if (error.exception === 'LimitExceededException') return hasWatched;
  return error.exception === undefined && !error.isLasting && LOST.has(error.code);
}
