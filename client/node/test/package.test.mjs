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

// A program in the place of the daemon: it writes its number and its data directory beside it, says that it serves unless it is
// not to, and waits.
const FAKE = `#!${process.execPath}
const fs = require('node:fs');
const flags = process.argv.slice(2);
if (flags.includes('--stubborn')) process.on('SIGTERM', () => undefined);
const dataDir = flags.find((flag) => flag.startsWith('--data_dir=')).slice('--data_dir='.length);
fs.writeFileSync(__filename + '.new', process.pid + ' ' + dataDir);
fs.renameSync(__filename + '.new', __filename + '.state');
if (!flags.includes('--mute')) console.log('ready grpc=127.0.0.1:1');
setInterval(() => undefined, 1000);
`;

async function withFakeBinary(test) {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'armature-fake-'));
  try {
    const binary = path.join(directory, 'armatured');
    fs.writeFileSync(binary, FAKE, { mode: 0o700 });
    await test(binary);
  } finally {
    fs.rmSync(directory, { recursive: true });
  }
}

function isRunning(pid) {
  try {
    return !/^State:\s+Z/m.test(fs.readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

test('the daemon and its directory go with a process that is ended', { timeout: 20_000 }, async () => {
  for (const [signal, flags] of [['SIGTERM', []], ['SIGINT', []], ['SIGTERM', ['--mute']]]) {
    await withFakeBinary(async (binary) => {
      const program = `require('@armaturedb/client/testing').start(${JSON.stringify({ binary, flags })})
        .then(() => console.log('serves')); setInterval(() => undefined, 1000);`;
      const child = spawn(process.execPath, ['-e', program], { cwd: HERE, stdio: ['ignore', 'pipe', 'inherit'] });
      if (flags.length === 0) await once(child.stdout, 'data');
      const state = `${binary}.state`;
      while (!fs.existsSync(state)) await new Promise((resolve) => setImmediate(resolve));
      const [pid, dataDir] = fs.readFileSync(state, 'utf8').split(' ');
      assert.ok(fs.existsSync(dataDir));
      child.kill(signal);
      const [, endedBy] = await once(child, 'close');
      assert.equal(endedBy, signal);
      assert.equal(fs.existsSync(dataDir), false);
      while (isRunning(pid)) await new Promise((resolve) => setImmediate(resolve));
    });
  }
});

test('a stopped daemon ends by stop, and one that does not end is killed', { timeout: 20_000 }, async () => {
  await withFakeBinary(async (binary) => {
    const daemon = await testing.start({ binary });
    daemon.signal('SIGSTOP');
    await daemon.stop();
    assert.equal(fs.existsSync(daemon.dataDir), false);

    const stubborn = await testing.start({ binary, flags: ['--stubborn'], stopTimeoutMs: 10 });
    const { pid } = stubborn;
    await assert.rejects(stubborn.stop(), /has not ended in time/);
    assert.equal(isRunning(pid), false);
    assert.equal(fs.existsSync(stubborn.dataDir), false);
  });
});

test('a failed start ends the daemon and removes its directory', async () => {
  const processes = require('node:child_process');
  const { spawn: original } = processes;
  let child;
  processes.spawn = (...given) => (child = original(...given));
  try {
    await withFakeBinary(async (binary) => {
      const options = { binary, flags: ['--mute'], timeoutMs: 1 };
      await assert.rejects(testing.start({ ...options, dataDir: path.dirname(binary) }), /does not serve in time/);
      assert.equal(child.signalCode, 'SIGKILL');
      await assert.rejects(testing.start(options), /does not serve in time/);
      const dataDir = child.spawnargs.find((flag) => flag.startsWith('--data_dir=')).slice('--data_dir='.length);
      assert.equal(fs.existsSync(dataDir), false);
    });
  } finally {
    processes.spawn = original;
  }
});

test('a start may take any time', async () => {
  await withFakeBinary(async (binary) => {
    const daemon = await testing.start({ binary, timeoutMs: Infinity });
    await daemon.stop();
  });
});

test('a daemon that does not start is an error with its messages', async () => {
  await assert.rejects(testing.start({ binary: '/nowhere/armatured' }), /ENOENT/);
  await assert.rejects(testing.start({ binary: process.execPath, flags: [] }), /has ended with/);
});
