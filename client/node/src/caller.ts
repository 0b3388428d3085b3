// A call with all its attempts: deadline, repeats, session, observers.

import { randomUUID } from 'node:crypto';

import { Attempt, Connection, Method } from './connection';
import { ArmatureError, InvalidArgumentError, MessageTooLargeError, OutcomeUnknownError } from './errors';
import { hintOf } from './hints';
import { encode } from './messages';
import type { CallInfo, ObservedCall, Observer } from './observer';
import { checkMembers } from './known';
import { CALL_NAMES, CallOptions, ClientOptions } from './options';
import { isIdempotent, isRead, RetryPolicy } from './retry';
import { tablesOf, WriteSession } from './session';
import { sleep } from './timers';

const TIMEOUT_MS = 10_000;
/** Maximum size in bytes of a request. The daemon reads no larger ones. */
export const REQUEST_BYTES_MAX = (16 << 20) + (64 << 10);

type Request = Record<string, unknown>;

const WITH_TOKEN = new Set(['TransactWriteItems', 'ExecuteTransaction']);

/** The request with a token, so that all attempts of a call are one transaction. */
function withToken(method: Method, request: Request): Request {
  return WITH_TOKEN.has(method.name) && !request['clientRequestToken']
    ? { ...request, clientRequestToken: randomUUID() }
    : request;
}

function batchSizeOf(request: Request): number | undefined {
  const actions = request['transactItems'] ?? request['statements'] ?? request['transactStatements'];
  if (Array.isArray(actions)) return actions.length;
  const items = request['requestItems'];
  if (typeof items !== 'object' || items === null) return undefined;
  return Object.values(items as Record<string, unknown[] | { keys: unknown[] }>).reduce(
    (sum, part) => sum + (Array.isArray(part) ? part.length : part.keys.length), 0);
}

/** @throws MessageTooLargeError for a request that the daemon would not read. */
export function checkSize(bytes: number): void {
  if (bytes <= REQUEST_BYTES_MAX) return;
  const parts = { code: 'RESOURCE_EXHAUSTED', notApplied: true } as const;
  throw new MessageTooLargeError(`the request has ${bytes} bytes, at most ${REQUEST_BYTES_MAX} are allowed`, parts);
}

/** Milliseconds since 1970 at which a call ends. */
export function deadlineOf(timeoutMs: number): number {
  if (!(timeoutMs > 0)) throw new InvalidArgumentError('timeoutMs must be positive');
  return Date.now() + timeoutMs;
}

export class Caller {
  readonly retry: RetryPolicy;
  readonly timeoutMs: number;
  private readonly observers: readonly Observer[];

  constructor(
    readonly connection: Connection,
    readonly options: ClientOptions,
    readonly session?: WriteSession,
  ) {
    this.retry = new RetryPolicy(options.retry);
    this.timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    this.observers = options.observers ?? [];
    deadlineOf(this.timeoutMs);
  }

  /** @throws ArmatureError; the reason of the signal. */
  call(method: Method, given: Request, options: CallOptions = {}): Promise<unknown> {
    const request = withToken(method, given);
    if (this.session === undefined) return this.observed(method, request, options);
    return this.inSession(this.session, method, request, options);
  }

  private async inSession(session: WriteSession, method: Method, given: Request, options: CallOptions): Promise<unknown> {
    const request = session.prepare(method.name, given);
    const before = session.mark(request);
    const response = await this.observed(method, request, options);
    session.note(method.name, request, response, before);
    return response;
  }

  private observed(method: Method, request: Request, options: CallOptions): Promise<unknown> {
    if (this.observers.length === 0) return this.attempts(method, request, options, options.metadata);
    const headers: Record<string, string> = { ...options.metadata };
    const batchSize = batchSizeOf(request);
    const info: CallInfo = {
      operation: method.name,
      tables: [...new Set(tablesOf(request))],
      address: this.connection.address,
      ...(batchSize === undefined ? {} : { batchSize }),
    };
    const calls = this.observers.map((observer) => observer.started(info));
    let run = (): Promise<unknown> => this.attempts(method, request, options, headers, calls);
    for (const call of calls) {
      const inner = run;
      if (call.run !== undefined) run = () => call.run!(headers, inner);
    }
    return run();
  }

  private async attempts(
    method: Method,
    request: Request,
    options: CallOptions,
    headers: Readonly<Record<string, string>> | undefined,
    calls: readonly ObservedCall[] = [],
  ): Promise<unknown> {
    checkMembers('the options of a call', options, CALL_NAMES);
    let attempt = 1;
    try {
      const bytes = encode(method.request, request);
      checkSize(bytes.length);
      const limits: Attempt = { deadline: deadlineOf(options.timeoutMs ?? this.timeoutMs), signal: options.signal, headers };
      const isSafe = options.idempotent === true || isIdempotent(method, request);
      let maybeApplied = false; // by an attempt before the last one
      for (;; ++attempt) {
        try {
          const response = await this.connection.unary(method, bytes, limits);
          for (const call of calls) call.ended(undefined, attempt);
          this.connection.schemas.learn(method.name, response);
          return response;
        } catch (error) {
          if (!(error instanceof ArmatureError)) throw error;
          error.attempts = attempt;
          maybeApplied ||= !error.notApplied;
          const pause = this.retry.pauseMs(error, attempt, isSafe || error.notApplied, limits.deadline);
          if (pause === undefined) throw this.finalError(this.hinted(error, request), maybeApplied && !isRead(method, request), isSafe);
          for (const call of calls) call.repeated?.(error, attempt);
          await this.pause(pause, options.signal);
        }
      }
    } catch (error) {
      for (const call of calls) call.ended(error, attempt);
      throw error;
    }
  }

  /** The error, with the facts about the request that it leaves out. */
  hinted(error: ArmatureError, request: object): ArmatureError {
    error.addHint(hintOf(error, request as Request, this.connection.schemas));
    return error;
  }

  private finalError(error: ArmatureError, isUnknown: boolean, isSafe: boolean): ArmatureError {
    Error.captureStackTrace(error, this.finalError); // the frames of the caller, not those of gRPC
    return isUnknown ? new OutcomeUnknownError(error, isSafe) : error;
  }

  /** Waits; ends early with the reason of the signal. */
  async pause(pauseMs: number, signal?: AbortSignal): Promise<void> {
    try {
      await sleep(pauseMs, signal);
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  }
}
