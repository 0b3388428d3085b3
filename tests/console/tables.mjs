// Tables in the console: a new one with an index of four sort attributes, its structure and definition, its deletion.

import assert from 'node:assert/strict';
import { button, call, createTable, field, open, withBrowser } from './browser.mjs';

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

await withBrowser(async (newPage) => {
  const page = await newPage();
  await createsTables(page);
  await showsDefinitions(page);
  await deletesTables(page);
  await listsManyTables(page);
});
console.log('tables: all passed');
