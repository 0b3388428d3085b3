// gRPC's interop cases on @grpc/grpc-js.
//
//   node interop.mjs ADDRESS PROTOS CASE...    PROTOS: folder with grpc/testing/test.proto

import assert from 'node:assert/strict';
import grpc from '@grpc/grpc-js';
import loader from '@grpc/proto-loader';

const REQUEST_SIZES = [27182, 8, 1828, 45904];
const RESPONSE_SIZES = [31415, 9, 2653, 58979];

const [address, protos, ...names] = process.argv.slice(2);
const { testing } = grpc.loadPackageDefinition(loader.loadSync('grpc/testing/test.proto', { includeDirs: [protos] })).grpc;
const client = new testing.TestService(address, grpc.credentials.createInsecure());

const payload = (size) => ({ body: Buffer.alloc(size) });
const request = (requestSize, ...responseSizes) => ({
  payload: payload(requestSize),
  responseParameters: responseSizes.map((size) => ({ size })),
});

// A unary call, or one whose answer comes after several requests: resolves with { error, answer, metadata, status }.
function unary(start) {
  return new Promise((resolve) => {
    const result = {};
    const call = start((error, answer) => Object.assign(result, { error, answer }));
    call.on('metadata', (metadata) => (result.metadata = metadata));
    // After the callback.
    call.on('status', (status) => setImmediate(() => resolve({ ...result, status })));
  });
}
const unaryCall = (message, metadata = new grpc.Metadata()) => unary((done) => client.unaryCall(message, metadata, done));

// A stream whose answers are read one by one.
function stream(call) {
  const answers = call[Symbol.asyncIterator]();
  call.on('metadata', (metadata) => (call.head = metadata));
  const status = new Promise((resolve) => call.on('status', resolve));
  // The status says it.
  call.on('error', () => {});
  return {
    call,
    status,
    next: async () => (await answers.next()).value?.payload.body.length,
    // Reads to the end: the sizes of the answers, and the status.
    rest: async () => {
      const sizes = [];
      try {
        for await (const answer of { [Symbol.asyncIterator]: () => answers }) sizes.push(answer.payload.body.length);
      } catch (error) {
        assert.equal(error.code, (await status).code);
      }
      return { sizes, status: await status };
    },
  };
}

async function checkStatus(code, message) {
  const responseStatus = { code, message };
  const { error } = await unaryCall({ responseStatus });
  assert.deepEqual([error.code, error.details], [code, message]);
  return responseStatus;
}

async function checkUnimplemented(service) {
  const { error } = await unary((done) => service.unimplementedCall({}, done));
  assert.equal(error.code, grpc.status.UNIMPLEMENTED);
}

const cases = {
  async empty_unary() {
    const { error, answer } = await unary((done) => client.emptyCall({}, done));
    assert.equal(error, null);
    assert.deepEqual({ ...answer }, {});
  },

  async large_unary() {
    const { error, answer } = await unaryCall({ responseSize: 314159, payload: payload(271828) });
    assert.equal(error, null);
    assert.deepEqual(answer.payload.body, Buffer.alloc(314159));
  },

  async client_streaming() {
    const { error, answer } = await unary((done) => {
      const call = client.streamingInputCall(done);
      for (const size of REQUEST_SIZES) call.write({ payload: payload(size) });
      call.end();
      return call;
    });
    assert.equal(error, null);
    assert.equal(answer.aggregatedPayloadSize, 74922);
  },

  async server_streaming() {
    const { sizes, status } = await stream(client.streamingOutputCall(request(0, ...RESPONSE_SIZES))).rest();
    assert.deepEqual(sizes, RESPONSE_SIZES);
    assert.equal(status.code, grpc.status.OK);
  },

  async ping_pong() {
    const { call, next, rest } = stream(client.fullDuplexCall());
    for (const [i, size] of RESPONSE_SIZES.entries()) {
      call.write(request(REQUEST_SIZES[i], size));
      assert.equal(await next(), size);
    }
    call.end();
    const { sizes, status } = await rest();
    assert.deepEqual([sizes, status.code], [[], grpc.status.OK]);
  },

  async empty_stream() {
    const { call, rest } = stream(client.fullDuplexCall());
    call.end();
    const { sizes, status } = await rest();
    assert.deepEqual([sizes, status.code], [[], grpc.status.OK]);
  },

  async cancel_after_begin() {
    const { error } = await unary((done) => {
      const call = client.streamingInputCall(done);
      setImmediate(() => call.cancel());
      return call;
    });
    assert.equal(error.code, grpc.status.CANCELLED);
  },

  async cancel_after_first_response() {
    const { call, next, rest } = stream(client.fullDuplexCall());
    call.write(request(27182, 31415));
    assert.equal(await next(), 31415);
    call.cancel();
    const { sizes, status } = await rest();
    assert.deepEqual([sizes, status.code], [[], grpc.status.CANCELLED]);
  },

  async timeout_on_sleeping_server() {
    const { call, rest } = stream(client.fullDuplexCall({ deadline: Date.now() + 1 }));
    call.write(request(27182));
    assert.equal((await rest()).status.code, grpc.status.DEADLINE_EXCEEDED);
  },

  async custom_metadata() {
    const initial = 'x-grpc-test-echo-initial';
    const trailing = 'x-grpc-test-echo-trailing-bin';
    const metadata = new grpc.Metadata();
    metadata.set(initial, 'test_initial_metadata_value');
    metadata.set(trailing, Buffer.from([0xab, 0xab, 0xab]));
    const check = (head, status) => {
      assert.equal(status.code, grpc.status.OK);
      assert.deepEqual(head.get(initial), ['test_initial_metadata_value']);
      assert.deepEqual(status.metadata.get(trailing), [Buffer.from([0xab, 0xab, 0xab])]);
    };
    const one = await unaryCall({ responseSize: 314159, payload: payload(271828) }, metadata);
    check(one.metadata, one.status);
    const { call, rest } = stream(client.fullDuplexCall(metadata));
    call.end(request(271828, 314159));
    const { sizes, status } = await rest();
    assert.deepEqual(sizes, [314159]);
    check(call.head, status);
  },

  async status_code_and_message() {
    const responseStatus = await checkStatus(grpc.status.UNKNOWN, 'test status message');
    const { call, rest } = stream(client.fullDuplexCall());
    call.end({ responseStatus });
    const { status } = await rest();
    assert.deepEqual([status.code, status.details], [responseStatus.code, responseStatus.message]);
  },

  async special_status_message() {
    await checkStatus(grpc.status.UNKNOWN, '\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n');
  },

  unimplemented_method: () => checkUnimplemented(client),
  unimplemented_service: () => checkUnimplemented(new testing.UnimplementedService(address, grpc.credentials.createInsecure())),
};

for (const name of names) {
  try {
    await cases[name]();
    console.log(`${name}: passed`);
  } catch (error) {
    console.log(`${name}: FAILED: ${error.stack}`);
    process.exitCode = 1;
  }
}
client.close();
