// Every view on a wide screen in light and on a narrow one in dark; with $ALL on both screens in both themes. A picture of
// each in $PICTURES, and what axe-core says of its accessibility.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { button, call, createTable, editor, ENDPOINT, gridRows, open, withBrowser } from './browser.mjs';

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

const MIB = 1 << 20;

// Returns when it can be restored: one backup is made at a time.
async function createBackup(TableName, BackupName) {
  const { BackupDetails: { BackupArn } } = await call('CreateBackup', { TableName, BackupName });
  while ((await call('DescribeBackup', { BackupArn })).BackupDescription.BackupDetails.BackupStatus !== 'AVAILABLE');
}

// A stream with changes, backups, jobs, a policy.
async function prepareChanges() {
  await call('UpdateTable', { TableName: 'Thread', StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' } });
  const key = { ForumName: { S: 'Amazon S3' }, Subject: { S: 'About the stream' } };
  for (const [views, more] of [[1, {}], [2, { Answered: { BOOL: true } }], [3, { Tags: { SS: ['new', 'read'] } }]]) {
    await call('PutItem', { TableName: 'Thread', Item: { ...key, Views: { N: String(views) }, LastPostedBy: { S: 'User A' }, ...more } });
  }
  await call('DeleteItem', { TableName: 'Thread', Key: key });
  for (const name of ['before-the-release', 'friday', 'saturday']) {
    await createBackup('orders-table', name);
  }
  const { Table: { TableArn } } = await call('DescribeTable', { TableName: 'devices' });
  await call('TagResource', { ResourceArn: TableArn, Tags: [{ Key: 'team', Value: 'fleet' }, { Key: 'stage', Value: 'production' }] });
  await call('PutResourcePolicy', { ResourceArn: TableArn, Policy: JSON.stringify({ Version: '2012-10-17', Statement: [
    { Sid: 'Readers', Effect: 'Allow', Principal: { AWS: ['AKREADER'] }, Action: ['dynamodb:GetItem', 'dynamodb:Query'], Resource: TableArn }] }) });
  await call('UpdateContinuousBackups', { TableName: 'devices', PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } });
  for (const S3Bucket of ['nightly', 'nothing-there']) {
    await call('ExportTableToPointInTime', { TableArn, S3Bucket, S3Prefix: 'devices' });
  }
}

// Trouble that no daemon of a test has: lines in place of the daemon's own.
const TROUBLE = () => `armature_disk_free_bytes ${900 * MIB}
armature_disk_total_bytes ${200 << 10}000000
armature_disk_reserve_bytes ${500 * MIB}
armature_gsi_lag_seconds{table="orders-table",index="OrdersByStatusDateAmount"} 40
armature_archive_paused 1
armature_archive_lag_seconds 420
armature_tls_certificate_expiry_timestamp_seconds{certificate="server"} ${Date.now() / 1000 + 6 * 86400}
`;

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
  settings: async (page) => {
    await open(page, '#/tables/devices/settings');
    await page.getByLabel('Value 2').waitFor();
    await page.getByText('Off. Items stay until they are deleted.').waitFor();
  },
  new_index: async (page) => {
    await open(page, '#/tables/orders-table/settings');
    await button(page, 'Add an index…').click();
    await page.getByLabel('Name of the index').fill('ByRegion');
    await button(page, 'Add the index').click();
    await page.getByText('An attribute of the key of ByRegion has no name yet.').waitFor();
  },
  building: async (page) => {
    await page.route('**/console/indexes/*', (route) => route.fulfill({ json: { Indexes: [{ TableName: 'GameScores', IndexName: 'ByTopScore',
      Build: { ItemsRead: 41000, ItemsTotal: 128000, ItemsSkipped: 12, SecondsLeft: 37 } }] } }));
    await page.route(`${ENDPOINT}/`, async (route) => {
      if (!route.request().headers()['x-amz-target']?.endsWith('DescribeTable')) return route.continue();
      const answer = await route.fetch();
      const document = await answer.json();
      document.Table.GlobalSecondaryIndexes = [{ IndexName: 'ByTopScore', IndexStatus: 'CREATING', Backfilling: true,
        KeySchema: document.Table.KeySchema, Projection: { ProjectionType: 'ALL' }, ItemCount: 41000, IndexSizeBytes: 1 }];
      return route.fulfill({ json: document });
    });
    await open(page, '#/tables/GameScores/settings');
    await page.getByText('41,000 of 128,000 items, about 37 s left, 12 items left out').waitFor();
  },
  stream: async (page) => {
    await open(page, '#/tables/Thread/stream');
    await page.getByLabel('Begin with').selectOption('TRIM_HORIZON');
    await page.getByRole('table', { name: 'Changes' }).getByRole('button').nth(3).waitFor();
  },
  images: async (page) => {
    await VIEWS.stream(page);
    await page.getByRole('table', { name: 'Changes' }).getByRole('button').nth(1).click();
    await page.getByRole('dialog').waitFor();
  },
  backups: async (page) => {
    await open(page, '#/backups');
    await page.getByRole('row', { name: /friday orders-table/ }).waitFor();
  },
  table_backups: async (page) => {
    await open(page, '#/tables/orders-table/backups');
    await page.getByRole('row', { name: /friday available/ }).waitFor();
    await page.getByText('Off.', { exact: true }).waitFor();
  },
  restore: async (page) => {
    await VIEWS.table_backups(page);
    await button(page, 'Restore friday…').click();
    await page.getByText('Indexes to restore').waitFor();
  },
  moment: async (page) => {
    await open(page, '#/tables/devices/backups');
    await button(page, 'Restore a moment…').click();
    await button(page, 'A moment').click();
  },
  jobs: async (page) => {
    await open(page, '#/jobs');
    await page.getByText(/S3NoSuchBucket/).first().waitFor();
  },
  new_job: async (page) => {
    await VIEWS.jobs(page);
    await button(page, 'Import…').click();
  },
  policy: async (page) => {
    await open(page, '#/tables/devices/policy');
    await page.getByText(/^Revision/).waitFor();
  },
  policy_error: async (page) => {
    await VIEWS.policy(page);
    await page.getByLabel('Policy as JSON').fill('{"Statement": [}');
    await button(page, 'Save the policy').click();
    await page.getByRole('alert').waitFor();
  },
  daemon: async (page) => {
    await open(page, '#/daemon');
    await page.getByRole('region', { name: 'Resources' }).waitFor();
    await button(page, 'Only given ones').click();
    await page.getByRole('region', { name: 'Resources' }).waitFor({ state: 'hidden' });
  },
  trouble: async (page) => {
    await page.route('**/console/metrics', (route) => route.fulfill({ body: TROUBLE() }));
    await open(page, '#/tables');
    await page.getByText(/The archive is paused/).waitFor();
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
await prepareChanges();
const { ONLY } = process.env;  // names of views, for work on one
const findings = [];
await withBrowser(async (newPage) => {
  for (const [width, height, colorScheme] of LOOKS) {
    const page = await newPage({ viewport: { width, height }, colorScheme });
    page.expected = /status of 400/;
    for (const [name, show] of Object.entries(VIEWS)) {
      if (ONLY && !ONLY.split(',').includes(name)) continue;
      await page.unrouteAll();
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
