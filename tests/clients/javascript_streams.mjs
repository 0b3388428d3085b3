// The AWS SDK for JavaScript v3 on a stream of the daemon at $ENDPOINT whose shards roll over while it is read, and on
// resource policies.

import assert from 'node:assert/strict';
import {
  CreateTableCommand, DeleteResourcePolicyCommand, DynamoDBClient, GetResourcePolicyCommand, PolicyNotFoundException,
  PutItemCommand, PutResourcePolicyCommand, waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import {
  DescribeStreamCommand, DynamoDBStreamsClient, GetRecordsCommand, GetShardIteratorCommand, ListStreamsCommand,
} from '@aws-sdk/client-dynamodb-streams';

const settings = {
  endpoint: process.env.ENDPOINT, region: 'local', credentials: { accessKeyId: 'anyone', secretAccessKey: 'anything' },
};
const items = new DynamoDBClient(settings);
const streams = new DynamoDBStreamsClient(settings);
const TableName = 'js_changes';
let written = 0;

async function write() {
  written += 1;
  await items.send(new PutItemCommand({
    TableName, Item: { pk: { S: `p${written % 7}` }, n: { N: String(written) }, v: { S: 'x'.repeat(20_000) } },
  }));
}

async function shardsOf(StreamArn) {
  const shards = [];
  let ExclusiveStartShardId;
  do {
    const { StreamDescription } = await streams.send(new DescribeStreamCommand({ StreamArn, Limit: 5, ExclusiveStartShardId }));
    shards.push(...StreamDescription.Shards);
    ExclusiveStartShardId = StreamDescription.LastEvaluatedShardId;
  } while (ExclusiveStartShardId);
  return shards;
}

// Reads a shard to its present end. Returns true if the shard ends there.
async function readShard(StreamArn, ShardId, seen) {
  let { ShardIterator } = await streams.send(new GetShardIteratorCommand({ StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' }));
  while (ShardIterator) {
    const page = await streams.send(new GetRecordsCommand({ ShardIterator, Limit: 100 }));
    for (const { dynamodb, eventName } of page.Records) {
      assert.ok(eventName === 'INSERT' || eventName === 'MODIFY');
      assert.ok(dynamodb.ApproximateCreationDateTime instanceof Date);
      const key = dynamodb.NewImage.pk.S;
      if (!seen.has(key)) seen.set(key, []);
      seen.get(key).push(Number(dynamodb.NewImage.n.N));
    }
    if (page.NextShardIterator && page.Records.length === 0) return false;
    ShardIterator = page.NextShardIterator;
  }
  return true;
}

async function rolledStream() {
  await items.send(new CreateTableCommand({
    TableName, BillingMode: 'PAY_PER_REQUEST', AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' },
  }));
  await waitUntilTableExists({ client: items, maxWaitTime: 60 }, { TableName });
  const { Streams } = await streams.send(new ListStreamsCommand({ TableName }));
  assert.equal(Streams.length, 1);
  const arn = Streams[0].StreamArn;
  const first = new Set((await shardsOf(arn)).map((shard) => shard.ShardId));
  while (!(await shardsOf(arn)).some((shard) => first.has(shard.ParentShardId))) {
    for (let i = 0; i < 10; i += 1) await write();
  }
  await write();
  const seen = new Map();
  const ended = new Set();
  for (const { ShardId, ParentShardId } of await shardsOf(arn)) {  // parents before children
    assert.ok(ParentShardId === undefined || ended.has(ParentShardId), ShardId);
    if (await readShard(arn, ShardId, seen)) ended.add(ShardId);
  }
  for (const shard of first) assert.ok(ended.has(shard), `${shard} has an end`);
  const all = [...seen.values()].flat().sort((a, b) => a - b);
  assert.deepEqual(all, Array.from({ length: written }, (_, i) => i + 1));
  for (const numbers of seen.values()) assert.deepEqual(numbers, [...numbers].sort((a, b) => a - b));
}

async function policies() {
  const ResourceArn = `arn:aws:dynamodb:local:000000000000:table/${TableName}`;
  const Policy = JSON.stringify({
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow', Principal: '*', Action: 'dynamodb:GetItem', Resource: ResourceArn }],
  });
  const put = await items.send(new PutResourcePolicyCommand({ ResourceArn, Policy }));
  const got = await items.send(new GetResourcePolicyCommand({ ResourceArn }));
  assert.equal(got.Policy, Policy);
  assert.equal(got.RevisionId, put.RevisionId);
  await items.send(new DeleteResourcePolicyCommand({ ResourceArn, ExpectedRevisionId: put.RevisionId }));
  await assert.rejects(items.send(new GetResourcePolicyCommand({ ResourceArn })),
                       (error) => error instanceof PolicyNotFoundException);
}

await rolledStream();
await policies();
console.log(`javascript streams: all passed, ${written} records`);
