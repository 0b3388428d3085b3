// The AWS SDK for JavaScript v3, both its plain client and its document client, against the daemon at $ENDPOINT.

import assert from 'node:assert/strict';
import {
  ConditionalCheckFailedException, CreateTableCommand, DeleteTableCommand, DescribeTableCommand, DynamoDBClient,
  GetItemCommand, ListTagsOfResourceCommand, PutItemCommand, ResourceNotFoundException, TagResourceCommand,
  UpdateTableCommand, UpdateTimeToLiveCommand, waitUntilTableExists, waitUntilTableNotExists, paginateListTables,
} from '@aws-sdk/client-dynamodb';
import {
  DeleteCommand, DynamoDBDocumentClient, GetCommand, PutCommand, QueryCommand, UpdateCommand, paginateScan,
} from '@aws-sdk/lib-dynamodb';

// The SDK verifies x-amz-crc32 of each answer.
const client = new DynamoDBClient({
  endpoint: process.env.ENDPOINT, region: 'local', credentials: { accessKeyId: 'anyone', secretAccessKey: 'anything' },
});
const documents = DynamoDBDocumentClient.from(client);
const TableName = 'matches';

async function createTable() {
  const created = await client.send(new CreateTableCommand({
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: ['matchId', 'tournamentId', 'region', 'round'].map(
      (AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    KeySchema: [{ AttributeName: 'matchId', KeyType: 'HASH' }],
    GlobalSecondaryIndexes: [{
      IndexName: 'TournamentRegion',
      KeySchema: [
        { AttributeName: 'tournamentId', KeyType: 'HASH' }, { AttributeName: 'region', KeyType: 'HASH' },
        { AttributeName: 'round', KeyType: 'RANGE' }, { AttributeName: 'matchId', KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'ALL' },
    }],
  }));
  assert.equal(created.TableDescription.TableStatus, 'CREATING');
  assert.ok(created.TableDescription.CreationDateTime instanceof Date);
  await waitUntilTableExists({ client, maxWaitTime: 60 }, { TableName });
}

async function items() {
  const item = {
    matchId: 'm1', tournamentId: 't1', region: 'EU', round: 'FINAL', score: 12.5, tags: new Set(['a', 'b']),
    bytes: new Uint8Array([0, 255, 7]), nested: { list: [1, 'two', null, true] }, empty: '', text: 'ünï \u0000 "\\',
  };
  await documents.send(new PutCommand({ TableName, Item: item }));
  const got = await documents.send(new GetCommand({ TableName, Key: { matchId: 'm1' }, ConsistentRead: true }));
  assert.deepEqual(got.Item, item);

  await assert.rejects(
    client.send(new PutItemCommand({
      TableName, Item: { matchId: { S: 'm1' } }, ConditionExpression: 'attribute_not_exists(matchId)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    })),
    (error) => error instanceof ConditionalCheckFailedException && error.Item.round.S === 'FINAL');

  const updated = await documents.send(new UpdateCommand({
    TableName, Key: { matchId: 'm1' }, UpdateExpression: 'SET score = score + :d',
    ExpressionAttributeValues: { ':d': 1 }, ReturnValues: 'UPDATED_NEW',
  }));
  assert.deepEqual(updated.Attributes, { score: 13.5 });
  await documents.send(new DeleteCommand({ TableName, Key: { matchId: 'm1' } }));
  assert.equal((await client.send(new GetItemCommand({ TableName, Key: { matchId: { S: 'm1' } } }))).Item, undefined);
}

async function queriesAndPages() {
  for (let i = 0; i < 30; ++i) {
    await documents.send(new PutCommand({
      TableName, Item: { matchId: `m${i}`, tournamentId: 't2', region: i % 2 ? 'EU' : 'US', round: i < 20 ? 'R1' : 'R2' },
    }));
  }
  const query = new QueryCommand({
    TableName, IndexName: 'TournamentRegion',
    KeyConditionExpression: 'tournamentId = :t AND #r = :r AND round = :x AND begins_with(matchId, :m)',
    ExpressionAttributeNames: { '#r': 'region' },
    ExpressionAttributeValues: { ':t': 't2', ':r': 'EU', ':x': 'R2', ':m': 'm2' },
  });
  let found;
  do {  // until the index has applied the writes
    found = await documents.send(query);
  } while (found.Count < 5);
  assert.deepEqual(found.Items.map((item) => item.matchId), ['m21', 'm23', 'm25', 'm27', 'm29']);

  const seen = [];
  for await (const page of paginateScan({ client: documents, pageSize: 7 }, { TableName })) {
    seen.push(...page.Items.map((item) => item.matchId));
  }
  assert.equal(new Set(seen).size, 30);
}

async function controlPlane() {
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  await client.send(new TagResourceCommand({ ResourceArn: Table.TableArn, Tags: [{ Key: 'k', Value: 'v' }] }));
  const { Tags } = await client.send(new ListTagsOfResourceCommand({ ResourceArn: Table.TableArn }));
  assert.deepEqual(Tags, [{ Key: 'k', Value: 'v' }]);
  await client.send(new UpdateTimeToLiveCommand({
    TableName, TimeToLiveSpecification: { Enabled: true, AttributeName: 'expires' },
  }));
  const names = [];
  for await (const page of paginateListTables({ client }, {})) names.push(...page.TableNames);
  assert.deepEqual(names, [TableName]);
  await client.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled: true }));
  await assert.rejects(client.send(new DeleteTableCommand({ TableName })), /protected against deletion/);
  await client.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled: false }));
  await client.send(new DeleteTableCommand({ TableName }));
  await waitUntilTableNotExists({ client, maxWaitTime: 60 }, { TableName });
  await assert.rejects(
    client.send(new DescribeTableCommand({ TableName })), (error) => error instanceof ResourceNotFoundException);
}

await createTable();
await items();
await queriesAndPages();
await controlPlane();
client.destroy();
console.log('javascript sdk: all passed');
