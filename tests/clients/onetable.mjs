// DynamoDB OneTable, several entities in one table, against the daemon at $ENDPOINT.

import assert from 'node:assert/strict';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { Table } from 'dynamodb-onetable';
import { Dynamo } from 'dynamodb-onetable/Dynamo';

const client = new Dynamo({ client: new DynamoDBClient({ endpoint: process.env.ENDPOINT, region: 'local' }) });
const table = new Table({
  client, name: 'onetable', partial: true,
  schema: {
    format: 'onetable:1.1.0', version: '0.0.1',
    indexes: { primary: { hash: 'pk', sort: 'sk' }, gs1: { hash: 'gs1pk', sort: 'gs1sk', project: 'all' } },
    models: {
      Account: {
        pk: { type: String, value: 'account#${name}' },
        sk: { type: String, value: 'account#' },
        name: { type: String, required: true },
        balance: { type: Number, default: 0 },
        email: { type: String, unique: true },
      },
      Order: {
        pk: { type: String, value: 'account#${account}' },
        sk: { type: String, value: 'order#${id}' },
        gs1pk: { type: String, value: 'status#${status}' },
        gs1sk: { type: String, value: 'order#${id}' },
        account: { type: String, required: true },
        id: { type: String, required: true },
        status: { type: String, enum: ['new', 'paid'], default: 'new' },
        tags: { type: Set },
        placed: { type: Date },
        address: { type: Object, schema: { city: { type: String }, zip: { type: String } } },
      },
    },
    params: { isoDates: true, timestamps: true },
  },
});
const Account = table.getModel('Account');
const Order = table.getModel('Order');
const isRefused = (error) => error.code === 'ConditionalCheckFailedException' || error.name === 'ConditionalCheckFailedException';

async function items() {
  const order = {
    account: 'ann', id: '01', tags: new Set(['a', 'b']), placed: new Date('2025-11-04T12:00:00Z'),
    address: { city: 'Köln', zip: '50667' },
  };
  await Order.create(order);
  const got = await Order.get({ account: 'ann', id: '01' }, { consistent: true });
  assert.deepEqual([got.status, got.tags, got.placed, got.address], ['new', order.tags, order.placed, order.address]);
  await assert.rejects(Order.create(order));  // exists
  const updated = await Order.update({ account: 'ann', id: '01', status: 'paid', address: { city: 'Bonn' } },
    { where: '${status} = {new}', return: 'get' });
  assert.deepEqual([updated.status, updated.address], ['paid', { city: 'Bonn', zip: '50667' }]);
  await assert.rejects(Order.update({ account: 'ann', id: '01', status: 'paid' }, { where: '${status} = {new}' }), isRefused);
  await Order.remove({ account: 'ann', id: '01' });
  assert.equal(await Order.get({ account: 'ann', id: '01' }), undefined);
}

async function pages() {
  const batch = {};
  for (let i = 0; i < 25; ++i) {
    await Order.create({ account: 'bob', id: String(i).padStart(2, '0'), status: i % 2 ? 'paid' : 'new' }, { batch });
  }
  await table.batchWrite(batch);
  await Account.create({ name: 'bob', email: 'bob@example.com' });
  const counts = [];
  let next;
  do {
    const page = await Order.find({ account: 'bob' }, { limit: 10, next });
    counts.push(page.length);
    next = page.next;
  } while (next);
  assert.deepEqual(counts, [10, 10, 5]);
  const paid = await Order.find({ status: 'paid', gs1sk: { begins: 'order#1' } }, { index: 'gs1', reverse: true });
  assert.deepEqual(paid.map((order) => order.id), ['19', '17', '15', '13', '11']);
  const all = await table.fetch(['Account', 'Order'], { pk: 'account#bob' });
  assert.deepEqual([all.Account.length, all.Order.length], [1, 25]);
  assert.equal((await Order.scan({ status: 'new' })).length, 13);
}

async function transactions() {
  // An attribute that is unique: a transaction with an item of its own.
  await assert.rejects(Account.create({ name: 'rob', email: 'bob@example.com' }), /unique/i);
  assert.equal(await Account.get({ name: 'rob' }), undefined);
  const move = async () => {
    const transaction = {};
    await Account.create({ name: 'cid', email: `${Math.random()}` }, { transaction, exists: false });
    await Account.update({ name: 'bob' }, { add: { balance: 5 }, transaction });
    await Order.remove({ account: 'bob', id: '00' }, { transaction });
    await table.transact('write', transaction);
  };
  await move();
  await assert.rejects(move(), (error) => error.code === 'TransactionCanceledException' || /ConditionalCheckFailed/.test(error.message));
  assert.deepEqual([(await Account.get({ name: 'bob' })).balance, (await Order.find({ account: 'bob' })).length], [5, 24]);
}

await table.createTable();
assert.ok(await table.exists());
await items();
await pages();
await transactions();
await table.deleteTable('DeleteTableForever');
console.log('onetable: all passed');
