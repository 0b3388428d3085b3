// The plots of the console: they move while they are seen, rest while they are not, and outlive an end of the daemon. Lines
// on standard input and output: "end" asks for the daemon's end, "begin" for its start; each is answered by a line.

import assert from 'node:assert/strict';
import readline from 'node:readline';
import { button, call, createTable, open, withBrowser } from './browser.mjs';

const answers = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const ask = async (what) => {
  console.log(what);
  await answers.next();
};


async function plotsMove(page) {
  const polls = [];
  page.on('request', (request) => request.url().endsWith('/console/metrics') && polls.push(request));
  await open(page, '#/activity');
  await page.getByText('Nothing needs attention.').waitFor();
  await page.locator('.plot canvas').first().waitFor();
  const picture = () => page.locator('.plot canvas').first().evaluate((canvas) => canvas.toDataURL());
  const before = await picture();
  for (let i = 0; i < 300; i += 1) await call('PutItem', { TableName: 'moving', Item: { id: { S: String(i) } } });
  await page.getByRole('figure').filter({ hasText: 'Requests by operation' }).getByText('PutItem').waitFor();
  assert.notEqual(await picture(), before);
  // Another view reads the metrics twice a minute, for what needs attention.
  await page.getByRole('link', { name: 'Tables' }).click();
  await page.getByRole('link', { name: 'moving' }).waitFor();
  const count = polls.length;
  await page.clock.runFor(20_000);
  assert.ok(polls.length <= count + 1, `${polls.length - count} readings in 20 seconds`);
  await page.getByRole('link', { name: 'Activity' }).click();
  await page.waitForRequest('**/console/metrics');
}

// The daemon's own record comes first: load from the time when nobody looked.
async function showsThePast(page) {
  const sample = (minutes) => ({
    time: Date.now() / 1000 - minutes * 60, requests: { Scan: 7 }, latencies: { Scan: { p50: 0.001, p99: 0.02 } }, all: 7,
    errors: 0, lag: 0, backlog: 0, disk: 100, diskUsed: 50, files: 1, memory: 2, cache: 3, processor: 0.5,
  });
  await page.route('**/console/history', (route) => route.fulfill({ json: [50, 49, 20, 19].map(sample) }));
  await open(page, '#/activity');
  await page.getByText('Nothing needs attention.').waitFor();
  const byOperation = page.getByRole('figure').filter({ hasText: 'Requests by operation' });
  assert.equal(await byOperation.getByText('Scan').count(), 0);
  await button(page, '1 hour').click();
  await byOperation.getByText('Scan').waitFor();
  assert.equal(await page.getByLabel('Operation').inputValue(), 'Scan');
}

// Texts of requests come from strangers: they are shown as texts.
async function showsRequests(page) {
  const request = { Operation: 'Query', Front: 'grpc', TableName: '<b>orders</b>', Peer: '127.0.0.1:9', BeganTime: 1,
    DurationUs: 1500000 };
  await page.route('**/console/requests', (route) => route.fulfill({ json: {
    running: { Requests: [request, { ...request, Operation: 'Watch' }] },
    slow: { SlowUs: 1000000, Requests: [{ ...request, Operation: 'Scan', Result: 'ok',
      Waits: { ReadUs: 1200000, LockUs: 5 } }] } } }));
  await open(page, '#/activity');
  const running = page.getByRole('region', { name: 'Running requests' });
  await running.getByRole('row', { name: 'Query 1.50 s <b>orders</b> 127.0.0.1:9 –' }).waitFor();
  assert.equal(await running.getByRole('row').count(), 2);
  await page.getByRole('region', { name: 'Slow requests' }).getByRole('row', { name: /Scan 1.50 s .* ok .* read 1.20 s$/ })
    .waitFor();
}

async function outlivesTheDaemon(page) {
  page.expected = /Failed to load resource|net::ERR/;
  await ask('end');
  await page.getByText('The daemon does not answer.').waitFor();
  await ask('begin');
  await page.getByText('The daemon does not answer.').waitFor({ state: 'hidden' });
  await page.getByText('Nothing needs attention.').waitFor();
  await page.getByRole('link', { name: 'Tables' }).click();
  await page.getByRole('row', { name: /moving active 300/ }).waitFor();
}

await createTable('moving', [['id', 'S']]);
await withBrowser(async (newPage) => {
  const past = await newPage();
  await showsThePast(past);
  await past.close();
  const busy = await newPage();
  await showsRequests(busy);
  await busy.close();
  const page = await newPage();
  await page.clock.install();
  await page.clock.resume();
  await plotsMove(page);
  await outlivesTheDaemon(page);
});
console.log('activity: all passed');
process.exit(0);
