// The operations of scenarios, by the package.

import { numberedShards, suffixedShards } from '@armaturedb/client';

import { typeOf } from './errors.mjs';
import { expression } from './expressions.mjs';
import { numbered, toNative } from './values.mjs';

const nullable = (item) => item ?? null;

// Members of the API, without those that are absent.
const present = (members) => Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

const placeholders = ({ params, names, values }) => present({
  params: toNative(params), expressionAttributeNames: names, expressionAttributeValues: toNative(values),
});

const RETURN_VALUES = { all_old: 'ALL_OLD', updated_old: 'UPDATED_OLD', all_new: 'ALL_NEW', updated_new: 'UPDATED_NEW' };

function action(step) {
  return present({
    tableName: step.table, item: toNative(step.item), key: toNative(step.key), conditionExpression: expression(step.condition),
    updateExpression: expression(step.update),
    returnValuesOnConditionCheckFailure: step.return_on_failure ? 'ALL_OLD' : undefined, ...placeholders(step),
  });
}

const write = (step) => present({ ...action(step), returnValues: RETURN_VALUES[step.return] });

const get = (step) => present({
  tableName: step.table, key: toNative(step.key), consistentRead: step.consistent, projectionExpression: expression(step.projection),
  expressionAttributeNames: step.names,
});

const read = (step) => present({
  tableName: step.table, indexName: step.index, keyConditionExpression: expression(step.key_condition),
  filterExpression: expression(step.filter), projectionExpression: expression(step.projection), consistentRead: step.consistent,
  limit: step.page_size, scanIndexForward: step.descending ? false : undefined, ...placeholders(step),
});

async function take(items, count = Infinity) {
  const taken = [];
  for await (const item of items) {
    taken.push(item);
    if (taken.length >= count) break;
  }
  return taken;
}

async function queryPage(query, step, state) {
  const page = await query(present({ ...read(step), exclusiveStartKey: step.after ? state.lastKey : undefined }));
  state.lastKey = page.lastEvaluatedKey;
  return { items: page.items, more: page.lastEvaluatedKey !== undefined };
}

async function shardedQuery(client, step, options) {
  const shardValue = step.prefix === undefined ? numberedShards() : suffixedShards(step.prefix);
  const scatter = present({ param: step.shard_param, shardValue, shards: step.shards, pageItemsMax: step.page_size, call: options });
  const { limit: _limit, ...request } = read(step);
  if (!step.resume) return take(client.scatterQuery(request, scatter), step.take);
  const items = [];
  for (let continuation; ; ) {
    const page = await client.scatterQuery(request, present({ ...scatter, continuation })).nextPage();
    items.push(...page.items);
    if (page.continuation === undefined) return items;
    continuation = page.continuation;
  }
}

function batchGet(client, tables, options) {
  const request = Object.entries(tables).map(([table, { keys, count, key, consistent, projection, names }]) => [table, present({
    keys: (keys ?? times(count, key)).map(toNative), consistentRead: consistent, projectionExpression: expression(projection),
    expressionAttributeNames: names,
  })]);
  return client.batchGet(Object.fromEntries(request), options);
}

async function writeMany(client, writes, options) {
  const writer = client.batchWriter({ call: options });
  for (const { put, delete: removal } of writes) {
    if (put !== undefined) await writer.put(put.table, toNative(put.item));
    else await writer.delete(removal.table, toNative(removal.key));
  }
  await writer.flush();
  return null;
}

const PIPELINED = {
  put: (pipeline, step) => pipeline.putItem(write(step)).then(({ attributes }) => nullable(attributes)),
  get: (pipeline, step) => pipeline.getItem(get(step)).then(({ item }) => nullable(item)),
  update: (pipeline, step) => pipeline.updateItem(write(step)).then(({ attributes }) => nullable(attributes)),
  delete: (pipeline, step) => pipeline.deleteItem(write(step)).then(({ attributes }) => nullable(attributes)),
  query_page: (pipeline, step, state) => queryPage((request) => pipeline.query(request), step, state),
};

async function runPipeline(client, steps, options, state) {
  const pipeline = await client.pipeline(options);
  const answers = await Promise.all(steps.map(async (step) => {
    const [[name, members]] = Object.entries(step);
    try {
      return { ok: await PIPELINED[name](pipeline, members, state) };
    } catch (error) {
      return { error: typeOf(error) };
    }
  }));
  await pipeline.close().catch(() => undefined); // the operations have its error
  return answers;
}

const times = (count, value) => Array.from({ length: count }, (_, i) => numbered(value, i));

async function transactWrite(client, { token, count, put, ...given }, options) {
  const actions = given.actions ?? times(count, { put });
  const kinds = { put: 'put', update: 'update', delete: 'delete', check: 'conditionCheck' };
  const transaction = client.transaction();
  for (const step of actions) {
    const [[kind, members]] = Object.entries(step);
    transaction.actions.push({ [kinds[kind]]: action(members) });
  }
  if (token !== undefined) transaction.token = token;
  await transaction.commit(options);
  return null;
}

function change({ eventName, dynamodb }) {
  return present({ event: eventName, key: dynamodb.keys, new: dynamodb.newImage, old: dynamodb.oldImage });
}

// The members of a watch beside its position.
const watched = (step) => present({
  tableName: step.table, filterExpression: expression(step.filter), partitionKey: toNative(step.partition), ...placeholders(step),
});

function startOf({ from, after }) {
  return after === undefined ? { start: from === 'oldest' ? 'OLDEST' : 'NOW' } : { afterSequenceNumber: after };
}

function beginWatch(client, request, position, name, state) {
  const watcher = client.watch({ ...request, ...position });
  const watch = { client, request, watcher, records: watcher.records(), last: undefined };
  if (name !== undefined) state.watches.set(name, watch);
  return watch;
}

async function watchChanges(client, step, state) {
  const watch = state.watches.get(step.name) ?? beginWatch(client, watched(step), startOf(step), step.name, state);
  const changes = [];
  while (changes.length < step.count) {
    const { value, done } = await watch.records.next();
    if (done) throw new Error('the watch has ended');
    watch.last = value.dynamodb.sequenceNumber;
    changes.push(change(value));
  }
  if (step.name === undefined) await watch.records.return();
  return changes;
}

async function watchResume(_client, { name }, state) {
  const { client, request, watcher, records, last } = state.watches.get(name);
  watcher.cancel();
  await records.return();
  const position = last === undefined ? { afterSequenceNumber: watcher.position } : { afterSequenceNumber: last };
  beginWatch(client, request, position, name, state);
  return null;
}

async function describe(client, { table }, options) {
  const { table: found } = await client.describeTable({ tableName: table }, options);
  const indexes = [...found.globalSecondaryIndexes, ...found.localSecondaryIndexes].map(({ indexName }) => indexName);
  return { status: found.tableStatus, indexes: indexes.sort() };
}

/** Operation -> function of client, members, options of the call, and the state of the scenario. */
export const OPERATIONS = {
  put: async (client, step, options) => nullable((await client.putItem(write(step), options)).attributes),
  get: async (client, step, options) => nullable((await client.getItem(get(step), options)).item),
  update: async (client, step, options) =>
    nullable((await client.updateItem(write(step), { ...options, ...(step.idempotent ? { idempotent: true } : {}) })).attributes),
  delete: async (client, step, options) => nullable((await client.deleteItem(write(step), options)).attributes),
  query: (client, step, options) => take(client.queryItems(read(step), options), step.take),
  query_page: (client, step, options, state) => queryPage((request) => client.query(request, options), step, state),
  query_pages: async (client, step, options) => (await take(client.queryItems(read(step), options).pages())).map(({ items }) => items.length),
  count: (client, step, options) => client.count(read(step), options),
  scan: (client, step, options) => take(step.segments > 1
    ? client.parallelScan(read(step), { segments: step.segments, ...options }) : client.scanItems(read(step), options), step.take),
  sharded_query: shardedQuery,
  put_many: (client, { table, count, item }, options) =>
    writeMany(client, Array.from({ length: count }, (_, i) => ({ put: { table, item: numbered(item, i) } })), options),
  write_many: writeMany,
  scan_count: async (client, step, options) => {
    let count = 0;
    for await (const page of client.scanItems({ ...read(step), select: 'COUNT' }, options).pages()) count += page.count;
    return count;
  },
  batch_get: batchGet,
  batch_get_count: async (client, step, options) =>
    Object.fromEntries(Object.entries(await batchGet(client, step, options)).map(([table, items]) => [table, items.length])),
  transact_write: transactWrite,
  transact_get: async (client, { keys, ...others }, options) =>
    (await client.transactGetItems({ transactItems: keys.map((key) => ({ get: get({ ...others, ...key }) })) }, options)).responses.map(({ item }) => nullable(item)),
  pipeline: runPipeline,
  statement: (client, { text, parameters }, options) =>
    take(client.statementItems(present({ statement: text, parameters: toNative(parameters) }), options)),
  watch: (client, step, _options, state) => watchChanges(client, step, state),
  watch_start: async (client, step, _options, state) => {
    await beginWatch(client, watched(step), startOf(step), step.name, state).watcher.started;
    return null;
  },
  watch_resume: (client, step, _options, state) => watchResume(client, step, state),
  list_tables: async (client, _step, options) => (await take(client.tableNames(options))).sort(),
  describe_table: describe,
  wait_for_indexes: async (client, { table }) => nullable(await client.waitForIndexes(table)),
};
