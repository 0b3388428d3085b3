// Key attributes as text, and their order.

import { canonicalText, compareDecimals, NumberValue, numberText } from './numbers';
import { InvalidArgumentError } from './errors';
import type { Item, ItemInput, Value } from './values';

function partText(name: string, value: unknown): string {
  if (typeof value === 'string') return `s${value}`;
  if (typeof value === 'number' || typeof value === 'bigint' || value instanceof NumberValue) {
    return `n${canonicalText(numberText(value))}`;
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
