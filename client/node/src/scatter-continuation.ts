// The position of a scattered query, as text. Its form is that of the C++ client: base64 of an AttributeValue, which is
// a list of the version, the query, and one value for each shard: true for a finished shard, null for one that has
// not begun, and otherwise the key of the last item.

import { InvalidArgumentError } from './errors';
import type { QueryRequest } from './generated/types';
import { Item, readValue, Value, ValueInput, withPath, writeValue } from './values';
import { Reader, Writer } from './wire';

export interface ShardPosition {
  isDone: boolean;
  /** Key of the last given item. Absent: not begun. */
  startAfter?: Item | undefined;
}

const VERSION = 1;
const HEAD = 2;

// The bytes of an AttributeValue without a length.
function bytesOf(value: ValueInput): Buffer {
  const writer = new Writer();
  withPath(() => writeValue(writer, value));
  const bytes = writer.finish();
  const reader = new Reader(bytes);
  reader.length();
  return bytes.subarray(reader.position);
}

/** The parts of a query that must be equal for one query to continue another. */
export function identityOf(request: QueryRequest, firstShard: number, shards: number, firstValue: ValueInput): Buffer {
  const table = /^arn:[^/]*:table\/([^/]+)/.exec(request.tableName)?.[1] ?? request.tableName;
  const isForward = request.scanIndexForward !== false;
  const head = [table, request.indexName ?? '', isForward ? 1 : 0, firstShard, shards, ''].join('\n');
  return Buffer.concat([Buffer.from(head), bytesOf(firstValue)]);
}

export function encodeContinuation(identity: Buffer, positions: readonly ShardPosition[]): string {
  const values = positions.map(({ isDone, startAfter }): ValueInput => (isDone ? true : (startAfter ?? null)));
  return bytesOf([VERSION, identity, ...values]).toString('base64url');
}

function positionOf(value: Value): ShardPosition {
  if (value === true) return { isDone: true };
  if (value === null) return { isDone: false };
  if (typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype) return { isDone: false, startAfter: value as Item };
  throw new RangeError('no position');
}

function read(text: string): Value[] {
  const bytes = Buffer.from(text, 'base64url');
  const writer = new Writer();
  writer.bytes(bytes);
  const value = readValue(new Reader(writer.finish()));
  if (!Array.isArray(value) || value.length < HEAD || value[0] !== VERSION) throw new RangeError('no continuation');
  return value;
}

/** @throws InvalidArgumentError for a text that encodeContinuation has not made, or has made for another query. */
export function decodeContinuation(text: string, identity: Buffer, shards: number): ShardPosition[] {
  let values: Value[];
  try {
    values = read(text);
  } catch {
    throw new InvalidArgumentError('the continuation is not one of a scattered query');
  }
  if (!(values[1] instanceof Uint8Array) || Buffer.compare(values[1], identity) !== 0 || values.length !== HEAD + shards) {
    throw new InvalidArgumentError('the continuation is that of another query');
  }
  try {
    return values.slice(HEAD).map(positionOf);
  } catch {
    throw new InvalidArgumentError('the continuation is not one of a scattered query');
  }
}
