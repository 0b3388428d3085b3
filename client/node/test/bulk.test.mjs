// Batches, pages, shards and sessions, against a daemon of the test's own.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  BatchWriteError, InvalidArgumentError, NumberValue, numberedShards, OutcomeUnknownError, suffixedShards, ThrottlingError,
} from '@armaturedb/client';

import { failure, withFake } from './fake-daemon.mjs';

const describeTable = () => ({ table: { tableName: 't', keySchema: [{ attributeName: 'id', keyType: 'HASH' }] } });
const idsOf = ({ requestItems: { t } }) => t.map(({ putRequest, deleteRequest }) => (putRequest?.item ?? deleteRequest.key).id);

test('a batch writer sends batches of 25 and sends unprocessed writes again', async () => {
  const refused = new Set([3, 30]);
  const batchWriteItem = ({ requestItems: { t } }) => {
    const left = t.filter(({ putRequest: { item } }) => refused.delete(item.id));
    return { unprocessedItems: left.length > 0 ? { t: left } : {}, changeSequence: BigInt(t.length) };
  };
  await withFake({ describeTable, batchWriteItem }, {}, async (client, daemon) => {
    const writer = client.batchWriter();
    for (let id = 0; id < 60; ++id) await writer.put('t', { id });
    await writer.flush();
    const batches = daemon.calls.filter(([name]) => name === 'BatchWriteItem').map(([, request]) => idsOf(request));
    assert.deepEqual(batches.map((ids) => ids.length).sort((a, b) => b - a), [25, 25, 10, 1, 1]);
    assert.deepEqual(batches.flat().sort((a, b) => a - b), [...Array(60).keys(), 3, 30].sort((a, b) => a - b));
    assert.equal(writer.changeSequence, 25n);
    assert.equal(writer.pending, 0);
  });
});

test('writes of one item are done in their order, never in one batch or at once', async () => {
  const values = [];
  let active = 0;
  const batchWriteItem = async ({ requestItems: { t } }) => {
    const own = t.filter(({ putRequest }) => NumberValue.from(putRequest.item.id).equals(1));
    assert.ok(own.length <= 1);
    active += own.length;
    assert.ok(active <= 1);
    await new Promise((resolve) => setImmediate(resolve));
    active -= own.length;
    values.push(...own.map(({ putRequest }) => putRequest.item.v));
    return {};
  };
  await withFake({ describeTable, batchWriteItem }, {}, async (client) => {
    const writer = client.batchWriter({ concurrency: 8 });
    for (let v = 0; v < 200; ++v) await writer.put('t', { id: v % 2 === 0 ? [1, NumberValue.from('1.0'), 1n][v % 3] : v + 10, v });
    await writer.flush();
    assert.deepEqual(values, Array.from({ length: 100 }, (_, i) => 2 * i));
  });
});

test('many writes of one item do not stop the writer', { timeout: 20_000 }, async () => {
  const values = [];
  const batchWriteItem = ({ requestItems: { t } }) => {
    values.push(...t.map(({ putRequest }) => putRequest.item.v));
    return {};
  };
  await withFake({ describeTable, batchWriteItem }, {}, async (client) => {
    const writer = client.batchWriter({ concurrency: 1 });
    for (let v = 0; v < 120; ++v) await writer.put('t', { id: 1, v });
    await writer.flush();
    assert.deepEqual(values, [...Array(120).keys()]);
  });
});

test('the write that the daemon refuses is dropped alone', async () => {
  const batchWriteItem = (request) => {
    if (idsOf(request).includes(13)) throw failure('INVALID_ARGUMENT', 'item 13', { exception: 'ValidationException' });
    return {};
  };
  await withFake({ describeTable, batchWriteItem }, {}, async (client, daemon) => {
    const dropped = [];
    const writer = client.batchWriter({ dropped: (write) => dropped.push(write) });
    for (let id = 0; id < 30; ++id) await writer.put('t', { id });
    await assert.rejects(writer.flush(), (error) => {
      assert.ok(error instanceof BatchWriteError);
      assert.deepEqual(error.failed.map(({ table, item, error: { name } }) => [table, item, name]), [['t', { id: 13 }, 'ValidationException']]);
      assert.deepEqual(error.failed, dropped);
      return true;
    });
    const done = daemon.calls.filter(([name, request]) => name === 'BatchWriteItem' && !idsOf(request).includes(13)).flatMap(([, request]) => idsOf(request));
    assert.deepEqual(done.sort((a, b) => a - b), [...Array(30).keys()].filter((id) => id !== 13));
    await writer.flush();
  });
});

test('writes wait after a lost connection, and a later flush does them', async () => {
  let isAway = true;
  const done = [];
  const batchWriteItem = (request) => {
    if (isAway) throw failure('UNAVAILABLE', 'the daemon stops');
    done.push(...idsOf(request));
    return {};
  };
  await withFake({ describeTable, batchWriteItem }, { retry: { attempts: 2, initialMs: 0 } }, async (client) => {
    const writer = client.batchWriter();
    for (let id = 0; id < 30; ++id) await writer.put('t', { id });
    await assert.rejects(writer.flush(), (error) => error instanceof OutcomeUnknownError && error.isSafeToRepeat);
    assert.equal(writer.pending, 30);
    isAway = false;
    await writer.flush();
    assert.deepEqual(done.sort((a, b) => a - b), [...Array(30).keys()]);
  });
});

test('a daemon that leaves everything unprocessed ends the flush', async () => {
  await withFake({ describeTable, batchWriteItem: ({ requestItems }) => ({ unprocessedItems: requestItems }) }, { retry: { attempts: 3, initialMs: 0 } },
    async (client, daemon) => {
      const writer = client.batchWriter({ keys: { t: ['id'] } });
      await writer.put('t', { id: 1 });
      await assert.rejects(writer.flush(), ThrottlingError);
      assert.deepEqual(daemon.calls.map(([name]) => name), ['BatchWriteItem', 'BatchWriteItem', 'BatchWriteItem']);
    });
});

test('a write that cannot be is refused when it is added', async () => {
  await withFake({ describeTable, batchWriteItem: () => ({}) }, {}, async (client) => {
    const writer = client.batchWriter();
    await assert.rejects(writer.put('t', { id: 1, when: new Date() }), InvalidArgumentError);
    await assert.rejects(writer.put('t', { other: 1 }), /the key attribute id is missing/);
    await writer.flush();
  });
});

test('reads of any number of keys are asked for in hundreds, and again if unprocessed', async () => {
  let isFirst = true;
  const batchGetItem = ({ requestItems: { t } }) => {
    const left = isFirst ? t.keys.splice(0, 10) : [];
    isFirst = false;
    return { responses: { t: t.keys }, unprocessedKeys: left.length > 0 ? { t: { ...t, keys: left } } : {} };
  };
  await withFake({ batchGetItem }, {}, async (client, daemon) => {
    const found = await client.batchGet({ t: { keys: Array.from({ length: 150 }, (_, id) => ({ id })), consistentRead: true } });
    assert.deepEqual(found.t.map(({ id }) => id).sort((a, b) => a - b), [...Array(150).keys()]);
    assert.deepEqual(daemon.calls.map(([, { requestItems: { t } }]) => [t.keys.length, t.consistentRead]), [[90, true], [60, true]]);
  });
});

test('statements and lists of tables are read page by page', async () => {
  const executeStatement = ({ nextToken }) => (nextToken === undefined ? { items: [{ id: 1 }], nextToken: 'x' } : { items: [{ id: 2 }] });
  const listTables = ({ exclusiveStartTableName }) =>
    (exclusiveStartTableName === undefined ? { tableNames: ['a', 'b'], lastEvaluatedTableName: 'b' } : { tableNames: ['c'] });
  await withFake({ executeStatement, listTables }, {}, async (client, daemon) => {
    const items = [];
    for await (const item of client.statementItems({ statement: 'SELECT * FROM t WHERE id > ?', parameters: [0] })) items.push(item.id);
    assert.deepEqual(items, [1, 2]);
    assert.deepEqual(daemon.calls[1][1].parameters, [0]);
    const names = [];
    for await (const name of client.tableNames()) names.push(name);
    assert.deepEqual(names, ['a', 'b', 'c']);
  });
});

// A query over `items`, of pages of `limit`.
function pages(items) {
  return ({ exclusiveStartKey, limit = 2 }) => {
    const from = exclusiveStartKey === undefined ? 0 : items.findIndex(({ id }) => id === exclusiveStartKey.id) + 1;
    const page = items.slice(from, from + limit);
    const isLast = from + limit >= items.length;
    return { items: page, count: page.length, ...(isLast ? {} : { lastEvaluatedKey: { id: page.at(-1).id } }) };
  };
}

test('items are read page by page, and only as far as they are wanted', async () => {
  const items = Array.from({ length: 7 }, (_, id) => ({ id }));
  await withFake({ query: pages(items) }, {}, async (client, daemon) => {
    const found = client.queryItems({ tableName: 't', keyConditionExpression: 'id = $id', params: { id: 1 } });
    assert.deepEqual(await found.all(), items);
    assert.deepEqual(await found.first(), { id: 0 });
    const sizes = [];
    for await (const page of found.pages()) sizes.push(page.count);
    assert.deepEqual(sizes, [2, 2, 2, 1]);
    assert.equal(daemon.calls.length, 4 + 1 + 4);
  });
});

test('a parallel scan gives the items of all segments, and fails with one of them', async () => {
  const scan = (request) => {
    if (request.filterExpression !== undefined && request.segment === 2) throw failure('INVALID_ARGUMENT', 'no', { exception: 'ValidationException' });
    return pages(Array.from({ length: 5 }, (_, i) => ({ id: request.segment * 10 + i })))(request);
  };
  await withFake({ scan }, {}, async (client, daemon) => {
    const items = await client.parallelScan({ tableName: 't' }, { segments: 4 }).all();
    assert.deepEqual(items.map(({ id }) => id).sort((a, b) => a - b), [0, 1, 2, 3].flatMap((segment) => [0, 1, 2, 3, 4].map((i) => segment * 10 + i)));
    assert.ok(daemon.calls.every(([, { totalSegments }]) => totalSegments === 4));
    await assert.rejects(client.parallelScan({ tableName: 't', filterExpression: 'x' }, { segments: 4 }).all(), { name: 'ValidationException' });
  });
});

const SHARD_KEYS = { sort: ['at'], others: ['day', 'id'] };

// A query of one shard: `shards[n]` are the sort keys of shard n.
function shardQuery(shards) {
  return ({ expressionAttributeValues, exclusiveStartKey, limit, scanIndexForward = true }) => {
    const shard = Number(String(expressionAttributeValues[':day']).replace(/.*\./, ''));
    const all = shards[shard].map((at, i) => ({ day: shard, id: shard * 1000 + i, at }));
    if (!scanIndexForward) all.reverse();
    const from = exclusiveStartKey === undefined ? 0 : all.findIndex(({ id }) => id === exclusiveStartKey.id) + 1;
    const items = all.slice(from, from + limit);
    return { items, count: items.length, ...(from + limit >= all.length ? {} : { lastEvaluatedKey: items.at(-1) }) };
  };
}

const SCATTERED = { tableName: 't', indexName: 'by_day', keyConditionExpression: 'day = $day' };

test('a scattered query merges its shards in both directions, page by page', async () => {
  const shards = { 1: [1, 4, 7, 7, 30], 2: [], 3: Array.from({ length: 40 }, (_, i) => i), 4: [-1, 0.5] };
  await withFake({ query: shardQuery(shards) }, {}, async (client) => {
    for (const scanIndexForward of [true, false]) {
      for (const pageItemsMax of [1, 3, 1000]) {
        const options = { param: 'day', shardValue: suffixedShards('d'), shards: 4, keys: SHARD_KEYS, pageItemsMax };
        const items = [];
        for (let continuation; ; ) {
          const page = await client.scatterQuery({ ...SCATTERED, scanIndexForward }, { ...options, continuation }).nextPage();
          items.push(...page.items);
          continuation = page.continuation;
          if (continuation === undefined) break;
          assert.equal(page.items.length, pageItemsMax);
          assert.match(continuation, /^[\w-]+$/);
        }
        const sorted = Object.entries(shards).flatMap(([shard, ats]) => ats.map((at, i) => [at, Number(shard) * 1000 + i]))
          .sort(([a, x], [b, y]) => a - b || x - y).map(([, id]) => id);
        assert.deepEqual(items.map(({ id }) => id), scanIndexForward ? sorted : sorted.reverse());
      }
    }
  });
});

test('a scattered query refuses what it cannot do', async () => {
  await withFake({ query: () => ({ items: [{ day: 1 }] }) }, {}, async (client) => {
    const options = { param: 'day', shardValue: numberedShards(), shards: 2, keys: SHARD_KEYS };
    const begin = (request, more) => () => client.scatterQuery({ ...SCATTERED, ...request }, { ...options, ...more });
    assert.throws(begin({ exclusiveStartKey: {} }), InvalidArgumentError);
    assert.throws(begin({ select: 'COUNT' }), InvalidArgumentError);
    assert.throws(begin({}, { shards: 0 }), InvalidArgumentError);
    assert.throws(begin({}, { continuation: 'x' }), /not one of a scattered query/);
    await assert.rejects(begin({})().nextPage(), /an item lacks the key attribute at/);
  });
  await withFake({ query: shardQuery({ 1: [1, 2], 2: [3] }) }, {}, async (client) => {
    const options = { param: 'day', shardValue: numberedShards(), shards: 2, keys: SHARD_KEYS, pageItemsMax: 1 };
    const { continuation } = await client.scatterQuery(SCATTERED, options).nextPage();
    assert.throws(() => client.scatterQuery({ ...SCATTERED, indexName: 'other' }, { ...options, continuation }), /that of another query/);
    assert.throws(() => client.scatterQuery(SCATTERED, { ...options, shards: 3, continuation }), /that of another query/);
  });
});

test('a session reads its own writes on indexes', async () => {
  let sequence = 10n;
  const write = () => ({ changeSequence: sequence++ });
  const answers = { putItem: write, transactWriteItems: write, query: () => ({}), scan: () => ({}), deleteTable: () => ({}) };
  await withFake(answers, {}, async (client, daemon) => {
    const session = client.session();
    const query = { tableName: 't', indexName: 'i', keyConditionExpression: 'a = $a', params: { a: 1 } };
    const wanted = async (other, request) => {
      await other.query(request);
      return daemon.calls.at(-1)[1].atLeastSequence;
    };
    await session.putItem({ tableName: 't', item: { id: 1 } });
    assert.equal(await wanted(session, query), 10n);
    assert.equal(await wanted(session, { ...query, tableName: 'arn:aws:dynamodb:eu:1:table/t' }), 10n);
    assert.equal(await wanted(session, { ...query, atLeastSequence: 99n }), 99n);
    for (const request of [{ ...query, indexName: undefined }, { ...query, tableName: 'other' }]) assert.equal(await wanted(session, request), undefined);
    assert.equal(await wanted(client, query), undefined);
    await session.transaction().put('other', { id: 1 }).delete('t', { id: 1 }).commit();
    assert.equal(await wanted(session, query), 11n);
    assert.equal(await wanted(client.session(session.sessionToken), query), 11n);
    await session.deleteTable({ tableName: 't' });
    assert.equal(await wanted(session, query), undefined);
    assert.throws(() => client.session('x'), InvalidArgumentError);
  });
});
