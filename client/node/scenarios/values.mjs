// Values of scenarios: from YAML to native values, and their comparison.

import { NumberValue } from '@armaturedb/client';

const isNumber = (value) => ['number', 'bigint'].includes(typeof value) || value instanceof NumberValue;
const isMap = (value) => typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

const SPECIAL = {
  $s: ([text, count]) => text.repeat(count),
  $n: (text) => NumberValue.from(text),
  $b: (text) => new Uint8Array(Buffer.from(text, 'base64')),
  $ss: (texts) => new Set(texts),
  $ns: (texts) => new Set(texts.map((text) => NumberValue.from(text))),
  $bs: (texts) => new Set(texts.map((text) => new Uint8Array(Buffer.from(text, 'base64')))),
};

/** YAML that was read with bigints, with numbers where they are exact. */
export function withNumbers(value) {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (Array.isArray(value)) return value.map(withNumbers);
  return isMap(value) ? Object.fromEntries(Object.entries(value).map(([name, part]) => [name, withNumbers(part)])) : value;
}

/** The native value of a value in YAML. */
export function toNative(value) {
  if (Array.isArray(value)) return value.map(toNative);
  if (!isMap(value)) return value;
  const names = Object.keys(value);
  if (names.length === 1 && SPECIAL[names[0]]) return SPECIAL[names[0]](value[names[0]]);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, toNative(part)]));
}

/** The item of number `i` of a put_many. */
export function numbered(value, i) {
  if (typeof value === 'string') return value.replaceAll('{i}', String(i));
  if (Array.isArray(value)) return value.map((part) => numbered(part, i));
  if (!isMap(value)) return value;
  if ('$i' in value) return value.$i * i;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, numbered(part, i)]));
}

function equalSequences(a, b, isOrdered) {
  if (a.length !== b.length) return false;
  if (isOrdered) return a.every((element, i) => equal(element, b[i], isOrdered));
  const left = [...b];
  return a.every((element) => {
    const found = left.findIndex((other) => equal(element, other, isOrdered));
    if (found >= 0) left.splice(found, 1);
    return found >= 0;
  });
}

/** True if both native values are equal: numbers by value, sets without order, and lists without order if asked for. */
export function equal(a, b, isOrdered = true) {
  if (isNumber(a) && isNumber(b)) return NumberValue.from(a).equals(b);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0;
  if (a instanceof Set && b instanceof Set) return equalSequences([...a], [...b], false);
  if (Array.isArray(a) && Array.isArray(b)) return equalSequences(a, b, isOrdered);
  if (!isMap(a) || !isMap(b)) return a === b || ((a ?? null) === null && (b ?? null) === null);
  const names = Object.keys(a).filter((name) => a[name] !== undefined);
  return names.length === Object.keys(b).filter((name) => b[name] !== undefined).length &&
    names.every((name) => name in b && equal(a[name], b[name], isOrdered));
}
