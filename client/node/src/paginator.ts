// Pages and items of queries and scans, as iterators.

import type { Client } from './client';
import { InvalidArgumentError } from './errors';
import type { QueryRequest, QueryResponse, ScanRequest, ScanResponse } from './generated/types';
import type { CallOptions } from './options';
import type { Item } from './values';

/** A page of a query or a scan. */
export type Page = QueryResponse;

interface PageRequest {
  exclusiveStartKey?: QueryRequest['exclusiveStartKey'];
}

async function* pagesOf<R extends PageRequest>(
  request: R,
  read: (request: R) => Promise<QueryResponse | ScanResponse>,
): AsyncGenerator<Page, void> {
  let next: R | undefined = request;
  while (next !== undefined) {
    const page: Page = await read(next);
    next = page.lastEvaluatedKey === undefined ? undefined : { ...request, exclusiveStartKey: page.lastEvaluatedKey };
    yield page;
  }
}

export function queryPages(client: Client, request: QueryRequest, options?: CallOptions): AsyncGenerator<Page, void> {
  return pagesOf(request, (next) => client.query(next, options));
}

export function scanPages(client: Client, request: ScanRequest, options?: CallOptions): AsyncGenerator<Page, void> {
  return pagesOf(request, (next) => client.scan(next, options));
}

/**
 * The items of a query or a scan. Iterating reads pages as it goes, and can be done several times: each time reads anew.
 *
 *     for await (const item of client.queryItems(request)) ...
 *     for await (const page of client.queryItems(request).pages()) ...
 *     const items = await client.queryItems(request).all();
 */
export class ItemIterable<T = Item> implements AsyncIterable<T> {
  /** @internal */
  constructor(
    private readonly read: () => AsyncGenerator<Page, void>,
    private readonly convert?: (item: Item) => T,
  ) {}

  /** The pages, with their counts, consumed capacity and position. A page may be empty. */
  pages(): AsyncGenerator<Page, void> {
    return this.read();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    for await (const page of this.read()) {
      for (const item of page.items) yield this.convert === undefined ? (item as T) : this.convert(item);
    }
  }

  /** All items, in memory. */
  async all(): Promise<T[]> {
    const items: T[] = [];
    for await (const page of this.read()) {
      if (this.convert === undefined) items.push(...(page.items as T[]));
      else for (const item of page.items) items.push(this.convert(item));
    }
    return items;
  }

  /** The first item, or undefined. */
  async first(): Promise<T | undefined> {
    for await (const item of this) return item;
    return undefined;
  }
}

export interface ParallelScanOptions extends CallOptions {
  /** Number of segments that are scanned at once, 1 to 1,000,000; a few per processor of the daemon are enough. */
  segments: number;
}

/**
 * The pages of all segments, in the order of their arrival. Each segment reads one page ahead. An error of a segment ends
 * the scan.
 */
export async function* parallelScan(
  client: Client,
  request: ScanRequest,
  { segments, ...options }: ParallelScanOptions,
): AsyncGenerator<Page, void> {
  if (!Number.isInteger(segments) || segments < 1) throw new InvalidArgumentError('segments must be a positive number');
  const walks = Array.from({ length: segments }, (_, segment) =>
    scanPages(client, { ...request, segment, totalSegments: segments }, options));
  type Step = { segment: number; result: IteratorResult<Page, void> };
  const step = async (segment: number): Promise<Step> => ({ segment, result: await walks[segment]!.next() });
  const outstanding = new Map(walks.map((_, segment) => [segment, step(segment)]));
  try {
    while (outstanding.size > 0) {
      const { segment, result } = await Promise.race(outstanding.values());
      if (result.done === true) {
        outstanding.delete(segment);
      } else {
        outstanding.set(segment, step(segment));
        yield result.value;
      }
    }
  } finally {
    // Pages that nobody waits for any more.
    for (const page of outstanding.values()) page.catch(() => undefined);
  }
}
