// Signing in with keys of limited rights: $READER may read one table and list none, $ADMIN may do everything; both have the
// secret $SECRET.

import assert from 'node:assert/strict';
import { button, editor, field, open, withBrowser } from './browser.mjs';

const { ADMIN, READER, SECRET } = process.env;

async function signIn(page, id, secret) {
  await field(page, 'Access key').fill(id);
  await field(page, 'Secret').fill(secret);
  await button(page, 'Sign in').click();
}

async function refusesWrongSecrets(page) {
  await open(page);
  assert.equal(await button(page, 'Sign in').isDisabled(), true);
  await signIn(page, READER, 'a-wrong-secret-0000');
  await page.getByText('The daemon does not accept this key').waitFor();
  await signIn(page, 'AKNOBODY', SECRET);
  await page.getByText('The security token included in the request is invalid').waitFor();
}

// Every flag with its source, and no secret.
async function showsSettings(page) {
  await page.getByRole('link', { name: 'Daemon' }).click();
  await page.getByRole('row', { name: /^--credentials_file .*credentials.json command line/ }).waitFor();
  await page.getByRole('row', { name: /^--durability sync default/ }).waitFor();
  assert.ok(!(await page.content()).includes(SECRET));
  await page.getByLabel('Filter flags').fill('cache_mb');
  await page.getByRole('row', { name: /^--durability/ }).waitFor({ state: 'hidden' });
  await page.getByLabel('Filter flags').fill('');
  await button(page, 'Only given ones').click();
  await page.getByRole('row', { name: /^--durability/ }).waitFor({ state: 'hidden' });
  await page.getByRole('row', { name: /^--http_listen/ }).waitFor();
}

// Changes that the key does not permit are not offered, and metrics are not asked for.
async function offersOnlyWhatIsPermitted(page) {
  const asked = [];
  page.on('request', (request) => asked.push(request.url()));
  await open(page, '#/tables/shared/items');  // in the same page, so the key is kept
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByText('Off. Items stay until they are deleted.').waitFor();
  await page.getByText('On demand: requests are not throttled.').waitFor();
  await page.getByText('Your access key does not permit this').waitFor();  // the tags
  for (const name of ['Add an index…', 'Change the throughput', 'Turn the stream on', 'Turn the expiry on', 'Protect the table', 'Save the tags']) {
    assert.equal(await button(page, name).count(), 0, name);
  }
  await page.getByRole('link', { name: 'Backups' }).last().click();
  await page.getByText('Your access key does not permit this').first().waitFor();
  assert.equal(await button(page, 'Back up now').count(), 0);
  await page.getByRole('link', { name: 'Jobs' }).click();
  await page.getByText('Your access key may not list jobs.').waitFor();
  for (const name of ['Export…', 'Import…', 'Bulk put…']) assert.equal(await button(page, name).count(), 0, name);
  await page.getByRole('link', { name: 'Daemon' }).click();
  await page.getByText('Settings need a key with "admin"').waitFor();
  assert.deepEqual(asked.filter((url) => url.endsWith('/console/metrics')), []);
}

async function admitsAdministrators(page) {
  await signIn(page, ADMIN, SECRET);
  await page.getByText('There are no tables yet').waitFor();
  await page.getByRole('link', { name: 'Create table' }).first().click();
  await field(page, 'Name of the table').fill('shared');
  await field(page, 'Table partition key, attribute 1').fill('id');
  await page.getByRole('button', { name: 'Create table' }).click();
  await page.getByRole('link', { name: 'Items', exact: true }).click();
  await button(page, 'New item').click();
  await editor(page).fill('{"id": "one", "text": "ä"}');
  await button(page, 'Save').click();
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await page.getByRole('link', { name: 'Activity' }).click();
  await page.getByText('Nothing needs attention.').waitFor();
  await showsSettings(page);
  await button(page, 'Sign out').click();
  await button(page, 'Sign in').waitFor();
}

async function restrictsReaders(page) {
  await signIn(page, READER, SECRET);
  await page.getByRole('link', { name: 'Activity' }).click();
  await page.getByText('Metrics need a key with "admin"').waitFor();
  await page.getByRole('link', { name: 'Tables' }).click();
  await page.getByText('Your access key does not permit this').waitFor();
  await field(page, 'Open a table by its name').fill('shared');
  await button(page, 'Open').click();
  await page.getByRole('button', { name: 'one', exact: true }).click();
  await editor(page).fill('{"id": "one", "text": "changed"}');
  await button(page, 'Save').click();
  await page.getByRole('dialog').getByText('Your access key does not permit this').waitFor();
  await page.keyboard.press('Escape');
}

async function keepsNoSecrets(page) {
  const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]));
  assert.ok(!stored.includes(SECRET) && !stored.includes(READER), stored);
  await page.reload();
  await button(page, 'Sign in').waitFor();
}

await withBrowser(async (newPage) => {
  const page = await newPage({ ignoreHTTPSErrors: true });
  page.expected = /status of 40[03]/;  // of the refusals
  await refusesWrongSecrets(page);
  await admitsAdministrators(page);
  await restrictsReaders(page);
  await offersOnlyWhatIsPermitted(page);
  await keepsNoSecrets(page);
});
console.log('sign in: all passed');
