// Which failed calls are repeated, and when.
//
// A call is repeated if all of these are true:
// - Its error may pass with time.
// - It has certainly changed nothing, or its repeat does no harm.
// - The pause ends before its deadline. The pause is the longer one of the backoff and the daemon's advice.

import { ArmatureError, ThrottlingError, TransactionCanceledException } from './errors';
import { InvalidArgumentError } from './errors';
import type { Method } from './connection';
import { checkMembers, Names } from './known';

export interface RetryOptions {
  /** Number of attempts, with the first one. Default 20. */
  attempts?: number;
  /** Milliseconds after the first attempt; doubled with each further one. Default 25. */
  initialMs?: number;
  /** Longest pause in milliseconds. Default 2,000. */
  maxMs?: number;
}

const NAMES: Names<RetryOptions> = { attempts: true, initialMs: true, maxMs: true };

export class RetryPolicy {
  readonly attempts: number;
  private readonly initialMs: number;
  private readonly maxMs: number;

  constructor(options: RetryOptions | false = {}) {
    checkMembers('the options of retry', options === false ? {} : options, NAMES);
    const given = options === false ? { attempts: 1 } : options;
    this.attempts = given.attempts ?? 20;
    this.initialMs = given.initialMs ?? 25;
    this.maxMs = given.maxMs ?? 2000;
    if (!(this.attempts >= 1)) throw new InvalidArgumentError('retry.attempts must be at least 1');
    if (!(this.initialMs >= 0) || !(this.maxMs >= 0)) throw new InvalidArgumentError('a pause must not be negative');
  }

  /**
   * A random time between one half of min(max, initial * 2^(n-1)) and all of it, so that clients that failed together do
   * not repeat their calls together.
   */
  backoffMs(attempt: number): number {
    const full = Math.min(this.maxMs, this.initialMs * 2 ** (attempt - 1));
    return full * (0.5 + Math.random() / 2);
  }

  /** The pause behind an attempt, or undefined if the call ends with its error. */
  pauseMs(error: ArmatureError, attempt: number, mayRepeat: boolean, deadline: number): number | undefined {
    if (attempt >= this.attempts || !mayRepeat || !isTransient(error)) return undefined;
    // All clients get the same advice, and should not come back together.
    const pause = (error.retryAfterMs ?? 0) + this.backoffMs(attempt);
    return Date.now() + pause < deadline ? pause : undefined;
  }
}

const CONFLICTS = new Set(['TransactionConflictException', 'TransactionInProgressException']);
const PASSING_REASONS = new Set(['None', 'TransactionConflict', 'ProvisionedThroughputExceeded', 'ThrottlingError']);

/** True for errors that may pass with time: lost connections, throttling, conflicts with other transactions. */
export function isTransient(error: ArmatureError): boolean {
  if (error.isLasting) return false;
  if (error.code === 'UNAVAILABLE' || error instanceof ThrottlingError) return true;
  if (error instanceof TransactionCanceledException) {
    return error.reasons.length > 0 && error.reasons.every(({ code }) => PASSING_REASONS.has(code));
  }
  return CONFLICTS.has(error.exception ?? '');
}

function isPlainWrite(request: Record<string, unknown>): boolean {
  const returned = request['returnValues'];
  return (
    request['conditionExpression'] === undefined &&
    request['expected'] === undefined &&
    (returned === undefined || returned === 'NONE')
  );
}

/**
 * True if a repeated call leaves the same data and gives an equivalent answer, even if the first attempt was applied and
 * only its answer was lost: reads, puts and deletes without condition and return values, batches, transactions with a
 * token, statements that only read.
 */
export function isIdempotent(method: Method, request: Record<string, unknown>): boolean {
  if (method.effect !== 'write') return true;
  switch (method.name) {
    case 'PutItem':
    case 'DeleteItem':
      return isPlainWrite(request);
    case 'TransactWriteItems':
    case 'ExecuteTransaction':
      return Boolean(request['clientRequestToken']);
    default:
      return isRead(method, request);
  }
}

const SELECT = /^\s*select\b/i;

/** True if the call changes nothing. */
export function isRead(method: Method, request: Record<string, unknown>): boolean {
  if (method.effect === 'read') return true;
  if (method.name === 'ExecuteStatement') return SELECT.test(String(request['statement']));
  if (method.name === 'BatchExecuteStatement') {
    const statements = request['statements'];
    return Array.isArray(statements) && statements.every((part: { statement?: unknown }) => SELECT.test(String(part.statement)));
  }
  return false;
}
