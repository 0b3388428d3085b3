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
  await open(page, '#/partiql');
  await page.getByText('There is no such page').waitFor();
});
console.log('read-only: all passed');
