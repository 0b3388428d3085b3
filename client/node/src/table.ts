// A table with shorter calls and typed items.

import { inspect } from 'node:util';

import type { Client } from './client';
import { BatchWriter, BatchWriterOptions } from './batch-writer';
import { Expression, Params, project } from './expressions';
import type { QueryRequest, ReturnValues, ScanRequest } from './generated/types';
import { InvalidArgumentError } from './errors';
import { checkMembers, Names } from './known';
import { CALL_NAMES, CallOptions } from './options';
import { ItemIterable, parallelScan, queryPages, scanPages } from './paginator';
import { fromStandardSchema, ItemSchema, StandardSchema } from './schema';
import { createRequest, DEFINITION_NAMES, TableDefinition } from './table-definition';
import { ACTION_NAMES, ActionOptions, conditionOf } from './transaction';
import type { WaitOptions } from './wait';
import type { Item, ItemInput } from './values';

export interface TableOptions<T extends object, K extends keyof T & string> {
  /** Names of the key attributes: the partition attribute, then the sort attribute if there is one. */
  key: readonly K[];
  /** Converts items. Absent: the items as they are. */
  schema?: ItemSchema<T> | StandardSchema<T>;
}

export interface WriteOptions extends ActionOptions, CallOptions {}

export interface GetOptions extends CallOptions {
  consistent?: boolean;
}

/** Members of queries and scans. */
export interface ReadOptions extends CallOptions {
  index?: string;
  filter?: string | Expression;
  /** Attributes to read: an expression, or paths. The items are not converted by the schema then. */
  projection?: string | Expression | readonly string[];
  params?: Params;
  names?: { [placeholder: string]: string };
  values?: { [placeholder: string]: unknown };
  consistent?: boolean;
  /** Number of entries that a page reads. */
  pageSize?: number;
  /** Position behind which to begin: the lastEvaluatedKey of a page. */
  startAfter?: ItemInput;
}

export interface QueryOptions extends ReadOptions {
  /** Descending order of the sort key. */
  descending?: boolean;
}

export interface ScanOptions extends ReadOptions {
  /** Number of parallel scans. Default 1. */
  segments?: number;
}

/** Which item an update gives. */
export type Returned = 'old' | 'new' | 'updated old' | 'updated new';

const RETURN_VALUES: Record<Returned, ReturnValues> = {
  old: 'ALL_OLD',
  new: 'ALL_NEW',
  'updated old': 'UPDATED_OLD',
  'updated new': 'UPDATED_NEW',
};

const TABLE_NAMES: Names<TableOptions<Item, string>> = { key: true, schema: true };
const CREATE_NAMES: Names<TableDefinition & WaitOptions> = { ...DEFINITION_NAMES, timeoutMs: true, signal: true };
const WRITE_NAMES: Names<WriteOptions> = { ...ACTION_NAMES, ...CALL_NAMES };
const PUT_NAMES = { ...WRITE_NAMES, returnOld: true } as const;
const UPDATE_NAMES = { ...WRITE_NAMES, returned: true } as const;
const GET_NAMES: Names<GetOptions> = { ...CALL_NAMES, consistent: true };
const QUERY_NAMES: Names<QueryOptions> = {
  ...CALL_NAMES, index: true, filter: true, projection: true, params: true, names: true, values: true, consistent: true, pageSize: true,
  startAfter: true, descending: true,
};
const { descending: _, ...READ_NAMES } = QUERY_NAMES;
const SCAN_NAMES: Names<ScanOptions> = { ...READ_NAMES, segments: true };

function returnValuesOf(returned: Returned | undefined): { returnValues?: ReturnValues } {
  if (returned === undefined) return {};
  if (!Object.hasOwn(RETURN_VALUES, returned)) {
    throw new InvalidArgumentError(`returned is one of ${Object.keys(RETURN_VALUES).join(', ')}`);
  }
  return { returnValues: RETURN_VALUES[returned] };
}

function callOf({ timeoutMs, signal, idempotent, metadata }: CallOptions): CallOptions {
  return {
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(signal === undefined ? {} : { signal }),
    ...(idempotent === undefined ? {} : { idempotent }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

function waitOf({ timeoutMs, signal }: WaitOptions): WaitOptions {
  return { ...(timeoutMs === undefined ? {} : { timeoutMs }), ...(signal === undefined ? {} : { signal }) };
}

function readOf(tableName: string, options: ReadOptions): ScanRequest {
  const { index, filter, projection, params, names, values, consistent, pageSize, startAfter } = options;
  const paths = typeof projection === 'string' || projection instanceof Expression ? projection : projection && project(...projection);
  return {
    tableName,
    ...(index === undefined ? {} : { indexName: index }),
    ...(filter === undefined ? {} : { filterExpression: filter }),
    ...(paths === undefined ? {} : { projectionExpression: paths }),
    ...(params === undefined ? {} : { params }),
    ...(names === undefined ? {} : { expressionAttributeNames: names }),
    ...(values === undefined ? {} : { expressionAttributeValues: values as ScanRequest['expressionAttributeValues'] }),
    ...(consistent === undefined ? {} : { consistentRead: consistent }),
    ...(pageSize === undefined ? {} : { limit: pageSize }),
    ...(startAfter === undefined ? {} : { exclusiveStartKey: startAfter }),
  } as ScanRequest;
}

/** A key as it is sent. A message would leave out an absent one, and the daemon's complaint would be about the attributes. */
function keyOf(key: unknown): ItemInput {
  if (typeof key !== 'object' || key === null) throw new InvalidArgumentError('a key is an object');
  return key as ItemInput;
}

function schemaOf<T extends object>(given: ItemSchema<T> | StandardSchema<T> | undefined): ItemSchema<T> | undefined {
  return given !== undefined && '~standard' in given ? fromStandardSchema(given) : given;
}

/**
 * One table.
 *
 *     interface User { id: string; visits: number }
 *     const users = client.table<User, 'id'>('users', { key: ['id'] });
 *     await users.put({ id: 'ann', visits: 1 }, { condition: 'attribute_not_exists(id)' });
 *     await users.update({ id: 'ann' }, 'SET visits = visits + $n', { params: { n: 1 } });
 *     const ann = await users.get({ id: 'ann' });
 */
export class Table<T extends object = Item, K extends keyof T & string = keyof T & string> {
  readonly key: readonly K[];
  private readonly schema: ItemSchema<T> | undefined;

  constructor(
    readonly client: Client,
    readonly name: string,
    options: TableOptions<T, K>,
  ) {
    if (typeof options !== 'object' || options === null || !Array.isArray(options.key) || options.key.length < 1 || options.key.length > 2) {
      throw new InvalidArgumentError(`a table needs the names of its key attributes: client.table('${name}', { key: ['id'] })`);
    }
    checkMembers('the options of a table', options, TABLE_NAMES);
    this.key = options.key;
    this.schema = schemaOf(options.schema);
  }

  toString(): string {
    return `Table(${this.name}, ${String(this.client)})`;
  }

  [inspect.custom](): string {
    return this.toString();
  }

  /**
   * Creates the table, and waits until it can be used. The types of the key attributes are those of the schema's fields, or
   * of `types`.
   *
   *     await orders.create({ indexes: { by_status: { partition: ['status'], sort: ['total'] } } });
   *
   * @throws ResourceInUseException if there is one.
   */
  async create(definition: TableDefinition<keyof T & string> & WaitOptions = {}): Promise<void> {
    checkMembers('the members of a definition', definition, CREATE_NAMES);
    const types = { ...this.schema?.keyTypes, ...definition.types };
    await this.client.createTable(createRequest(this.name, this.key, { ...definition, types }), callOf(definition));
    await this.client.waitForTable(this.name, waitOf(definition));
  }

  /** The item as it is written. */
  toItem(record: T): ItemInput {
    if (typeof record !== 'object' || record === null) throw new InvalidArgumentError('an item is an object');
    return this.schema === undefined ? (record as ItemInput) : this.schema.toItem(record);
  }

  fromItem(item: Item): T {
    return this.schema === undefined ? (item as T) : this.schema.fromItem(item);
  }

  private optional(item: Item | undefined): T | undefined {
    return item === undefined ? undefined : this.fromItem(item);
  }

  /** Writes an item, in place of the present one. `returnOld`: gives the item that was there. */
  async put(record: T, options: WriteOptions & { returnOld?: boolean } = {}): Promise<T | undefined> {
    checkMembers('the options of put', options, PUT_NAMES);
    const request = { tableName: this.name, item: this.toItem(record), ...conditionOf(options) };
    const returned = options.returnOld === true ? { returnValues: 'ALL_OLD' as const } : {};
    return this.optional((await this.client.putItem({ ...request, ...returned }, callOf(options))).attributes);
  }

  /** The item, or undefined. */
  async get(key: Pick<T, K>, options: GetOptions = {}): Promise<T | undefined> {
    checkMembers('the options of get', options, GET_NAMES);
    const consistent = options.consistent === undefined ? {} : { consistentRead: options.consistent };
    const request = { tableName: this.name, key: keyOf(key), ...consistent };
    return this.optional((await this.client.getItem(request, callOf(options))).item);
  }

  /** Some attributes of an item. `projection`: an expression, or paths. */
  async getPart(key: Pick<T, K>, projection: string | Expression | readonly string[], options: GetOptions = {}): Promise<Item | undefined> {
    checkMembers('the options of getPart', options, GET_NAMES);
    const { projectionExpression } = readOf(this.name, { projection });
    const consistent = options.consistent === undefined ? {} : { consistentRead: options.consistent };
    const request = { tableName: this.name, key: keyOf(key), ...consistent, projectionExpression: projectionExpression! };
    return (await this.client.getItem(request, callOf(options))).item;
  }

  /** Changes an item, or creates it. With `returned`, gives the item or the updated attributes. */
  async update(
    key: Pick<T, K>,
    update: string | Expression,
    options: WriteOptions & { returned?: Returned } = {},
  ): Promise<Partial<T> | undefined> {
    checkMembers('the options of update', options, UPDATE_NAMES);
    const { returned } = options;
    const answer = await this.client.updateItem({
      tableName: this.name,
      key: keyOf(key),
      updateExpression: update,
      ...conditionOf(options),
      ...returnValuesOf(returned),
    }, callOf(options));
    if (answer.attributes === undefined) return undefined;
    // Updated attributes are a part of an item, which a schema may refuse.
    return returned === 'old' || returned === 'new' ? this.fromItem(answer.attributes) : (answer.attributes as Partial<T>);
  }

  /** Deletes an item, if it is there. `returnOld`: gives it. */
  async delete(key: Pick<T, K>, options: WriteOptions & { returnOld?: boolean } = {}): Promise<T | undefined> {
    checkMembers('the options of delete', options, PUT_NAMES);
    const request = { tableName: this.name, key: keyOf(key), ...conditionOf(options) };
    const returned = options.returnOld === true ? { returnValues: 'ALL_OLD' as const } : {};
    return this.optional((await this.client.deleteItem({ ...request, ...returned }, callOf(options))).attributes);
  }

  private items(read: () => ReturnType<typeof queryPages>, options: ReadOptions): ItemIterable<T> {
    return new ItemIterable<T>(read, options.projection === undefined ? (item) => this.fromItem(item) : (item) => item as T);
  }

  private queryRequest(keyCondition: string | Expression, options: QueryOptions): QueryRequest {
    checkMembers('the options of a query', options, QUERY_NAMES);
    return {
      ...readOf(this.name, options),
      keyConditionExpression: keyCondition,
      ...(options.descending === true ? { scanIndexForward: false } : {}),
    } as QueryRequest;
  }

  /** The items of a partition, in the order of the sort key. */
  query(keyCondition: string | Expression, options: QueryOptions = {}): ItemIterable<T> {
    const request = this.queryRequest(keyCondition, options);
    return this.items(() => queryPages(this.client, request, callOf(options)), options);
  }

  /** The number of items of a query. */
  async count(keyCondition: string | Expression, options: QueryOptions = {}): Promise<number> {
    return this.client.count(this.queryRequest(keyCondition, options), callOf(options));
  }

  /** All items. */
  scan(options: ScanOptions = {}): ItemIterable<T> {
    checkMembers('the options of a scan', options, SCAN_NAMES);
    const request = readOf(this.name, options);
    const { segments = 1 } = options;
    if (segments === 1) return this.items(() => scanPages(this.client, request, callOf(options)), options);
    return this.items(() => parallelScan(this.client, request, { segments, ...callOf(options) }), options);
  }

  /** The items of these keys, in no order; missing ones are left out. */
  async batchGet(keys: readonly Pick<T, K>[], options: GetOptions = {}): Promise<T[]> {
    checkMembers('the options of batchGet', options, GET_NAMES);
    const consistent = options.consistent === undefined ? {} : { consistentRead: options.consistent };
    const request = { [this.name]: { keys: keys as readonly ItemInput[] as ItemInput[], ...consistent } };
    const found = await this.client.batchGet(request, callOf(options));
    return (found[this.name] ?? []).map((item) => this.fromItem(item));
  }

  /** Writes many items. @throws as BatchWriter.flush. */
  async putAll(records: Iterable<T> | AsyncIterable<T>, options: Omit<BatchWriterOptions, 'keys'> = {}): Promise<void> {
    const writer = new BatchWriter(this.client, { ...options, keys: { [this.name]: this.key } });
    for await (const record of records) await writer.put(this.name, this.toItem(record));
    await writer.flush();
  }
}
