// The middleware of docs/develop/clients/read_your_writes.md, against the daemon at $ENDPOINT, whose indexes are held back until "waiting" is
// printed if $HELD is 1.

import assert from 'node:assert/strict';
import { DynamoDBClient, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand, QueryCommand as DocumentQuery, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { readYourWrites } from './read_your_writes_recipe.mjs';

const TableName = 'things';
const newClient = () => new DynamoDBClient({ endpoint: process.env.ENDPOINT, region: 'local' });
const plain = newClient();
const recipe = readYourWrites(newClient());
const documents = DynamoDBDocumentClient.from(recipe);

const sent = [];  // the header of each request, as it goes out
recipe.middlewareStack.add((next) => (args) => {
  sent.push(args.request.headers['x-armature-at-least-sequence']);
  return next(args);
}, { step: 'finalizeRequest', priority: 'low' });

const put = (client, id, owner) => client.send(new PutItemCommand({ TableName, Item: { id: { S: id }, owner: { S: owner } } }));

async function owned(client, owner) {
  const found = await client.send(new QueryCommand({
    TableName, IndexName: 'ByOwner', KeyConditionExpression: '#o = :o',
    ExpressionAttributeNames: { '#o': 'owner' }, ExpressionAttributeValues: { ':o': { S: owner } },
  }));
  return found.Items.map((item) => item.id.S);
}

if (process.env.HELD === '1') {
  await put(plain, 'missed', 'plain');
  assert.deepEqual(await owned(plain, 'plain'), []);
  await put(recipe, 'seen', 'recipe');
  const found = owned(recipe, 'recipe');
  console.log('waiting');
  assert.deepEqual(await found, ['seen']);
  // The first read has no write before it.
  assert.equal(sent.length, 2);
  assert.equal(sent[0], undefined);
  assert.match(sent[1], /^[1-9][0-9]*$/);
}
for (let i = 0; i < 200; ++i) {
  await put(recipe, `i${i}`, `o${i}`);
  assert.deepEqual(await owned(recipe, `o${i}`), [`i${i}`]);
  assert.ok(BigInt(sent.at(-1)) > 0n);
}
for (let i = 0; i < 50; ++i) {
  await documents.send(new PutCommand({ TableName, Item: { id: `d${i}`, owner: `p${i}` } }));
  const found = await documents.send(new DocumentQuery({
    TableName, IndexName: 'ByOwner', KeyConditionExpression: '#o = :o',
    ExpressionAttributeNames: { '#o': 'owner' }, ExpressionAttributeValues: { ':o': `p${i}` },
  }));
  assert.deepEqual(found.Items, [{ id: `d${i}`, owner: `p${i}` }]);
}
const scanned = await documents.send(new ScanCommand({ TableName, IndexName: 'ByOwner' }));
assert.equal(scanned.Count, 250 + 2 * Number(process.env.HELD));
console.log('read your writes: all passed');
