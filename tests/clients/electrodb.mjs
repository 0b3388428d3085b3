// ElectroDB, whose composite indexes are global indexes with several attributes in each key, against the daemon at $ENDPOINT.

import assert from 'node:assert/strict';
import { CreateTableCommand, DeleteTableCommand, DynamoDBClient, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { createWriteTransaction, Entity } from 'electrodb';

const client = new DynamoDBClient({ endpoint: process.env.ENDPOINT, region: 'local' });
const table = 'electrodb_matches';
const Match = new Entity({
  model: { entity: 'match', version: '1', service: 'games' },
  attributes: {
    id: { type: 'string', required: true },
    tournament: { type: 'string', required: true },
    region: { type: ['EU', 'US'], required: true },
    round: { type: 'number', required: true },
    court: { type: 'string', required: true },
    score: { type: 'number', default: 0 },
    tags: { type: 'set', items: 'string' },
    details: { type: 'map', properties: { referee: { type: 'string' } } },
  },
  indexes: {
    match: { pk: { field: 'pk', composite: ['id'] }, sk: { field: 'sk', composite: [] } },
    byTournament: {
      type: 'composite', index: 'ByTournament', pk: { composite: ['tournament', 'region'] }, sk: { composite: ['round', 'court'] },
    },
  },
}, { client, table });

async function createTable() {
  const attribute = (AttributeName, AttributeType) => ({ AttributeName, AttributeType });
  const member = (AttributeName, KeyType) => ({ AttributeName, KeyType });
  await client.send(new CreateTableCommand({
    TableName: table, BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [
      ...['pk', 'sk', 'tournament', 'region', 'court'].map((name) => attribute(name, 'S')), attribute('round', 'N')],
    KeySchema: [member('pk', 'HASH'), member('sk', 'RANGE')],
    GlobalSecondaryIndexes: [{
      IndexName: 'ByTournament', Projection: { ProjectionType: 'ALL' },
      KeySchema: [member('tournament', 'HASH'), member('region', 'HASH'), member('round', 'RANGE'), member('court', 'RANGE')],
    }],
  }));
  await waitUntilTableExists({ client, maxWaitTime: 60, minDelay: 1 }, { TableName: table });
}

async function items() {
  const match = {
    id: 'm0', tournament: 'open', region: 'EU', round: 1, court: 'a', tags: ['x', 'y'], details: { referee: 'Ü' },
  };
  await Match.create(match).go();
  assert.deepEqual((await Match.get({ id: 'm0' }).go({ consistent: true })).data, { ...match, score: 0 });
  await assert.rejects(Match.create(match).go(), /The conditional request failed/);
  const updated = await Match.update({ id: 'm0' }).add({ score: 3 }).set({ court: 'b' })
    .where(({ score }, { eq }) => eq(score, 0)).go({ response: 'all_new' });
  assert.deepEqual([updated.data.score, updated.data.court], [3, 'b']);
  await assert.rejects(Match.patch({ id: 'none' }).set({ score: 1 }).go(), /The conditional request failed/);
  await Match.delete({ id: 'm0' }).go();
  assert.equal((await Match.get({ id: 'm0' }).go()).data, null);
}

async function compositeIndex() {
  const matches = Array.from({ length: 40 }, (_, i) => ({
    id: `m${i}`, tournament: 'open', region: i % 2 ? 'EU' : 'US', round: Math.floor(i / 10), court: String.fromCharCode(97 + i % 10),
  }));
  assert.deepEqual((await Match.put(matches).go()).unprocessed, []);
  const ids = ({ data }) => data.map((match) => match.id);
  const eu = { tournament: 'open', region: 'EU' };
  const by = (more) => Match.query.byTournament({ ...eu, ...more });
  assert.deepEqual(ids(await by({}).go({ pages: 'all' })), matches.filter((_, i) => i % 2).map((match) => match.id));
  assert.deepEqual(ids(await by({ round: 2 }).go({ order: 'desc' })), ['m29', 'm27', 'm25', 'm23', 'm21']);
  assert.deepEqual(ids(await by({ round: 2, court: 'd' }).go()), ['m23']);
  assert.deepEqual(ids(await by({}).gte({ round: 3 }).go()), ['m31', 'm33', 'm35', 'm37', 'm39']);
  assert.deepEqual(ids(await by({ round: 2 }).between({ court: 'd' }, { court: 'h' }).go()), ['m23', 'm25', 'm27']);
  const pages = [];
  let cursor = null;
  do {
    const page = await by({}).go({ cursor, limit: 8 });
    pages.push(page.data.length);
    cursor = page.cursor;
  } while (cursor !== null);
  assert.deepEqual(pages, [8, 8, 4]);
  assert.equal((await Match.scan.go({ pages: 'all' })).data.length, 40);
}

async function transactions() {
  const move = () => createWriteTransaction({ Match }, ({ Match: match }) => [
    match.create({ id: 'new', tournament: 'open', region: 'EU', round: 9, court: 'a' }).commit(),
    match.remove({ id: 'm0' }).commit(),
  ]).go();
  assert.equal((await move()).canceled, false);
  const refused = await move();
  assert.deepEqual([refused.canceled, refused.data[0].code], [true, 'ConditionalCheckFailed']);
  assert.deepEqual((await Match.query.byTournament({ tournament: 'open', region: 'EU', round: 9 }).go()).data.length, 1);
}

await createTable();
await items();
await compositeIndex();
await transactions();
await client.send(new DeleteTableCommand({ TableName: table }));
console.log('electrodb: all passed');
