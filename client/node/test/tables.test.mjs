// Typed tables, schemas, and observers.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { context, SpanStatusCode, trace } from '@opentelemetry/api';
import { AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { z } from 'zod';

import { field, InvalidArgumentError, NumberValue, schema } from '@armaturedb/client';
import { openTelemetry } from '@armaturedb/client/opentelemetry';

import { failure, withFake } from './fake-daemon.mjs';

const User = schema({
  id: field.text(), joined: field.date(), expires: field.epochSeconds().optional(), tags: field.set(), visits: field.bigint(), price: field.decimal(),
  places: field.list(field.map({ city: field.text(), zip: field.number().optional() })), extra: field.any().optional(),
});
const ANN = {
  id: 'ann', joined: new Date(86_400_000), tags: new Set(['a']), visits: 2n ** 70n, price: NumberValue.from('1.10'), places: [{ city: 'Bonn', zip: 53111 }],
};

test('a schema converts records to items and back', () => {
  const item = User.toItem({ ...ANN, expires: new Date(1500) });
  assert.deepEqual(item, { ...ANN, joined: '1970-01-02T00:00:00.000Z', expires: 1 });
  assert.deepEqual(User.fromItem(item), { ...ANN, expires: new Date(1000) });
  assert.deepEqual(User.fromItem({ ...item, price: 1.5, visits: 7, other: 1 }).price, NumberValue.from(1.5));
});

test('a table is created from its key and the types of its schema', async () => {
  const active = { table: { tableName: 'users', tableStatus: 'ACTIVE' } };
  await withFake({ createTable: () => ({}), describeTable: () => active }, {}, async (client, daemon) => {
    const users = client.table('users', { key: ['id'], schema: User });
    await users.create({ indexes: { by_time: { partition: ['joined'], sort: ['expires', 'visits'], projection: ['tags'] }, by_price: { sort: ['price'] } } });
    const [[, request]] = daemon.calls;
    assert.deepEqual(request.attributeDefinitions.map(({ attributeName, attributeType }) => `${attributeName} ${attributeType}`),
      ['id S', 'joined S', 'expires N', 'visits N', 'price N']);
    assert.deepEqual(request.localSecondaryIndexes[0].keySchema.map(({ attributeName }) => attributeName), ['id', 'price']);
    assert.deepEqual(request.globalSecondaryIndexes[0].projection, { projectionType: 'INCLUDE', nonKeyAttributes: ['tags'] });
    await assert.rejects(client.table('plain', { key: ['id'] }).create(), /the key attribute id needs a type/);
    await assert.rejects(users.create({ index: {} }), /the members of a definition have no "index"/);
    await assert.rejects(users.create({ indexes: { a: { sorted: ['id'] } } }), /the members of the index a have no "sorted"/);
  });
});

test('an empty set is an absent attribute', () => {
  const item = User.toItem({ ...ANN, tags: new Set() });
  assert.equal(item.tags, undefined);
  assert.deepEqual(User.fromItem({ ...item, tags: undefined }).tags, undefined);
});

test('items and records that do not fit are refused by name', () => {
  for (const [change, message] of [
    [{ id: 1 }, /^id: is not a text/], [{ joined: new Date(NaN) }, /^joined: is not a date/], [{ places: [{}] }, /^places: city: is missing/], [{ id: undefined }, /^id: is missing/],
  ]) {
    assert.throws(() => User.toItem({ ...ANN, ...change }), (error) => error instanceof InvalidArgumentError && message.test(error.message), String(message));
  }
  const number = schema({ n: field.number() });
  assert.throws(() => number.fromItem({ n: 2n ** 60n + 1n }), /n: 1152921504606846977 is not exact/);
  assert.throws(() => number.fromItem({ n: NumberValue.from('0.12345678901234567890') }), /is not exact/);
});

test('misspelt options of a table are refused, and nothing is sent', async () => {
  await withFake({}, {}, async (client, daemon) => {
    for (const options of [undefined, {}, { key: 'id' }, { key: [] }, { key: ['a', 'b', 'c'] }, { key: ['id'], keys: ['id'] }]) {
      assert.throws(() => client.table('t', options), InvalidArgumentError, JSON.stringify(options));
    }
    const table = client.table('t', { key: ['id'] });
    for (const call of [
      () => table.put({ id: 1 }, { conditon: 'attribute_not_exists(id)' }), () => table.put({ id: 1 }, { returned: 'old' }),
      () => table.update({ id: 1 }, 'SET a = b', { returnValues: 'ALL_NEW' }), () => table.update({ id: 1 }, 'SET a = b', { returned: 'ALL_NEW' }),
      () => table.delete({ id: 1 }, { condtion: 'a = b' }), () => table.get({ id: 1 }, { consistentRead: true }), () => table.get({ id: 1 }, true),
      () => table.getPart({ id: 1 }, 'a', { timeout: 1 }), () => table.batchGet([{ id: 1 }], { timeout: 1 }), () => table.count('id = $a', { param: { a: 1 } }),
      async () => table.query('id = $a', { indexName: 'i' }), async () => table.scan({ segment: 4 }),
      () => table.put(undefined), () => table.put(null), () => table.get(undefined), () => table.get('ann'), () => table.delete(null), () => table.update(undefined, 'SET a = b'),
    ]) await assert.rejects(call, InvalidArgumentError, String(call));
    assert.equal(daemon.calls.length, 0);
  });
});

test('a table makes the requests of its calls', async () => {
  const answers = {
    putItem: () => ({ attributes: { id: 'a', n: 1 } }), getItem: () => ({ item: { id: 'a', n: 1 } }), updateItem: () => ({ attributes: { n: 2 } }), deleteItem: () => ({}),
    query: () => ({ items: [{ id: 'a', n: 1 }], count: 1 }), scan: () => ({ items: [{ id: 'b' }], count: 1 }),
  };
  await withFake(answers, {}, async (client, daemon) => {
    const table = client.table('t', { key: ['id'] });
    const last = () => Object.fromEntries(Object.entries(daemon.calls.at(-1)[1]).filter(([, value]) => value !== undefined));
    assert.deepEqual(await table.put({ id: 'a' }, { condition: '#n < $n', params: { n: 5 }, itemOnFailure: true, returnOld: true }), { id: 'a', n: 1 });
    assert.deepEqual(last(), {
      tableName: 't', item: { id: 'a' }, conditionExpression: '#n < :n', expressionAttributeNames: { '#n': 'n' }, expressionAttributeValues: { ':n': 5 },
      returnValues: 'ALL_OLD', returnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    assert.deepEqual(await table.get({ id: 'a' }, { consistent: true }), { id: 'a', n: 1 });
    assert.deepEqual(last(), { tableName: 't', key: { id: 'a' }, consistentRead: true });
    assert.deepEqual(await table.update({ id: 'a' }, 'SET n = $n', { params: { n: 2 }, returned: 'updated new' }), { n: 2 });
    assert.equal(last().returnValues, 'UPDATED_NEW');
    assert.equal(await table.delete({ id: 'a' }), undefined);
    await table.getPart({ id: 'a' }, ['n', 'm.x']);
    assert.equal(last().projectionExpression, '#_0, #_1.#_2');
    assert.deepEqual(await table.query('id = $id', { params: { id: 'a' }, index: 'i', descending: true, pageSize: 5, projection: ['n'] }).all(), [{ id: 'a', n: 1 }]);
    assert.deepEqual(last(), {
      tableName: 't', indexName: 'i', keyConditionExpression: 'id = :id', expressionAttributeValues: { ':id': 'a' }, scanIndexForward: false, limit: 5,
      projectionExpression: '#_0', expressionAttributeNames: { '#_0': 'n' },
    });
    assert.equal((await table.scan({ segments: 3 }).all()).length, 3);
    assert.equal(await table.count('id = $id', { params: { id: 'a' } }), 1);
    assert.equal(last().select, 'COUNT');
  });
});

test('a table takes the schemas of other libraries', async () => {
  const Visit = z.object({ id: z.string(), count: z.number().int(), note: z.string().default('none') });
  await withFake({ getItem: () => ({ item: { id: 'a', count: 1 } }), putItem: () => ({}) }, {}, async (client) => {
    const table = client.table('t', { key: ['id'], schema: Visit });
    assert.deepEqual(await table.get({ id: 'a' }), { id: 'a', count: 1, note: 'none' });
    await assert.rejects(table.put({ id: 'a', count: 1.5, note: 'x' }), (error) => error instanceof InvalidArgumentError && /^count: /.test(error.message));
  });
});

test('OpenTelemetry gets a span and a duration for each call', async () => {
  const spans = new InMemorySpanExporter();
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  const metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: metrics, exportIntervalMillis: 2 ** 30 });
  const meterProvider = new MeterProvider({ readers: [reader] });
  let calls = 0;
  const getItem = () => {
    if (++calls === 1) throw failure('UNAVAILABLE', 'the daemon stops');
    return {};
  };
  const putItem = () => {
    throw failure('INVALID_ARGUMENT', 'bad', { exception: 'ValidationException' });
  };
  await withFake({ getItem, putItem }, { observers: [openTelemetry({ tracerProvider, meterProvider })] }, async (client, daemon) => {
    await client.getItem({ tableName: 't', key: { id: 1 } });
    await assert.rejects(client.putItem({ tableName: 't', item: { id: 1 } }));
    const [read, write] = spans.getFinishedSpans();
    const [host, port] = daemon.address.split(':');
    assert.equal(read.name, 'GetItem t');
    assert.deepEqual(read.attributes, {
      'db.system.name': 'armature', 'db.operation.name': 'GetItem', 'db.collection.name': 't', 'server.address': host, 'server.port': Number(port), 'armature.attempts': 2,
    });
    assert.deepEqual(read.events.map(({ name }) => name), ['retry']);
    assert.equal(write.status.code, SpanStatusCode.ERROR);
    assert.equal(write.attributes['error.type'], 'ValidationException');
    assert.equal(trace.getSpan(context.active()), undefined);
  });
  await reader.forceFlush();
  const [histogram] = metrics.getMetrics()[0].scopeMetrics[0].metrics;
  assert.equal(histogram.descriptor.name, 'db.client.operation.duration');
  assert.deepEqual(histogram.dataPoints.map(({ attributes, value }) => [attributes['db.operation.name'], value.count]), [['GetItem', 1], ['PutItem', 1]]);
  await meterProvider.shutdown();
});
