// The package as programs see it.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import * as armature from '@armaturedb/client';
import * as testing from '@armaturedb/client/testing';

const HERE = path.dirname(fileURLToPath(import.meta.url));
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

// A program in the place of the daemon: it says that it serves, and waits.
const FAKE = `#!${process.execPath}
console.log('ready grpc=127.0.0.1:1');
setInterval(() => undefined, 1000);
`;

function isRunning(pid) {
  try {
    return !/^State:\s+Z/m.test(fs.readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

test('the daemon and its directory go with a process that is ended', { timeout: 20_000 }, async () => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'armature-fake-'));
  try {
    const binary = path.join(directory, 'armatured');
    fs.writeFileSync(binary, FAKE, { mode: 0o700 });
    const program = `require('@armaturedb/client/testing').start({ binary: ${JSON.stringify(binary)} })
      .then((daemon) => console.log(daemon.pid, daemon.dataDir)); setInterval(() => undefined, 1000);`;
    for (const signal of ['SIGTERM', 'SIGINT']) {
      const child = spawn(process.execPath, ['-e', program], { cwd: HERE, stdio: ['ignore', 'pipe', 'inherit'] });
      const [line] = await once(child.stdout, 'data');
      const [pid, dataDir] = String(line).trim().split(' ');
      assert.ok(fs.existsSync(dataDir));
      child.kill(signal);
      const [, endedBy] = await once(child, 'close');
      assert.equal(endedBy, signal);
      assert.equal(fs.existsSync(dataDir), false);
      while (isRunning(pid)) await new Promise((resolve) => setImmediate(resolve));
    }
  } finally {
    fs.rmSync(directory, { recursive: true });
  }
});

test('a daemon that does not start is an error with its messages', async () => {
  await assert.rejects(testing.start({ binary: '/nowhere/armatured' }), /ENOENT/);
  await assert.rejects(testing.start({ binary: process.execPath, flags: [] }), /has ended with/);
});
