// Changes of a table in use: indexes, throughput, stream, expiry, protection, tags; its policy.

import assert from 'node:assert/strict';
import { answer, button, call, createTable, describe, field, hasRun, open, refuse, SCRIPT, tabTo, until, withBrowser }
  from './browser.mjs';

const subject = (page, name) => page.getByRole('region', { name, exact: true });
const settings = (page) => open(page, '#/tables/orders/settings');

async function prepare() {
  await createTable('orders', [['id', 'S']]);
  for (let i = 0; i < 40; i += 1) {
    // The region of the first ten has another type than the index will want.
    await call('PutItem', { TableName: 'orders', Item: { id: { S: String(i) }, region: i < 10 ? { N: '7' } : { S: 'north' } } });
  }
}

async function addsIndexes(page) {
  await settings(page);
  const indexes = subject(page, 'Global indexes');
  await indexes.getByText('There is none.').waitFor();
  await button(page, 'Add an index…').click();
  await button(page, 'Add the index').click();
  await indexes.getByText('The index has no name yet.').waitFor();
  await field(page, 'Name of the index').fill('ByAll');
  const parts = ['region', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  for (const [i, name] of parts.entries()) {
    const [group, number] = i < 4 ? ['Partition key', i + 1] : ['Sort key', i - 3];
    const box = indexes.getByRole('group', { name: group });
    if (number > 1 || i >= 4) await box.getByRole('button', { name: /^Add a/ }).click();
    await field(page, `${group}, attribute ${number}`).fill(name);
  }
  assert.equal(await indexes.getByRole('button', { name: /^Add a(n| sort) attribute/ }).count(), 0, 'four are all there may be');
  await button(page, 'Add the index').click();
  await indexes.getByRole('group', { name: 'ByAll' }).getByText('active').waitFor();
  const { GlobalSecondaryIndexes: [made] } = await describe('orders');
  assert.deepEqual(made.KeySchema.map((each) => `${each.AttributeName} ${each.KeyType}`),
    parts.map((name, i) => `${name} ${i < 4 ? 'HASH' : 'RANGE'}`));
}

// A refusal of the daemon is said at its field.
async function refusesIndexes(page) {
  await button(page, 'Add an index…').click();
  await field(page, 'Name of the index').fill('ByAll');
  await field(page, 'Partition key, attribute 1').fill('region');
  await button(page, 'Add the index').click();
  const name = page.locator('.field', { has: page.getByLabel('Name of the index') });
  await name.getByRole('alert').waitFor();
  await field(page, 'Name of the index').fill('ByRegion');
  await field(page, 'Partition key, type 1').selectOption('N');
  await button(page, 'Add the index').click();
  const key = subject(page, 'Global indexes').getByRole('group', { name: 'Partition key' });
  await key.getByText('The attribute region has the type S in another key of the table.').waitFor();
  await field(page, 'Partition key, type 1').selectOption('S');
  await button(page, 'Add the index').click();
  await subject(page, 'Global indexes').getByRole('group', { name: 'ByRegion' }).getByText('active').waitFor();
}

async function showsViolations(page) {
  await button(page, 'Items left out of ByRegion').click();
  await page.getByText('40 items read, 10 left out.').waitFor();
  assert.equal(await page.getByRole('list', { name: 'Items left out' }).getByText('region has another type').count(), 10);
  await button(page, 'Close').click();
}

async function removesIndexes(page) {
  await button(page, 'Remove ByAll…').click();
  await button(page, 'Keep it').click();
  assert.equal((await describe('orders')).GlobalSecondaryIndexes.length, 2);
  await button(page, 'Remove ByAll…').click();
  await button(page, 'Remove the index').click();
  await subject(page, 'Global indexes').getByRole('group', { name: 'ByAll' }).waitFor({ state: 'hidden' });
  assert.deepEqual((await describe('orders')).GlobalSecondaryIndexes.map((each) => each.IndexName), ['ByRegion']);
}

async function changesThroughput(page) {
  const throughput = subject(page, 'Throughput');
  await throughput.getByLabel('Billing').selectOption('provisioned');
  await throughput.getByLabel('Read units a second').fill('none');
  await button(page, 'Change the throughput').click();
  await throughput.getByText('Read units: a whole number of at least 1.').waitFor();
  await throughput.getByLabel('Read units a second').fill('11');
  await throughput.getByLabel('ByRegion, write units').fill('3');
  await button(page, 'Change the throughput').click();
  await throughput.getByText(/^Provisioned: 11 read units and 5 write units/).waitFor();
  const table = await describe('orders');
  assert.equal(table.GlobalSecondaryIndexes[0].ProvisionedThroughput.WriteCapacityUnits, 3);
  // Somebody else changes the table just then.
  const busy = { __type: 'com.amazonaws.dynamodb.v20120810#ResourceInUseException', message: `Busy: ${SCRIPT}` };
  const stop = await refuse(page, 'UpdateTable', busy);
  await throughput.getByLabel('Read units a second').fill('12');
  await button(page, 'Change the throughput').click();
  await throughput.getByRole('alert').getByText(busy.message).waitFor();
  await throughput.getByText(/This form can be sent again/).waitFor();
  await stop();
  await button(page, 'Change the throughput').click();
  await throughput.getByText(/^Provisioned: 12 read units/).waitFor();
}

async function changesTheRest(page) {
  await settings(page);
  await button(page, 'Turn the stream on').click();
  await subject(page, 'Stream of changes').getByText('On, with new and old images.').waitFor();
  await button(page, 'Turn the stream off…').click();
  await button(page, 'Turn it off').click();
  await button(page, 'Turn the stream on').waitFor();
  assert.equal((await describe('orders')).StreamSpecification, undefined);
  await field(page, 'Attribute with the time').fill(SCRIPT);
  await button(page, 'Turn the expiry on').click();
  await subject(page, 'Expiry of items').getByText(SCRIPT).waitFor();
  await button(page, 'Turn the expiry off…').click();
  await button(page, 'Turn it off').click();
  await button(page, 'Turn the expiry on').waitFor();
  await button(page, 'Protect the table').click();
  await button(page, 'Take the protection away').waitFor();
  assert.equal((await describe('orders')).DeletionProtectionEnabled, true);
}

async function changesTags(page) {
  const tags = subject(page, 'Tags');
  for (const [i, [key, value]] of [['team', '<fleet>'], ['stage', 'test'], ['team', 'x']].entries()) {
    await tags.getByRole('button', { name: 'Add a tag' }).click();
    await tags.getByLabel(`Key ${i + 1}`).fill(key);
    await tags.getByLabel(`Value ${i + 1}`).fill(value);
  }
  await button(page, 'Save the tags').click();
  await tags.getByText('The key team comes twice.').waitFor();
  await button(page, 'Remove tag 3').click();
  await button(page, 'Save the tags').click();
  await tags.getByRole('alert').getByText('ValidationException').waitFor();  // no tag has such letters
  await tags.getByLabel('Value 1').fill('fleet');
  await button(page, 'Save the tags').click();
  const { TableArn: ResourceArn } = await describe('orders');
  const read = async () => (await call('ListTagsOfResource', { ResourceArn })).Tags;
  await until(async () => (await read()).length === 2);
  await tags.getByText('2 tags').waitFor();
  await button(page, 'Remove tag 1').click();
  await button(page, 'Save the tags').click();
  await tags.getByText('1 tag', { exact: true }).waitFor();
  assert.equal((await read()).length, 1);
}

// An index is removed, and the protection taken away, without a pointer.
async function isUsableByKeyboard(page) {
  await settings(page);
  await button(page, 'Take the protection away').waitFor();
  await tabTo(page, button(page, 'Remove ByRegion…'));
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Remove ByRegion' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  assert.equal(await button(page, 'Remove ByRegion…').evaluate((element) => element === document.activeElement), true, 'the focus returns');
  await page.keyboard.press('Enter');
  await tabTo(page, button(page, 'Remove the index'));
  await page.keyboard.press('Enter');
  await button(page, 'Remove ByRegion…').waitFor({ state: 'hidden' });
  await tabTo(page, button(page, 'Take the protection away'));
  await page.keyboard.press('Enter');
  await button(page, 'Protect the table').waitFor();
}

const policyOf = (arn, sid) => JSON.stringify({ Version: '2012-10-17', Statement: [
  { Sid: sid, Effect: 'Allow', Principal: { AWS: ['AKREADER'] }, Action: 'dynamodb:GetItem', Resource: arn }] });

async function editsPolicies(page) {
  await open(page, '#/tables/orders/policy');
  const text = field(page, 'Policy as JSON');
  await page.getByText('There is no policy.').waitFor();
  await text.fill('{"Statement": [}');
  await button(page, 'Save the policy').click();
  await page.getByRole('alert').getByText('(line 1, column 16)').waitFor();
  assert.deepEqual(await text.evaluate((area) => [area.selectionStart, area === document.activeElement]), [15, true]);
  await text.fill('{"Statement": "nothing"}');
  await button(page, 'Save the policy').click();
  await page.getByRole('alert').waitFor();
  const { TableArn: ResourceArn } = await describe('orders');
  await text.fill(policyOf(ResourceArn, 'Mine'));
  await button(page, 'Save the policy').click();
  await page.getByText('Saved.').waitFor();
  // Somebody else is faster.
  await call('PutResourcePolicy', { ResourceArn, Policy: policyOf(ResourceArn, 'Theirs') });
  await text.fill(policyOf(ResourceArn, 'Second'));
  await button(page, 'Save the policy').click();
  await page.getByText('Somebody else has changed the policy').waitFor();
  await button(page, 'Show it').click();
  await page.getByLabel('The policy as it is now').getByText('Theirs').waitFor();
  assert.match((await call('GetResourcePolicy', { ResourceArn })).Policy, /Theirs/);
  await button(page, 'Save the policy').click();
  await page.getByText('Saved.').waitFor();
  assert.match((await call('GetResourcePolicy', { ResourceArn })).Policy, /Second/);
  await button(page, 'Delete…').click();
  await button(page, 'Delete the policy').click();
  await page.getByText('There is no policy.').waitFor();
}

// Whatever the daemon may hold is shown as text.
async function showsHostileTexts(page) {
  await answer(page, 'ListTagsOfResource', { Tags: [{ Key: SCRIPT, Value: SCRIPT }] });
  await settings(page);
  await page.getByText('1 tag', { exact: true }).waitFor();
  assert.equal(await field(page, 'Key 1').inputValue(), SCRIPT);
  await open(page, '#/tables/orders/policy');
  await page.getByText('There is no policy.').waitFor();
  await answer(page, 'GetResourcePolicy', { Policy: JSON.stringify({ Sid: SCRIPT }), RevisionId: SCRIPT });
  await page.reload();
  await page.getByText(`Revision ${SCRIPT}`).waitFor();
  assert.equal(await hasRun(page), false);
}

await prepare();
await withBrowser(async (newPage) => {
  const page = await newPage();
  page.expected = /status of 400/;  // of the refusals
  await addsIndexes(page);
  await refusesIndexes(page);
  await showsViolations(page);
  await removesIndexes(page);
  await changesThroughput(page);
  await changesTheRest(page);
  await changesTags(page);
  await isUsableByKeyboard(page);
  await editsPolicies(page);
  await showsHostileTexts(page);
});
console.log('changes: all passed');
