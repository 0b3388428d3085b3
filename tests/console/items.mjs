// Items in the console: put, queried by an index of four attributes, changed, in conflict with others, deleted, exported.

import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import { button, call, createTable, editor, field, gridRows, open, withBrowser } from './browser.mjs';

const NUMBER = '12345678901234567890123456789012345678';
const SCRIPT = '<img src=x onerror="alert(1)">';
const get = async (id) => (await call('GetItem', { TableName: 'orders', Key: { id: { S: id } }, ConsistentRead: true })).Item;
const openItem = async (page, id) => {
  await page.getByRole('button', { name: id, exact: true }).click();
  await editor(page).waitFor();
};

async function prepare() {
  await createTable('orders', [['id', 'S']], {
    AttributeDefinitions: [['id', 'S'], ['customer', 'S'], ['status', 'S'], ['at', 'N'], ['amount', 'N']]
      .map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
    GlobalSecondaryIndexes: [{ IndexName: 'ByFour', Projection: { ProjectionType: 'KEYS_ONLY' }, KeySchema: [
      ['customer', 'HASH'], ['status', 'RANGE'], ['at', 'RANGE'], ['amount', 'RANGE'],
    ].map(([AttributeName, KeyType]) => ({ AttributeName, KeyType })) }],
  });
}

async function putsItems(page) {
  await open(page, '#/tables/orders/items');
  await page.getByText('There are no items yet').waitFor();
  for (const [id, amount] of [['one', '10'], ['two', '20'], ['three', NUMBER]]) {
    await button(page, 'New item').click();
    await editor(page).fill(`{"id": "${id}", "customer": "c1", "status": "open", "at": 7, "amount": ${amount}, "tags": {"SS": ["a", "b"]},
      "nothing": null, "bytes": {"B": "aGk="}, "deep": {"list": [1, {"S": "typed"}, true]}}`);
    await button(page, 'Save').click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  }
  assert.equal(await gridRows(page).count(), 3, 'new items are there without a scan');
  assert.deepEqual(await get('three'), {
    id: { S: 'three' }, customer: { S: 'c1' }, status: { S: 'open' }, at: { N: '7' }, amount: { N: NUMBER }, tags: { SS: ['a', 'b'] },
    nothing: { NULL: true }, bytes: { B: 'aGk=' }, deep: { M: { list: { L: [{ N: '1' }, { S: 'typed' }, { BOOL: true }] } } } });
  // A new item never takes the place of another.
  await button(page, 'New item').click();
  await editor(page).fill('{"id": "one"}');
  await button(page, 'Save').click();
  await page.getByText('There is an item with this key already').waitFor();
  await editor(page).fill('{"id": "one", }');
  await page.getByText('The name of a member is missing (line 1, column 15)').waitFor();
  assert.equal(await button(page, 'Save').isDisabled(), true);
  await page.keyboard.press('Escape');
  await button(page, 'Scan').click();
  await page.getByText('3 items', { exact: true }).waitFor();
}

async function queriesAnIndex(page) {
  await field(page, 'Read from').selectOption('ByFour');
  assert.equal(await field(page, 'at').isDisabled(), true);
  await field(page, 'customer').fill('c1');
  await field(page, 'status').fill('open');
  await field(page, 'at').fill('7');
  await field(page, 'Condition on amount').selectOption('between');
  await field(page, 'amount, from').fill('15');
  await field(page, 'amount, to').fill('25');
  await button(page, 'Query').click();
  await page.getByText('1 item', { exact: true }).waitFor();
  await button(page, 'Code').click();
  for (const [form, text] of [['JSON', '#a3 BETWEEN :v3 AND :v4'], ['Command line', 'aws dynamodb query'], ['Python', 'client.query('],
    ['JavaScript', 'new QueryCommand('], ['Go', 'dynamodb.QueryInput{'], ['Java', 'QueryRequest.builder()']]) {
    await button(page, form).click();
    await page.locator('pre').getByText(text).waitFor();
  }
  await page.keyboard.press('Escape');
  await field(page, 'Condition on at').selectOption('<');
  await field(page, 'amount, from').waitFor({ state: 'attached' });
  await button(page, 'Query').click();
  await page.getByRole('alert').getByText('Only the last attribute has a range: at needs =').waitFor();
  await field(page, 'Condition on at').selectOption('=');
  await field(page, 'amount, from').fill('');
  await field(page, 'Condition on status').selectOption('begins_with');
  await field(page, 'at').fill('');
  await button(page, 'Add filter').click();
  await field(page, 'Filter 1, attribute').fill('amount');
  await field(page, 'Filter 1, condition').selectOption('<');
  await field(page, 'Filter 1, type').selectOption('N');
  await field(page, 'Filter 1, value').fill('100');
}

async function editsWithConflicts(page) {
  await open(page, '#/tables');
  await open(page, '#/tables/orders/items');
  await openItem(page, 'one');
  // Others change another attribute: both changes are kept.
  await call('UpdateItem', { TableName: 'orders', Key: { id: { S: 'one' } }, UpdateExpression: 'SET remark = :o',
    ExpressionAttributeValues: { ':o': { S: 'theirs' } } });
  await editor(page).fill((await editor(page).inputValue()).replace('"amount": 10', '"amount": 11.50'));
  await button(page, 'Save').click();
  await page.getByText('Others have changed remark meanwhile').waitFor();
  assert.deepEqual([(await get('one')).amount, (await get('one')).remark], [{ N: '11.5' }, { S: 'theirs' }]);
  // Others change the same attribute: nothing is saved, and both versions are shown.
  await call('UpdateItem', { TableName: 'orders', Key: { id: { S: 'one' } }, UpdateExpression: 'SET amount = :a',
    ExpressionAttributeValues: { ':a': { N: '99' } } });
  await editor(page).fill((await editor(page).inputValue()).replace('11.5', '12'));
  await button(page, 'Save').click();
  const row = page.getByRole('dialog').getByRole('row', { name: /amount/ });
  await row.waitFor();
  assert.deepEqual(await row.getByRole('cell').allTextContents(), ['11.5', '99', '12']);
  assert.deepEqual((await get('one')).amount, { N: '99' });
  await button(page, 'Go on with my changes').click();
  await button(page, 'Save').click();
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  assert.deepEqual((await get('one')).amount, { N: '12' });
  // Others delete it.
  await openItem(page, 'two');
  await call('DeleteItem', { TableName: 'orders', Key: { id: { S: 'two' } } });
  await editor(page).fill((await editor(page).inputValue()).replace('"amount": 20', '"amount": 21'));
  await button(page, 'Save').click();
  await page.getByText('The item was deleted meanwhile').waitFor();
  await button(page, 'Keep my version').click();
  await button(page, 'Save as a new item').click();
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  assert.deepEqual((await get('two')).amount, { N: '21' });
}

// Names and values that are markup, or members of every object, are texts.
async function showsHostileItems(page) {
  await call('PutItem', { TableName: 'orders', Item: { id: { S: SCRIPT }, [SCRIPT]: { S: SCRIPT }, ['__proto__']: { S: 'p' },
    constructor: { M: { [SCRIPT]: { SS: [SCRIPT, '"><script>alert(2)</script>'] } } }, toString: { N: '1' }, '=1+1': { S: '=1+1' } } });
  await button(page, 'Scan').click();
  await page.getByText('4 items', { exact: true }).waitFor();
  await openItem(page, SCRIPT);
  const item = JSON.parse(await editor(page).inputValue());
  assert.equal(item[SCRIPT], SCRIPT);
  await editor(page).fill((await editor(page).inputValue()).replace('"toString": 1', '"toString": 2'));
  await button(page, 'Save').click();
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  assert.deepEqual((await get(SCRIPT)).toString, { N: '2' });
  assert.equal(await page.locator('img').count(), 1, 'only the sign of the console is an image');
}

async function exportsAndDeletes(page) {
  await button(page, 'Export…').click();
  const [saved] = await Promise.all([page.waitForEvent('download'), button(page, 'JSON lines, typed').click()]);
  const lines = (await fs.readFile(await saved.path(), 'utf8')).trimEnd().split('\n').map((line) => JSON.parse(line));
  assert.deepEqual(lines.map((line) => line.id.S).sort(), [SCRIPT, 'one', 'three', 'two']);
  for (const id of ['two', 'three']) {
    await page.getByRole('row', { name: new RegExp(`\\b${id}\\b`) }).getByRole('checkbox').check();
  }
  // An edit moves rows, so nothing stays selected.
  await page.getByText('2 selected').waitFor();
  await openItem(page, 'one');
  await editor(page).fill((await editor(page).inputValue()).replace('"amount": 12', '"amount": 13'));
  await button(page, 'Save').click();
  await page.getByText('2 selected').waitFor({ state: 'hidden' });
  for (const id of ['two', 'three']) {
    await page.getByRole('row', { name: new RegExp(`\\b${id}\\b`) }).getByRole('checkbox').check();
  }
  await button(page, 'Delete selected…').click();
  await button(page, 'Delete from orders').click();
  await page.getByText('2 items', { exact: true }).waitFor();
  assert.equal((await call('Scan', { TableName: 'orders', Select: 'COUNT' })).Count, 2);
}

// Rows beyond the first page come while one scrolls, and cells hold the begin of large values only.
async function readsLargeTables(page) {
  await createTable('large', [['id', 'S'], ['at', 'N']]);
  const text = 'x'.repeat(100_000);
  for (let i = 0; i < 100; i += 1) await call('PutItem', { TableName: 'large', Item: { id: { S: 'p' }, at: { N: String(i) }, text: { S: text } } });
  await open(page, '#/tables/large/items');
  await gridRows(page).first().waitFor();
  const grid = page.getByRole('grid');
  const begin = Date.now();
  while (!(await page.getByText('100 items', { exact: true }).isVisible())) {
    await grid.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    assert.ok(Date.now() - begin < 60_000, 'the rows do not come');
  }
  assert.ok((await gridRows(page).count()) < 80, 'rows that are not visible exist');
  assert.ok((await grid.evaluate((element) => element.outerHTML.length)) < 500_000);
  await page.getByRole('button', { name: 'Columns: 3 of 3' }).click();
  await field(page, 'text').uncheck();
  await button(page, 'Done').click();
  await page.getByRole('button', { name: 'Columns: 2 of 3' }).waitFor();
}

async function runsStatements(page) {
  await open(page, '#/partiql');
  await field(page, 'Statement').fill('SELECT * FROM orders WHERE id = \'one\'');
  await page.keyboard.press('Control+Enter');
  await page.getByText('1 item', { exact: true }).waitFor();
  await field(page, 'Statement').fill('SELEKT');
  await button(page, 'Run').click();
  await page.getByRole('alert').waitFor();
  await page.getByText('History (2)').click();
  await button(page, "SELECT * FROM orders WHERE id = 'one'").click();
  assert.match(await field(page, 'Statement').inputValue(), /^SELECT/);
}

await prepare();
await withBrowser(async (newPage) => {
  const page = await newPage();
  page.expected = /status of 400/;  // of the refusals
  await putsItems(page);
  await queriesAnIndex(page);
  await editsWithConflicts(page);
  await showsHostileItems(page);
  await exportsAndDeletes(page);
  await readsLargeTables(page);
  await runsStatements(page);
});
console.log('items: all passed');
