// The console of a daemon with --console=read-only: it shows everything, and offers no change.

import assert from 'node:assert/strict';
import { button, editor, open, withBrowser } from './browser.mjs';

await withBrowser(async (newPage) => {
  const page = await newPage();
  await open(page);
  await page.getByText('read-only').waitFor();
  await page.getByRole('row', { name: /kept active 1/ }).waitFor();
  assert.equal(await page.getByText('Create table').count() + await page.getByText('PartiQL').count(), 0);
  await page.getByRole('link', { name: 'kept' }).click();
  await page.getByRole('button', { name: 'one', exact: true }).click();
  assert.equal(await editor(page).isEditable(), false);
  for (const name of ['Save', 'Delete…', 'New item']) assert.equal(await button(page, name).count(), 0, name);
  await button(page, 'Close').first().click();
  await page.getByRole('link', { name: 'Structure' }).click();
  await page.getByText('Protected from deletion').waitFor();
  assert.equal(await button(page, 'Delete table…').count(), 0);
  page.expected = /status of 400/;  // there is no policy
  for (const [tab, text] of [['settings', 'Off. Items stay until they are deleted.'], ['backups', 'There are no backups yet'],
    ['policy', 'There is no policy.'], ['stream', 'The table has no stream']]) {
    await open(page, `#/tables/kept/${tab}`);
    await page.getByText(text).waitFor();
    const names = await page.getByRole('main').getByRole('button').allTextContents();
    assert.deepEqual(names, [], tab);
  }
  assert.equal(await page.getByRole('textbox').count(), 0);
  await open(page, '#/tables/kept/policy');
  assert.equal(await page.getByLabel('Policy as JSON').isEditable(), false);
  await open(page, '#/jobs');
  await page.getByText('There are no jobs').waitFor();
  assert.deepEqual(await page.getByRole('main').getByRole('button').allTextContents(), []);
  await open(page, '#/partiql');
  await page.getByText('There is no such page').waitFor();
});
console.log('read-only: all passed');
