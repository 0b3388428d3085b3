// A table's stream as it grows. Lines on standard input and output as in activity.mjs: "end", "begin".

import assert from 'node:assert/strict';
import readline from 'node:readline';
import { answer, button, call, createTable, ENDPOINT, field, hasRun, open, SCRIPT, setVisible, until, withBrowser } from './browser.mjs';

const answers = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const ask = async (what) => {
  console.log(what);
  await answers.next();
};

const put = (id, more = {}) => call('PutItem', { TableName: 'live', Item: { id: { S: id }, ...more } });
const changes = (page) => page.getByRole('table', { name: 'Changes' });
const row = (page, name) => changes(page).getByRole('row', { name });

// Requests of an operation that the page has sent.
function requestsOf(page, operation) {
  const found = [];
  page.on('request', (request) => request.headers()['x-amz-target']?.endsWith(operation) && found.push(request));
  return found;
}

async function followsChanges(page) {
  await put('before');
  await open(page, '#/tables/live/stream');
  await page.getByText('No changes so far').waitFor();
  await page.waitForRequest((request) => request.headers()['x-amz-target']?.endsWith('GetRecords'));
  await put('one', { text: { S: SCRIPT }, list: { L: [] } });
  await row(page, /new one/).waitFor();
  await put('one', { text: { S: `${SCRIPT}!` }, more: { BOOL: true } });
  await row(page, /changed one list, more, text/).waitFor();
  await call('DeleteItem', { TableName: 'live', Key: { id: { S: 'one' } } });
  await row(page, /deleted one/).waitFor();
  assert.equal(await row(page, /before/).count(), 0, 'only what comes from now on');
}

async function showsImages(page) {
  await row(page, /changed one/).getByRole('button').click();
  const images = page.getByRole('region', { name: 'Images' });
  await images.getByRole('row', { name: /^list removed/ }).waitFor();
  await images.getByRole('row', { name: /^more added true/ }).waitFor();
  await images.getByRole('row', { name: new RegExp('^text changed "<img') }).waitFor();
  assert.match(await images.getByRole('row', { name: /^id/ }).textContent(), /"one""one"/);
  await button(page, 'Newer').click();
  await page.getByRole('heading', { name: 'deleted: one' }).waitFor();
  await page.keyboard.press('Escape');
  assert.equal(await hasRun(page), false);
}

async function filtersAndPauses(page) {
  await page.getByRole('group', { name: 'Events' }).getByRole('button', { name: 'Deleted' }).click();
  await row(page, /new one/).waitFor({ state: 'hidden' });
  await row(page, /deleted one/).waitFor();
  await page.getByRole('group', { name: 'Events' }).getByRole('button', { name: 'All' }).click();
  await button(page, 'Pause').click();
  await put('while-paused');
  await page.getByText('Paused: nothing is missed.').waitFor();
  assert.equal(await row(page, /while-paused/).count(), 0);
  await button(page, 'Go on').click();
  await row(page, /new while-paused/).waitFor();
}

// Hidden, it asks nothing; seen again, it has missed nothing.
async function restsWhileHidden(page) {
  const polls = requestsOf(page, 'GetRecords');
  await setVisible(page, false);
  await put('while-hidden');
  const count = polls.length;
  await page.clock.runFor(60_000);
  assert.ok(polls.length <= count + 1, `${polls.length - count} requests of a hidden page`);  // one may have been under way
  await setVisible(page, true);
  await row(page, /new while-hidden/).waitFor();
}

// Six hundred changes: the last five hundred stay.
async function keepsABoundedNumber(page) {
  for (let i = 0; i < 24; i += 1) {
    const members = Array.from({ length: 25 }, (_, j) => ({ PutRequest: { Item: { id: { S: `many-${i}-${j}` } } } }));
    await call('BatchWriteItem', { RequestItems: { live: members } });
  }
  await page.getByText(/^605 changes, the last 500 are kept/).waitFor();
  assert.ok(await changes(page).locator('.rows-body [role=row]').count() < 80);
}

async function outlivesTheDaemon(page) {
  page.expected = /Failed to load resource|net::ERR/;
  await ask('end');
  await page.getByText('The daemon does not answer. This page').waitFor();
  await ask('begin');
  await page.getByText('The daemon does not answer. This page').waitFor({ state: 'hidden' });
  await until(async () => (await fetch(`${ENDPOINT}/readyz`).catch(() => ({ ok: false }))).status !== 503);
  await put('after-the-start');
  await row(page, /new after-the-start/).waitFor();
}

// Ten megabytes in one answer.
async function takesLargeRecords(page) {
  const image = (i) => ({ id: { S: `large-${i}` }, text: { S: SCRIPT + 'x'.repeat(400_000) } });
  const records = Array.from({ length: 26 }, (_, i) => ({ eventID: `large-${i}`, eventName: 'INSERT', dynamodb: {
    ApproximateCreationDateTime: 1796000000, Keys: { id: { S: `large-${i}` } }, NewImage: image(i), SizeBytes: 400_000,
    SequenceNumber: String(i).padStart(21, '1') } }));
  const stop = await answer(page, 'GetRecords', { Records: records, NextShardIterator: 'none' });
  await row(page, /new large-25/).waitFor();
  await stop();
  await row(page, /new large-25/).getByRole('button').click();
  await page.getByRole('region', { name: 'Images' }).getByText(/letters\)/).waitFor();
  assert.ok((await page.locator('dialog').evaluate((element) => element.outerHTML.length)) < 20_000);
  await page.keyboard.press('Escape');
  assert.equal(await hasRun(page), false);
  // The daemon knows no such iterator.
  const read = page.waitForRequest((request) => request.headers()['x-amz-target']?.endsWith('GetRecords')
    && request.postDataJSON().ShardIterator !== 'none');
  await button(page, 'Try again').click();
  await read;
}

await createTable('live', [['id', 'S']], { StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' } });
await withBrowser(async (newPage) => {
  const page = await newPage();
  await page.clock.install();
  await page.clock.resume();
  await followsChanges(page);
  await showsImages(page);
  await filtersAndPauses(page);
  await restsWhileHidden(page);
  await keepsABoundedNumber(page);
  page.expected = /status of 400/;  // the iterator of the answer
  await takesLargeRecords(page);
  if (!process.env.DIRECT) await outlivesTheDaemon(page);
  await page.reload();
  await field(page, 'Begin with').selectOption('TRIM_HORIZON');
  await row(page, /./).first().waitFor();
});
console.log('stream: all passed');
process.exit(0);
