// The client of a daemon.

import { inspect } from 'node:util';

import { BatchGetter, batchGet } from './batch-get';
import { BatchWriter, BatchWriterOptions } from './batch-writer';
import { Caller } from './caller';
import { Connection } from './connection';
import { methods, Operations } from './generated/operations';
import type {
  ExecuteStatementRequest, ExecuteStatementResponse, ExportTableRequest, ExportTableResponse, ListTablesRequest, ListTablesResponse,
  QueryRequest, ScanRequest, WatchRequest,
} from './generated/types';
import type { CallOptions, ClientOptions } from './options';
import { ItemIterable, ParallelScanOptions, parallelScan, queryPages, scanPages } from './paginator';
import { Pipeline, PipelineOptions } from './pipeline';
import { ScatterOptions, ScatterQuery } from './scatter-query';
import { WriteSession } from './session';
import { exportTable } from './table-export';
import { Table, TableOptions } from './table';
import { Transaction } from './transaction';
import * as wait from './wait';
import { Watcher, WatchOptions } from './watcher';
import type { Item, ItemInput } from './values';

/* eslint-disable @typescript-eslint/no-unsafe-declaration-merging */

/**
 * All operations of a daemon.
 *
 *     const client = new Client('localhost:7700');
 *     await client.putItem({ tableName: 'users', item: { user: 'ann', visits: 1 } });
 *     const { item } = await client.getItem({ tableName: 'users', key: { user: 'ann' } });
 *     client.close();
 *
 * A client is cheap to use from many places at once: all calls share one connection. The first call connects. Failed calls
 * are repeated if that does no harm; see ClientOptions.retry.
 */
export interface Client extends Operations {}

export class Client {
  /** @internal */
  readonly caller: Caller;

  /**
   * `address`: "host:port", "unix:/path" or another name of gRPC; or several addresses of the daemon, which are tried in
   * turns. @throws InvalidArgumentError for an option outside its range.
   */
  constructor(address: string | readonly string[], options: ClientOptions = {}) {
    this.caller = new Caller(new Connection(Array.isArray(address) ? [...(address as readonly string[])] : [address as string], options), options);
  }

  toString(): string {
    return `Client(${this.caller.connection.addresses.join(', ')})`;
  }

  /** A log of the client shows its addresses, and not the secret of its access key. */
  [inspect.custom](): string {
    return this.toString();
  }

  /** Closes the connection, and that of all sessions. Outstanding calls fail. */
  close(): void {
    this.caller.connection.close();
  }

  /**
   * A client that reads its own writes on global indexes: its queries and scans of an index wait until the index holds
   * the writes that were made through it. It shares the connection. Writes of other clients and sessions are not waited for,
   * nor are failed writes. Begin a new session after the database was replaced by an older copy.
   *
   * `token`: the `sessionToken` of another session, perhaps in another process, whose writes are read too.
   */
  session(token?: string): Client {
    return this.derived(new WriteSession(token));
  }

  /** The writes of a session, as text for `session(token)`. Empty for a client without a session. */
  get sessionToken(): string {
    return this.caller.session?.token ?? '';
  }

  private derived(session: WriteSession): Client {
    const client = Object.create(Client.prototype) as { caller: Caller };
    client.caller = new Caller(this.caller.connection, this.caller.options, session);
    return client as Client;
  }

  /** A table, with shorter calls and typed items. */
  table<T extends object = Item, K extends keyof T & string = keyof T & string>(
    name: string,
    options: TableOptions<T, K>,
  ): Table<T, K> {
    return new Table<T, K>(this, name, options);
  }

  /** The items of a query, read page by page. `pages()` of the result gives the pages. */
  queryItems(request: QueryRequest, options?: CallOptions): ItemIterable {
    return new ItemIterable(() => queryPages(this, request, options));
  }

  /** The items of a scan, read page by page. `pages()` of the result gives the pages. */
  scanItems(request: ScanRequest, options?: CallOptions): ItemIterable {
    return new ItemIterable(() => scanPages(this, request, options));
  }

  /** The items of a table or an index, read by several scans at once. Their order is that of arrival. */
  parallelScan(request: ScanRequest, options: ParallelScanOptions): ItemIterable {
    return new ItemIterable(() => parallelScan(this, request, options));
  }

  /** The items that a PartiQL statement gives, of all its pages. */
  async *statementItems(request: ExecuteStatementRequest, options?: CallOptions): AsyncGenerator<Item, void> {
    for (let next: ExecuteStatementRequest | undefined = request; next !== undefined; ) {
      const page: ExecuteStatementResponse = await this.executeStatement(next, options);
      yield* page.items;
      next = page.nextToken === undefined ? undefined : { ...request, nextToken: page.nextToken };
    }
  }

  /** The names of all tables, in their order. */
  async *tableNames(options?: CallOptions): AsyncGenerator<string, void> {
    for (let next: ListTablesRequest | undefined = {}; next !== undefined; ) {
      const page: ListTablesResponse = await this.listTables(next, options);
      yield* page.tableNames;
      next = page.lastEvaluatedTableName === undefined ? undefined : { exclusiveStartTableName: page.lastEvaluatedTableName };
    }
  }

  /** The number of items that a query gives, of all its pages. */
  async count(request: QueryRequest, options?: CallOptions): Promise<number> {
    let count = 0;
    for await (const page of queryPages(this, { ...request, select: 'COUNT' }, options)) count += page.count;
    return count;
  }

  /** Reads any number of items, in calls of 100 keys. Unprocessed keys are asked for again. Missing items are left out. */
  async batchGet(request: BatchGetter, options?: CallOptions): Promise<{ [table: string]: Item[] }> {
    return batchGet(this, request, options);
  }

  /** Collects puts and deletes into batches. */
  batchWriter(options?: BatchWriterOptions): BatchWriter {
    return new BatchWriter(this, options);
  }

  /** Collects the actions of a transaction. */
  transaction(): Transaction {
    return new Transaction(this);
  }

  /** A stream of many concurrent operations, which costs less than a call for each. */
  async pipeline(options?: PipelineOptions): Promise<Pipeline> {
    return Pipeline.open(this.caller, options);
  }

  /** One query over a partition that is spread over shards. */
  scatterQuery(request: QueryRequest, options: ScatterOptions): ScatterQuery {
    return new ScatterQuery(this, request, options);
  }

  /** The changes of a table as they are made. */
  watch(request: WatchRequest, options?: WatchOptions): Watcher {
    return new Watcher(this.caller, request, options);
  }

  /** All items of a table as of one moment. The first message has the head. */
  exportTable(request: ExportTableRequest, options?: CallOptions): AsyncGenerator<ExportTableResponse, void> {
    return exportTable(this.caller, request, options);
  }

  /** Waits until a table and its global indexes are ACTIVE. */
  async waitForTable(tableName: string, options?: wait.WaitOptions): Promise<void> {
    return wait.forTable(this, tableName, options);
  }

  /** Waits until a table does not exist. */
  async waitForTableGone(tableName: string, options?: wait.WaitOptions): Promise<void> {
    return wait.forTableGone(this, tableName, options);
  }

  /** Waits until all global indexes of a table have applied the writes up to a change sequence; absent: all so far. */
  async waitForIndexes(tableName: string, changeSequence?: bigint, options?: wait.WaitOptions): Promise<void> {
    return wait.forIndexes(this, tableName, changeSequence, options);
  }

  /** Waits until the backup of a table is AVAILABLE. */
  async waitForBackup(backupArn: string, options?: wait.WaitOptions): Promise<void> {
    return wait.forBackup(this, backupArn, options);
  }
}

/** The key of an item, for `batchGet` and others. */
export type Key = ItemInput;

const STREAMS = new Set(['pipeline', 'watch', 'exportTable']);

for (const [name, method] of Object.entries(methods)) {
  if (STREAMS.has(name)) continue;
  Object.defineProperty(Client.prototype, name, {
    value(this: Client, request: Record<string, unknown> = {}, options?: CallOptions): Promise<unknown> {
      return this.caller.call(method, request, options);
    },
    writable: true,
    configurable: true,
  });
}
