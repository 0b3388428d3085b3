// The raw stub: @grpc/grpc-js with @grpc/proto-loader, as a program without the package uses it.

import { fileURLToPath } from 'node:url';

import grpc from '@grpc/grpc-js';
import protoLoader from '@grpc/proto-loader';

const PROTO_ROOT = fileURLToPath(new URL('../../../proto', import.meta.url));

/** The stub of the items. `call(method, request)` gives a promise. */
export function rawStub(address) {
  const definition = protoLoader.loadSync(['armature/api/v1/service.proto'], {
    includeDirs: [PROTO_ROOT], keepCase: true, longs: String, enums: String, oneofs: false });
  const { v1 } = grpc.loadPackageDefinition(definition).armature.api;
  const stub = new v1.ItemService(address, grpc.credentials.createInsecure());
  const call = (method, request) => new Promise((resolve, reject) => {
    stub[method](request, { deadline: Date.now() + 10_000 }, (error, answer) => (error ? reject(error) : resolve(answer)));
  });
  return { call, close: () => stub.close() };
}

/** The attribute value of a text or a number. */
export function attributeValue(value) {
  return typeof value === 'number' ? { n: String(value) } : { s: value };
}

/** The raw item of a plain object. */
export function rawItem(item) {
  return { attributes: Object.fromEntries(Object.entries(item).map(([name, value]) => [name, attributeValue(value)])) };
}

/** The plain object of a raw item, which a program needs in the end. */
export function plainItem({ attributes }) {
  return Object.fromEntries(Object.entries(attributes).map(([name, { s, n }]) => [name, n === undefined ? s : Number(n)]));
}
