// Hints: facts about a refused request that the daemon's text leaves out. docs/develop/clients/README.md lists them.

import type { ArmatureError } from './errors';
import { prepareExpressions } from './expressions';
import type { TableDescription } from './generated/types';
import { tablesOf } from './session';
import { NumberValue } from './numbers';
import { writeValue } from './values';
import { Writer } from './wire';

type Request = Record<string, unknown>;

const SCHEMAS_MAX = 1000;
const ITEM_BYTES_MAX = 409_600;
const DIGITS_MAX = 38;

const DESCRIBING = new Set(['CreateTable', 'DescribeTable', 'UpdateTable']);

/** The key attributes of tables and their indexes, as the client has seen them described last. */
export class Schemas {
  private readonly texts = new Map<string, string>();

  /** Notes the description in the response of an operation, if it has one. */
  learn(operation: string, response: unknown): void {
    if (!DESCRIBING.has(operation) || this.texts.size >= SCHEMAS_MAX) return;
    const { table, tableDescription } = response as { table?: TableDescription; tableDescription?: TableDescription };
    const description = table ?? tableDescription;
    if (description === undefined) return;
    const types = new Map(description.attributeDefinitions.map(({ attributeName, attributeType }) => [attributeName, attributeType]));
    for (const part of [description, ...description.globalSecondaryIndexes, ...description.localSecondaryIndexes]) {
      const name = 'indexName' in part ? `${description.tableName}/${part.indexName}` : description.tableName;
      this.texts.set(name, part.keySchema.map((key) => `${key.attributeName} (${types.get(key.attributeName)})`).join(', '));
    }
  }

  /** The hint about the key of a table or an index, if it is known. */
  keyOf(name: string): string | undefined {
    const key = this.texts.get(name);
    return key === undefined ? undefined : `the key of ${name} is ${key}`;
  }
}

function typeOf(value: unknown): string {
  if (value === null) return 'NULL';
  if (typeof value === 'string') return 'S';
  if (typeof value === 'boolean') return 'BOOL';
  if (['number', 'bigint'].includes(typeof value) || value instanceof NumberValue) return 'N';
  if (value instanceof Uint8Array) return 'B';
  if (value instanceof Set) return `${typeOf([...value][0])}S`;
  return Array.isArray(value) ? 'L' : 'M';
}

function entriesOf(item: unknown): [string, unknown][] {
  if (typeof item !== 'object' || item === null) return [];
  return (item instanceof Map ? [...(item as Map<string, unknown>)] : Object.entries(item)).sort(([a], [b]) => (a < b ? -1 : 1));
}

function keyHint({ key }: Request): string | undefined {
  const given = entriesOf(key).map(([name, value]) => `${name} (${typeOf(value)})`);
  return given.length === 0 ? undefined : `the given key is ${given.join(', ')}`;
}

/** The attributes that a key condition names. */
function conditionHint({ keyConditionExpression, expressionAttributeNames = {} }: Request): string | undefined {
  const words = String(keyConditionExpression ?? '').match(/[#:]?[A-Za-z_]\w*(?!\w*\s*\()/g) ?? [];
  const attributes = words.filter((word) => !word.startsWith(':') && !/^(and|between)$/i.test(word));
  const names = new Set(attributes.map((word) => (expressionAttributeNames as Record<string, string>)[word] ?? word));
  return names.size === 0 ? undefined : `the key condition names ${[...names].join(', ')}`;
}

function bytesOf(value: unknown): number {
  const writer = new Writer();
  writeValue(writer, value);
  return writer.finish().length;
}

function sizeHint({ item }: Request): string {
  const limit = `an item has at most ${ITEM_BYTES_MAX} bytes, with the names of its attributes`;
  const sizes = entriesOf(item).map(([name, value]) => [bytesOf(value), name] as const).sort(([a], [b]) => b - a);
  return sizes.length === 0 ? limit : `${limit}; the largest attribute is ${sizes[0]![1]} with ${sizes[0]![0]} bytes`;
}

/** The place of a number with too many digits. */
function digitsHint({ item, expressionAttributeValues }: Request): string | undefined {
  const attribute = placeIn(item);
  if (attribute !== undefined) return `the number is in the attribute ${attribute}`;
  const value = placeIn(expressionAttributeValues);
  return value === undefined ? undefined : `the number is in the value ${value}`;
}

function placeIn(values: unknown): string | undefined {
  for (const [name, value] of entriesOf(values)) {
    const place = placeInValue(value);
    if (place !== undefined) return name + place;
  }
  return undefined;
}

/** The path behind the name of an attribute. */
function placeInValue(value: unknown): string | undefined {
  switch (typeOf(value)) {
    case 'N':
      return String(value).replace(/e.*/i, '').replace(/[^0-9]/g, '').replace(/^0+|0+$/g, '').length > DIGITS_MAX ? '' : undefined;
    case 'NS':
      return [...(value as Set<unknown>)].some((number) => placeInValue(number) !== undefined) ? '' : undefined;
    case 'L': {
      const places = (value as unknown[]).map(placeInValue);
      const index = places.findIndex((place) => place !== undefined);
      return index < 0 ? undefined : `[${index}]${places[index]}`;
    }
    case 'M': {
      const place = placeIn(value);
      return place === undefined ? undefined : `.${place}`;
    }
    default:
      return undefined;
  }
}

/** The hint for an error that the daemon has answered. Empty for others. */
export function hintOf({ exception, message }: ArmatureError, given: Request, schemas: Schemas): string {
  if (exception === undefined) return message.includes('over TLS') ? 'connect with TLS' : '';
  const request = prepareExpressions(given);
  const tables = [...new Set(tablesOf(request))].sort();
  const index = request['indexName'] === undefined ? '' : `/${String(request['indexName'])}`;
  const parts: (string | undefined)[] = [];
  if (tables.length > 1) parts.push(`tables ${tables.join(', ')}`);
  else if (tables.length === 1 && !message.endsWith(tables[0]!)) parts.push(`table ${tables[0]}`);
  if (index !== '') parts.push(`index ${index.slice(1)}`);
  const reserved = /reserved keyword: (\w+)/.exec(message)?.[1];
  if (reserved !== undefined) {
    parts.push(`in an expression, #${reserved} stands for the attribute ${reserved}`);
  } else if (message.includes('does not match the schema')) {
    parts.push(keyHint(request), ...tables.map((table) => schemas.keyOf(table)));
  } else if (/key schema element|key condition not supported/.test(message)) {
    parts.push(conditionHint(request), ...tables.map((table) => schemas.keyOf(table + index)));
  } else if (message.includes('Item size')) {
    parts.push(sizeHint(request));
  } else if (message.includes('significant digits')) {
    parts.push(digitsHint(request));
  }
  return parts.filter((part) => part !== undefined).join('; ');
}
