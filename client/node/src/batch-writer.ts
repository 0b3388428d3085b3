// Many puts and deletes in few calls.

import { checkSize, REQUEST_BYTES_MAX } from './caller';
import type { Client } from './client';
import { ArmatureError, BatchWriteError, FailedWrite, InvalidArgumentError, ThrottlingError } from './errors';
import { WriteRequest } from './generated/messages';
import type * as types from './generated/types';
import { encode, Encoded } from './messages';
import { keyText } from './keys';
import { checkMembers, Names } from './known';
import type { CallOptions } from './options';
import type { ItemInput } from './values';

/** Number of writes of a batch. */
export const BATCH_WRITES_MAX = 25;

const FRAMING_BYTES_MAX = 32; // tags and lengths around a write and its table name
const LOOK_AHEAD = 2000; // waiting writes that are looked at for a batch
const WAITING_MAX = 200_000;
const FAILED_MAX = 1000; // failed writes that an error holds

export interface BatchWriterOptions {
  /** Number of batches at once. Default 8. */
  concurrency?: number;
  /** Called with each write that the daemon refuses for good. */
  dropped?: (write: FailedWrite) => void;
  /** Names of the key attributes of tables. Absent: the writer asks the daemon once for each table. */
  keys?: Readonly<Record<string, readonly string[]>>;
  /** Options of each call. */
  call?: CallOptions;
}

const NAMES: Names<BatchWriterOptions> = { concurrency: true, dropped: true, keys: true, call: true };

interface Write {
  table: string;
  item?: ItemInput; // of a put
  key?: ItemInput; // of a delete
  id: string; // of the item
  bytes: Encoded;
}

// The daemon would refuse the same batch every time.
const FOR_GOOD = new Set([
  'ValidationException',
  'SerializationException',
  'ResourceNotFoundException',
  'AccessDeniedException',
  'ItemCollectionSizeLimitExceededException',
]);

/**
 * Collects writes and sends them 25 at a time, several batches at once. Writes that the daemon leaves unprocessed are sent
 * again.
 *
 *     const writer = client.batchWriter();
 *     for (const item of items) await writer.put('users', item);
 *     await writer.flush();
 *
 * `put` and `delete` wait while too many writes are waiting, so await them. Writes of one item are done in their order;
 * others in any order.
 *
 * A write that the daemon refuses for good is dropped: options.dropped is called, and `flush` fails with a BatchWriteError
 * when all other writes are done. After any other error, such as a lost connection, the writes wait: `flush` fails, and may
 * be called again. A write may then be done twice.
 */
export class BatchWriter {
  private readonly concurrency: number;
  private waiting: Write[] = [];
  private readonly busy = new Set<string>();
  private readonly schemas = new Map<string, readonly string[] | Promise<readonly string[]>>();
  private inFlight = 0;
  private isFlushing = false;
  private failed: FailedWrite[] = [];
  private failedCount = 0;
  private stalled: unknown;
  private wakeups: (() => void)[] = [];
  /** The highest change sequence of the writes that are done. */
  changeSequence = 0n;

  constructor(
    private readonly client: Client,
    private readonly options: BatchWriterOptions = {},
  ) {
    checkMembers('the options of a batch writer', options, NAMES);
    this.concurrency = options.concurrency ?? 8;
    if (!Number.isInteger(this.concurrency) || this.concurrency < 1) {
      throw new InvalidArgumentError('concurrency must be a positive number');
    }
    for (const [table, names] of Object.entries(options.keys ?? {})) this.schemas.set(table, names);
  }

  /** Number of writes that are not done yet. */
  get pending(): number {
    return this.waiting.length + this.busy.size;
  }

  put(table: string, item: ItemInput): Promise<void> {
    return this.add(table, item, { item }, { putRequest: { item } });
  }

  delete(table: string, key: ItemInput): Promise<void> {
    return this.add(table, key, { key }, { deleteRequest: { key } });
  }

  /** Sends all waiting writes, and waits until they are done. */
  async flush(): Promise<void> {
    this.stalled = undefined;
    this.isFlushing = true;
    try {
      this.pump();
      while (this.inFlight > 0 || (this.waiting.length > 0 && this.stalled === undefined)) await this.progress();
    } finally {
      this.isFlushing = false;
    }
    if (this.stalled !== undefined) throw this.stalled;
    const { failed, failedCount } = this;
    this.failed = [];
    this.failedCount = 0;
    if (failedCount > 0) throw new BatchWriteError(failed, failedCount);
  }

  private async add(table: string, keyed: ItemInput, write: Pick<Write, 'item' | 'key'>, request: types.WriteRequest): Promise<void> {
    const bytes = new Encoded(encode(WriteRequest, request));
    checkSize(bytes.bytes.length + table.length + FRAMING_BYTES_MAX);
    const known = this.schemas.get(table) ?? this.describe(table);
    const names = known instanceof Promise ? await known : known;
    if (this.waiting.length >= WAITING_MAX) throw new InvalidArgumentError('too many writes are waiting: await put and delete');
    this.waiting.push({ table, ...write, bytes, id: keyText(table, keyed, names) });
    this.pump();
    while (this.isFull) {
      if (this.stalled !== undefined) throw this.stalled;
      await this.progress();
    }
  }

  private describe(table: string): Promise<readonly string[]> {
    const asked = this.client.describeTable({ tableName: table }, this.options.call).then(
      ({ table: description }) => {
        const names = (description?.keySchema ?? []).map(({ attributeName }) => attributeName);
        this.schemas.set(table, names);
        return names;
      },
      (error: unknown) => {
        this.schemas.delete(table);
        throw error;
      },
    );
    this.schemas.set(table, asked);
    return asked;
  }

  private progress(): Promise<void> {
    return new Promise((resolve) => this.wakeups.push(resolve));
  }

  private wake(): void {
    const wakeups = this.wakeups;
    this.wakeups = [];
    for (const wakeup of wakeups) wakeup();
  }

  // `put` and `delete` wait.
  private get isFull(): boolean {
    return this.waiting.length > this.concurrency * BATCH_WRITES_MAX * 2;
  }

  // Batches of fewer writes than possible are sent: nothing is added, or the waiting writes are of few items.
  private get sendsParts(): boolean {
    return this.isFlushing || this.isFull;
  }

  private pump(): void {
    while (this.inFlight < this.concurrency && this.stalled === undefined) {
      if (this.waiting.length < (this.sendsParts ? 1 : BATCH_WRITES_MAX)) return;
      const batch = this.takeBatch();
      if (batch.length === 0) return;
      ++this.inFlight;
      void this.run(batch);
    }
  }

  // Writes of different items, none of which is in flight. An earlier write of an item goes before a later one.
  private takeBatch(): Write[] {
    const batch: Write[] = [];
    const passed = new Set<string>();
    const left: Write[] = [];
    let bytes = 0;
    let at = 0;
    const end = Math.min(this.waiting.length, LOOK_AHEAD);
    for (; at < end && batch.length < BATCH_WRITES_MAX; ++at) {
      const write = this.waiting[at]!;
      const size = write.bytes.bytes.length + write.table.length + FRAMING_BYTES_MAX;
      if (bytes + size > REQUEST_BYTES_MAX) break;
      if (this.busy.has(write.id) || passed.has(write.id)) {
        left.push(write);
      } else {
        batch.push(write);
        bytes += size;
      }
      passed.add(write.id);
    }
    if (!this.sendsParts && batch.length < BATCH_WRITES_MAX && at === this.waiting.length) return [];
    this.waiting = left.concat(this.waiting.slice(at));
    for (const { id } of batch) this.busy.add(id);
    return batch;
  }

  private async run(batch: Write[]): Promise<void> {
    let left: Write[] = batch;
    try {
      left = await this.write(batch);
    } catch (error) {
      this.stalled ??= error;
    }
    this.waiting = left.concat(this.waiting);
    for (const { id } of batch) this.busy.delete(id);
    --this.inFlight;
    this.pump();
    this.wake();
  }

  // Sends a batch until it is done or dropped. Gives the writes that are still waiting, after an error that stalls.
  private async write(batch: Write[]): Promise<Write[]> {
    const { retry } = this.client.caller;
    let left = batch;
    for (let fruitless = 0; left.length > 0; ) {
      let unprocessed: Write[];
      try {
        unprocessed = await this.send(left);
      } catch (error) {
        if (!(error instanceof ArmatureError) || !FOR_GOOD.has(error.exception ?? '')) {
          this.stalled ??= error;
          return left;
        }
        return this.refused(left, error);
      }
      fruitless = unprocessed.length === left.length ? fruitless + 1 : 0;
      left = unprocessed;
      if (fruitless >= retry.attempts) {
        this.stalled ??= new ThrottlingError('the daemon takes no writes now', { code: 'RESOURCE_EXHAUSTED' });
        return left;
      }
      if (left.length > 0) await this.client.caller.pause(retry.backoffMs(fruitless + 1), this.options.call?.signal);
    }
    return [];
  }

  // The daemon does not say which write it refuses: halves of the batch are sent until the write is found.
  private async refused(batch: Write[], error: ArmatureError): Promise<Write[]> {
    if (batch.length > 1) {
      const half = batch.length >> 1;
      const first = await this.write(batch.slice(0, half));
      if (first.length > 0) return first.concat(batch.slice(half));
      return this.write(batch.slice(half));
    }
    const { table, item, key } = batch[0]!;
    const failed: FailedWrite = { table, ...(item === undefined ? { key: key! } : { item }), error };
    if (++this.failedCount <= FAILED_MAX) this.failed.push(failed);
    this.options.dropped?.(failed);
    return [];
  }

  private async send(batch: readonly Write[]): Promise<Write[]> {
    const requestItems: Record<string, Encoded[]> = {};
    for (const { table, bytes } of batch) (requestItems[table] ??= []).push(bytes);
    const answer = await this.client.batchWriteItem({ requestItems: requestItems as unknown as Record<string, types.WriteRequest[]> }, this.options.call);
    if (answer.changeSequence > this.changeSequence) this.changeSequence = answer.changeSequence;
    const unprocessed = Object.entries(answer.unprocessedItems);
    if (unprocessed.length === 0) return [];
    const ids = new Set<string>();
    for (const [table, writes] of unprocessed) {
      const names = this.schemas.get(table) as readonly string[];
      for (const { putRequest, deleteRequest } of writes) ids.add(keyText(table, (putRequest?.item ?? deleteRequest?.key)!, names));
    }
    return batch.filter(({ id }) => ids.has(id));
  }
}
