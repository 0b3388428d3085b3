// A table's description in the form that the views need.

import { canonicalNumber } from './values.mjs';

// "S" of an attribute by its name.
export function typesOf(table) {
  return Object.fromEntries((table.AttributeDefinitions ?? []).map((each) => [each.AttributeName, each.AttributeType]));
}

// The key attributes in order: {name, type, isPartition}.
export function keysOf(schema, types) {
  return schema.map((each) => ({
    name: each.AttributeName, type: types[each.AttributeName], isPartition: each.KeyType === 'HASH',
  }));
}

// Sources of a query or a scan: the table itself and its indexes.
// {name: null for the table, kind: 'table' | 'global' | 'local', keys, projection, status}
export function sourcesOf(table) {
  const types = typesOf(table);
  const indexes = (list, kind) => (list ?? []).map((index) => ({
    name: index.IndexName, kind, keys: keysOf(index.KeySchema, types), projection: index.Projection,
    status: index.IndexStatus ?? 'ACTIVE', isFilling: index.Backfilling === true, items: index.ItemCount,
    bytes: index.IndexSizeBytes,
  })).sort((a, b) => (a.name < b.name ? -1 : 1));
  return [
    { name: null, kind: 'table', keys: keysOf(table.KeySchema, types), projection: { ProjectionType: 'ALL' },
      status: table.TableStatus },
    ...indexes(table.GlobalSecondaryIndexes, 'global'),
    ...indexes(table.LocalSecondaryIndexes, 'local'),
  ];
}

export function projectionText(projection) {
  if (projection.ProjectionType === 'ALL') return 'all attributes';
  if (projection.ProjectionType === 'KEYS_ONLY') return 'keys only';
  return `keys and ${(projection.NonKeyAttributes ?? []).join(', ')}`;
}

export const keyOf = (item, keys) => Object.fromEntries(keys.map(({ name }) => [name, item[name]]));

// Equal texts for equal keys. The daemon returns a key in an order of its own, and its numbers in a notation of its own.
export const keyText = (key) => JSON.stringify(Object.entries(key)
  .map(([name, value]) => [name, value.N === undefined ? value : canonicalNumber(value.N)])
  .sort(([a], [b]) => (a < b ? -1 : 1)));

// A CreateTable request that makes such a table.
export function creationOf(table) {
  const index = (each) => ({ IndexName: each.IndexName, KeySchema: each.KeySchema, Projection: each.Projection });
  const isProvisioned = table.BillingModeSummary?.BillingMode !== 'PAY_PER_REQUEST';
  const throughput = ({ ReadCapacityUnits, WriteCapacityUnits }) => ({ ReadCapacityUnits, WriteCapacityUnits });
  const request = {
    TableName: table.TableName,
    AttributeDefinitions: table.AttributeDefinitions,
    KeySchema: table.KeySchema,
    BillingMode: isProvisioned ? 'PROVISIONED' : 'PAY_PER_REQUEST',
  };
  if (isProvisioned) request.ProvisionedThroughput = throughput(table.ProvisionedThroughput);
  if (table.GlobalSecondaryIndexes?.length > 0) {
    request.GlobalSecondaryIndexes = table.GlobalSecondaryIndexes.map((each) => ({
      ...index(each), ...(isProvisioned ? { ProvisionedThroughput: throughput(each.ProvisionedThroughput) } : {}),
    }));
  }
  if (table.LocalSecondaryIndexes?.length > 0) request.LocalSecondaryIndexes = table.LocalSecondaryIndexes.map(index);
  if (table.StreamSpecification?.StreamEnabled) request.StreamSpecification = table.StreamSpecification;
  if (table.DeletionProtectionEnabled) request.DeletionProtectionEnabled = true;
  return request;
}
