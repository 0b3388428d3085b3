// Client CPU of the package against the raw stub, in the same run, and the rate of the batch writer.
//
//   npm run build && node bench/bench.mjs --armatured=BINARY [--armature=BINARY] [--rounds=N] [--items=N]
//
// For get, put and a page of 100 items: CPU time of this process per call, in turns of the package and the stub; the
// quotient is that of the medians. A call of the stub includes the conversion of the item to and from a plain object, and
// `bare` is the stub without that.
//
// The batch writer is compared with raw batches that are made before, and with `armature load` of --armature.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { start } from '@armaturedb/client/testing';

import { plainItem, rawItem, rawStub } from './raw.mjs';

const { values: flags } = parseArgs({
  options: { armatured: { type: 'string' }, armature: { type: 'string' }, rounds: { type: 'string', default: '7' }, items: { type: 'string', default: '40000' } },
});
const ROUNDS = Number(flags.rounds);
const TABLE = 'bench';
const PAGE = 100;
const CONCURRENCY = 16;

function makeItem(i) {
  return {
    pk: `partition-${Math.floor(i / PAGE)}`, sk: i, name: `Customer number ${i}`, city: 'Bonn', country: 'de', total: i * 1.25,
    status: 'open', note: 'x'.repeat(100), visits: i % 7, email: `customer${i}@example.org`,
  };
}

// Makes `count` calls, a few at once. Gives the CPU time of each, in microseconds.
async function cpuPerCall(count, call) {
  let next = 0;
  const work = async () => {
    while (next < count) await call(next++);
  };
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

const median = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1];

async function compare(name, count, variants) {
  const times = variants.map(() => []);
  for (const [, call] of variants) await cpuPerCall(count, call); // warm
  for (let round = 0; round < ROUNDS; ++round) {
    for (const [i, [, call]] of variants.entries()) times[i].push(await cpuPerCall(count, call));
  }
  const medians = times.map(median);
  const texts = variants.map(([variant], i) => `${variant} ${medians[i].toFixed(1)} us`);
  console.log(`${name}: ${texts.join(', ')}; package / raw ${(medians[0] / medians[1]).toFixed(2)}, package / bare ${(medians[0] / medians[2]).toFixed(2)}`);
}

async function comparisons(client, raw) {
  const table = { tableName: TABLE };
  const key = (i) => ({ pk: `partition-${Math.floor((i % 1000) / PAGE)}`, sk: i % 1000 });
  const rawTable = { table_name: TABLE };
  const prepared = Array.from({ length: 1000 }, (_, i) => ({ item: rawItem(makeItem(i)), key: rawItem(key(i)) }));
  await compare('get', 3000, [
    ['package', async (i) => (await client.getItem({ ...table, key: key(i) })).item],
    ['raw', async (i) => plainItem((await raw.call('GetItem', { ...rawTable, key: rawItem(key(i)) })).item)],
    ['bare', async (i) => raw.call('GetItem', { ...rawTable, key: prepared[i % 1000].key })],
  ]);
  await compare('put', 3000, [
    ['package', (i) => client.putItem({ ...table, item: makeItem(i % 1000) })],
    ['raw', (i) => raw.call('PutItem', { ...rawTable, item: rawItem(makeItem(i % 1000)) })],
    ['bare', (i) => raw.call('PutItem', { ...rawTable, item: prepared[i % 1000].item })],
  ]);
  const query = (i) => ({ key_condition_expression: 'pk = :pk', expression_attribute_values: { ':pk': { s: `partition-${i % 10}` } } });
  await compare('page of 100', 300, [
    ['package', async (i) => (await client.query({ ...table, keyConditionExpression: 'pk = $pk', params: { pk: `partition-${i % 10}` } })).items],
    ['raw', async (i) => (await raw.call('Query', { ...rawTable, ...query(i) })).items.map(plainItem)],
    ['bare', async (i) => (await raw.call('Query', { ...rawTable, ...query(i) })).items],
  ]);
}

// Raw batches of 25, as many at once as the writer has: the ceiling of the language's gRPC.
async function rawBatches(raw, count) {
  const batches = [];
  for (let i = 0; i < count; i += 25) {
    batches.push(Array.from({ length: 25 }, (_, j) => ({ put_request: { item: rawItem(makeItem(i + j)) } })));
  }
  const begin = process.hrtime.bigint();
  let next = 0;
  const work = async () => {
    while (next < batches.length) await raw.call('BatchWriteItem', { request_items: { [TABLE]: { requests: batches[next++] } } });
  };
  await Promise.all(Array.from({ length: 8 }, work));
  return count / (Number(process.hrtime.bigint() - begin) / 1e9);
}

async function bulk(client, raw) {
  const count = Number(flags.items);
  const begin = process.hrtime.bigint();
  const writer = client.batchWriter();
  for (let i = 0; i < count; ++i) await writer.put(TABLE, makeItem(i));
  await writer.flush();
  const rate = count / (Number(process.hrtime.bigint() - begin) / 1e9);
  const ceiling = await rawBatches(raw, count);
  const load = flags.armature === undefined ? '' : `; armature load: ${Math.round(loadRate(count))} items/s`;
  console.log(`batch writer: ${Math.round(rate)} items/s; raw batches made before: ${Math.round(ceiling)} items/s${load}`);
}

// The same items by the command line tool, from a file of JSON lines.
function loadRate(count) {
  const file = path.join(os.tmpdir(), `armature-bench-${process.pid}.jsonl`);
  const value = (part) => (typeof part === 'number' ? { N: String(part) } : { S: part });
  const line = (i) => JSON.stringify(Object.fromEntries(Object.entries(makeItem(i)).map(([name, part]) => [name, value(part)])));
  try {
    fs.writeFileSync(file, Array.from({ length: count }, (_, i) => `${line(i)}\n`).join(''));
    const begin = process.hrtime.bigint();
    const load = spawnSync(flags.armature, ['--endpoint', daemon.address, 'load', '--table-name', TABLE, file], { encoding: 'utf8' });
    if (load.status !== 0) throw new Error(load.stderr);
    return count / (Number(process.hrtime.bigint() - begin) / 1e9);
  } finally {
    fs.rmSync(file, { force: true });
  }
}

const daemon = await start({ binary: flags.armatured ?? process.env.ARMATURED, flags: ['--durability=os'] });
const client = daemon.client();
const raw = rawStub(daemon.address);
try {
  await client.createTable({
    tableName: TABLE, billingMode: 'PAY_PER_REQUEST',
    attributeDefinitions: [{ attributeName: 'pk', attributeType: 'S' }, { attributeName: 'sk', attributeType: 'N' }],
    keySchema: [{ attributeName: 'pk', keyType: 'HASH' }, { attributeName: 'sk', keyType: 'RANGE' }],
  });
  await client.waitForTable(TABLE);
  const writer = client.batchWriter();
  for (let i = 0; i < 1000; ++i) await writer.put(TABLE, makeItem(i));
  await writer.flush();
  await comparisons(client, raw);
  await bulk(client, raw);
} finally {
  raw.close();
  await daemon.stop();
}
