// One stream of many concurrent operations.

import type { ClientDuplexStream } from '@grpc/grpc-js';

import { Caller, checkSize, deadlineOf } from './caller';
import type { Method } from './connection';
import { ArmatureError, DeadlineExceededError, InvalidArgumentError, OutcomeUnknownError, UnavailableError } from './errors';
import { PipelineRequest } from './generated/messages';
import { methods } from './generated/operations';
import type * as types from './generated/types';
import { checkMembers, Names } from './known';
import { encode } from './messages';
import { isIdempotent, isRead } from './retry';
import { errorOfRpcStatus } from './status';
import { TIMER_MS_MAX } from './timers';

export interface PipelineOptions {
  /** Maximum number of operations without an answer; further ones wait in the package. Default 256. */
  inFlightMax?: number;
  /** Milliseconds for each operation, and for the connection. Default: those of the client. */
  timeoutMs?: number;
}

const NAMES: Names<PipelineOptions> = { inFlightMax: true, timeoutMs: true };

const QUEUE_MAX = 100_000;

type OperationName =
  | 'getItem'
  | 'putItem'
  | 'updateItem'
  | 'deleteItem'
  | 'query'
  | 'scan'
  | 'batchGetItem'
  | 'batchWriteItem'
  | 'transactGetItems'
  | 'transactWriteItems';

interface Pending {
  id: number;
  name: OperationName;
  method: Method;
  request: Record<string, unknown>;
  bytes: Buffer;
  deadline: number;
  before: bigint;
  isSent: boolean;
  resolve(response: unknown): void;
  reject(error: unknown): void;
}

/**
 * A stream of operations on items.
 *
 *     const pipeline = await client.pipeline();
 *     const answers = await Promise.all(items.map((item) => pipeline.putItem({ tableName: 'users', item })));
 *     await pipeline.close();
 *
 * Operations run at once and are answered in any order, each with its own error: an operation that depends on another one
 * must await it. `ready()` waits until the pipeline takes more. A pipeline repeats nothing and does not reconnect: if its
 * stream breaks, outstanding operations fail, and the program opens another one.
 */
export class Pipeline {
  private readonly pending = new Map<number, Pending>();
  private readonly queue: Pending[] = [];
  private readonly inFlightMax: number;
  private readonly timeoutMs: number;
  private lastId = 0;
  private inFlight = 0;
  private isDraining = false;
  private isClosing = false;
  private failure: ArmatureError | undefined;
  private timer: NodeJS.Timeout | undefined;
  private waiters: (() => void)[] = [];

  private constructor(
    private readonly caller: Caller,
    private readonly stream: ClientDuplexStream<Buffer, unknown>,
    options: PipelineOptions,
  ) {
    this.inFlightMax = options.inFlightMax ?? 256;
    this.timeoutMs = options.timeoutMs ?? caller.timeoutMs;
    if (!(this.inFlightMax >= 1)) throw new InvalidArgumentError('inFlightMax must be positive');
    stream.on('data', (response: types.PipelineResponse) => this.answered(response));
    stream.on('error', (error: unknown) => this.broken(caller.connection.errorOf(error, methods.pipeline)));
    stream.on('end', () => this.broken(new UnavailableError('the stream has ended', { code: 'UNAVAILABLE' })));
    stream.on('drain', () => {
      this.isDraining = false;
      this.pump();
    });
  }

  /** @internal */
  static async open(caller: Caller, options: PipelineOptions = {}): Promise<Pipeline> {
    checkMembers('the options of a pipeline', options, NAMES);
    const attempt = { deadline: deadlineOf(options.timeoutMs ?? caller.timeoutMs) };
    const limits = { deadline: Infinity };
    return new Pipeline(caller, await caller.connection.bidiStream(methods.pipeline, attempt, limits), options);
  }

  getItem(request: types.GetItemRequest): Promise<types.GetItemResponse> {
    return this.ask('getItem', request) as Promise<types.GetItemResponse>;
  }
  putItem(request: types.PutItemRequest): Promise<types.PutItemResponse> {
    return this.ask('putItem', request) as Promise<types.PutItemResponse>;
  }
  updateItem(request: types.UpdateItemRequest): Promise<types.UpdateItemResponse> {
    return this.ask('updateItem', request) as Promise<types.UpdateItemResponse>;
  }
  deleteItem(request: types.DeleteItemRequest): Promise<types.DeleteItemResponse> {
    return this.ask('deleteItem', request) as Promise<types.DeleteItemResponse>;
  }
  query(request: types.QueryRequest): Promise<types.QueryResponse> {
    return this.ask('query', request) as Promise<types.QueryResponse>;
  }
  scan(request: types.ScanRequest): Promise<types.ScanResponse> {
    return this.ask('scan', request) as Promise<types.ScanResponse>;
  }
  batchGetItem(request: types.BatchGetItemRequest): Promise<types.BatchGetItemResponse> {
    return this.ask('batchGetItem', request) as Promise<types.BatchGetItemResponse>;
  }
  batchWriteItem(request: types.BatchWriteItemRequest): Promise<types.BatchWriteItemResponse> {
    return this.ask('batchWriteItem', request) as Promise<types.BatchWriteItemResponse>;
  }
  transactGetItems(request: types.TransactGetItemsRequest): Promise<types.TransactGetItemsResponse> {
    return this.ask('transactGetItems', request) as Promise<types.TransactGetItemsResponse>;
  }
  transactWriteItems(request: types.TransactWriteItemsRequest): Promise<types.TransactWriteItemsResponse> {
    return this.ask('transactWriteItems', request) as Promise<types.TransactWriteItemsResponse>;
  }

  /** Number of operations without an answer. */
  get outstanding(): number {
    return this.pending.size;
  }

  /** Waits until the pipeline sends further operations at once. @throws the reason why the stream broke. */
  async ready(): Promise<void> {
    while (this.failure === undefined && (this.queue.length > 0 || this.inFlight >= this.inFlightMax)) await this.change();
    if (this.failure !== undefined) throw this.failure;
  }

  /** Waits until all operations are answered. Their errors are those of their promises. */
  async idle(): Promise<void> {
    while (this.pending.size > 0) await this.change();
  }

  /** Waits for all answers and ends the stream. @throws the reason why the stream broke before. */
  async close(): Promise<void> {
    const wasBroken = this.failure !== undefined;
    this.isClosing = true;
    await this.idle();
    clearTimeout(this.timer);
    if (this.failure === undefined) {
      this.stream.end();
      this.failure = new UnavailableError('the pipeline is closed', { code: 'UNAVAILABLE', notApplied: true });
    } else if (wasBroken || this.failure.message !== 'the pipeline is closed') {
      throw this.failure;
    }
  }

  private change(): Promise<void> {
    return new Promise((resolve) => this.waiters.push(resolve));
  }

  private changed(): void {
    const { waiters } = this;
    this.waiters = [];
    for (const waiter of waiters) waiter();
  }

  private ask(name: OperationName, given: object): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.failure !== undefined) throw this.failure;
      if (this.isClosing) throw new InvalidArgumentError('the pipeline is closed');
      if (this.queue.length >= QUEUE_MAX) throw new InvalidArgumentError('too many operations are waiting: await ready()');
      const method = methods[name];
      const { session } = this.caller;
      const request = session?.prepare(method.name, given as Record<string, unknown>) ?? (given as Record<string, unknown>);
      const id = ++this.lastId;
      const bytes = encode(PipelineRequest, { id, [name]: request });
      checkSize(bytes.length);
      const before = session?.mark(request) ?? 0n;
      const deadline = deadlineOf(this.timeoutMs);
      const operation: Pending = { id, name, method, request, bytes, deadline, before, isSent: false, resolve, reject };
      this.pending.set(id, operation);
      this.queue.push(operation);
      this.arm();
      this.pump();
    });
  }

  private pump(): void {
    let sent = 0;
    while (sent < this.queue.length && this.inFlight < this.inFlightMax && !this.isDraining && this.failure === undefined) {
      const operation = this.queue[sent++]!;
      if (!this.pending.has(operation.id)) continue; // its deadline has passed
      operation.isSent = true;
      ++this.inFlight;
      if (!this.stream.write(operation.bytes)) this.isDraining = true;
    }
    if (sent > 0) this.queue.splice(0, sent);
  }

  private answered(response: types.PipelineResponse): void {
    --this.inFlight;
    const operation = this.pending.get(Number(response.id));
    if (operation !== undefined) {
      this.pending.delete(operation.id);
      const { error } = response;
      const answer = response[operation.name];
      if (error !== undefined) {
        const isBatch = operation.name === 'batchWriteItem';
        const failed = errorOfRpcStatus(error as never, isBatch, this.caller.connection.readsTextNumbers);
        this.fail(operation, this.caller.hinted(failed, operation.request));
      } else if (answer === undefined) {
        operation.reject(new ArmatureError('the daemon has answered another operation', { code: 'INTERNAL' }));
      } else {
        this.caller.session?.note(operation.method.name, operation.request, answer, operation.before);
        operation.resolve(answer);
      }
    }
    this.pump();
    this.changed();
  }

  private fail(operation: Pending, error: ArmatureError): void {
    const { method, request } = operation;
    const isKnown = error.notApplied || isRead(method, request);
    operation.reject(isKnown ? error : new OutcomeUnknownError(error, isIdempotent(method, request)));
  }

  private broken(reason: ArmatureError): void {
    if (this.failure !== undefined) return;
    this.failure = reason;
    clearTimeout(this.timer);
    const { pending } = this;
    for (const operation of pending.values()) {
      const parts = { code: reason.code, cause: reason, notApplied: !operation.isSent || reason.notApplied };
      this.fail(operation, new UnavailableError(`the pipeline has broken: ${reason.message}`, parts));
    }
    pending.clear();
    this.queue.length = 0;
    this.changed();
  }

  // All operations have the same time, so the first one is the next whose deadline passes.
  private arm(): void {
    if (this.timer !== undefined || this.timeoutMs === Infinity) return;
    const [first] = this.pending.values();
    if (first === undefined) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.expire();
      this.arm();
    }, Math.min(Math.max(first.deadline - Date.now(), 1), TIMER_MS_MAX));
    this.timer.unref();
  }

  private expire(): void {
    const now = Date.now();
    for (const operation of this.pending.values()) {
      if (operation.deadline > now) break;
      this.pending.delete(operation.id);
      const parts = { code: 'DEADLINE_EXCEEDED', notApplied: !operation.isSent } as const;
      this.fail(operation, new DeadlineExceededError('the operation has not been answered in time', parts));
    }
    this.changed();
  }
}
