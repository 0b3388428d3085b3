// Tables of scenarios.

const TYPES = { all: { projectionType: 'ALL' }, keys: { projectionType: 'KEYS_ONLY' } };

function keySchema({ partition, sort = [] }) {
  return [
    ...partition.map(([attributeName]) => ({ attributeName, keyType: 'HASH' })),
    ...sort.map(([attributeName]) => ({ attributeName, keyType: 'RANGE' })),
  ];
}

function projection(wanted = 'all') {
  return TYPES[wanted] ?? { projectionType: 'INCLUDE', nonKeyAttributes: wanted };
}

function billing(capacity) {
  if (capacity === undefined) return { billingMode: 'PAY_PER_REQUEST' };
  const [readCapacityUnits, writeCapacityUnits] = capacity;
  return { billingMode: 'PROVISIONED', provisionedThroughput: { readCapacityUnits, writeCapacityUnits } };
}

const index = ([indexName, keys]) => ({ indexName, keySchema: keySchema(keys), projection: projection(keys.projection) });

/** Creates a table of tables.yaml under a name, and waits until it is ACTIVE. */
export async function createTable(client, tableName, definition, options) {
  const globals = Object.entries(definition.indexes ?? {});
  const locals = Object.entries(definition.local_indexes ?? {})
    .map(([name, keys]) => [name, { ...keys, partition: definition.partition }]);
  const attributes = new Map();
  for (const { partition, sort = [] } of [definition, ...[...globals, ...locals].map(([, keys]) => keys)]) {
    for (const [name, type] of [...partition, ...sort]) attributes.set(name, type);
  }
  await client.createTable({
    tableName,
    ...billing(definition.capacity),
    attributeDefinitions: [...attributes].map(([attributeName, attributeType]) => ({ attributeName, attributeType })),
    keySchema: keySchema(definition),
    ...(globals.length > 0 ? { globalSecondaryIndexes: globals.map(index) } : {}),
    ...(locals.length > 0 ? { localSecondaryIndexes: locals.map(index) } : {}),
    ...(definition.stream ? { streamSpecification: { streamEnabled: true, streamViewType: definition.stream } } : {}),
  }, options);
  await client.waitForTable(tableName);
  return null;
}

/** Deletes all tables and waits until they are gone. */
export async function deleteTables(client) {
  const tableNames = [];
  for await (const tableName of client.tableNames()) tableNames.push(tableName);
  await Promise.all(tableNames.map(async (tableName) => {
    await client.deleteTable({ tableName });
    await client.waitForTableGone(tableName);
  }));
}
