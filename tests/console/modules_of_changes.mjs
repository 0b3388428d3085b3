// The modules of console/src/lib about changes, restores, jobs, streams and trouble: `node --test modules_of_changes.mjs`.

import assert from 'node:assert/strict';
import { test } from 'node:test';

globalThis.location = { origin: 'http://127.0.0.1:7701', host: '127.0.0.1:7701', hash: '' };
const source = (name) => import(new URL(`../../console/src/lib/${name}.mjs`, import.meta.url));

const changes = await source('changes');
const restore = await source('restore');
const jobs = await source('jobs');
const { differencesOf, shownValue } = await source('differences');
const { StreamTail, withRecords } = await source('stream_tail');
const { attention, parseMetrics } = await source('metrics');
const { newIndex } = await source('table_form');

const TABLE = {
  TableName: 'orders', TableStatus: 'ACTIVE', AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }], BillingModeSummary: { BillingMode: 'PAY_PER_REQUEST' },
};
const PROVISIONED = {
  ...TABLE, BillingModeSummary: undefined, ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 2 },
  GlobalSecondaryIndexes: [{ IndexName: 'ByA', IndexStatus: 'ACTIVE', ProvisionedThroughput: { ReadCapacityUnits: 3, WriteCapacityUnits: 4 } }],
};

test('a new index has the definitions of its attributes only', () => {
  const index = { ...newIndex('global'), name: ' ByA ', partition: [{ name: 'a', type: 'N' }], sort: [{ name: 'id', type: 'S' }] };
  assert.deepEqual(changes.indexCreation(TABLE, index, {}), {
    TableName: 'orders',
    AttributeDefinitions: [{ AttributeName: 'a', AttributeType: 'N' }, { AttributeName: 'id', AttributeType: 'S' }],
    GlobalSecondaryIndexUpdates: [{ Create: { IndexName: 'ByA', Projection: { ProjectionType: 'ALL' },
      KeySchema: [{ AttributeName: 'a', KeyType: 'HASH' }, { AttributeName: 'id', KeyType: 'RANGE' }] } }],
  });
  const wrong = { ...index, sort: [{ name: 'id', type: 'N' }] };
  assert.throws(() => changes.indexCreation(TABLE, wrong, {}), /id has the type S/);
  const units = changes.indexCreation(PROVISIONED, index, { read: '7', write: '8' });
  assert.deepEqual(units.GlobalSecondaryIndexUpdates[0].Create.ProvisionedThroughput, { ReadCapacityUnits: 7, WriteCapacityUnits: 8 });
  assert.throws(() => changes.indexCreation(PROVISIONED, index, { read: '0', write: '8' }), /Read units/);
});

test('one index is changed at a time', () => {
  assert.equal(changes.indexObstacle(TABLE), null);
  assert.match(changes.indexObstacle({ ...TABLE, TableStatus: 'UPDATING' }), /updating/);
  assert.match(changes.indexObstacle({ ...TABLE, GlobalSecondaryIndexes: [{ IndexName: 'B', IndexStatus: 'CREATING' }] }), /B is creating/);
});

test('the throughput has only what the user has changed', () => {
  const now = changes.throughputChoice(PROVISIONED);
  assert.equal(changes.throughputChange(PROVISIONED, now), null);
  assert.deepEqual(changes.throughputChange(PROVISIONED, { ...now, read: '9' }),
    { TableName: 'orders', ProvisionedThroughput: { ReadCapacityUnits: 9, WriteCapacityUnits: 2 } });
  assert.deepEqual(changes.throughputChange(PROVISIONED, { ...now, indexes: { ByA: { read: '3', write: '5' } } }), { TableName: 'orders',
    GlobalSecondaryIndexUpdates: [{ Update: { IndexName: 'ByA', ProvisionedThroughput: { ReadCapacityUnits: 3, WriteCapacityUnits: 5 } } }] });
  assert.deepEqual(changes.throughputChange(PROVISIONED, { ...now, mode: 'PAY_PER_REQUEST' }),
    { TableName: 'orders', BillingMode: 'PAY_PER_REQUEST' });
  assert.deepEqual(changes.throughputChange(TABLE, { ...changes.throughputChoice(TABLE), maxRead: '50' }),
    { TableName: 'orders', OnDemandThroughput: { MaxReadRequestUnits: 50 } });
  const limited = { ...TABLE, OnDemandThroughput: { MaxReadRequestUnits: 50, MaxWriteRequestUnits: -1 } };
  assert.deepEqual(changes.throughputChange(limited, { ...changes.throughputChoice(limited), maxRead: '' }).OnDemandThroughput,
    { MaxReadRequestUnits: -1 });
});

test('tags are put and removed, each once', () => {
  const before = [{ key: 'a', value: '1' }, { key: 'b', value: '2' }];
  assert.deepEqual(changes.tagChanges(before, [{ key: 'a', value: '1' }, { key: 'c', value: '' }]),
    { put: [{ Key: 'c', Value: '' }], removed: ['b'] });
  for (const wrong of [[...before, { key: 'a', value: '' }], [...before, { key: '', value: '' }]]) {
    assert.throws(() => changes.tagChanges(before, wrong), (error) => error.row === 2);
  }
});

test('a restore names its indexes only if some are left out', () => {
  const schema = [{ AttributeName: 'x', KeyType: 'HASH' }];
  const indexes = restore.indexesOf({
    GlobalSecondaryIndexes: [{ IndexName: 'A', KeySchema: schema, Projection: { ProjectionType: 'ALL' }, ItemCount: 9 }],
    LocalSecondaryIndexes: [{ IndexName: 'L', KeySchema: schema, Projection: { ProjectionType: 'KEYS_ONLY' } }] });
  const all = { target: 'new', chosen: new Set(['A', 'L']) };
  assert.deepEqual(restore.backupRestore('arn', indexes, false, all), { TargetTableName: 'new', BackupArn: 'arn' });
  const none = restore.backupRestore('arn', indexes, false, { ...all, chosen: new Set() });
  assert.deepEqual([none.GlobalSecondaryIndexOverride, none.LocalSecondaryIndexOverride], [[], []]);
  const one = restore.backupRestore('arn', indexes, true, { ...all, chosen: new Set(['A']) });
  assert.deepEqual(one.GlobalSecondaryIndexOverride, [{ IndexName: 'A', KeySchema: schema, Projection: { ProjectionType: 'ALL' },
    ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 1 } }]);
  assert.throws(() => restore.backupRestore('arn', indexes, false, { ...all, target: 'a b' }), (error) => error.field === 'target');
  assert.throws(() => restore.momentRestore('t', indexes, false, { ...all, isLatest: false, time: '' }), (error) => error.field === 'time');
  const time = restore.localText(1796000000);
  assert.equal(restore.momentRestore('t', indexes, false, { ...all, isLatest: false, time }).RestoreDateTime, 1796000000);
});

test('jobs say what they need at its field', () => {
  const form = { table: 'orders', bucket: 'b', prefix: '', output: '', format: 'CSV', compression: 'GZIP',
    partition: [{ name: 'id', type: 'S' }], sort: [] };
  assert.equal(jobs.exportRequest(form).TableArn, 'arn:aws:dynamodb:local:000000000000:table/orders');
  assert.equal(jobs.importRequest(form).TableCreationParameters.BillingMode, 'PAY_PER_REQUEST');
  assert.throws(() => jobs.bulkRequest(form), (error) => jobs.jobField(error) === 'output');
  assert.throws(() => jobs.exportRequest({ ...form, bucket: ' ' }), (error) => jobs.jobField(error) === 'bucket');
  assert.equal(jobs.jobField(null), null);
});

test('differences come behind the key', () => {
  const before = { id: { S: '1' }, a: { N: '1.0' }, b: { S: 'x' }, c: { BOOL: true } };
  const after = { id: { S: '1' }, a: { N: '1' }, b: { S: 'y' }, d: { NULL: true } };
  assert.deepEqual(differencesOf(before, after, ['id']).map(({ name, kind }) => `${name} ${kind}`),
    ['id same', 'b changed', 'c removed', 'd added', 'a same']);
  assert.deepEqual(differencesOf(undefined, after, ['id']).map(({ kind }) => kind), ['added', 'added', 'added', 'added']);
  assert.ok(shownValue({ S: 'x'.repeat(400_000) }).length < 5000);
  assert.equal(shownValue(undefined), '');
});

// A stream of pages: {shard: {parent, isClosed, pages: [[number of a record]]}}.
function streamOf(shards, log = []) {
  return async (operation, request) => {
    log.push([operation, request.ShardIteratorType ?? request.ShardIterator ?? '', request.ShardId ?? ''].join(' ').trim());
    if (operation === 'DescribeStream') {
      return { StreamDescription: { Shards: Object.entries(shards).map(([ShardId, { parent, isClosed }]) => ({
        ShardId, ParentShardId: parent, SequenceNumberRange: isClosed ? { EndingSequenceNumber: '9' } : {} })) } };
    }
    if (operation === 'GetShardIterator') return { ShardIterator: `${request.ShardId}/${request.ShardIteratorType === 'LATEST' ? shards[request.ShardId].pages.length : 0}` };
    const [id, page] = request.ShardIterator.split('/');
    const records = (shards[id].pages[page] ?? []).map((number) => (
      { eventID: String(number), dynamodb: { ApproximateCreationDateTime: number, SequenceNumber: String(number) } }));
    const next = Number(page) + (shards[id].pages[page] === undefined ? 0 : 1);
    return { Records: records, NextShardIterator: shards[id].isClosed && next >= shards[id].pages.length ? undefined : `${id}/${next}` };
  };
}
const numbers = (records) => records.map(({ eventID }) => Number(eventID));

test('a tail reads parents to their end before their children', async () => {
  const shards = { a: { isClosed: true, pages: [[1], [2]] }, b: { parent: 'a', pages: [[3]] } };
  const tail = new StreamTail(streamOf(shards), 'arn', 'TRIM_HORIZON');
  assert.deepEqual([numbers(await tail.round()), numbers(await tail.round()), numbers(await tail.round())], [[1], [2], [3]]);
  assert.equal(tail.isOver, false);
  shards.b.isClosed = true;
  await tail.round();
  assert.equal(tail.isOver, true);
});

test('a tail from now on begins behind what is there, and goes on in new shards', async () => {
  const shards = { a: { isClosed: true, pages: [[1]] }, b: { parent: 'a', pages: [[2]] } };
  const tail = new StreamTail(streamOf(shards), 'arn', 'LATEST');
  assert.deepEqual(numbers(await tail.round()), []);
  shards.b.pages.push([3]);
  shards.b.isClosed = true;
  shards.c = { parent: 'b', pages: [[4]] };
  assert.deepEqual([numbers(await tail.round()), numbers(await tail.round())], [[3], [4]]);
});

test('a tail whose iterator has ended goes on behind its last record', async () => {
  const log = [];
  const inner = streamOf({ a: { pages: [[1], [2]] } }, log);
  let isExpired = false;
  const tail = new StreamTail(async (operation, request) => {
    if (operation === 'GetRecords' && isExpired) {
      isExpired = false;
      throw Object.assign(new Error('old'), { name: 'ExpiredIteratorException' });
    }
    return inner(operation, request);
  }, 'arn', 'TRIM_HORIZON');
  await tail.round();
  isExpired = true;
  assert.deepEqual(numbers(await tail.round()), []);
  await tail.round();
  assert.ok(log.includes('GetShardIterator AFTER_SEQUENCE_NUMBER a'), log.join('\n'));
  assert.equal(tail.hasGap, false);
});

test('rows of a tail are bounded in number and size', () => {
  const record = (i, SizeBytes = 1) => ({ eventID: String(i), dynamodb: { SizeBytes } });
  const many = withRecords([], Array.from({ length: 700 }, (_, i) => record(i)));
  assert.deepEqual([many.length, many[0].eventID], [500, '699']);
  assert.equal(withRecords([], Array.from({ length: 100 }, (_, i) => record(i, 1 << 20))).length, 16);
  assert.equal(withRecords([], [record(1, 1 << 30)]).length, 1);
});

test('what needs attention is said in words, with its place', () => {
  const TIME = 1796000000;
  const find = (more, old = '') => attention(parseMetrics(old), parseMetrics(more), 1, TIME);
  const first = (more, old) => find(more, old)[0] ?? { text: 'nothing' };
  const clock = new Date((TIME - 40) * 1000).toTimeString().slice(0, 5);
  assert.deepEqual(find(''), []);
  assert.match(first('armature_disk_read_only{reason="full"} 1').text, /the disk is full/);
  assert.deepEqual(first('armature_gsi_lag_seconds{table="t",index="i"} 40'),
    { severity: 'warning', text: `Index t/i is 40 s behind since ${clock}.`, place: ['tables', 't', 'settings'] });
  assert.equal(find(['a', 'b', 'c', 'd', 'e'].map((name) => `armature_gsi_lag_seconds{table="t",index="${name}"} 9\n`).join('')).length, 4);
  assert.match(first('armature_table_damaged{table="a\\"b"} 1').text, /a"b/);
  assert.match(first('armature_disk_free_bytes 40\narmature_disk_reserve_bytes 30').text, /nearly full: 40 B are free/);
  assert.match(first('armature_pool_refused_total{pool="read"} 7').text, /7 requests a second are throttled/);
  assert.deepEqual(find('armature_pool_refused_total{pool="read"} 7', 'armature_pool_refused_total{pool="read"} 7'), []);
  const ends = (days) => first(`armature_tls_certificate_expiry_timestamp_seconds{certificate="server"} ${TIME + days * 86400}`);
  assert.deepEqual([-1, 2, 10, 30].map((days) => ends(days).severity), ['error', 'error', 'warning', undefined]);
  assert.match(ends(10).text, /ends in 10 days/);
  assert.match(first('armature_archive_paused 1\narmature_archive_lag_seconds 300').text, /paused, and 5 min behind/);
  assert.match(first('armature_archive_breaks 2').text, /2 missing or damaged segments/);
  const backups = (last) => first(`armature_backup_interval_seconds 3600\nprocess_start_time_seconds ${TIME - 9000}\narmature_backup_last_success_timestamp_seconds ${last}`).text;
  assert.match(backups(0), /No backup of the database has succeeded/);
  assert.match(backups(TIME - 8000), /2 h old/);
  assert.equal(backups(TIME - 4000), 'nothing');
  assert.match(first('armature_rados_lease_left_seconds 0').text, /reads are refused/);
  assert.deepEqual(find('armature_archive_paused 1\narmature_disk_read_only{reason="low"} 1\narmature_expiry_overdue_seconds 7200')
    .map((each) => each.severity), ['error', 'error', 'warning']);
});
