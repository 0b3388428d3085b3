// Errors, repeats and deadlines of calls, against a daemon of the test's own.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { inspect } from 'node:util';

import {
  ArmatureError, Client, ConditionalCheckFailedException, DeadlineExceededError, InvalidArgumentError, MessageTooLargeError, OutcomeUnknownError,
  ThrottlingException, TransactionCanceledException, UnavailableError,
} from '@armaturedb/client';

import { FakeDaemon, failure, withFake } from './fake-daemon.mjs';

const require = createRequire(import.meta.url);
const { explain } = require('../build/connecting.js');
const { isTransient } = require('../build/retry.js');

const PUT = { tableName: 't', item: { id: 1 } };
const UPDATE = { tableName: 't', key: { id: 1 }, updateExpression: 'SET a = $a', params: { a: 1 } };
const unavailable = () => failure('UNAVAILABLE', 'the daemon stops');
const throttled = (retryAfterMs = 0) => failure('RESOURCE_EXHAUSTED', 'too fast', { exception: 'ThrottlingException', retryAfterMs });

// An answer that fails for the first `times` calls.
function failing(times, error, answer = {}) {
  let calls = 0;
  return () => {
    if (calls++ < times) throw error();
    return answer;
  };
}

// google.rpc.RetryInfo of some seconds, below 128, by hand.
function retryInfo(seconds) {
  return { typeUrl: 'type.googleapis.com/google.rpc.RetryInfo', value: Buffer.from([0x0a, 2, 0x08, seconds]) };
}

test('an exception of the daemon is an error of its class', async () => {
  const answer = () => {
    throw failure('FAILED_PRECONDITION', 'The conditional request failed',
      { exception: 'ConditionalCheckFailedException', item: { id: 1, n: 0.5 }, requestId: 'r1' });
  };
  await withFake({ putItem: answer }, {}, async (client) => {
    await assert.rejects(client.putItem(PUT), (error) => {
      assert.ok(error instanceof ConditionalCheckFailedException);
      assert.deepEqual([error.name, error.code, error.item, error.requestId, error.notApplied], [
        'ConditionalCheckFailedException', 'FAILED_PRECONDITION', { id: 1, n: 0.5 }, 'r1', true]);
      assert.match(error.stack, /calls\.test\.mjs/);
      return true;
    });
  });
});

test('a cancelled transaction has the reasons of its actions', async () => {
  const detail = { exception: 'TransactionCanceledException', cancellationReasons: [{ code: 'None' }, { code: 'ConditionalCheckFailed', item: { id: 2 } }] };
  await withFake({ transactWriteItems: () => { throw failure('ABORTED', 'cancelled', detail); } }, {}, async (client) => {
    await assert.rejects(client.transaction().delete('t', { id: 1 }).commit(), (error) => {
      assert.ok(error instanceof TransactionCanceledException);
      assert.deepEqual(error.reasons.map(({ code, item }) => [code, item]), [['None', undefined], ['ConditionalCheckFailed', { id: 2 }]]);
      return true;
    });
  });
});

test('an exception is known from the plain trailer, and damaged details do no harm', async () => {
  const answer = () => {
    const error = failure('INVALID_ARGUMENT', 'bad');
    error.metadata.set('grpc-status-details-bin', Buffer.from([255, 255, 255]));
    error.metadata.set('x-armature-exception', 'ValidationException');
    throw error;
  };
  await withFake({ getItem: answer }, {}, async (client) => {
    await assert.rejects(client.getItem({ tableName: 't', key: { id: 1 } }), { name: 'ValidationException', exception: 'ValidationException' });
  });
});

test('reads, plain puts and deletes, and batches are repeated after a lost answer', async () => {
  const calls = {
    getItem: { tableName: 't', key: { id: 1 } }, putItem: PUT, deleteItem: { tableName: 't', key: { id: 1 } },
    query: { tableName: 't', keyConditionExpression: 'id = $id', params: { id: 1 } },
    batchWriteItem: { requestItems: { t: [{ putRequest: { item: { id: 1 } } }] } },
    transactWriteItems: { transactItems: [{ put: PUT }] }, executeStatement: { statement: ' select * from t' },
  };
  for (const [name, request] of Object.entries(calls)) {
    await withFake({ [name]: failing(2, unavailable) }, {}, async (client, daemon) => {
      await client[name](request);
      assert.equal(daemon.calls.length, 3, name);
    });
  }
});

test('a write that is not safe to repeat is not repeated after a lost answer: its outcome is unknown', async () => {
  const calls = {
    updateItem: UPDATE, putItem: { ...PUT, conditionExpression: 'attribute_not_exists(id)' },
    deleteItem: { tableName: 't', key: { id: 1 }, returnValues: 'ALL_OLD' }, deleteTable: { tableName: 't' },
    executeStatement: { statement: 'DELETE FROM t WHERE id = 1' },
  };
  for (const [name, request] of Object.entries(calls)) {
    await withFake({ [name]: failing(1, unavailable) }, {}, async (client, daemon) => {
      await assert.rejects(client[name](request), (error) => {
        assert.ok(error instanceof OutcomeUnknownError, name);
        assert.ok(error.cause instanceof UnavailableError);
        assert.equal(error.notApplied, false);
        return true;
      });
      assert.equal(daemon.calls.length, 1, name);
    });
  }
});

test('the outcome stays unknown if the daemon is not reached after a lost answer', async () => {
  const daemon = await new FakeDaemon({ putItem: () => {
    daemon.stop();
    return new Promise(() => undefined);
  } }).start();
  const client = new Client(daemon.address, { retry: { attempts: 3, initialMs: 0 } });
  try {
    await assert.rejects(client.putItem(PUT), (error) => error instanceof OutcomeUnknownError && error.attempts === 3 && error.cause.notApplied);
  } finally {
    client.close();
  }
});

test('a call that the program calls idempotent is repeated', async () => {
  await withFake({ updateItem: failing(1, unavailable) }, {}, async (client, daemon) => {
    await client.updateItem(UPDATE, { idempotent: true });
    assert.equal(daemon.calls.length, 2);
  });
});

test('a throttled write has changed nothing, so it is repeated', async () => {
  await withFake({ updateItem: failing(2, throttled) }, {}, async (client, daemon) => {
    await client.updateItem(UPDATE);
    assert.equal(daemon.calls.length, 3);
  });
});

test('the last error of repeats is that of the daemon', async () => {
  await withFake({ updateItem: failing(9, throttled) }, { retry: { attempts: 3, initialMs: 0 } }, async (client, daemon) => {
    await assert.rejects(client.updateItem(UPDATE), (error) => error instanceof ThrottlingException && error.attempts === 3);
    assert.equal(daemon.calls.length, 3);
  });
});

test('without repeats the first error ends the call', async () => {
  await withFake({ getItem: failing(1, unavailable) }, { retry: false }, async (client, daemon) => {
    await assert.rejects(client.getItem({ tableName: 't', key: { id: 1 } }), UnavailableError);
    assert.equal(daemon.calls.length, 1);
  });
});

test('a refusal of the content is not repeated', async () => {
  const error = () => failure('INVALID_ARGUMENT', 'no', { exception: 'ValidationException' });
  await withFake({ getItem: failing(1, error) }, {}, async (client, daemon) => {
    await assert.rejects(client.getItem({ tableName: 't', key: { id: 1 } }), { name: 'ValidationException' });
    assert.equal(daemon.calls.length, 1);
  });
});

test('a pause is as long as the daemon advises, and a call whose pause is too long ends', async () => {
  for (const error of [() => throttled(60_000), () => failure('RESOURCE_EXHAUSTED', 'x', { exception: 'ThrottlingException' }, [retryInfo(60)])]) {
    await withFake({ getItem: failing(1, error) }, { timeoutMs: 5000 }, async (client, daemon) => {
      await assert.rejects(client.getItem({ tableName: 't', key: { id: 1 } }), (thrown) => thrown.retryAfterMs === 60_000);
      assert.equal(daemon.calls.length, 1);
    });
  }
});

test('clients with the same advice do not come back together: a pause of their own is behind it', async () => {
  await withFake({ getItem: failing(1, () => throttled(200)) }, { retry: { initialMs: 200 } }, async (client) => {
    const begin = performance.now();
    await client.getItem({ tableName: 't', key: { id: 1 } });
    assert.ok(performance.now() - begin >= 299);
  });
});

test('all attempts of a transaction have one token', async () => {
  await withFake({ transactWriteItems: failing(2, unavailable) }, {}, async (client, daemon) => {
    await client.transactWriteItems({ transactItems: [{ put: PUT }] });
    const tokens = new Set(daemon.calls.map(([, { clientRequestToken }]) => clientRequestToken));
    assert.equal(daemon.calls.length, 3);
    assert.equal(tokens.size, 1);
    assert.match([...tokens][0], /^[0-9a-f-]{36}$/);
  });
});

test('conflicts pass, other reasons of a cancelled transaction do not', () => {
  const cancelled = (...codes) => new TransactionCanceledException('x', {
    code: 'ABORTED', exception: 'TransactionCanceledException', cancellationReasons: codes.map((code) => ({ code, itemOmitted: false })) });
  assert.equal(isTransient(cancelled('None', 'TransactionConflict')), true);
  assert.equal(isTransient(cancelled('ConditionalCheckFailed', 'TransactionConflict')), false);
  assert.equal(isTransient(cancelled()), false);
  assert.equal(isTransient(new ArmatureError('x', { code: 'RESOURCE_EXHAUSTED', exception: 'LimitExceededException' })), false);
});

test('after the deadline a read has failed, and the outcome of a write is unknown', async () => {
  const never = () => new Promise(() => undefined);
  await withFake({ getItem: never, updateItem: never, putItem: never }, { timeoutMs: 50 }, async (client) => {
    await assert.rejects(client.getItem({ tableName: 't', key: { id: 1 } }), DeadlineExceededError);
    // Each call begins when it is awaited: a promise that rejects before somebody waits for it ends the test.
    for (const [call, isSafeToRepeat] of [[() => client.putItem(PUT), true], [() => client.updateItem(UPDATE), false]]) {
      await assert.rejects(call, (error) => error instanceof OutcomeUnknownError && error.cause instanceof DeadlineExceededError &&
        error.isSafeToRepeat === isSafeToRepeat);
    }
  });
});

test('a signal ends a call with its reason', async () => {
  const controller = new AbortController();
  const answer = () => {
    controller.abort(new Error('enough'));
    return new Promise(() => undefined);
  };
  await withFake({ getItem: answer }, {}, async (client) => {
    await assert.rejects(client.getItem({ tableName: 't', key: { id: 1 } }, { signal: controller.signal }), /enough/);
    await assert.rejects(client.getItem({ tableName: 't', key: { id: 1 } }, { signal: AbortSignal.abort() }), { name: 'AbortError' });
  });
});

test('a daemon that is not there is unavailable, and nothing was applied', async () => {
  const client = new Client('127.0.0.1:1', { retry: { attempts: 2, initialMs: 0 } });
  try {
    await assert.rejects(client.updateItem(UPDATE), (error) => error instanceof UnavailableError && error.notApplied);
  } finally {
    client.close();
  }
});

test('the next address is used when one cannot be reached', async () => {
  const daemon = await new FakeDaemon({ getItem: () => ({ item: { id: 1 } }) }).start();
  const client = new Client(['127.0.0.1:1', daemon.address], { retry: false });
  try {
    assert.deepEqual((await client.getItem({ tableName: 't', key: { id: 1 } })).item, { id: 1 });
  } finally {
    client.close();
    daemon.stop();
  }
});

test('a client connects again after its daemon was away', async () => {
  const answers = { getItem: () => ({}) };
  const first = await new FakeDaemon(answers).start();
  const client = new Client(first.address);
  try {
    await client.getItem({ tableName: 't', key: { id: 1 } });
    first.stop();
    const second = await new FakeDaemon(answers).start(first.address);
    try {
      await client.getItem({ tableName: 't', key: { id: 1 } });
      assert.equal(second.calls.length, 1);
    } finally {
      second.stop();
    }
  } finally {
    client.close();
  }
});

test('metadata of the client and of the call are sent', async () => {
  let seen;
  const answer = (_request, metadata) => {
    seen = metadata.getMap();
    return {};
  };
  await withFake({ getItem: answer }, { metadata: { 'x-a': '1' } }, async (client) => {
    await client.getItem({ tableName: 't', key: { id: 1 } }, { metadata: { 'x-b': '2' } });
    assert.deepEqual([seen['x-a'], seen['x-b']], ['1', '2']);
  });
});

test('options outside their ranges are refused', () => {
  for (const [address, options] of [
    ['', {}], [[], {}], ['a:1', { timeoutMs: 0 }], ['a:1', { timeoutMs: NaN }], ['a:1', { retry: { attempts: 0 } }], ['a:1', { tls: { cert: 'x' } }],
    ['a:1', { accessKey: { id: 'a', secret: 'b' } }], ['unix:/x', { accessKey: { id: '', secret: 'b' } }],
  ]) {
    assert.throws(() => new Client(address, options), InvalidArgumentError, JSON.stringify([address, options]));
  }
  new Client('unix:/x', { accessKey: { id: 'a', secret: 'b' } }).close();
});

test('an address that could never be reached is refused at once', () => {
  for (const address of [undefined, null, 7700, [undefined], 'localhost', 'localhost:', 'localhost:0', 'localhost:65536', '[::1]', 'http://localhost:7700', 'HTTPS://a:1']) {
    assert.throws(() => new Client(address), InvalidArgumentError, JSON.stringify(address));
  }
  for (const address of ['localhost:7700', '[::1]:7700', 'unix:/x', 'dns:///localhost', 'dns:localhost:1', 'ipv4:127.0.0.1:1']) new Client(address).close();
});

test('certificates are contents of files, not their names', () => {
  for (const name of ['ca', 'cert', 'key']) {
    const tls = { cert: '-----BEGIN CERTIFICATE-----', key: '-----BEGIN PRIVATE KEY-----', [name]: `${name}.pem` };
    assert.throws(() => new Client('a:1', { tls }), (error) => error instanceof InvalidArgumentError && error.message.includes(`tls.${name} `));
  }
});

test('a log of the client does not show the secret', () => {
  const client = new Client('unix:/x', { accessKey: { id: 'a', secret: 'quiet' } });
  const text = inspect({ client, table: client.table('t', { key: ['id'] }), session: client.session() }, { depth: Infinity, showHidden: true });
  assert.ok(text.includes('Client(unix:/x)'));
  assert.ok(!text.includes('quiet') && !text.includes(Buffer.from('a:quiet').toString('base64')));
  client.close();
});

test('misspelt options are refused', async () => {
  for (const options of [{ timeout: 1 }, { retry: { attempt: 1 } }, { tls: { caFile: 'x' } }]) {
    assert.throws(() => new Client('a:1', options), InvalidArgumentError, JSON.stringify(options));
  }
  await withFake({ getItem: () => ({}) }, {}, async (client, daemon) => {
    await assert.rejects(client.getItem({ tableName: 't', key: { id: 1 } }, { timeout: 1 }),
      (error) => error instanceof InvalidArgumentError && error.message.includes('"timeout"') && error.message.includes('timeoutMs'));
    await assert.rejects(client.waitForTable('t', { timeout: 1 }), InvalidArgumentError);
    await assert.rejects(client.pipeline({ inFlight: 1 }), InvalidArgumentError);
    assert.throws(() => client.batchWriter({ parallel: 1 }), InvalidArgumentError);
    assert.throws(() => client.watch({ tableName: 't' }, { reconnectMs: 1 }), InvalidArgumentError);
    assert.throws(() => client.scatterQuery({ tableName: 't' }, { count: 1 }), InvalidArgumentError);
    assert.throws(() => client.transaction().put('t', { id: 1 }, { conditon: 'a = b' }), InvalidArgumentError);
    assert.equal(daemon.calls.length, 0);
    await client.getItem({ tableName: 't', key: { id: 1 } }, { timeoutMs: 1000, signal: undefined, other: undefined });
  });
});

test('an error has the text of the daemon, then the hint', async () => {
  const refuse = () => { throw failure('NOT_FOUND', 'Requested resource not found', { exception: 'ResourceNotFoundException' }); };
  await withFake({ getItem: refuse }, {}, async (client) => {
    await assert.rejects(client.getItem({ tableName: 'users', key: { id: 1 } }),
      { message: 'Requested resource not found (table users)', hint: 'table users', name: 'ResourceNotFoundException' });
  });
});

test('errors of connections have no text of a library', () => {
  const lost = (text) => `No connection established. Last error: Error: ${text}. Resolution note: `;
  for (const [text, reason, isLasting] of [
    [lost('connect ECONNREFUSED 127.0.0.1:1'), 'db:1 refuses the connection: no daemon listens there', false],
    [lost('connect ENOENT /a'), 'no daemon listens at db:1: there is no such socket', false],
    ['Name resolution failed for target dns:db:1', 'the name in db:1 cannot be resolved', false],
    [lost('connect ETIMEDOUT 10.0.0.1:1'), 'db:1 does not answer a connection in time', false],
    [lost('0A000410:SSL routines:ssl3_read_bytes:sslv3 alert handshake failure'), 'db:1 does not speak TLS', true],
    [lost('0A00042E:SSL routines:ssl3_read_bytes:tlsv1 alert protocol version'), 'db:1 does not speak TLS', true],
    [lost('0A000460:SSL routines:ssl3_read_bytes:tlsv1 alert no application protocol'), 'db:1 does not speak TLS', true],
    [lost('0A000102:SSL routines:ssl_choose_client_version:unsupported protocol'), 'db:1 does not speak TLS', true],
    [lost('0A0000C6:SSL routines:tls_get_more_records:packet length too long'), 'db:1 does not speak TLS', true],
    [lost('Client network socket disconnected before secure TLS connection was established'), 'the TLS handshake with db:1 failed', false],
    [lost('0A000126:SSL routines:ssl3_read_n:unexpected eof while reading'), 'the TLS handshake with db:1 failed', false],
    [lost('0A00045C:SSL routines:ssl3_read_bytes:tlsv13 alert certificate required'), 'db:1 wants a certificate of the client that it trusts', true],
    [lost('self-signed certificate'), 'the certificate of db:1 is not trusted: self-signed certificate', true],
    [lost("Host: other. is not in the cert's altnames: DNS:db"), "the certificate of db:1 is not trusted: Host: other. is not in the cert's altnames: DNS:db", true],
    ['No connection established. Last error: Protocol error (2026). Resolution note: ', 'db:1 speaks HTTP/1, and not gRPC', true],
    ['something new', 'db:1 cannot be reached', false],
  ]) assert.deepEqual(explain(text, 'db:1'), { reason, isLasting }, text);
});

test('objects print their name and address, and no secret', () => {
  const client = new Client(['db:1', 'unix:/a'], { accessKey: { id: 'a', secret: 'secret' }, tls: true });
  assert.equal(`${client} ${client.table('users', { key: ['id'] })}`, 'Client(db:1, unix:/a) Table(users, Client(db:1, unix:/a))');
  assert.equal(inspect(client.table('users', { key: ['id'] })), 'Table(users, Client(db:1, unix:/a))');
  client.close();
});

test('a request above the limit is not sent', async () => {
  await withFake({ putItem: () => ({}) }, {}, async (client, daemon) => {
    await assert.rejects(client.putItem({ tableName: 't', item: { id: 1, b: Buffer.alloc(17 << 20) } }),
      (error) => error instanceof MessageTooLargeError && error.notApplied);
    assert.equal(daemon.calls.length, 0);
  });
});

test('a response above the limit is an error of its own', async () => {
  const large = () => ({ item: { b: Buffer.alloc(5000) } });
  await withFake({ getItem: large, updateItem: () => ({ attributes: { b: Buffer.alloc(5000) } }) }, { receiveBytesMax: 1000 }, async (client) => {
    await assert.rejects(client.getItem({ tableName: 't', key: { id: 1 } }), MessageTooLargeError);
    await assert.rejects(client.updateItem(UPDATE), (error) => error instanceof OutcomeUnknownError && error.cause instanceof MessageTooLargeError);
  });
});

test('numbers are texts if the program wants that', async () => {
  await withFake({ getItem: () => ({ item: { n: 1 } }) }, { numbers: 'text' }, async (client) => {
    assert.equal((await client.getItem({ tableName: 't', key: { id: 1 } })).item.n.value, '1');
  });
});

test('a closed client makes no calls', async () => {
  const client = new Client('127.0.0.1:1');
  client.close();
  await assert.rejects(client.getItem({ tableName: 't', key: { id: 1 } }), /the client is closed/);
});

test('an operation that the daemon does not have was not carried out', async () => {
  const unknown = () => failure('UNIMPLEMENTED', 'unknown operation');
  const pipeline = ({ id }, send) => send({ id, error: { code: 12, message: 'unknown operation', details: [] } });
  await withFake({ updateItem: failing(1, unknown), pipeline }, {}, async (client) => {
    const open = await client.pipeline();
    for (const update of [client.updateItem(UPDATE), open.updateItem(UPDATE)]) {
      await assert.rejects(update, (error) => {
        assert.deepEqual([error.name, error.code, error.notApplied], ['ArmatureError', 'UNIMPLEMENTED', true]);
        return true;
      });
    }
    await open.close();
  });
});

test('a pause that is longer than a timer of Node.js can be does not end at once', async () => {
  const warnings = [];
  const warned = (warning) => warnings.push(warning.name);
  process.on('warning', warned);
  try {
    await withFake({ putItem: failing(1, () => throttled(2 ** 31)), listTables: () => ({}) }, { timeoutMs: Infinity }, async (client, daemon) => {
      const controller = new AbortController();
      const put = client.putItem(PUT, { signal: controller.signal });
      for (let calls = 0; calls < 20; ++calls) await client.listTables({});
      controller.abort(new Error('enough'));
      await assert.rejects(put, /enough/);
      assert.equal(daemon.calls.filter(([name]) => name === 'PutItem').length, 1);
    });
  } finally {
    process.off('warning', warned);
  }
  assert.deepEqual(warnings, []);
});
