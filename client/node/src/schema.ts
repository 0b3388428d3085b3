// Schemas: items to records of a program's types and back.
//
// A table takes a schema of this module, or any schema of the Standard Schema interface, such as one of Zod or Valibot.

import { InvalidArgumentError } from './errors';
import { NumberValue } from './numbers';
import type { KeyType } from './table-definition';
import type { Item, ItemInput, Value, ValueInput } from './values';

/** Converts records of a program to items and back. */
export interface ItemSchema<T> {
  /** Types of the attributes that can be keys, for `Table.create`. */
  readonly keyTypes?: { readonly [name: string]: KeyType };
  /** @throws InvalidArgumentError if the record does not fit. */
  toItem(record: T): ItemInput;
  /** @throws InvalidArgumentError if the item does not fit. */
  fromItem(item: Item): T;
}

/** The part of the Standard Schema interface that is used here. */
export interface StandardSchema<T> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<T> | Promise<StandardResult<T>>;
    readonly types?: { readonly input: unknown; readonly output: T } | undefined;
  };
}

type StandardResult<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[] };

/** The type of one attribute. */
export class FieldType<T, Optional extends boolean = false> {
  declare readonly isOptional: Optional;

  constructor(
    readonly write: (value: T) => ValueInput,
    readonly read: (value: Value) => T,
    /** The attribute may be absent: `undefined` in records. */
    readonly mayBeAbsent = false,
    /** The type as a key attribute, if it can be one. */
    readonly keyType?: KeyType,
  ) {}

  optional(): FieldType<T, true> {
    return new FieldType<T, true>(this.write, this.read, true, this.keyType);
  }
}

function check<T>(matches: (value: unknown) => boolean, wanted: string, keyType?: KeyType): FieldType<T> {
  const same = (value: unknown): T => {
    if (!matches(value)) throw new InvalidArgumentError(`is not ${wanted}`);
    return value as T;
  };
  return new FieldType<T>(same as (value: T) => ValueInput, same, false, keyType);
}

const isNumber = (value: unknown): boolean => ['number', 'bigint'].includes(typeof value) || value instanceof NumberValue;

function toNumber(value: Value): number {
  if (!isNumber(value)) throw new InvalidArgumentError('is not a number');
  const number = Number(String(value));
  if (typeof value !== 'number' && !NumberValue.from(String(value)).equals(number)) {
    throw new InvalidArgumentError(`${String(value)} is not exact as a number: use field.bigint() or field.decimal()`);
  }
  return number;
}

function validDate(date: Date): Date {
  if (Number.isNaN(date.getTime())) throw new InvalidArgumentError('is not a date');
  return date;
}

/** Types of attributes, for `schema`. */
export const field = {
  text: (): FieldType<string> => check((value) => typeof value === 'string', 'a text', 'S'),
  boolean: (): FieldType<boolean> => check((value) => typeof value === 'boolean', 'a boolean'),
  bytes: (): FieldType<Uint8Array> => check((value) => value instanceof Uint8Array, 'bytes', 'B'),
  /** A `number`. Values that it does not hold exactly are refused. */
  number: (): FieldType<number> => new FieldType(toNumber, toNumber, false, 'N'),
  /** An integer of any size. */
  bigint: (): FieldType<bigint> =>
    new FieldType((value) => value, (value) => {
      if (!isNumber(value)) throw new InvalidArgumentError('is not a number');
      return NumberValue.from(value as number).toBigInt();
    }, false, 'N'),
  /** A decimal without loss. */
  decimal: (): FieldType<NumberValue> =>
    new FieldType((value) => value, (value) => {
      if (!isNumber(value)) throw new InvalidArgumentError('is not a number');
      return NumberValue.from(value as number);
    }, false, 'N'),
  /** A Date, as a text in ISO 8601: texts in the order of the times. */
  date: (): FieldType<Date> =>
    new FieldType((value) => validDate(value).toISOString(), (value) => validDate(new Date(String(value))), false, 'S'),
  /** A Date, as the number of seconds since 1970: for time to live. */
  epochSeconds: (): FieldType<Date> =>
    new FieldType((value) => Math.floor(validDate(value).getTime() / 1000), (value) => new Date(toNumber(value) * 1000), false, 'N'),
  /** A set of texts, numbers or bytes. The empty set is an absent attribute, because the database has no empty sets. */
  set: <T extends string | number | Uint8Array>(): FieldType<ReadonlySet<T>> =>
    new FieldType(
      (value) => (value.size === 0 ? undefined : (value as ReadonlySet<string>)),
      (value) => {
        if (value !== undefined && !(value instanceof Set)) throw new InvalidArgumentError('is not a set');
        return (value ?? new Set()) as unknown as ReadonlySet<T>;
      },
      true,
    ),
  list: <T>(element: FieldType<T>): FieldType<T[]> =>
    new FieldType((value) => value.map((part) => element.write(part)), (value) => {
      if (!Array.isArray(value)) throw new InvalidArgumentError('is not a list');
      return value.map((part) => element.read(part));
    }),
  map: <F extends Fields>(fields: F): FieldType<RecordOf<F>> => {
    const inner = schema(fields);
    return new FieldType<RecordOf<F>>((value) => inner.toItem(value) as ValueInput, (value) => inner.fromItem(value as Item));
  },
  /** Any value, as it is. */
  any: (): FieldType<Value> => new FieldType<Value>((value) => value, (value) => value),
};

// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Fields = Readonly<Record<string, FieldType<any, boolean>>>;

type OptionalNames<F extends Fields> = { [N in keyof F]: F[N] extends FieldType<infer _T, true> ? N : never }[keyof F];
type TypeOf<F> = F extends FieldType<infer T, boolean> ? T : never;

/** The type of the records of a schema's fields. */
export type RecordOf<F extends Fields> = { [N in Exclude<keyof F, OptionalNames<F>>]: TypeOf<F[N]> } & {
  [N in OptionalNames<F>]?: TypeOf<F[N]> | undefined;
};

/** The type of the records of a schema: `type User = Infer<typeof User>`. */
export type Infer<S> = S extends ItemSchema<infer T> ? T : S extends StandardSchema<infer T> ? T : never;

function named<T>(name: string, convert: () => T): T {
  try {
    return convert();
  } catch (error) {
    if (error instanceof InvalidArgumentError) throw new InvalidArgumentError(`${name}: ${error.message}`);
    throw error;
  }
}

/**
 * A schema of records.
 *
 *     const User = schema({ id: field.text(), joined: field.date(), tags: field.set<string>(), age: field.number().optional() });
 *     type User = Infer<typeof User>;
 *     const users = client.table('users', { key: ['id'], schema: User });
 *
 * Attributes that the schema does not name are ignored when items are read.
 */
export function schema<F extends Fields>(fields: F): ItemSchema<RecordOf<F>> {
  const names = Object.keys(fields);
  return {
    keyTypes: Object.fromEntries(names.flatMap((name) => (fields[name]!.keyType === undefined ? [] : [[name, fields[name]!.keyType]]))),
    toItem(record) {
      const item: Record<string, ValueInput> = {};
      for (const name of names) {
        const type = fields[name]!;
        const value = (record as Record<string, unknown>)[name];
        if (value !== undefined) item[name] = named(name, () => type.write(value));
        else if (!type.mayBeAbsent) throw new InvalidArgumentError(`${name}: is missing`);
      }
      return item;
    },
    fromItem(item) {
      const record: Record<string, unknown> = {};
      for (const name of names) {
        const type = fields[name]!;
        const value = item[name];
        if (value !== undefined) record[name] = named(name, () => type.read(value));
        else if (!type.mayBeAbsent) throw new InvalidArgumentError(`${name}: is missing`);
      }
      return record as RecordOf<F>;
    },
  };
}

function validated<T>(standard: StandardSchema<T>, value: unknown): T {
  const result = standard['~standard'].validate(value);
  if (result instanceof Promise) throw new InvalidArgumentError('the schema validates asynchronously');
  if (result.issues === undefined) return result.value;
  const texts = result.issues.map(({ message, path = [] }) => {
    const steps = path.map((step) => (typeof step === 'object' && step !== null && 'key' in step ? String(step.key) : String(step)));
    return steps.length === 0 ? message : `${steps.join('.')}: ${message}`;
  });
  throw new InvalidArgumentError(texts.join('; '));
}

/**
 * An ItemSchema of a Standard Schema. A record is validated and written as it is; an item that is read is validated, and
 * the result is the record.
 */
export function fromStandardSchema<T extends object>(standard: StandardSchema<T>): ItemSchema<T> {
  return {
    toItem(record) {
      validated(standard, record);
      return record as ItemInput;
    },
    fromItem: (item) => validated(standard, item),
  };
}
