// Requests of Query and Scan from what the user has chosen.

import { fieldValue } from './values.mjs';

// Conditions on the last sort attribute that is given.
export const KEY_OPERATORS = ['=', '<', '<=', '>', '>=', 'between', 'begins_with'];
export const FILTER_OPERATORS = ['=', '<>', '<', '<=', '>', '>=', 'between', 'begins_with', 'contains', 'not contains',
  'exists', 'not exists', 'is of type'];
export const hasNoValue = (operator) => operator === 'exists' || operator === 'not exists';

// Short placeholders for names and values, each name once.
class Placeholders {
  constructor() {
    this.names = {};
    this.values = {};
    this.byName = new Map();
  }

  name(attribute) {
    if (!this.byName.has(attribute)) {
      const placeholder = `#a${this.byName.size}`;
      this.byName.set(attribute, placeholder);
      this.names[placeholder] = attribute;
    }
    return this.byName.get(attribute);
  }

  value(typed) {
    const placeholder = `:v${Object.keys(this.values).length}`;
    this.values[placeholder] = typed;
    return placeholder;
  }

  // Puts them into a request.
  addTo(request) {
    if (this.byName.size > 0) request.ExpressionAttributeNames = this.names;
    if (Object.keys(this.values).length > 0) request.ExpressionAttributeValues = this.values;
  }
}

function condition(placeholders, name, operator, values) {
  const place = placeholders.name(name);
  const value = (i) => placeholders.value(values[i]);
  if (operator === 'between') return `${place} BETWEEN ${value(0)} AND ${value(1)}`;
  if (operator === 'begins_with' || operator === 'contains') return `${operator}(${place}, ${value(0)})`;
  if (operator === 'not contains') return `NOT contains(${place}, ${value(0)})`;
  if (operator === 'exists') return `attribute_exists(${place})`;
  if (operator === 'not exists') return `attribute_not_exists(${place})`;
  if (operator === 'is of type') return `attribute_type(${place}, ${value(0)})`;
  return `${place} ${operator} ${value(0)}`;
}

const valuesOf = (type, operator, texts) =>
  texts.slice(0, operator === 'between' ? 2 : 1).map((text) => fieldValue(type, text));

// The attributes of the key that are given, from the left. `fields`: {operator, texts} for each attribute of `keys`.
// A field counts if its first text is not empty. Throws an Error if one is left out before another.
export function givenKeys(keys, fields) {
  const isGiven = (i) => fields[i].texts[0] !== '';
  const count = keys.findIndex((_, i) => !isGiven(i));
  const end = count === -1 ? keys.length : count;
  const later = keys.findIndex((_, i) => i > end && isGiven(i));
  if (later !== -1) throw new Error(`Give ${keys[end].name} before ${keys[later].name}`);
  return keys.slice(0, end).map((key, i) => ({ ...key, ...fields[i] }));
}

// {operation: 'Query' | 'Scan', request}. `choice`: {tableName, source, fields, filters, isDescending, isConsistent,
// limit, attributes}. Throws an Error with a text for the user.
export function readRequest(choice) {
  const { tableName, source, fields, filters, isDescending, isConsistent, limit } = choice;
  const placeholders = new Placeholders();
  const request = { TableName: tableName };
  if (source.name !== null) request.IndexName = source.name;
  const given = givenKeys(source.keys, fields);
  const partition = source.keys.filter((key) => key.isPartition);
  if (given.length > 0 && given.length < partition.length) {
    throw new Error(`A query needs all partition attributes: ${partition.map((key) => key.name).join(', ')}`);
  }
  const isQuery = given.length > 0;
  if (isQuery) {
    request.KeyConditionExpression = given.map(({ name, type, operator, texts }, i) => {
      const used = i < partition.length ? '=' : operator;
      if (used !== '=' && i < given.length - 1) throw new Error(`Only the last attribute has a range: ${name} needs =`);
      return condition(placeholders, name, used, valuesOf(type, used, texts));
    }).join(' AND ');
    if (isDescending) request.ScanIndexForward = false;
  }
  const conditions = filters.filter((each) => each.name !== '').map(({ name, operator, type, texts }) => {
    if (hasNoValue(operator)) return condition(placeholders, name, operator, []);
    if (operator === 'is of type') return condition(placeholders, name, operator, [{ S: type }]);
    return condition(placeholders, name, operator, valuesOf(type, operator, texts));
  });
  if (conditions.length > 0) request.FilterExpression = conditions.join(' AND ');
  placeholders.addTo(request);
  if (isConsistent && source.kind !== 'global') request.ConsistentRead = true;
  if (limit !== null) request.Limit = limit;
  return { operation: isQuery ? 'Query' : 'Scan', request };
}

// The UpdateItem request that turns `before` into `after`, if nobody has changed the attributes in question. Null if
// there is no difference. `keys`: those of the table.
export function changeRequest(tableName, keys, before, after, isSame) {
  const placeholders = new Placeholders();
  const sets = [];
  const removes = [];
  const conditions = [`attribute_exists(${placeholders.name(keys[0].name)})`];
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (isSame(before[name], after[name])) continue;
    if (name in after) sets.push(`${placeholders.name(name)} = ${placeholders.value(after[name])}`);
    else removes.push(placeholders.name(name));
    conditions.push(name in before
      ? `${placeholders.name(name)} = ${placeholders.value(before[name])}`
      : `attribute_not_exists(${placeholders.name(name)})`);
  }
  if (sets.length + removes.length === 0) return null;
  const request = {
    TableName: tableName,
    Key: Object.fromEntries(keys.map(({ name }) => [name, before[name]])),
    UpdateExpression: [
      ...(sets.length > 0 ? [`SET ${sets.join(', ')}`] : []),
      ...(removes.length > 0 ? [`REMOVE ${removes.join(', ')}`] : []),
    ].join(' '),
    ConditionExpression: conditions.join(' AND '),
    ReturnValues: 'ALL_NEW',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
  placeholders.addTo(request);
  return request;
}

// The PutItem request of an item that must not be there yet.
export function newItemRequest(tableName, keys, item) {
  return {
    TableName: tableName, Item: item, ConditionExpression: 'attribute_not_exists(#a0)',
    ExpressionAttributeNames: { '#a0': keys[0].name }, ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
}
