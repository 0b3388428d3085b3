// Backups of tables, restores, and jobs over files. The daemon has folders for all of them; $EXPORTS and $IMPORTS.

import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import { answer, button, call, createTable, describe, ENDPOINT, field, hasRun, open, refuse, SCRIPT, until, withBrowser }
  from './browser.mjs';

const { EXPORTS, IMPORTS } = process.env;

async function prepare() {
  const key = (name) => ({ KeySchema: [{ AttributeName: name, KeyType: 'HASH' }], Projection: { ProjectionType: 'ALL' } });
  await createTable('orders', [['id', 'S']], {
    AttributeDefinitions: ['id', 'a', 'b'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    GlobalSecondaryIndexes: ['a', 'b'].map((name) => ({ IndexName: `By-${name}`, ...key(name) })),
  });
  for (let i = 0; i < 20; i += 1) {
    await call('PutItem', { TableName: 'orders', Item: { id: { S: String(i) }, a: { S: 'x' }, b: { S: 'y' } } });
  }
}

async function makesBackups(page) {
  await open(page, '#/tables/orders/backups');
  await page.getByText('There are no backups yet').waitFor();
  await field(page, 'Name of a new backup').fill('x y');
  await button(page, 'Back up now').click();
  await page.getByRole('alert').waitFor();
  for (const name of ['first', 'second']) {
    await field(page, 'Name of a new backup').fill(name);
    await button(page, 'Back up now').click();
    await page.getByRole('row', { name: new RegExp(`${name} available`) }).waitFor();
  }
}

async function restoresBackups(page) {
  await button(page, 'Restore first…').click();
  await field(page, 'Name of the new table').fill('orders');
  await page.getByLabel(/By-b:/).uncheck();
  await button(page, 'Restore').click();
  // At the name: there is such a table.
  await page.locator('.field', { has: field(page, 'Name of the new table') }).getByRole('alert').waitFor();
  await field(page, 'Name of the new table').fill('a/b');
  await button(page, 'Restore').click();
  await page.getByText('3 to 255 letters, digits, dots, hyphens and underscores.').waitFor();
  await field(page, 'Name of the new table').fill('orders-again');
  await button(page, 'Restore').click();
  await page.getByRole('heading', { name: 'orders-again' }).waitFor();
  await until(async () => (await describe('orders-again')).TableStatus === 'ACTIVE');
  const table = await describe('orders-again');
  assert.deepEqual([table.ItemCount, table.GlobalSecondaryIndexes.map((each) => each.IndexName)], [20, ['By-a']]);
  // A table that is being restored says so until it is there.
  const stop = await answer(page, 'DescribeTable', { Table: { ...table, TableStatus: 'CREATING', ItemCount: 7,
    RestoreSummary: { RestoreInProgress: true, SourceBackupArn: 'arn:backup' } } });
  await page.reload();
  await page.getByText('Being restored: 7 items so far, from arn:backup').waitFor();
  await stop();
  await page.getByText('Being restored').waitFor({ state: 'hidden' });
}

// The request of the documented operation, and its refusal at its field.
async function restoresMoments(page) {
  const state = { PointInTimeRecoveryStatus: 'ENABLED', EarliestRestorableDateTime: 1796000000, LatestRestorableDateTime: 1796000600 };
  const stops = [await answer(page, 'DescribeContinuousBackups',
    { ContinuousBackupsDescription: { ContinuousBackupsStatus: 'ENABLED', PointInTimeRecoveryDescription: state } })];
  const requests = [];
  page.on('request', (request) => request.headers()['x-amz-target']?.endsWith('RestoreTableToPointInTime')
    && requests.push(request.postDataJSON()));
  stops.push(await refuse(page, 'RestoreTableToPointInTime',
    { __type: 'x#InvalidRestoreTimeException', message: 'An invalid restore time was specified' }));
  await open(page, '#/tables/orders/backups');
  await button(page, 'Restore a moment…').click();
  await button(page, 'Restore').click();
  await button(page, 'A moment').click();
  await page.getByLabel('Date and time on this machine').fill('2026-11-30T10:00:30');
  await button(page, 'Restore').click();
  await page.getByText('An invalid restore time was specified').waitFor();
  await until(() => requests.length === 2);
  assert.deepEqual(requests, [
    { SourceTableName: 'orders', TargetTableName: 'orders-restored', UseLatestRestorableTime: true },
    { SourceTableName: 'orders', TargetTableName: 'orders-restored', RestoreDateTime: Date.parse('2026-11-30T10:00:30') / 1000 }]);
  await button(page, 'Cancel').click();
  for (const stop of stops) await stop();
}

async function deletesBackups(page) {
  await open(page, '#/backups');
  await button(page, 'Delete second…').click();
  assert.equal(await button(page, 'Delete the backup').isDisabled(), true);
  await field(page, 'Type second to confirm').fill('first');
  assert.equal(await button(page, 'Delete the backup').isDisabled(), true);
  await field(page, 'Type second to confirm').fill('second');
  await button(page, 'Delete the backup').click();
  await page.getByText('1 backup.').waitFor();
  assert.deepEqual((await call('ListBackups', {})).BackupSummaries.map((each) => each.BackupName), ['first']);
}

// A thousand backups with names that are script, ten megabytes in all: few rows of them exist.
async function listsManyBackups(page) {
  const summary = (i) => ({ BackupArn: `arn:${i}`, BackupName: `${SCRIPT}${i} ${'x'.repeat(10_000)}`, TableName: 'orders',
    BackupStatus: 'AVAILABLE', BackupType: 'USER', BackupSizeBytes: 5, BackupCreationDateTime: 1796000000 + i });
  const all = Array.from({ length: 1000 }, (_, i) => summary(i));
  const handle = (route) => {
    if (!route.request().headers()['x-amz-target']?.endsWith('ListBackups')) return route.fallback();
    const start = all.findIndex((each) => each.BackupArn === route.request().postDataJSON().ExclusiveStartBackupArn) + 1;
    const BackupSummaries = all.slice(start, start + 100);
    return route.fulfill({ json: { BackupSummaries, LastEvaluatedBackupArn: start < 900 ? BackupSummaries.at(-1).BackupArn : undefined } });
  };
  await page.route(`${ENDPOINT}/`, handle);
  await open(page, '#/jobs');
  await open(page, '#/backups');
  await page.getByText('1,000 backups.').waitFor();
  const rows = page.getByRole('table', { name: 'Backups' }).locator('.rows-body [role=row]');
  assert.match(await rows.first().textContent(), /999 x/);
  assert.ok(await rows.count() < 60);
  assert.equal(await hasRun(page), false);
  await page.unroute(`${ENDPOINT}/`, handle);
}

async function runsJobs(page) {
  await open(page, '#/jobs');
  await page.getByText('There are no jobs').waitFor();
  await call('UpdateContinuousBackups', { TableName: 'orders', PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } });
  await button(page, 'Export…').click();
  await field(page, 'Table').fill('orders');
  await button(page, 'Export').click();
  await page.getByText('Name the directory.').waitFor();
  await field(page, 'Directory below --export_dir').fill('out');
  await button(page, 'Export').click();
  await page.getByRole('row', { name: /Export orders completed 20 items/ }).waitFor();
  assert.ok((await fs.readdir(`${EXPORTS}/out`)).length > 0);
  await button(page, 'Export…').click();
  await field(page, 'Table').fill('orders');
  await field(page, 'Directory below --export_dir').fill('none');
  await button(page, 'Export').click();
  await page.getByRole('row', { name: /failed S3NoSuchBucket/ }).waitFor();
  await fs.writeFile(`${IMPORTS}/in/good.json`, '{"Item":{"id":{"S":"one"}}}\n');
  await fs.writeFile(`${IMPORTS}/in/bad.json`, '{"Item":{"id":{"S":"two"}}}\n{"Item":{"no":{"S":"key"}}}\n');
  for (const [prefix, found] of [['bad', /Import from-bad failed ItemValidationError.*1 not taken/], ['good', /Import from-good completed 1 item/]]) {
    await button(page, 'Import…').click();
    await field(page, 'Name of the new table').fill(`from-${prefix}`);
    await field(page, 'Partition key, attribute 1').fill('id');
    await field(page, 'Directory below --import_dir').fill('in');
    await field(page, 'Files that begin with (optional)').fill(prefix);
    await button(page, 'Import').click();
    await page.getByRole('row', { name: found }).waitFor();
  }
  await button(page, 'Bulk put…').click();
  await field(page, 'Table').fill('from-good');
  await field(page, 'Directory below --import_dir').fill('in');
  await field(page, 'Files that begin with (optional)').fill('bad');
  await field(page, 'Directory below --export_dir for lines that could not be put').fill('out');
  await button(page, 'Start').click();
  await page.getByRole('row', { name: /Bulk put from-good completed with errors/ }).waitFor();
}

// A bulk operation that runs shows how far it is, and can be cancelled.
async function cancelsJobs(page) {
  const arn = 'arn:aws:dynamodb:local:000000000000:bulk-operation/1';
  await answer(page, 'ListBulkOperations',
    { BulkOperationsSummaryList: [{ BulkOperationArn: arn, BulkOperationStatus: 'IN_PROGRESS', StartTime: 1 }] });
  await answer(page, 'DescribeBulkOperation', { BulkOperationDescription: { BulkOperationArn: arn, BulkOperationStatus: 'IN_PROGRESS',
    TableDetails: [{ TableName: SCRIPT }], StartTime: 1796000000, ProcessedItemCount: 7, ProcessedInputBytes: 512, TotalInputBytes: 2048 } });
  await answer(page, 'CancelBulkOperation', { BulkOperationArn: arn, BulkOperationStatus: 'CANCELLING' });
  await page.reload();
  await page.getByRole('progressbar', { name: 'Progress' }).waitFor();
  assert.equal(await page.getByRole('progressbar', { name: 'Progress' }).evaluate((bar) => bar.value / bar.max), 0.25);
  await button(page, 'Cancel…').click();
  const [request] = await Promise.all([
    page.waitForRequest((each) => each.headers()['x-amz-target']?.endsWith('CancelBulkOperation')), button(page, 'Cancel it').click()]);
  assert.deepEqual(request.postDataJSON(), { BulkOperationArn: arn });
  assert.equal(await hasRun(page), false);
}

await prepare();
await withBrowser(async (newPage) => {
  const page = await newPage();
  page.expected = /status of 400/;  // of the refusals
  await makesBackups(page);
  await restoresBackups(page);
  await restoresMoments(page);
  await deletesBackups(page);
  await runsJobs(page);
  await listsManyBackups(page);
  await open(page, '#/jobs');
  await cancelsJobs(page);
});
console.log('backups: all passed');
