// Native values, and their form on the wire: AttributeValue and Item of the API.

import { InvalidArgumentError } from './errors';
import { nativeNumber, NumberValue, numberText } from './numbers';
import { Reader, WireType, Writer } from './wire';

/** A value of an item, as it is read. */
export type Value =
  | string
  | number
  | bigint
  | NumberValue
  | boolean
  | null
  | Uint8Array
  | Set<string>
  | Set<number | bigint | NumberValue>
  | Set<Uint8Array>
  | Value[]
  | { [name: string]: Value };

/** An item, or a key, as it is read. */
export type Item = { [name: string]: Value };

/**
 * A value of an item, as it is written. Members of maps that are `undefined` are left out.
 *
 * - `string`, `boolean`, `null`: S, BOOL, NULL.
 * - `number`, `bigint`, NumberValue: N. A `number` must be exact.
 * - Uint8Array, so Buffer too: B.
 * - Set of texts, numbers or bytes, not empty: SS, NS, BS.
 * - Array: L. Plain object, Map with texts as keys: M.
 */
export type ValueInput =
  | Value
  | undefined
  | ReadonlySet<string>
  | ReadonlySet<number | bigint | NumberValue>
  | ReadonlySet<Uint8Array>
  | readonly ValueInput[]
  | ReadonlyMap<string, ValueInput>
  // `any`, because interfaces are assignable to no other type of members.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  | { readonly [name: string]: any };

/** An item, or a key, as it is written: an object whose members are values. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type ItemInput = { readonly [name: string]: any } | ReadonlyMap<string, ValueInput>;

const DEPTH_MAX = 64; // the daemon refuses more than 32 levels; this bounds the recursion

const enum Tag {
  S = (1 << 3) | WireType.Bytes,
  N = (2 << 3) | WireType.Bytes,
  B = (3 << 3) | WireType.Bytes,
  Bool = (4 << 3) | WireType.Varint,
  Null = (5 << 3) | WireType.Varint,
  SS = (6 << 3) | WireType.Bytes,
  NS = (7 << 3) | WireType.Bytes,
  BS = (8 << 3) | WireType.Bytes,
  L = (9 << 3) | WireType.Bytes,
  M = (10 << 3) | WireType.Bytes,
}

const FIRST = (1 << 3) | WireType.Bytes; // field 1 with a length: elements, entries, names
const SECOND = (2 << 3) | WireType.Bytes; // field 2 with a length: values of entries

class Path extends Error {
  readonly steps: (string | number)[] = [];
}

function refuse(what: string): never {
  throw new Path(what);
}

/** Calls `write`. An error in a value names the value. */
export function withPath<T>(write: () => T): T {
  try {
    return write();
  } catch (error) {
    if (!(error instanceof Path) && !(error instanceof InvalidArgumentError)) throw error;
    const steps = error instanceof Path ? error.steps : [];
    if (steps.length === 0) throw new InvalidArgumentError(error.message);
    const path = steps
      .reverse()
      .map((step, i) => (typeof step === 'number' ? `[${step}]` : i === 0 ? step : `.${step}`))
      .join('');
    throw new InvalidArgumentError(`${path}: ${error.message}`);
  }
}

function at<T>(step: string | number, error: T): Path {
  const path = error instanceof Path ? error : new Path(error instanceof Error ? error.message : String(error));
  path.steps.push(step);
  return path;
}

function setTag(first: unknown): Tag.SS | Tag.NS | Tag.BS {
  if (typeof first === 'string') return Tag.SS;
  if (typeof first === 'number' || typeof first === 'bigint' || first instanceof NumberValue) return Tag.NS;
  if (first instanceof Uint8Array) return Tag.BS;
  return refuse(first === undefined ? 'a set must not be empty' : 'a set has texts, numbers or bytes');
}

function writeSet(writer: Writer, set: ReadonlySet<unknown>): void {
  const tag = setTag(set.values().next().value);
  writer.varint(tag);
  const mark = writer.begin();
  for (const element of set) {
    writer.varint(FIRST);
    if (setTag(element) !== tag) refuse('the elements of a set have one type');
    if (tag === Tag.BS) writer.bytes(element as Uint8Array);
    else writer.text(tag === Tag.SS ? (element as string) : numberText(element as number | bigint | NumberValue));
  }
  writer.end(mark);
}

function writeEntry(writer: Writer, name: string, value: unknown, depth: number): void {
  writer.varint(FIRST);
  const mark = writer.begin();
  writer.varint(FIRST);
  writer.text(name);
  writer.varint(SECOND);
  try {
    writeValue(writer, value, depth);
  } catch (error) {
    throw at(name, error);
  }
  writer.end(mark);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}

function writeEntries(writer: Writer, value: object, depth: number): void {
  if (value instanceof Map) {
    for (const [name, element] of value as Map<unknown, unknown>) {
      if (typeof name !== 'string') refuse('a map has texts as keys');
      if (element !== undefined) writeEntry(writer, name, element, depth);
    }
    return;
  }
  if (!isPlain(value)) {
    const name = value.constructor?.name ?? 'this class';
    refuse(name === 'Date' ? 'a Date is no value: write its text or its number, or use a schema' : `${name} is no type of value`);
  }
  for (const name of Object.keys(value)) {
    const element = (value as Record<string, unknown>)[name];
    if (element !== undefined) writeEntry(writer, name, element, depth);
  }
}

function writeObject(writer: Writer, value: object, depth: number): void {
  if (value instanceof Uint8Array) {
    writer.varint(Tag.B);
    writer.bytes(value);
  } else if (Array.isArray(value)) {
    writer.varint(Tag.L);
    const mark = writer.begin();
    for (let i = 0; i < value.length; ++i) {
      writer.varint(FIRST);
      try {
        writeValue(writer, value[i], depth + 1);
      } catch (error) {
        throw at(i, error);
      }
    }
    writer.end(mark);
  } else if (value instanceof Set) {
    writeSet(writer, value);
  } else if (value instanceof NumberValue) {
    writer.varint(Tag.N);
    writer.text(value.value);
  } else {
    writer.varint(Tag.M);
    const mark = writer.begin();
    writeEntries(writer, value, depth + 1);
    writer.end(mark);
  }
}

/** Writes an AttributeValue with its length. */
export function writeValue(writer: Writer, value: unknown, depth = 0): void {
  if (depth > DEPTH_MAX) refuse('the value is nested too deeply');
  const mark = writer.begin();
  switch (typeof value) {
    case 'string':
      writer.varint(Tag.S);
      writer.text(value);
      break;
    case 'number':
    case 'bigint':
      writer.varint(Tag.N);
      writer.text(numberText(value));
      break;
    case 'boolean':
      writer.varint(Tag.Bool);
      writer.varint(value ? 1 : 0);
      break;
    case 'object':
      if (value === null) {
        writer.varint(Tag.Null);
        writer.varint(1);
      } else {
        writeObject(writer, value, depth);
      }
      break;
    default:
      refuse(`${typeof value} is no type of value`);
  }
  writer.end(mark);
}

/** Writes an Item with its length. */
export function writeItem(writer: Writer, item: unknown): void {
  if (typeof item !== 'object' || item === null || Array.isArray(item) || item instanceof Uint8Array) {
    refuse('an item is an object');
  }
  const mark = writer.begin();
  writeEntries(writer, item, 0);
  writer.end(mark);
}

function setMember(target: Item, name: string, value: Value): void {
  if (name === '__proto__') {
    Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true });
  } else {
    target[name] = value;
  }
}

function readEntry(reader: Reader, target: Item): void {
  const outer = reader.enter();
  let name = '';
  let value: Value | undefined;
  while (reader.position < reader.limit) {
    const tag = reader.varint();
    if (tag === FIRST) name = reader.name();
    else if (tag === SECOND) value = readValue(reader);
    else reader.skip(tag & 7);
  }
  reader.leave(outer);
  if (value === undefined) throw new RangeError(`the attribute ${name} has no value`);
  setMember(target, name, value);
}

function readElements<T>(reader: Reader, read: (reader: Reader) => T, add: (element: T) => void): void {
  const outer = reader.enter();
  while (reader.position < reader.limit) {
    const tag = reader.varint();
    if (tag === FIRST) add(read(reader));
    else reader.skip(tag & 7);
  }
  reader.leave(outer);
}

function readNumber(reader: Reader): number | bigint | NumberValue {
  const text = reader.text();
  return reader.textNumbers ? NumberValue.from(text) : nativeNumber(text);
}

function readSet<T>(reader: Reader, read: (reader: Reader) => T): Set<T> {
  const set = new Set<T>();
  readElements(reader, read, (element) => set.add(element));
  return set;
}

const readText = (reader: Reader): string => reader.text();
const readBytes = (reader: Reader): Uint8Array => reader.bytes();

function readMember(reader: Reader, tag: number): Value | undefined {
  switch (tag) {
    case Tag.S:
      return reader.text();
    case Tag.N:
      return readNumber(reader);
    case Tag.B:
      return reader.bytes();
    case Tag.Bool:
      return reader.varint() !== 0;
    case Tag.Null:
      reader.varint();
      return null;
    case Tag.SS:
      return readSet(reader, readText);
    case Tag.NS:
      return readSet(reader, readNumber);
    case Tag.BS:
      return readSet(reader, readBytes);
    case Tag.L: {
      const list: Value[] = [];
      readElements(reader, readValue, (element) => list.push(element));
      return list;
    }
    case Tag.M:
      return readItem(reader);
    default:
      reader.skip(tag & 7);
      return undefined;
  }
}

/** Reads an AttributeValue with its length. */
export function readValue(reader: Reader): Value {
  const outer = reader.enter();
  let value: Value | undefined;
  while (reader.position < reader.limit) {
    const member = readMember(reader, reader.varint());
    if (member !== undefined) value = member;
  }
  reader.leave(outer);
  if (value === undefined) throw new RangeError('an attribute value of an unknown type');
  return value;
}

/** Reads an Item, or a MapValue, with its length. */
export function readItem(reader: Reader): Item {
  const outer = reader.enter();
  const item: Item = {};
  while (reader.position < reader.limit) {
    const tag = reader.varint();
    if (tag === FIRST) readEntry(reader, item);
    else reader.skip(tag & 7);
  }
  reader.leave(outer);
  return item;
}
