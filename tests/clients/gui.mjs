// Drives dynamodb-admin at $GUI in a browser: the list of tables, the items of one, a new table. Stores screenshots in
// $PICTURES.

import assert from 'node:assert/strict';
import path from 'node:path';
import { CreateTableCommand, DescribeTableCommand, DynamoDBClient, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { chromium } from 'playwright-core';

const { CHROMIUM, ENDPOINT, GUI, PICTURES } = process.env;
const client = new DynamoDBClient({
  endpoint: ENDPOINT, region: 'local', credentials: { accessKeyId: 'anyone', secretAccessKey: 'anything' },
});

async function createAlbums() {
  await client.send(new CreateTableCommand({
    TableName: 'Albums', BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'artist', AttributeType: 'S' }, { AttributeName: 'year', AttributeType: 'N' }],
    KeySchema: [{ AttributeName: 'artist', KeyType: 'HASH' }, { AttributeName: 'year', KeyType: 'RANGE' }],
  }));
  await waitUntilTableExists({ client, maxWaitTime: 60 }, { TableName: 'Albums' });
  const documents = DynamoDBDocumentClient.from(client);
  for (const [year, title] of [[1967, 'Sgt. Pepper'], [1969, 'Abbey Road']]) {
    await documents.send(new PutCommand({ TableName: 'Albums', Item: { artist: 'The Beatles', year, title } }));
  }
}

await createAlbums();
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
try {
  const page = await browser.newPage();
  const picture = (name) => page.screenshot({ path: path.join(PICTURES, `${name}.png`), fullPage: true });
  const errors = [];
  page.on('pageerror', (error) => errors.push(String(error)));

  await page.goto(GUI);
  await page.getByRole('link', { name: 'Albums' }).waitFor();
  await picture('tables');

  await page.getByRole('link', { name: 'Albums' }).click();
  await page.getByText('Abbey Road').first().waitFor();
  await page.getByText('Sgt. Pepper').first().waitFor();
  await picture('items');

  await page.goto(`${GUI}/create-table`);
  await page.fill('#TableName', 'MadeInTheBrowser');
  await page.fill('#HashAttributeName', 'id');
  await page.fill('#RangeAttributeName', 'at');
  await page.selectOption('select[name=RangeAttributeType]', 'N');
  await page.locator('form [type=submit]').click();
  await page.getByRole('link', { name: 'MadeInTheBrowser' }).waitFor();
  await picture('created');
  assert.deepEqual(errors, []);
} finally {
  await browser.close();
}

const { Table } = await client.send(new DescribeTableCommand({ TableName: 'MadeInTheBrowser' }));
assert.deepEqual(Table.KeySchema, [
  { AttributeName: 'id', KeyType: 'HASH' }, { AttributeName: 'at', KeyType: 'RANGE' },
]);
client.destroy();
console.log('gui: all passed');
