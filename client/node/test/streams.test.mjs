// Pipelines and watches, against a daemon of the test's own.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { DeadlineExceededError, InvalidArgumentError, OutcomeUnknownError, UnavailableError } from '@armaturedb/client';

import { failure, FakeDaemon, withFake } from './fake-daemon.mjs';

const record = (sequenceNumber) => ({ eventName: 'INSERT', dynamodb: { keys: { id: sequenceNumber }, sequenceNumber } });
const KEY = { tableName: 't', key: { id: 1 } };
const UPDATE = { ...KEY, updateExpression: 'SET a = $a', params: { a: 1 } };

test('answers of a pipeline reach their operations in any order', async () => {
  const held = [];
  const pipeline = (request, send) => {
    held.push(request);
    if (held.length < 3) return;
    for (const { id, getItem } of held.reverse()) {
      if (getItem.key.id === 2) send({ id, error: { code: 3, message: 'no', details: [] } });
      else send({ id, getItem: { item: getItem.key } });
    }
  };
  await withFake({ pipeline }, {}, async (client) => {
    const open = await client.pipeline();
    const asked = [1, 2, 3].map((id) => open.getItem({ tableName: 't', key: { id } }));
    const [first, second, third] = await Promise.allSettled(asked);
    assert.deepEqual([first.value.item, third.value.item], [{ id: 1 }, { id: 3 }]);
    assert.equal(second.reason.code, 'INVALID_ARGUMENT');
    await open.close();
    await assert.rejects(open.getItem(KEY), /closed/);
  });
});

test('a pipeline sends no more than its limit at once', async () => {
  const held = [];
  let release;
  const full = new Promise((resolve) => (release = resolve));
  const pipeline = (request, send) => {
    held.push(() => send({ id: request.id, getItem: {} }));
    if (held.length === 2) release();
  };
  await withFake({ pipeline }, {}, async (client) => {
    const open = await client.pipeline({ inFlightMax: 2 });
    const asked = Array.from({ length: 5 }, () => open.getItem(KEY));
    await full;
    assert.equal(open.outstanding, 5);
    let isReady = false;
    const ready = open.ready().then(() => (isReady = true));
    for (let answered = 0; answered < 5; ++answered) {
      assert.equal(isReady, false);
      assert.ok(held.length <= answered + 2);
      held[answered]();
      await asked[answered];
      while (held.length < Math.min(5, answered + 3)) await new Promise((resolve) => setImmediate(resolve));
    }
    await ready;
    await open.close();
  });
});

test('a broken pipeline tells reads from writes of unknown outcome', async () => {
  let count = 0;
  const pipeline = (_request, _send, fail) => {
    if (++count === 2) fail(failure('UNAVAILABLE', 'the daemon stops'));
  };
  await withFake({ pipeline }, {}, async (client) => {
    const open = await client.pipeline({ inFlightMax: 2 });
    const results = await Promise.allSettled([open.getItem(KEY), open.updateItem(UPDATE), open.updateItem(UPDATE)]);
    const [read, sent, queued] = results.map(({ reason }) => reason);
    assert.ok(read instanceof UnavailableError, read);
    assert.ok(sent instanceof OutcomeUnknownError, sent);
    assert.ok(queued instanceof UnavailableError && queued.notApplied, queued);
    await assert.rejects(open.getItem(KEY), UnavailableError);
    await assert.rejects(open.close(), UnavailableError);
  });
});

test('an operation of a pipeline has a deadline', async () => {
  await withFake({ pipeline: () => undefined }, {}, async (client) => {
    const open = await client.pipeline({ timeoutMs: 50 });
    const [read, write] = await Promise.allSettled([open.getItem(KEY), open.updateItem(UPDATE)]);
    assert.ok(read.reason instanceof DeadlineExceededError);
    assert.ok(write.reason instanceof OutcomeUnknownError);
    await open.close();
  });
});

test('a wrong request fails alone', async () => {
  await withFake({ pipeline: ({ id }, send) => send({ id, getItem: {} }) }, {}, async (client) => {
    const open = await client.pipeline();
    await assert.rejects(open.putItem({ tableName: 't', item: { id: new Date() } }), InvalidArgumentError);
    assert.deepEqual(await open.getItem(KEY), {});
    await open.close();
  });
});

test('a watch continues behind the last response after a lost connection', async () => {
  const seen = [];
  const watch = (request, send, fail) => {
    seen.push([request.start, request.afterSequenceNumber]);
    if (seen.length === 1) {
      send({ records: [record('1'), record('2')], position: '2' });
      send({ records: [], position: '3' });
      fail(failure('UNAVAILABLE', 'the daemon stops'));
    } else {
      send({ records: [record('4')], position: '4' });
    }
  };
  await withFake({ watch }, {}, async (client) => {
    const watcher = client.watch({ tableName: 't', start: 'OLDEST' });
    const numbers = [];
    for await (const { dynamodb } of watcher.records()) {
      numbers.push(dynamodb.sequenceNumber);
      if (numbers.length === 3) break;
    }
    assert.deepEqual(numbers, ['1', '2', '4']);
    assert.deepEqual(seen, [['OLDEST', undefined], [undefined, '3']]);
    assert.equal(watcher.position, '4');
  });
});

test('the position of a watch by records is behind the last one that was given', async () => {
  const watch = (_request, send) => {
    send({ records: [record('1'), record('2'), record('3')], position: '5' });
    send({ records: [], position: '6' });
    send({ records: [record('7')], position: '7' });
  };
  await withFake({ watch }, {}, async (client) => {
    const watcher = client.watch({ tableName: 't', start: 'OLDEST' });
    const given = [];
    for await (const { dynamodb } of watcher.records()) {
      given.push([dynamodb.sequenceNumber, watcher.position]);
      if (given.length === 4) break;
    }
    assert.deepEqual(given, [['1', '1'], ['2', '2'], ['3', '5'], ['7', '7']]);
  });
});

test('a refused watch fails its start and its loop', async () => {
  const watch = (_request, _send, fail) => fail(failure('NOT_FOUND', 'no table', { exception: 'ResourceNotFoundException' }));
  await withFake({ watch }, {}, async (client, daemon) => {
    const watcher = client.watch({ tableName: 't' });
    await assert.rejects(watcher.started, { name: 'ResourceNotFoundException' });
    await assert.rejects(watcher.records().next(), { name: 'ResourceNotFoundException' });
    assert.equal(daemon.calls.length, 1);
  });
});

test('a watch ends by cancel, and fails by the signal of the program', async () => {
  const watch = (_request, send) => send({ records: [record('1')], position: '1' });
  await withFake({ watch }, {}, async (client) => {
    const watcher = client.watch({ tableName: 't' });
    let count = 0;
    for await (const _record of watcher.records()) {
      ++count;
      watcher.cancel();
    }
    assert.equal(count, 1);
    const controller = new AbortController();
    const signalled = client.watch({ tableName: 't' }, { signal: controller.signal });
    await assert.rejects(async () => {
      for await (const _record of signalled.records()) controller.abort(new Error('enough'));
    }, /enough/);
  });
});

test('a watch gives up after reconnectForMs', async () => {
  const daemon = await new FakeDaemon({}).start();
  const { Client } = await import('@armaturedb/client');
  const client = new Client(daemon.address, { retry: { initialMs: 0 } });
  daemon.stop();
  try {
    const watcher = client.watch({ tableName: 't' }, { reconnectForMs: 0 });
    await assert.rejects(watcher.records().next(), UnavailableError);
  } finally {
    client.close();
  }
});

test('an export gives its messages and fails with its error', async () => {
  const exportTable = (_request, send, fail) => {
    send({ items: [{ id: 1 }] });
    fail(failure('UNAVAILABLE', 'the daemon stops'));
  };
  await withFake({ exportTable }, {}, async (client) => {
    const messages = client.exportTable({ tableName: 't' });
    assert.deepEqual((await messages.next()).value.items, [{ id: 1 }]);
    await assert.rejects(messages.next(), UnavailableError);
  });
});
