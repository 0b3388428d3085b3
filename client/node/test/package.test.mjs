// The package as programs see it.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';

import * as armature from '@armaturedb/client';
import * as testing from '@armaturedb/client/testing';

const require = createRequire(import.meta.url);

test('both kinds of modules have the same classes', () => {
  const common = require('@armaturedb/client');
  assert.deepEqual(Object.keys(armature).sort(), Object.keys(common).sort());
  for (const name of Object.keys(common)) assert.equal(armature[name], common[name], name);
  assert.equal(testing.start, require('@armaturedb/client/testing').start);
});

test('a client has a function for each operation', () => {
  const { methods } = require('../build/generated/operations.js');
  for (const name of Object.keys(methods)) assert.equal(typeof armature.Client.prototype[name], 'function', name);
});

test('a daemon that does not start is an error with its messages', async () => {
  await assert.rejects(testing.start({ binary: '/nowhere/armatured' }), /ENOENT/);
  await assert.rejects(testing.start({ binary: process.execPath, flags: [] }), /has ended with/);
});
