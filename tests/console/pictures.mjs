// Every view on a wide screen in light and on a narrow one in dark; with $ALL on both screens in both themes. A picture of
// each in $PICTURES, and what axe-core says of its accessibility.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { button, call, createTable, editor, gridRows, open, withBrowser } from './browser.mjs';

const { ALL, DEMO, PICTURES } = process.env;
const axe = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const LOOKS = [[1280, 800, 'light'], [390, 780, 'dark'], ...(ALL ? [[1280, 800, 'dark'], [390, 780, 'light']] : [])];

async function prepare() {
  for (const name of ['orders-table', 'GameScores', 'Business', 'Thread']) {
    await call('CreateTable', JSON.parse(fs.readFileSync(path.join(DEMO, `${name}.table.json`), 'utf8')));
    const lines = fs.readFileSync(path.join(DEMO, `${name}.items.jsonl`), 'utf8').split('\n').filter(Boolean);
    for (const line of lines) await call('PutItem', { TableName: name, Item: JSON.parse(line) });
  }
  await createTable('devices', [['tenant', 'S'], ['at', 'N']]);
  for (let i = 0; i < 40; i += 1) {
    await call('PutItem', { TableName: 'devices', Item: {
      tenant: { S: `tenant-${i % 3}` }, at: { N: String(1764500000 + i) }, state: { S: ['on', 'off', 'lost'][i % 3] },
      load: { N: (i * 1.37).toFixed(2) }, ...(i % 4 === 0 ? { tags: { SS: ['indoor', 'north'] } } : {}),
      ...(i % 5 === 0 ? { owner: { NULL: true } } : {}), ...(i % 6 === 0 ? { place: { M: { city: { S: 'Köln' }, floor: { N: '3' } } } } : {}),
    } });
  }
}

// Name of a view -> opens it.
const VIEWS = {
  tables: async (page) => {
    await open(page, '#/tables');
    await page.getByRole('row', { name: /orders-table active 3/ }).waitFor();
  },
  items: async (page) => {
    await open(page, '#/tables/devices/items');
    await gridRows(page).first().waitFor();
  },
  query: async (page) => {
    await open(page, '#/tables/orders-table/items');
    await page.getByLabel('Read from', { exact: true }).selectOption('OrdersByStatusDateAmount');
    const fields = button(page, 'Fields');
    if (await fields.isVisible()) await fields.click();
    await page.getByLabel('customer_id', { exact: true }).fill('1A2B3C');
    await page.getByLabel('status', { exact: true }).fill('PENDING');
    await button(page, 'Add filter').click();
    await button(page, 'Query').click();
    await gridRows(page).first().waitFor();
  },
  editor: async (page) => {
    await open(page, '#/tables/devices/items');
    await gridRows(page).first().getByRole('button').click();
    await editor(page).waitFor();
  },
  conflict: async (page) => {
    await VIEWS.editor(page);
    const text = await editor(page).inputValue();
    const { tenant, at } = JSON.parse(text);
    const load = String(Date.now());
    await call('UpdateItem', { TableName: 'devices', Key: { tenant: { S: tenant }, at: { N: String(at) } },
      UpdateExpression: 'SET #l = :l', ExpressionAttributeNames: { '#l': 'load' }, ExpressionAttributeValues: { ':l': { N: load } } });
    await editor(page).fill(text.replace(/"load": [0-9.]+/, '"load": 7'));
    await button(page, 'Save').click();
    await page.getByText('Somebody has changed the item').waitFor();
  },
  code: async (page) => {
    await VIEWS.query(page);
    await button(page, 'Code').click();
    await button(page, 'Python').click();
  },
  structure: async (page) => {
    await open(page, '#/tables/orders-table/structure');
    await page.getByText('Protected from deletion').waitFor();
  },
  delete_table: async (page) => {
    await VIEWS.structure(page);
    await button(page, 'Delete table…').click();
  },
  definition: async (page) => {
    await open(page, '#/tables/orders-table/definition');
    await button(page, 'Terraform').click();
  },
  create: async (page) => {
    await open(page, '#/create');
    await page.getByLabel('Name of the table', { exact: true }).fill('orders');
    await button(page, 'Add a global index').click();
    await page.getByLabel('Name of the index').fill('ByStatus');
  },
  partiql: async (page) => {
    await open(page, '#/partiql');
    await page.getByLabel('Statement', { exact: true }).fill('SELECT * FROM "orders-table"');
    await button(page, 'Run').click();
    await gridRows(page).first().waitFor();
  },
  activity: async (page) => {
    await open(page, '#/activity');
    await page.locator('.plot canvas').first().waitFor();
  },
  missing: async (page) => {
    await open(page, '#/tables/nothing-here/items');
    await page.getByRole('alert').waitFor();
  },
};

async function findingsOf(page) {
  // The policy of the page has no place for the script of the checker, so it comes by way of the debugger.
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] }));
  return violations.map((each) => `${each.id}: ${each.help}: ${each.nodes.slice(0, 3).map((node) => node.html).join(' ')}`);
}

await prepare();
const findings = [];
await withBrowser(async (newPage) => {
  for (const [width, height, colorScheme] of LOOKS) {
    const page = await newPage({ viewport: { width, height }, colorScheme });
    page.expected = /status of 400/;
    for (const [name, show] of Object.entries(VIEWS)) {
      await page.goto('about:blank');
      await show(page);
      await page.screenshot({ path: path.join(PICTURES, `${name}-${width}-${colorScheme}.png`) });
      const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (wider > 0) findings.push(`${name} ${width}: ${wider} pixels wider than the screen`);
      findings.push(...(await findingsOf(page)).map((each) => `${name} ${width} ${colorScheme}: ${each}`));
    }
  }
});
assert.deepEqual(findings, []);
console.log('pictures: all passed');
