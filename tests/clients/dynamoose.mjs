// dynamoose's models against the daemon at $ENDPOINT.

import assert from 'node:assert/strict';
import dynamoose from 'dynamoose';

dynamoose.aws.ddb.set(new dynamoose.aws.ddb.DynamoDB({ endpoint: process.env.ENDPOINT, region: 'local' }));

const schema = new dynamoose.Schema({
  customer: { type: String, hashKey: true },
  number: { type: Number, rangeKey: true },
  status: { type: String, default: 'new', index: { name: 'ByStatus', type: 'global', rangeKey: 'amount' } },
  amount: Number,
  tags: { type: Set, schema: [String] },
  address: { type: Object, schema: { city: String, lines: { type: Array, schema: [String] } } },
  placed: Date,
});
const Order = dynamoose.model('Order', schema);
const table = new dynamoose.Table('dynamoose_orders', [Order], {
  create: false, waitForActive: false, throughput: 'ON_DEMAND',
});

async function items() {
  const order = {
    customer: 'ann', number: 1, amount: 12.5, tags: new Set(['a', 'b']), address: { city: 'Köln', lines: ['', 'x'] },
    placed: new Date('2025-11-04T12:00:00Z'),
  };
  await Order.create(order);
  const got = await Order.get({ customer: 'ann', number: 1 }, { consistent: true });
  assert.deepEqual({ ...got }, { ...order, status: 'new' });
  // create() expects that there is none.
  await assert.rejects(Order.create(order), (error) => error.name === 'ConditionalCheckFailedException');
  const updated = await Order.update({ customer: 'ann', number: 1 }, { $ADD: { amount: 1 }, $SET: { status: 'paid' } },
    { condition: new dynamoose.Condition().where('status').eq('new') });
  assert.deepEqual([updated.amount, updated.status], [13.5, 'paid']);
  await Order.delete({ customer: 'ann', number: 1 });
  assert.equal(await Order.get({ customer: 'ann', number: 1 }), undefined);
}

async function pages() {
  const written = await Order.batchPut(Array.from({ length: 25 }, (_, number) => ({
    customer: 'bob', number, amount: number, status: number % 2 ? 'paid' : 'new',
  })));
  assert.deepEqual(written.unprocessedItems, []);
  const counts = [];
  let startAt;
  do {
    let query = Order.query('customer').eq('bob').limit(10);
    if (startAt) query = query.startAt(startAt);
    const page = await query.exec();
    counts.push(page.count);
    startAt = page.lastKey;
  } while (startAt);
  assert.deepEqual(counts, [10, 10, 5]);
  const paid = await Order.query('status').eq('paid').where('amount').between(3, 8).sort('descending').using('ByStatus').exec();
  assert.deepEqual(paid.map((order) => order.number), [7, 5, 3]);
  assert.equal((await Order.scan('amount').ge(20).all().exec()).count, 5);
  assert.equal((await Order.batchGet([{ customer: 'bob', number: 1 }, { customer: 'nobody', number: 2 }])).length, 1);
}

async function transactions() {
  const move = () => dynamoose.transaction([
    Order.transaction.create({ customer: 'cid', number: 1, amount: 1 }),
    Order.transaction.update({ customer: 'bob', number: 0 }, { $ADD: { amount: 5 } }),
    Order.transaction.delete({ customer: 'bob', number: 1 }),
  ]);
  await move();
  await assert.rejects(move(), (error) => error.name === 'TransactionCanceledException'
    && error.CancellationReasons[0].Code === 'ConditionalCheckFailed');
  const [cid, bob] = await dynamoose.transaction([
    Order.transaction.get({ customer: 'cid', number: 1 }), Order.transaction.get({ customer: 'bob', number: 0 })]);
  assert.deepEqual([cid.status, bob.amount], ['new', 5]);
}

await table.create();
while ((await dynamoose.aws.ddb().describeTable({ TableName: table.name })).Table.TableStatus !== 'ACTIVE');
await items();
await pages();
await transactions();
await dynamoose.aws.ddb().deleteTable({ TableName: table.name });
console.log('dynamoose: all passed');
