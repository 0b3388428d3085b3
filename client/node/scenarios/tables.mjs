// Tables of scenarios.

const names = (attributes) => attributes?.map(([name]) => name);

/** Creates a table of tables.yaml under a name, and waits until it is ACTIVE. */
export async function createTable(client, tableName, definition, options) {
  const { partition, sort, indexes, local_indexes: locals, stream, capacity } = definition;
  const all = Object.entries({ ...indexes, ...locals });
  const attributes = [definition, ...all.map(([, index]) => index)].flatMap((part) => [...(part.partition ?? []), ...(part.sort ?? [])]);
  const table = client.table(tableName, { key: names([...partition, ...(sort ?? [])]) });
  await table.create({
    types: Object.fromEntries(attributes),
    indexes: Object.fromEntries(all.map(([name, index]) => [name, { ...index, partition: names(index.partition), sort: names(index.sort) }])),
    stream,
    capacity: capacity && { read: capacity[0], write: capacity[1] },
    ...options,
  });
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
