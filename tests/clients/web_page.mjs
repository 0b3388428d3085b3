// A page of another site in a browser, against a daemon that does not permit it ($ENDPOINT) and one that does
// ($PERMITTING). $PAGE: address of the page.

import assert from 'node:assert/strict';
import { CreateTableCommand, DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { chromium } from 'playwright-core';

const { CHROMIUM, ENDPOINT, PAGE, PERMITTING } = process.env;
const client = new DynamoDBClient({
  endpoint: ENDPOINT, region: 'local', credentials: { accessKeyId: 'anyone', secretAccessKey: 'anything' },
});
await client.send(new CreateTableCommand({
  TableName: 'Kept', BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
}));

// Runs in the page. Returns status, headers and document of the answer, or the error that the page sees.
const call = async ([endpoint, operation, members]) => {
  try {
    const answer = await fetch(endpoint, {
      method: 'POST', body: JSON.stringify(members),
      headers: { 'X-Amz-Target': `DynamoDB_20120810.${operation}`, 'Content-Type': 'application/x-amz-json-1.0' },
    });
    return { status: answer.status, headers: Object.fromEntries(answer.headers), document: await answer.json() };
  } catch (error) {
    return { error: String(error) };
  }
};

const { port } = new URL(ENDPOINT);
const browser = await chromium.launch({
  executablePath: CHROMIUM,
  // A name that its owner has bound to a loopback address.
  args: ['--no-sandbox', '--disable-gpu', '--no-proxy-server', '--host-resolver-rules=MAP rebound.test 127.0.0.1'],
});
try {
  const page = await browser.newPage();
  await page.goto(PAGE);
  assert.equal((await page.evaluate(call, [ENDPOINT, 'ListTables', {}])).error, 'TypeError: Failed to fetch');
  assert.equal((await page.evaluate(call, [ENDPOINT, 'DeleteTable', { TableName: 'Kept' }])).error,
    'TypeError: Failed to fetch');

  const listed = await page.evaluate(call, [PERMITTING, 'ListTables', {}]);
  assert.equal(listed.status, 200, JSON.stringify(listed));
  assert.deepEqual(listed.document, { TableNames: [] });
  assert.match(listed.headers['x-amzn-requestid'], /^[A-Z0-9]{52}$/);
  assert.match(listed.headers['x-amz-crc32'], /^[0-9]+$/);

  const opened = await page.goto(`http://rebound.test:${port}/`);
  assert.equal(opened.status(), 403);
  const deleted = await page.evaluate(call, ['/', 'DeleteTable', { TableName: 'Kept' }]);
  assert.equal(deleted.status, 403);
  assert.match(deleted.document.message, /--http_hosts=rebound\.test/);
} finally {
  await browser.close();
}
assert.deepEqual((await client.send(new ListTablesCommand({}))).TableNames, ['Kept']);
client.destroy();
console.log('web page: all passed');
