// One query over a partition that is spread over shards.

import type { Client } from './client';
import { InvalidArgumentError } from './errors';
import type { QueryRequest, TableDescription } from './generated/types';
import { compareKeyValues } from './keys';
import { checkMembers, Names } from './known';
import type { CallOptions } from './options';
import { decodeContinuation, encodeContinuation, identityOf, ShardPosition } from './scatter-continuation';
import type { Item, ValueInput } from './values';

/** Key attributes of an index. Each item of the query must have all of them. */
export interface ScatterKeys {
  /** The sort attributes, in their order. */
  sort: readonly string[];
  /** The partition attributes, and the whole key of the table. */
  others: readonly string[];
}

export interface ScatterOptions {
  /** Name of the parameter of the key condition that is the partition value of a shard, without its `$`. */
  param: string;
  /** The partition value of the shard with this number. */
  shardValue: (shard: number) => ValueInput;
  /** Number of the first shard. Default 1. */
  firstShard?: number;
  /** Number of shards, 1 to 1,000. */
  shards: number;
  /** Key attributes of the index. Absent: the daemon is asked for them. */
  keys?: ScatterKeys;
  /** Maximum number of items of a page. Default 1,000. */
  pageItemsMax?: number;
  /** Maximum number of calls at once. Default 8. */
  parallelMax?: number;
  /** Where to continue: the continuation of a page. */
  continuation?: string;
  /** Options of each call. */
  call?: CallOptions;
}

const NAMES: Names<ScatterOptions> = {
  param: true, shardValue: true, firstShard: true, shards: true, keys: true, pageItemsMax: true, parallelMax: true, continuation: true, call: true,
};

export interface ScatterPage {
  items: Item[];
  /** Position of the next page, for another query, perhaps in another process. Absent in the last page. */
  continuation?: string;
}

const SHARDS_MAX = 1000;
const SPARE_ENTRIES = 10; // requested beyond twice the even share of a page, so that small pages seldom need a second call

/** Texts as partition values: `prefix.1`, `prefix.2`, ... */
export function suffixedShards(prefix: string, separator = '.'): (shard: number) => string {
  return (shard) => `${prefix}${separator}${shard}`;
}

/** Numbers as partition values. */
export function numberedShards(): (shard: number) => number {
  return (shard) => shard;
}

/** The keys in the description of a table; `indexName`: absent for the table itself. */
export function scatterKeysOf(table: TableDescription, indexName?: string): ScatterKeys {
  const indexes = [...table.globalSecondaryIndexes, ...table.localSecondaryIndexes];
  const schema = indexName === undefined ? table.keySchema : indexes.find((index) => index.indexName === indexName)?.keySchema;
  if (schema === undefined) throw new InvalidArgumentError(`the table ${table.tableName} has no index ${indexName}`);
  const sort = schema.filter(({ keyType }) => keyType === 'RANGE').map(({ attributeName }) => attributeName);
  const others = schema.filter(({ keyType }) => keyType !== 'RANGE').map(({ attributeName }) => attributeName);
  const missing = table.keySchema.map(({ attributeName }) => attributeName).filter((name) => !sort.includes(name) && !others.includes(name));
  return { sort, others: [...others, ...missing] };
}

/** Reads the items of one shard ahead. */
class ShardCursor {
  private items: Item[] = [];
  private next = 0;
  private fetched = 0;
  private start: Item | undefined;
  private delivered: Item | undefined;

  constructor(
    private readonly request: QueryRequest,
    position: ShardPosition,
    public isExhausted = position.isDone,
  ) {
    this.start = this.delivered = position.startAfter;
  }

  get hasItem(): boolean {
    return this.next < this.items.length;
  }

  /** The shard has more items to fetch, and half of those of the last call are given. */
  get runsLow(): boolean {
    return !this.isExhausted && this.items.length - this.next <= this.fetched >> 1;
  }

  get front(): Item {
    return this.items[this.next]!;
  }

  pop(): Item {
    return this.items[this.next++]!;
  }

  /** Marks the items up to one with this key as given. */
  deliver(key: Item): void {
    this.delivered = key;
  }

  async fetch(client: Client, names: readonly string[], options?: CallOptions): Promise<void> {
    const page = await client.query({ ...this.request, ...(this.start === undefined ? {} : { exclusiveStartKey: this.start }) }, options);
    for (const item of page.items) {
      const missing = names.find((name) => item[name] === undefined);
      if (missing === undefined) continue;
      throw new InvalidArgumentError(`an item lacks the key attribute ${missing}; the projection must keep all key attributes`);
    }
    this.items = this.items.slice(this.next).concat(page.items);
    this.next = 0;
    this.fetched = page.items.length;
    this.isExhausted = page.lastEvaluatedKey === undefined;
    if (!this.isExhausted) this.start = page.lastEvaluatedKey;
  }

  /** The position behind the given items. Without items in memory it is behind those that a filter has dropped, too. */
  get position(): ShardPosition {
    if (this.hasItem) return { isDone: false, startAfter: this.delivered };
    return this.isExhausted ? { isDone: true } : { isDone: false, startAfter: this.start };
  }
}

function check(request: QueryRequest, options: ScatterOptions): void {
  const fail = (why: string): never => {
    throw new InvalidArgumentError(why);
  };
  if (request.exclusiveStartKey !== undefined) fail('a scattered query has a continuation instead of an exclusiveStartKey');
  if (request.select === 'COUNT') fail('a scattered query merges items; it cannot count without them');
  if (!(Number.isInteger(options.shards) && options.shards >= 1 && options.shards <= SHARDS_MAX)) fail(`shards must be 1 to ${SHARDS_MAX}`);
  if (!((options.pageItemsMax ?? 1) >= 1) || !((options.parallelMax ?? 1) >= 1)) fail('pageItemsMax and parallelMax must be positive');
}

/**
 * The items of all shards in the order of the index. Items with equal sort attributes are in the order of their shards.
 * With scanIndexForward false the order is the exact reverse.
 *
 *     const orders = client.scatterQuery(
 *       { tableName: 'orders', indexName: 'by_day', keyConditionExpression: '#day = $day' },
 *       { param: 'day', shardValue: suffixedShards('2024-10-01'), shards: 10 });
 *     for await (const order of orders) ...
 *
 * The shards are not read at one moment. An error ends the walk; the continuation of the last page is the position behind
 * its items. One walk: it is iterated once, by items or by `nextPage`.
 */
export class ScatterQuery implements AsyncIterable<Item> {
  private readonly request: QueryRequest;
  private readonly pageItemsMax: number;
  private readonly identity: Buffer;
  private readonly cursors: ShardCursor[];
  private keys: ScatterKeys | undefined;
  private isDone = false;

  /** @internal @throws InvalidArgumentError for an option outside its range, or the continuation of another query. */
  constructor(
    private readonly client: Client,
    request: QueryRequest,
    private readonly options: ScatterOptions,
  ) {
    checkMembers('the options of a sharded query', options, NAMES);
    check(request, options);
    this.pageItemsMax = options.pageItemsMax ?? 1000;
    const first = options.firstShard ?? 1;
    const share = Math.floor((this.pageItemsMax - 1) / options.shards) + 1;
    this.request = { limit: Math.min(this.pageItemsMax, 2 * share + SPARE_ENTRIES), ...request };
    this.keys = options.keys;
    this.identity = identityOf(request, first, options.shards, options.shardValue(first));
    const positions = options.continuation
      ? decodeContinuation(options.continuation, this.identity, options.shards)
      : Array.from({ length: options.shards }, (): ShardPosition => ({ isDone: false }));
    this.cursors = positions.map((position, i) => {
      const params = { ...request.params, [options.param]: options.shardValue(first + i) };
      return new ShardCursor({ ...this.request, params }, position);
    });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void> {
    for await (const { items } of this.pages()) yield* items;
  }

  /** The remaining pages. */
  async *pages(): AsyncGenerator<ScatterPage, void> {
    for (let page = await this.nextPage(); page !== undefined; page = await this.nextPage()) yield page;
  }

  /** The next page, or undefined behind the last one. Only the last one has fewer than pageItemsMax items. */
  async nextPage(): Promise<ScatterPage | undefined> {
    if (this.isDone) return undefined;
    const keys = (this.keys ??= await this.describe());
    const items: Item[] = [];
    const last = new Map<ShardCursor, Item>();
    while (items.length < this.pageItemsMax) {
      await this.fetchWhereLow(keys);
      const cursor = this.first(keys);
      if (cursor === undefined) break;
      // Items of one shard follow each other until another shard has an earlier one, or this one must fetch.
      const item = cursor.pop();
      items.push(item);
      last.set(cursor, item);
    }
    const names = [...keys.sort, ...keys.others];
    for (const [cursor, item] of last) cursor.deliver(Object.fromEntries(names.map((name) => [name, item[name]!])));
    this.isDone = this.cursors.every((cursor) => cursor.isExhausted && !cursor.hasItem);
    if (this.isDone) return { items };
    return { items, continuation: encodeContinuation(this.identity, this.cursors.map(({ position }) => position)) };
  }

  private async describe(): Promise<ScatterKeys> {
    const { table } = await this.client.describeTable({ tableName: this.request.tableName }, this.options.call);
    return scatterKeysOf(table!, this.request.indexName);
  }

  private async fetchWhereLow(keys: ScatterKeys): Promise<void> {
    const names = [...keys.sort, ...keys.others];
    while (this.cursors.some((cursor) => !cursor.hasItem && !cursor.isExhausted)) {
      const low = this.cursors.filter((cursor) => cursor.runsLow);
      const parallel = Math.min(this.options.parallelMax ?? 8, low.length);
      const work = async (): Promise<void> => {
        for (let cursor = low.pop(); cursor !== undefined; cursor = low.pop()) await cursor.fetch(this.client, names, this.options.call);
      };
      await Promise.all(Array.from({ length: parallel }, work));
    }
  }

  // The shard with the next item.
  private first(keys: ScatterKeys): ShardCursor | undefined {
    const isForward = this.request.scanIndexForward !== false;
    let best: ShardCursor | undefined;
    for (const cursor of this.cursors) {
      if (!cursor.hasItem) continue;
      if (best === undefined) {
        best = cursor;
        continue;
      }
      const order = compareItems(cursor.front, best.front, keys.sort);
      if (isForward ? order < 0 : order >= 0) best = cursor;
    }
    return best;
  }
}

function compareItems(a: Item, b: Item, names: readonly string[]): number {
  for (const name of names) {
    const order = compareKeyValues(a[name]!, b[name]!);
    if (order !== 0) return order;
  }
  return 0;
}
