// Messages of the API as plain objects, encoded and decoded by descriptors that scripts/generate.mjs makes of the protos.
//
// Members have camelCase names. Items and attribute values are native values; enums are texts; 64-bit sequences are
// bigints, and other 64-bit numbers are numbers. A message that only wraps a list is that list.

import { InvalidArgumentError } from './errors';
import { prepareExpressions } from './expressions';
import { readItem, readValue, withPath, writeItem, writeValue } from './values';
import { Reader, WireType, Writer } from './wire';

/** Kinds of single values. `items` are the two messages that are native values. */
export type Scalar = 'text' | 'bytes' | 'bool' | 'int32' | 'int64' | 'uint64' | 'double' | 'item' | 'value';

export class EnumType {
  private readonly numbers = new Map<string, number>();

  /** `names`: by number, without the prefix; the value 0 is "not set". */
  constructor(
    readonly name: string,
    private readonly names: readonly (string | undefined)[],
  ) {
    names.forEach((value, number) => value !== undefined && this.numbers.set(value, number));
  }

  numberOf(value: unknown): number {
    if (typeof value === 'number') return value; // of a newer API
    const number = this.numbers.get(String(value));
    if (number === undefined) throw new InvalidArgumentError(`${this.name} has no value "${String(value)}"`);
    return number;
  }

  nameOf(number: number): string {
    return this.names[number] ?? `UNKNOWN_${number}`;
  }
}

export type Label = 'one' | 'many' | 'map';

export interface Field {
  readonly number: number;
  readonly name: string;
  readonly type: Scalar | EnumType | MessageType;
  readonly label: Label;
  /** True: present in decoded messages with its zero value, if the message does not have it. */
  readonly hasDefault: boolean;
}

/** [number, name, type, label, has a default] */
export type FieldTuple = readonly [number, string, Scalar | EnumType | MessageType, Label?, boolean?];

export type Plain = Record<string, unknown>;

export class MessageType {
  /** The only field of a message that is a list to programs. */
  wrapped: Field | undefined;
  readonly byName = new Map<string, Field>();
  readonly byNumber: (Field | undefined)[] = [];
  private readonly defaults: Field[] = [];
  /** True if members may hold expressions and their parameters. */
  hasExpressions = false;

  constructor(readonly name: string) {}

  /** Sets the fields; separate from the constructor, because messages refer to each other. */
  define(fields: readonly FieldTuple[], isWrapper = false): void {
    for (const [number, name, type, label = 'one', hasDefault = false] of fields) {
      const field: Field = { number, name, type, label, hasDefault };
      this.byName.set(name, field);
      this.byNumber[number] = field;
      if (hasDefault) this.defaults.push(field);
      if (isWrapper) this.wrapped = field;
    }
    this.hasExpressions = this.byName.has('expressionAttributeNames');
  }

  /** A new message with the zero values of its fields. */
  create(): Plain {
    const message: Plain = {};
    for (const field of this.defaults) message[field.name] = zeroOf(field);
    return message;
  }
}

function zeroOf(field: Field): unknown {
  if (field.label !== 'one') return field.label === 'many' ? [] : {};
  switch (field.type) {
    case 'text':
      return '';
    case 'bool':
      return false;
    case 'uint64':
      return 0n;
    default:
      return 0;
  }
}

function wireTypeOf(type: Field['type']): WireType {
  if (type instanceof EnumType) return WireType.Varint;
  switch (type) {
    case 'bool':
    case 'int32':
    case 'int64':
    case 'uint64':
      return WireType.Varint;
    case 'double':
      return WireType.Fixed64;
    default:
      return WireType.Bytes;
  }
}

function expect(condition: boolean, field: Field, wanted: string): void {
  if (!condition) throw new InvalidArgumentError(`${field.name} must be ${wanted}`);
}

function integer(field: Field, value: unknown): number | bigint {
  expect(typeof value === 'bigint' || Number.isSafeInteger(value), field, 'an integer');
  return value as number | bigint;
}

function writeScalar(writer: Writer, field: Field, value: unknown): void {
  switch (field.type) {
    case 'text':
      expect(typeof value === 'string', field, 'a text');
      writer.text(value as string);
      return;
    case 'item':
      writeItem(writer, value);
      return;
    case 'value':
      writeValue(writer, value);
      return;
    case 'bytes':
      expect(value instanceof Uint8Array, field, 'a Uint8Array');
      writer.bytes(value as Uint8Array);
      return;
    case 'bool':
      expect(typeof value === 'boolean', field, 'a boolean');
      writer.varint(value === true ? 1 : 0);
      return;
    case 'double':
      expect(typeof value === 'number', field, 'a number');
      writer.double(value as number);
      return;
    default:
      writer.varint64(integer(field, value));
  }
}

/** A message that is encoded already; stands for the message in a larger one. */
export class Encoded {
  constructor(readonly bytes: Buffer) {}
}

function writeSingle(writer: Writer, field: Field, value: unknown): void {
  if (value instanceof Encoded) {
    writer.bytes(value.bytes);
  } else if (field.type instanceof MessageType) {
    const mark = writer.begin();
    writeMessage(writer, field.type, value);
    writer.end(mark);
  } else if (field.type instanceof EnumType) {
    writer.varint64(field.type.numberOf(value));
  } else {
    writeScalar(writer, field, value);
  }
}

function writeField(writer: Writer, field: Field, value: unknown): void {
  const tag = (field.number << 3) | wireTypeOf(field.type);
  if (field.label === 'one') {
    writer.varint(tag);
    writeSingle(writer, field, value);
  } else if (field.label === 'many') {
    expect(Array.isArray(value), field, 'an array');
    for (const element of value as unknown[]) {
      writer.varint(tag);
      writeSingle(writer, field, element);
    }
  } else {
    expect(typeof value === 'object', field, 'an object');
    for (const key of Object.keys(value as object)) {
      const element = (value as Plain)[key];
      if (element === undefined) continue;
      writer.varint((field.number << 3) | WireType.Bytes);
      const mark = writer.begin();
      writer.varint((1 << 3) | WireType.Bytes);
      writer.text(key);
      writer.varint((2 << 3) | wireTypeOf(field.type));
      writeSingle(writer, field, element);
      writer.end(mark);
    }
  }
}

/** Writes the fields of a message, without a length. */
export function writeMessage(writer: Writer, type: MessageType, value: unknown): void {
  if (type.wrapped !== undefined) {
    writeField(writer, type.wrapped, value);
    return;
  }
  if (typeof value !== 'object' || value === null) throw new InvalidArgumentError(`${type.name} must be an object`);
  const message = type.hasExpressions ? prepareExpressions(value as Plain) : (value as Plain);
  for (const name in message) {
    const member = message[name];
    if (member === undefined || member === null) continue;
    const field = type.byName.get(name);
    if (field === undefined) throw new InvalidArgumentError(`${type.name} has no member "${name}"`);
    writeField(writer, field, member);
  }
}

const shared = new Writer();

/** @throws InvalidArgumentError if the value is no message of the type. */
export function encode(type: MessageType, value: unknown): Buffer {
  try {
    withPath(() => writeMessage(shared, type, value));
    return shared.finish();
  } finally {
    shared.reset();
  }
}

function readSingle(reader: Reader, type: Field['type']): unknown {
  if (type instanceof MessageType) {
    const outer = reader.enter();
    const message = readMessage(reader, type);
    reader.leave(outer);
    return message;
  }
  if (type instanceof EnumType) return type.nameOf(reader.varint());
  switch (type) {
    case 'text':
      return reader.text();
    case 'item':
      return readItem(reader);
    case 'value':
      return readValue(reader);
    case 'bytes':
      return reader.bytes();
    case 'bool':
      return reader.varint() !== 0;
    case 'int32':
      return reader.varint() | 0;
    case 'int64':
      return Number(BigInt.asIntN(64, reader.varint64()));
    case 'uint64':
      return reader.varint64();
    case 'double':
      return reader.double();
  }
}

function readMapEntry(reader: Reader, field: Field, target: Plain): void {
  const outer = reader.enter();
  let key = '';
  let value: unknown;
  while (reader.position < reader.limit) {
    const tag = reader.varint();
    if (tag >>> 3 === 1) key = reader.name();
    else if (tag >>> 3 === 2) value = readSingle(reader, field.type);
    else reader.skip(tag & 7);
  }
  reader.leave(outer);
  // A map's value of zero length is left out by some encoders.
  value ??= field.type instanceof MessageType ? emptyOf(field.type) : zeroOf({ ...field, label: 'one' });
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}

function emptyOf(type: MessageType): unknown {
  return type.wrapped !== undefined ? [] : type.create();
}

// A packed list of numbers: several values behind one length.
function readPacked(reader: Reader, field: Field, list: unknown[]): void {
  const outer = reader.enter();
  while (reader.position < reader.limit) list.push(readSingle(reader, field.type));
  reader.leave(outer);
}

function readField(reader: Reader, field: Field, wireType: number, message: Plain): void {
  if (field.label === 'map') {
    readMapEntry(reader, field, (message[field.name] ??= {}) as Plain);
  } else if (field.label === 'one') {
    const value = readSingle(reader, field.type);
    if (!(field.type instanceof EnumType) || value !== 'UNKNOWN_0') message[field.name] = value;
  } else {
    const list = (message[field.name] ??= []) as unknown[];
    if (wireType === WireType.Bytes && wireTypeOf(field.type) !== WireType.Bytes) readPacked(reader, field, list);
    else list.push(readSingle(reader, field.type));
  }
}

/** Reads a message up to the limit of the reader. Fields of a newer API are skipped. */
export function readMessage(reader: Reader, type: MessageType): unknown {
  const message = type.create();
  while (reader.position < reader.limit) {
    const tag = reader.varint();
    const field = type.byNumber[tag >>> 3];
    if (field === undefined) reader.skip(tag & 7);
    else readField(reader, field, tag & 7, message);
  }
  return type.wrapped === undefined ? message : (message[type.wrapped.name] ?? []);
}

/** @throws RangeError if the bytes are no message of the type. */
export function decode(type: MessageType, bytes: Buffer, textNumbers = false): unknown {
  return readMessage(new Reader(bytes, textNumbers), type);
}
