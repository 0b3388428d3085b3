// A daemon of a test's own: answers calls by functions of the test.

import { createRequire } from 'node:module';

import grpc from '@grpc/grpc-js';

const require = createRequire(import.meta.url);
const { decode, encode } = require('../build/messages.js');
const { methods } = require('../build/generated/operations.js');
const messages = require('../build/generated/messages.js');

const same = (bytes) => bytes;

/** The trailers of a failed call. `detail`: members of ErrorDetail; `extra`: further details. */
export function failure(code, message, detail, extra = []) {
  const metadata = new grpc.Metadata();
  const details = [...extra];
  if (detail !== undefined) {
    details.push({ typeUrl: 'type.googleapis.com/armature.api.v1.ErrorDetail', value: encode(messages.ErrorDetail, { message, ...detail }) });
  }
  if (details.length > 0) metadata.set('grpc-status-details-bin', encode(messages.RpcStatus, { code: grpc.status[code], message, details }));
  return Object.assign(new Error(message), { code: grpc.status[code], details: message, metadata });
}

export class FakeDaemon {
  /** [operation, request] of all calls. */
  calls = [];
  #server = new grpc.Server();

  /** `answers`: by operation, a function of the request, its metadata and the call; it gives or throws the answer. */
  constructor(answers) {
    for (const [name, answer] of Object.entries(answers)) this.#serve(methods[name], answer);
  }

  #serve(method, answer) {
    const isStream = ['Watch', 'ExportTable'].includes(method.name);
    const isDuplex = method.name === 'Pipeline';
    const handle = async (call, callback) => {
      const request = decode(method.request, call.request);
      this.calls.push([method.name, request]);
      try {
        const response = await answer(request, call.metadata, call);
        callback(null, encode(method.response, response));
      } catch (error) {
        callback(error.code === undefined ? failure('UNKNOWN', error.stack) : error);
      }
    };
    const handleStream = async (call) => {
      const request = call.request && decode(method.request, call.request);
      if (request !== undefined) this.calls.push([method.name, request]);
      const send = (response) => call.write(encode(method.response, response));
      const fail = (error) => call.emit('error', error);
      if (isDuplex) call.on('data', (bytes) => answer(decode(method.request, bytes), send, fail, call));
      else await answer(request, send, fail, call);
    };
    this.#server.addService({
      [method.name]: {
        path: method.path, requestStream: isDuplex, responseStream: isStream || isDuplex,
        requestSerialize: same, requestDeserialize: same, responseSerialize: same, responseDeserialize: same,
      },
    }, { [method.name]: isStream || isDuplex ? handleStream : handle });
  }

  async start(address = '127.0.0.1:0') {
    const port = await new Promise((resolve, reject) => {
      this.#server.bindAsync(address, grpc.ServerCredentials.createInsecure(), (error, bound) => (error ? reject(error) : resolve(bound)));
    });
    this.address = `127.0.0.1:${port}`;
    return this;
  }

  stop() {
    this.#server.forceShutdown();
  }
}

/** Runs `test` with a client of a fake daemon. */
export async function withFake(answers, options, test) {
  const { Client } = await import('@armaturedb/client');
  const daemon = await new FakeDaemon(answers).start();
  const client = new Client(daemon.address, { retry: { initialMs: 0 }, ...options });
  try {
    await test(client, daemon);
  } finally {
    client.close();
    daemon.stop();
  }
}
