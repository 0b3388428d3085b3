// Pages of the console in headless Chromium, and calls of the daemon behind it. $ENDPOINT: its address; $CHROMIUM.

import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

export const { ENDPOINT } = process.env;

const SERVICES = { DescribeStream: 'DynamoDBStreams_20120810' };

// Calls an operation without the console. Throws if it is refused.
export async function call(operation, members) {
  const answer = await fetch(ENDPOINT, {
    method: 'POST', body: JSON.stringify(members),
    headers: { 'X-Amz-Target': `${SERVICES[operation] ?? 'DynamoDB_20120810'}.${operation}`, 'Content-Type': 'application/x-amz-json-1.0' },
  });
  const text = await answer.text();
  const document = text === '' ? {} : JSON.parse(text);
  assert.equal(answer.status, 200, JSON.stringify(document));
  return document;
}

export async function createTable(TableName, keys, more = {}) {
  await call('CreateTable', {
    TableName, BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: keys.map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
    KeySchema: keys.slice(0, 2).map(([AttributeName], i) => ({ AttributeName, KeyType: i === 0 ? 'HASH' : 'RANGE' })), ...more,
  });
}

export const describe = async (TableName) => (await call('DescribeTable', { TableName })).Table;

// Returns when `condition` is true. Each of its calls asks the daemon.
export async function until(condition) {
  const begin = Date.now();
  while (!(await condition())) assert.ok(Date.now() - begin < 60_000, `${condition} did not become true`);
}

// A name or a value that runs if it is taken for markup.
export const SCRIPT = '<img src=x onerror="window.hasRun=1"><script>window.hasRun=1</script>';
export const hasRun = (page) => page.evaluate(() => globalThis.hasRun !== undefined);

// Has an operation of the page answered with a document in place of the daemon's. Returns a function that ends it.
export async function answer(page, operation, json, status = 200) {
  const handle = (route) => (route.request().headers()['x-amz-target']?.endsWith(`.${operation}`)
    ? route.fulfill({ json, status }) : route.fallback());
  await page.route(`${ENDPOINT}/`, handle);
  return () => page.unroute(`${ENDPOINT}/`, handle);
}
export const refuse = (page, operation, json) => answer(page, operation, json, 400);

// Presses Tab until the element has the focus.
export async function tabTo(page, locator) {
  for (let i = 0; i < 60; i += 1) {
    await page.keyboard.press('Tab');
    if (await locator.evaluate((element) => element === document.activeElement)) return;
  }
  assert.fail('the keyboard does not lead there');
}

// Hides the page from its user, or shows it again.
export const setVisible = (page, isVisible) => page.evaluate((state) => {
  Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state });
  document.dispatchEvent(new Event('visibilitychange'));
}, isVisible ? 'visible' : 'hidden');

// Runs `use(newPage)` with a browser. newPage(options) opens a page whose errors, dialogs and violations of its policy fail
// the test at the end, unless `page.expected` matches their text. Pages have no waitForFunction: it evaluates text in the
// page when its condition does not hold at once, and the console's policy refuses that. Locators wait without.
export async function withBrowser(use) {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu', '--no-proxy-server'],
  });
  const found = [];
  try {
    await use(async (options = {}) => {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, acceptDownloads: true, ...options });
      const page = await context.newPage();
      page.setDefaultTimeout(30000);
      page.expected = /(?!)/;
      page.waitForFunction = () => assert.fail('waitForFunction breaks the policy of the pages: wait for a locator');
      const note = (text) => page.expected.test(text) || found.push(text);
      page.on('pageerror', (error) => note(`error: ${error.stack}`));
      page.on('console', (message) => message.type() === 'error' && note(`console: ${message.text()}`));
      page.on('dialog', (dialog) => {
        note(`dialog: ${dialog.message()}`);
        dialog.dismiss();
      });
      return page;
    });
  } finally {
    await browser.close();
  }
  assert.deepEqual(found, []);
}

export const open = (page, hash = '') => page.goto(`${ENDPOINT}/console/${hash}`);
export const button = (page, name) => page.getByRole('button', { name, exact: true });
export const field = (page, name) => page.getByLabel(name, { exact: true });
// The item in the editor.
export const editor = (page) => page.getByLabel('Item as JSON');
// The rows of a grid that are drawn.
export const gridRows = (page) => page.getByRole('grid').locator('.rows-body [role=row]');
