// Numbers of the database: decimals of up to 38 digits, kept as text where no type of JavaScript holds them.

import { InvalidArgumentError } from './errors';

const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,6}))?$/;

const INTEGER = /^-?\d+$/;

interface Parts {
  negative: boolean;
  digits: string; // without zeros at both ends; empty: zero
  exponent: number; // the value is 0.digits * 10^exponent
}

function partsOf(text: string): Parts {
  const match = DECIMAL.exec(text);
  const [, sign, whole = '', fraction = '', power = '0'] = match ?? [];
  if (match === null || whole.length + fraction.length === 0) {
    throw new InvalidArgumentError(`"${text}" is not a decimal number`);
  }
  const all = whole + fraction;
  const first = all.search(/[1-9]/);
  if (first < 0) return { negative: false, digits: '', exponent: 0 };
  return {
    negative: sign === '-',
    digits: all.slice(first).replace(/0+$/, ''),
    exponent: whole.length - first + Number(power),
  };
}

/** A text that is equal for equal numbers only. */
export function canonicalText(text: string): string {
  const { negative, digits, exponent } = partsOf(text);
  return `${negative ? '-' : ''}${digits}E${exponent}`;
}

/** The order of two decimal texts as numbers: negative, 0 or positive. */
export function compareDecimals(a: string, b: string): number {
  const left = partsOf(a);
  const right = partsOf(b);
  if (left.digits === '' || right.digits === '' || left.negative !== right.negative) {
    const signs = [left, right].map((parts) => (parts.digits === '' ? 0 : parts.negative ? -1 : 1));
    return signs[0]! - signs[1]!;
  }
  const size =
    left.exponent !== right.exponent
      ? left.exponent - right.exponent
      : left.digits < right.digits
        ? -1
        : left.digits > right.digits
          ? 1
          : 0;
  return left.negative && size !== 0 ? -size : size;
}

/**
 * A decimal number as text, without loss: up to 38 significant digits, from 1E-130 to 9.99E+125.
 *
 * Reading gives one where neither `number` nor `bigint` holds the value exactly. Writing accepts one everywhere.
 */
export class NumberValue {
  private constructor(readonly value: string) {}

  /** @throws InvalidArgumentError if the text is not a decimal number. */
  static from(value: string | number | bigint | NumberValue): NumberValue {
    if (value instanceof NumberValue) return value;
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw new InvalidArgumentError(`${value} is not a decimal number`);
    }
    const text = String(value);
    partsOf(text);
    return new NumberValue(text);
  }

  /** True if both are the same number, in any spelling. */
  equals(other: string | number | bigint | NumberValue): boolean {
    return this.compare(other) === 0;
  }

  compare(other: string | number | bigint | NumberValue): number {
    return compareDecimals(this.value, NumberValue.from(other).value);
  }

  /** The nearest `number`, which may be another decimal. */
  toNumber(): number {
    return Number(this.value);
  }

  /** @throws InvalidArgumentError if it is not an integer. */
  toBigInt(): bigint {
    const { negative, digits, exponent } = partsOf(this.value);
    if (digits.length > exponent) throw new InvalidArgumentError(`${this.value} is not an integer`);
    const magnitude = BigInt(digits.padEnd(exponent, '0') || '0');
    return negative ? -magnitude : magnitude;
  }

  toString(): string {
    return this.value;
  }

  toJSON(): string {
    return this.value;
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return `NumberValue(${this.value})`;
  }
}

/**
 * The text of a number. Refuses numbers that are not exact: NaN, infinities, and integers beyond 2^53, whose digits a
 * `number` has lost already.
 */
export function numberText(value: number | bigint | NumberValue): string {
  if (typeof value === 'number') {
    if (Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value)) return String(value);
    throw new InvalidArgumentError(
      Number.isFinite(value)
        ? `the number ${value} is not exact: use a bigint or NumberValue.from("...")`
        : `${value} is not a number of the database`,
    );
  }
  return value instanceof NumberValue ? value.value : value.toString();
}

/**
 * The exact native value of a canonical decimal text: a `number` if it holds the decimal, a `bigint` for other integers,
 * and otherwise a NumberValue. A `number` holds a fraction if its shortest decimal form is the text.
 */
export function nativeNumber(text: string): number | bigint | NumberValue {
  const value = Number(text);
  if (INTEGER.test(text)) return Number.isSafeInteger(value) ? value : BigInt(text);
  return String(value) === text || sameDecimal(String(value), text) ? value : NumberValue.from(text);
}

// `number` prints small fractions with an exponent, canonical texts have none.
function sameDecimal(shortest: string, text: string): boolean {
  return shortest.includes('e') && compareDecimals(shortest, text) === 0;
}
