// Requests of a page that nobody uses: few while it is seen, none while it is hidden.

import assert from 'node:assert/strict';
import { call, createTable, open, setVisible, until, withBrowser } from './browser.mjs';

const MINUTES = 5;
const STEPS = 6 * MINUTES;

// Answers come at once for this clock, as they do for a real one.
async function settle(page, open) {
  await until(async () => {
    await page.evaluate(() => new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = resolve;
      port2.postMessage(null);
    }));
    return open.size === 0;
  });
}

// Lets minutes pass. Returns the requests of one.
async function requestsPerMinute(page) {
  const open = new Set();
  let count = 0;
  const begin = (request) => {
    count += 1;
    open.add(request);
  };
  const end = (request) => open.delete(request);
  page.on('request', begin).on('requestfinished', end).on('requestfailed', end);
  for (let i = 0; i < STEPS; i += 1) {
    await page.clock.runFor((MINUTES * 60_000) / STEPS);
    await settle(page, open);
  }
  page.off('request', begin).off('requestfinished', end).off('requestfailed', end);
  return count / MINUTES;
}

// Name of a view -> [its address, a text that says that it is there, the most requests a minute].
const VIEWS = {
  tables: ['#/tables', /active/, 30],  // 21 rows of tables, and the metrics
  items: ['#/tables/many-05/items', /items?/, 3],
  settings: ['#/tables/many-05/settings', /There is none\./, 3],
  stream: ['#/tables/live/stream', /No changes so far/, 5],
  backups: ['#/backups', /There are no backups/, 3],
  jobs: ['#/jobs', /There are no jobs/, 6],
  activity: ['#/activity', /Nothing needs attention/, 5],
  daemon: ['#/daemon', /Directory of the database/, 3],
};

for (let i = 0; i < 20; i += 1) await createTable(`many-${String(i).padStart(2, '0')}`, [['id', 'S']]);
await createTable('live', [['id', 'S']], { StreamSpecification: { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' } });
await call('PutItem', { TableName: 'many-05', Item: { id: { S: 'one' } } });
await withBrowser(async (newPage) => {
  const page = await newPage();
  await page.clock.install();
  const found = {};
  for (const [name, [address, text, most]] of Object.entries(VIEWS)) {
    await page.clock.resume();
    await open(page, '#/none');
    await open(page, address);
    await page.getByText(text).first().waitFor();
    await page.clock.pauseAt(new Date(await page.evaluate(() => Date.now() + 1000)));
    await page.clock.runFor(180_000);  // from now on nobody uses it
    const seen = await requestsPerMinute(page);
    await setVisible(page, false);
    await page.clock.runFor(10_000);
    const hidden = await requestsPerMinute(page);
    await setVisible(page, true);
    found[name] = `${seen} seen, ${hidden} hidden`;
    assert.ok(seen <= most && seen > 0, `${name}: ${seen} requests a minute`);
    assert.equal(hidden, 0, name);
  }
  console.log(found);
});
console.log('idle: all passed');
