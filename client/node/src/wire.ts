// Reading and writing of the protobuf wire format.
//
// Only the parts that the API uses: varints, doubles, and fields with a length.

import { InvalidArgumentError } from './errors';

export const enum WireType {
  Varint = 0,
  Fixed64 = 1,
  Bytes = 2,
  Fixed32 = 5,
}

const SHORT_TEXT = 24; // bytes up to which a loop is faster than the functions of Buffer
const NAMES_MAX = 512; // slots of the cache of names
const UINT64 = 64;

/**
 * Appends fields to a growing buffer. A length is written behind its content: the content of nested messages is moved if
 * the length needs more than one byte.
 */
export class Writer {
  private buffer = Buffer.allocUnsafe(16 * 1024);
  private position = 0;

  /** A copy of the written bytes. The writer is empty afterwards. */
  finish(): Buffer {
    const bytes = Buffer.allocUnsafe(this.position);
    this.buffer.copy(bytes, 0, 0, this.position);
    this.position = 0;
    return bytes;
  }

  /** Drops the written bytes, after an error. */
  reset(): void {
    this.position = 0;
  }

  get length(): number {
    return this.position;
  }

  private reserve(count: number): void {
    const needed = this.position + count;
    if (needed <= this.buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(needed, this.buffer.length * 2));
    this.buffer.copy(grown, 0, 0, this.position);
    this.buffer = grown;
  }

  /** An unsigned number below 2^32. */
  varint(value: number): void {
    this.reserve(5);
    while (value > 127) {
      this.buffer[this.position++] = (value & 127) | 128;
      value >>>= 7;
    }
    this.buffer[this.position++] = value;
  }

  /** Any 64-bit number; negative ones in two's complement. */
  varint64(value: number | bigint): void {
    if (typeof value === 'number' && value >= 0 && value < 2 ** 31) {
      this.varint(value);
      return;
    }
    this.reserve(10);
    let rest = BigInt.asUintN(UINT64, BigInt(value));
    while (rest > 127n) {
      this.buffer[this.position++] = Number(rest & 127n) | 128;
      rest >>= 7n;
    }
    this.buffer[this.position++] = Number(rest);
  }

  double(value: number): void {
    this.reserve(8);
    this.position = this.buffer.writeDoubleLE(value, this.position);
  }

  /** A text with its length. Refuses texts that UTF-8 cannot hold. */
  text(value: string): void {
    const length = value.length;
    if (length <= SHORT_TEXT) {
      this.reserve(length + 1);
      const buffer = this.buffer;
      const start = this.position;
      let at = start + 1;
      let i = 0;
      for (; i < length; ++i) {
        const code = value.charCodeAt(i);
        if (code > 127) break;
        buffer[at++] = code;
      }
      if (i === length) {
        buffer[start] = length;
        this.position = at;
        return;
      }
    }
    this.longText(value);
  }

  private longText(value: string): void {
    if (/\p{Surrogate}/u.test(value)) throw new InvalidArgumentError('a text has an unpaired surrogate');
    const bytes = Buffer.byteLength(value, 'utf8');
    this.varint(bytes);
    this.reserve(bytes);
    this.position += this.buffer.write(value, this.position, bytes, 'utf8');
  }

  bytes(value: Uint8Array): void {
    this.varint(value.length);
    this.reserve(value.length);
    this.buffer.set(value, this.position);
    this.position += value.length;
  }

  /** Begins a field with a length. Gives the mark that `end` needs. */
  begin(): number {
    this.reserve(1);
    return this.position++;
  }

  /** Ends the field of the mark. */
  end(mark: number): void {
    const length = this.position - mark - 1;
    if (length < 128) {
      this.buffer[mark] = length;
      return;
    }
    let extra = 1;
    for (let rest = length >>> 14; rest > 0; rest >>>= 7) ++extra;
    this.reserve(extra);
    this.buffer.copyWithin(mark + 1 + extra, mark + 1, this.position);
    const behind = this.position + extra;
    this.position = mark;
    this.varint(length);
    this.position = behind;
  }
}

// Attribute names repeat in every item. The cache holds the last name for each hash of its bytes.
const nameCache: (string | undefined)[] = new Array<string | undefined>(NAMES_MAX).fill(undefined);

/** Reads fields from bytes. Every read is checked against the end of the bytes. */
export class Reader {
  position = 0;
  /** The end of the current message. */
  limit: number;

  constructor(
    private readonly buffer: Buffer,
    /** True: all numbers of items are read as NumberValue. */
    readonly textNumbers: boolean = false,
  ) {
    this.limit = buffer.length;
  }

  private static truncated(): RangeError {
    return new RangeError('the message is truncated');
  }

  /** A number below 2^32; higher bits are ignored. */
  varint(): number {
    const buffer = this.buffer;
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      if (this.position >= this.limit || shift > 63) throw Reader.truncated();
      const byte = buffer[this.position++]!;
      if (shift < 32) value |= (byte & 127) << shift;
      if (byte < 128) return value >>> 0;
    }
  }

  varint64(): bigint {
    let low = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      if (this.position >= this.limit) throw Reader.truncated();
      const byte = this.buffer[this.position++]!;
      low |= (byte & 127) << shift;
      if (byte < 128) return BigInt(low);
    }
    let value = BigInt(low);
    for (let shift = 28n; ; shift += 7n) {
      if (this.position >= this.limit || shift > 63n) throw Reader.truncated();
      const byte = this.buffer[this.position++]!;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asUintN(UINT64, value);
    }
  }

  double(): number {
    if (this.position + 8 > this.limit) throw Reader.truncated();
    const value = this.buffer.readDoubleLE(this.position);
    this.position += 8;
    return value;
  }

  /** The length of the next field, checked. */
  length(): number {
    const length = this.varint();
    if (length > this.limit - this.position) throw Reader.truncated();
    return length;
  }

  text(): string {
    const length = this.length();
    const start = this.position;
    const end = (this.position = start + length);
    if (length <= SHORT_TEXT) {
      const buffer = this.buffer;
      let text = '';
      let i = start;
      for (; i < end; ++i) {
        const byte = buffer[i]!;
        if (byte > 127) break;
        text += String.fromCharCode(byte);
      }
      if (i === end) return text;
    }
    return this.buffer.toString('utf8', start, end);
  }

  /** As `text`, for names that repeat. */
  name(): string {
    const length = this.length();
    const start = this.position;
    if (length > SHORT_TEXT) {
      this.position = start + length;
      return this.buffer.toString('utf8', start, this.position);
    }
    const buffer = this.buffer;
    const end = (this.position = start + length);
    let hash = length;
    for (let i = start; i < end; ++i) hash = (hash * 31 + buffer[i]!) | 0;
    const slot = hash & (NAMES_MAX - 1);
    const known = nameCache[slot];
    if (known !== undefined && known.length === length) {
      let i = 0;
      while (i < length && known.charCodeAt(i) === buffer[start + i]) ++i;
      if (i === length) return known;
    }
    const text = buffer.toString('utf8', start, end);
    // The comparison above is one of bytes, so the cache holds ASCII only.
    if (text.length === length) nameCache[slot] = text;
    return text;
  }

  bytes(): Uint8Array {
    const length = this.length();
    const value = new Uint8Array(length);
    value.set(this.buffer.subarray(this.position, this.position + length));
    this.position += length;
    return value;
  }

  /** Enters a message with a length. Gives the outer limit, which `leave` needs. */
  enter(): number {
    const length = this.length();
    const outer = this.limit;
    this.limit = this.position + length;
    return outer;
  }

  leave(outer: number): void {
    this.position = this.limit;
    this.limit = outer;
  }

  skip(wireType: number): void {
    switch (wireType) {
      case WireType.Varint:
        this.varint64();
        return;
      case WireType.Bytes:
        this.position += this.length();
        return;
      case WireType.Fixed64:
      case WireType.Fixed32:
        this.position += wireType === WireType.Fixed64 ? 8 : 4;
        if (this.position > this.limit) throw Reader.truncated();
        return;
      default:
        throw new RangeError(`the message has a field of the unknown wire type ${wireType}`);
    }
  }
}
