// Pages of another site ($PAGE) that want to use a daemon without credentials through the console.

import assert from 'node:assert/strict';
import { call, createTable, ENDPOINT, withBrowser } from './browser.mjs';

const { PAGE } = process.env;
await createTable('kept', [['id', 'S']]);

// Runs in the page. Requests of every kind that a page can send without a question.
const attack = async (endpoint) => {
  const outcomes = [];
  const attempt = async (what, options) => {
    try {
      const answer = await fetch(endpoint + what, options);
      outcomes.push(`${what}: ${answer.type} ${answer.status}`);
    } catch (error) {
      outcomes.push(String(error));
    }
  };
  await attempt('/console/daemon.json');
  await attempt('/console/metrics');
  const body = '{"TableName": "kept"}';
  const headers = { 'X-Amz-Target': 'DynamoDB_20120810.DeleteTable' };
  await attempt('/', { method: 'POST', body, headers: { ...headers, 'Content-Type': 'application/x-amz-json-1.0' } });
  await attempt('/', { method: 'POST', body, mode: 'no-cors', headers: { ...headers, 'Content-Type': 'text/plain' } });
  await attempt('/?X-Amz-Target=DynamoDB_20120810.DeleteTable', { method: 'POST', body, mode: 'no-cors' });
  return outcomes;
};

async function refusesRequests(page) {
  await page.goto(PAGE);
  const outcomes = await page.evaluate(attack, ENDPOINT);
  // Some requests are sent nevertheless: they are refused, and the answers are hidden from the page.
  assert.deepEqual(outcomes.filter((each) => !/Failed to fetch|opaque 0/.test(each)), []);
  assert.deepEqual((await call('ListTables', {})).TableNames, ['kept']);
}

async function refusesFrames(page) {
  await page.goto(PAGE);
  const frame = await page.evaluate(async (address) => {
    const element = document.createElement('iframe');
    document.body.append(element);
    const loaded = new Promise((resolve) => { element.onload = resolve; });
    element.src = address;
    await loaded;
    return element.contentDocument === null;
  }, `${ENDPOINT}/console/`);
  assert.equal(frame, true, 'the frame has a page of another site, the one of the error');
  const inside = page.frames().at(-1);
  assert.equal(await inside.locator('#app').count(), 0);
}

// A link of another site may lead to the console.
async function admitsLinks(page) {
  await page.goto(PAGE);
  await page.evaluate((address) => {
    const link = document.createElement('a');
    link.href = address;
    link.textContent = 'console';
    document.body.append(link);
  }, `${ENDPOINT}/console/#/tables`);
  await page.getByText('console').click();
  await page.getByRole('link', { name: 'kept' }).waitFor();
}

// The policy of the pages refuses scripts that are not files of the daemon.
async function refusesForeignScripts(page) {
  const answer = await page.goto(`${ENDPOINT}/`);
  assert.match(answer.headers()['content-security-policy'] ?? '', /default-src 'none'; script-src 'self';/);
  await page.getByRole('link', { name: 'kept' }).waitFor();
  assert.equal(page.url().replace(/#.*/, ''), `${ENDPOINT}/console/`);
  await page.evaluate((address) => {
    window.refused = [];
    document.addEventListener('securitypolicyviolation', (event) => {
      window.refused.push(event.effectiveDirective);
      document.body.dataset.refused = window.refused.length;
    });
    const inline = document.createElement('script');
    inline.textContent = 'window.hasRun = true';
    const foreign = document.createElement('script');
    foreign.src = `${address}/script.js`;
    const element = document.createElement('div');
    element.innerHTML = '<img src=x onerror="window.hasRun = true">';
    document.body.append(inline, foreign, element);
  }, PAGE);
  await page.locator('body[data-refused="3"]').waitFor();
  assert.deepEqual((await page.evaluate(() => window.refused)).sort(), ['script-src-attr', 'script-src-elem', 'script-src-elem']);
  assert.equal(await page.evaluate(() => fetch('daemon.json').then(() => window.hasRun)), undefined);
}

await withBrowser(async (newPage) => {
  const page = await newPage();
  page.expected = /Failed to load resource|CORS policy|Content Security Policy|X-Frame-Options|ERR_BLOCKED|Refused to/;
  await refusesRequests(page);
  await refusesFrames(page);
  await admitsLinks(page);
  await refusesForeignScripts(page);
});
console.log('other sites: all passed');
