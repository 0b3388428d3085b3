// Tables in the console: a new one with an index of four sort attributes, its structure and definition, its deletion.

import assert from 'node:assert/strict';
import { button, call, createTable, ENDPOINT, field, open, tabTo, withBrowser } from './browser.mjs';

async function fillForm(page) {
  await field(page, 'Name of the table').fill('orders');
  await field(page, 'Table partition key, attribute 1').fill('id');
  await button(page, 'Add a global index').click();
  const index = page.getByRole('region', { name: 'Index 1' });
  await index.getByLabel('Name of the index').fill('ByAll');
  await index.getByLabel('Partition key, attribute 1').fill('customer');
  await index.getByRole('button', { name: 'Add an attribute' }).first().click();
  await index.getByLabel('Partition key, attribute 2').fill('region');
  for (const [i, [name, type]] of [['status', 'S'], ['at', 'N'], ['amount', 'N'], ['note', 'S']].entries()) {
    await index.getByRole('button', { name: /^Add a/ }).last().click();
    await index.getByLabel(`Sort key, attribute ${i + 1}`).fill(name);
    await index.getByLabel(`Sort key, type ${i + 1}`).selectOption(type);
  }
  // Four are all that there may be.
  assert.equal(await index.getByRole('button', { name: /^Add a/ }).count(), 1);
}

async function createsTables(page) {
  await open(page);
  await page.getByText('There are no tables yet').waitFor();
  await page.getByRole('link', { name: 'Create table' }).first().click();
  await page.getByRole('button', { name: 'Create table' }).click();
  await page.getByRole('alert').getByText('The table has no name yet.').waitFor();
  await fillForm(page);
  await page.getByText('--cli-input-json').waitFor();
  await page.getByRole('button', { name: 'Create table' }).click();
  await page.getByText('ByAll').waitFor();
  const { Table } = await call('DescribeTable', { TableName: 'orders' });
  assert.deepEqual(Table.GlobalSecondaryIndexes[0].KeySchema.map((each) => `${each.AttributeName} ${each.KeyType}`),
    ['customer HASH', 'region HASH', 'status RANGE', 'at RANGE', 'amount RANGE', 'note RANGE']);
}

async function showsDefinitions(page) {
  await page.getByRole('link', { name: 'Definition' }).click();
  await button(page, 'JSON').click();
  const definition = JSON.parse(await page.locator('pre').textContent());
  await call('CreateTable', { ...definition, TableName: 'orders-copy' });
  for (const form of ['CloudFormation', 'Terraform']) {
    await button(page, form).click();
    await page.locator('pre').getByText('ByAll').waitFor();
  }
}

async function deletesTables(page) {
  await open(page, '#/tables/orders-copy/structure');
  await button(page, 'Delete table…').click();
  const last = button(page, 'Delete the table');
  await field(page, 'Type the name of the table').fill('orders');
  assert.equal(await last.isDisabled(), true);
  await field(page, 'Type the name of the table').fill('orders-copy');
  await last.click();
  await page.getByRole('heading', { name: 'Tables' }).waitFor();
  await page.getByRole('link', { name: 'orders', exact: true }).waitFor();
  assert.deepEqual((await call('ListTables', {})).TableNames, ['orders']);
}

// Pages of ListTables are joined, and only visible tables are described.
async function listsManyTables(page) {
  for (let i = 0; i < 230; i += 1) await createTable(`many-${String(i).padStart(3, '0')}`, [['id', 'S']]);
  const described = [];
  page.on('request', (request) => {
    if (request.headers()['x-amz-target']?.endsWith('DescribeTable')) described.push(request.postDataJSON().TableName);
  });
  await open(page);
  await page.getByText('231 tables', { exact: true }).waitFor();
  await page.getByRole('row', { name: /many-005 active 0 0 B –/ }).waitFor();
  assert.ok(described.length < 60, `${described.length} tables were described`);
  await page.keyboard.press('/');
  await page.keyboard.type('Y-22');
  await page.getByText('10 of 231 tables').waitFor();
  await page.getByRole('row', { name: /many-229 active/ }).waitFor();
  await page.keyboard.type('nothing');
  await page.getByText('No name contains “Y-22nothing”').waitFor();
}

// Ten thousand names, in place of the daemon's: few of them exist in the page, and only those are described.
async function listsTenThousandTables(page) {
  const names = Array.from({ length: 10_000 }, (_, i) => `table-${String(i).padStart(5, '0')}`);
  let described = 0;
  await page.route(`${ENDPOINT}/`, async (route) => {
    const target = route.request().headers()['x-amz-target'] ?? '';
    if (target.endsWith('DescribeTable')) described += 1;
    if (!target.endsWith('ListTables')) return route.continue();
    const start = names.indexOf(route.request().postDataJSON().ExclusiveStartTableName) + 1;
    const TableNames = names.slice(start, start + 100);
    const LastEvaluatedTableName = start + 100 < names.length ? TableNames.at(-1) : undefined;
    return route.fulfill({ json: { TableNames, LastEvaluatedTableName } });
  });
  await open(page, '#/activity');
  await open(page, '#/tables');
  await page.getByText('10,000 tables', { exact: true }).waitFor();
  const list = page.getByRole('table', { name: 'Tables' });
  const longest = await list.evaluate(async (element) => {
    let most = 0;
    for (let part = 0; part <= 40; part += 1) {
      const begin = performance.now();
      element.scrollTop = (element.scrollHeight * part) / 40;
      await new Promise((resolve) => { requestAnimationFrame(() => setTimeout(resolve)); });
      most = Math.max(most, performance.now() - begin);
    }
    return most;
  });
  await page.getByRole('link', { name: 'table-09999' }).waitFor();
  assert.ok(longest < 1000, `a step of scrolling takes ${longest} ms`);
  assert.ok((await list.getByRole('row').count()) < 80);
  assert.ok(described < 1000, `${described} tables were described`);
  await page.unroute(`${ENDPOINT}/`);
}

// Everything without a pointer: from the list into an item, and back.
async function isUsableByKeyboard(page) {
  await call('PutItem', { TableName: 'orders', Item: { id: { S: 'one' } } });
  await open(page, '#/tables');
  await page.reload();
  await page.getByText('231 tables', { exact: true }).waitFor();
  const tabUntil = (locator) => tabTo(page, locator);
  await page.keyboard.press('/');
  await page.keyboard.type('orders');
  await tabUntil(page.getByRole('link', { name: 'orders', exact: true }));
  await page.keyboard.press('Enter');
  const cell = button(page, 'one');
  await cell.waitFor();
  await tabUntil(cell);
  await page.keyboard.press('Enter');
  const item = page.getByLabel('Item as JSON');
  await item.waitFor();
  await page.locator('textarea:focus').waitFor();
  await page.keyboard.press('Control+A');
  await page.keyboard.type('{"id": "one", "by": "keyboard"}');
  await page.keyboard.press('Control+Enter');
  await item.waitFor({ state: 'hidden' });
  const { Item } = await call('GetItem', { TableName: 'orders', Key: { id: { S: 'one' } } });
  assert.deepEqual(Item.by, { S: 'keyboard' });
  assert.equal(await cell.evaluate((element) => element === document.activeElement), true, 'the focus returns');
}

await withBrowser(async (newPage) => {
  const page = await newPage();
  await createsTables(page);
  await showsDefinitions(page);
  await deletesTables(page);
  await listsManyTables(page);
  await isUsableByKeyboard(page);
  page.expected = /status of 400/;  // most of these tables do not exist
  await listsTenThousandTables(page);
});
console.log('tables: all passed');
