// Key attributes as text, and their order.

import { compareDecimals, NumberValue, numberText } from './numbers';
import { InvalidArgumentError } from './errors';
import type { Item, ItemInput, Value } from './values';

function canonical(text: string): string {
  if (/^-?[1-9]\d{0,15}$/.test(text)) return text;
  // 1, 1.0 and 1E0 are one number: its digits and its exponent.
  const [, sign, whole = '', fraction = '', power = '0'] = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  if (digits === '') return '0';
  const lead = (whole + fraction).length - digits.length;
  return `${sign === '-' ? '-' : ''}${digits.replace(/0+$/, '')}E${whole.length - lead + Number(power)}`;
}

function partText(name: string, value: unknown): string {
  if (typeof value === 'string') return `s${value}`;
  if (typeof value === 'number' || typeof value === 'bigint' || value instanceof NumberValue) {
    const text = numberText(value);
    const number = canonical(text);
    return `n${number.includes('E') || number === '0' ? number : canonical(`${text}.0`)}`;
  }
  if (value instanceof Uint8Array) return `b${Buffer.from(value).toString('base64')}`;
  throw new InvalidArgumentError(value === undefined ? `the key attribute ${name} is missing` : `${name} cannot be a key`);
}

/** A text that is equal for equal keys of a table only. `names`: its key attributes. */
export function keyText(table: string, item: ItemInput, names: readonly string[]): string {
  const read = (name: string): unknown => (item instanceof Map ? item.get(name) : (item as Item)[name]);
  return names.reduce((text, name) => {
    const part = partText(name, read(name));
    return `${text}\n${part.length}:${part}`;
  }, table);
}

const RANKS = { string: 0, number: 1, bigint: 1, object: 2 } as Record<string, number>;

function rank(value: Value): number {
  return value instanceof NumberValue ? 1 : (RANKS[typeof value] ?? 3);
}

/** The order of two values of one key attribute: numbers by value, texts and bytes by their bytes. */
export function compareKeyValues(a: Value, b: Value): number {
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (rank(a) === 1) return compareDecimals(numberText(a as number), numberText(b as number));
  if (typeof a === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b as string));
  return Buffer.compare(a as Uint8Array, b as Uint8Array);
}
