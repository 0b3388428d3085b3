// Requests that change a table in use.

import { projectionOf, schemaOf } from './table_form.mjs';
import { typesOf } from './table_model.mjs';

export const STREAM_VIEWS = [
  ['KEYS_ONLY', 'keys only'], ['NEW_IMAGE', 'new image'], ['OLD_IMAGE', 'old image'],
  ['NEW_AND_OLD_IMAGES', 'new and old images'],
];

export const isOnDemand = (table) => table.BillingModeSummary?.BillingMode === 'PAY_PER_REQUEST';

// Why an index cannot be added or removed just now, in words; null if it can.
export function indexObstacle(table) {
  if (table.TableStatus !== 'ACTIVE') return `The table is ${table.TableStatus.toLowerCase()}.`;
  const busy = (table.GlobalSecondaryIndexes ?? []).find((each) => each.IndexStatus !== 'ACTIVE');
  return busy === undefined ? null
    : `${busy.IndexName} is ${busy.IndexStatus.toLowerCase()}; one index is changed at a time.`;
}

// A whole number of a field, within limits. Throws an Error with a text for the user.
export function wholeNumber(text, label, minimum = 1) {
  const trimmed = String(text).trim();
  if (!/^[0-9]{1,15}$/.test(trimmed) || Number(trimmed) < minimum) {
    throw new Error(`${label}: a whole number of at least ${minimum}.`);
  }
  return Number(trimmed);
}

const throughputOf = ({ read, write }) => ({
  ReadCapacityUnits: wholeNumber(read, 'Read units'), WriteCapacityUnits: wholeNumber(write, 'Write units'),
});

// The UpdateTable request that adds a global index. `index`: of newIndex('global'); `units`: {read, write} as texts, for
// a table with provisioned throughput.
export function indexCreation(table, index, units) {
  const name = index.name.trim();
  if (name === '') throw new Error('The index has no name yet.');
  const known = typesOf(table);
  const types = new Map();
  const keySchema = schemaOf(index.partition, index.sort, types, name);
  for (const [attribute, type] of types) {
    if ((known[attribute] ?? type) !== type) {
      throw new Error(`The attribute ${attribute} has the type ${known[attribute]} in another key of the table.`);
    }
  }
  return {
    TableName: table.TableName,
    AttributeDefinitions: [...types].map(([attribute, type]) => (
      { AttributeName: attribute, AttributeType: type })),
    GlobalSecondaryIndexUpdates: [{ Create: {
      IndexName: name, KeySchema: keySchema, Projection: projectionOf(index),
      ...(isOnDemand(table) ? {} : { ProvisionedThroughput: throughputOf(units) }),
    } }],
  };
}

export const indexDeletion = (table, name) => (
  { TableName: table.TableName, GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: name } }] });

const MAXIMA = [['MaxReadRequestUnits', 'maxRead', 'Most read units'],
  ['MaxWriteRequestUnits', 'maxWrite', 'Most write units']];

// The values of a table in the form of the throughput.
export function throughputChoice(table) {
  const { ReadCapacityUnits: read = 0, WriteCapacityUnits: write = 0 } = table.ProvisionedThroughput ?? {};
  const maximum = (name) => {
    const value = table.OnDemandThroughput?.[name] ?? -1;
    return value > 0 ? String(value) : '';
  };
  return {
    mode: isOnDemand(table) ? 'PAY_PER_REQUEST' : 'PROVISIONED', read: String(read || 5), write: String(write || 5),
    maxRead: maximum('MaxReadRequestUnits'), maxWrite: maximum('MaxWriteRequestUnits'),
    indexes: Object.fromEntries((table.GlobalSecondaryIndexes ?? []).map((each) => [each.IndexName, {
      read: String(each.ProvisionedThroughput?.ReadCapacityUnits || 5),
      write: String(each.ProvisionedThroughput?.WriteCapacityUnits || 5),
    }])),
  };
}

const isEqual = (a, b) => JSON.stringify(a) === JSON.stringify(b);

// The UpdateTable request from the choice of the user; null if it changes nothing.
export function throughputChange(table, choice) {
  const now = throughputChoice(table);
  if (isEqual(now, choice)) return null;
  const request = { TableName: table.TableName };
  if (choice.mode !== now.mode) request.BillingMode = choice.mode;
  if (choice.mode === 'PAY_PER_REQUEST') {
    const maxima = MAXIMA.filter(([, field]) => choice[field] !== now[field] || choice.mode !== now.mode);
    const given = maxima.filter(([, field]) => choice[field].trim() !== '' || now[field] !== '');
    if (given.length > 0) {
      request.OnDemandThroughput = Object.fromEntries(given.map(([name, field, label]) => [
        name, choice[field].trim() === '' ? -1 : wholeNumber(choice[field], label)]));
    }
    return Object.keys(request).length === 1 ? null : request;
  }
  const isNew = choice.mode !== now.mode;
  if (isNew || choice.read !== now.read || choice.write !== now.write) {
    request.ProvisionedThroughput = throughputOf(choice);
  }
  const updates = Object.entries(choice.indexes)
    .filter(([name, units]) => isNew || !isEqual(units, now.indexes[name]))
    .map(([name, units]) => ({ Update: { IndexName: name, ProvisionedThroughput: throughputOf(units) } }));
  if (updates.length > 0) request.GlobalSecondaryIndexUpdates = updates;
  return Object.keys(request).length === 1 ? null : request;
}

// `view`: '' for off.
export const streamChange = (table, view) => ({
  TableName: table.TableName,
  StreamSpecification: view === '' ? { StreamEnabled: false } : { StreamEnabled: true, StreamViewType: view },
});

// The changes of tags from `before` to `after`, lists of {key, value}: {put: [Tag], removed: [key]}. Throws an Error with
// `row` for a row that is wrong.
export function tagChanges(before, after) {
  const seen = new Set();
  for (const [row, { key }] of after.entries()) {
    const problem = key === '' ? 'A tag has no key yet.' : seen.has(key) ? `The key ${key} comes twice.` : null;
    if (problem !== null) throw Object.assign(new Error(problem), { row });
    seen.add(key);
  }
  const old = new Map(before.map(({ key, value }) => [key, value]));
  return {
    put: after.filter(({ key, value }) => old.get(key) !== value).map(({ key, value }) => ({ Key: key, Value: value })),
    removed: before.map(({ key }) => key).filter((key) => !seen.has(key)),
  };
}
