// The wire format of values, against protobufjs.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import protobuf from 'protobufjs';

import { InvalidArgumentError, NumberValue } from '@armaturedb/client';

const require = createRequire(import.meta.url);
const { decode, encode } = require('../build/messages.js');
const { GetItemResponse, PutItemRequest, TransactWriteItemsRequest, GetItemRequest } = require('../build/generated/messages.js');

const PROTO_ROOT = fileURLToPath(new URL('../../../proto/', import.meta.url));

function reference() {
  const root = new protobuf.Root();
  root.resolvePath = (_origin, target) => (target.startsWith('google/') ? target : PROTO_ROOT + target);
  return root.loadSync('armature/api/v1/items.proto');
}
const root = reference();
const lookup = (name) => root.lookupType(`armature.api.v1.${name}`);

const toObject = (type, bytes) => type.toObject(type.decode(bytes), { enums: String, longs: String });
const roundTrip = (item) => decode(GetItemResponse, encode(GetItemResponse, { item })).item;
const putItem = (item) => encode(PutItemRequest, { tableName: 't', item });

test('values are written as the protobuf library reads them', () => {
  const bytes = putItem({
    s: 'Grüße 🎉', n: -1.5, big: 2n ** 80n, exact: NumberValue.from('0.10'), b: Buffer.from([0, 255]), yes: true, no: false, nothing: null,
    ss: new Set(['a', '']), ns: new Set([1, 2n]), bs: new Set([Buffer.from('x')]), list: [1, ['x'], {}], map: { a: { b: 1 } },
    asMap: new Map([['k', 1]]), left: undefined,
  });
  const { item } = toObject(lookup('PutItemRequest'), bytes);
  const attributes = JSON.parse(JSON.stringify(item.attributes));
  assert.deepEqual(attributes, {
    s: { s: 'Grüße 🎉' }, n: { n: '-1.5' }, big: { n: String(2n ** 80n) }, exact: { n: '0.10' },
    b: { b: { type: 'Buffer', data: [0, 255] } }, yes: { bool: true }, no: { bool: false }, nothing: { null: true },
    ss: { ss: { values: ['a', ''] } }, ns: { ns: { values: ['1', '2'] } }, bs: { bs: { values: [{ type: 'Buffer', data: [120] }] } },
    list: { l: { values: [{ n: '1' }, { l: { values: [{ s: 'x' }] } }, { m: {} }] } },
    map: { m: { entries: { a: { m: { entries: { b: { n: '1' } } } } } } }, asMap: { m: { entries: { k: { n: '1' } } } },
  });
});

test('values that the protobuf library writes are read', () => {
  const type = lookup('GetItemResponse');
  const attributes = {
    s: { s: 'x'.repeat(300) }, empty: { s: '' }, n: { n: '12.50' }, b: { b: Buffer.from([1]) }, no: { bool: false }, nothing: { null: true },
    ss: { ss: { values: ['a'] } }, l: { l: {} }, m: { m: { entries: { é: { s: 'ü' } } } },
  };
  const { item } = decode(GetItemResponse, Buffer.from(type.encode(type.fromObject({ item: { attributes } })).finish()));
  assert.deepEqual({ ...item, n: String(item.n) }, {
    s: 'x'.repeat(300), empty: '', n: '12.50', b: new Uint8Array([1]), no: false, nothing: null, ss: new Set(['a']), l: [], m: { é: 'ü' },
  });
});

test('every length of a text and of a nested message comes back', () => {
  for (const length of [0, 1, 23, 24, 25, 100, 124, 125, 126, 127, 128, 129, 16381, 16382, 16383, 16384, 16390, 2 ** 21, 400_000]) {
    const text = 'ä'.padStart(length, 'x').slice(0, length);
    assert.deepEqual(roundTrip({ a: text, b: [text], c: { [text.slice(0, 1000) || 'n']: 1 } }), { a: text, b: [text], c: { [text.slice(0, 1000) || 'n']: 1 } });
  }
});

test('random items come back', () => {
  let seed = 7;
  const random = (limit) => (seed = (seed * 1103515245 + 12345) % 2147483648) % limit;
  const make = (depth) => {
    const kinds = [
      () => random(1000) - 500, () => BigInt(random(1000) + 1) * 10n ** 20n + 1n, () => String.fromCodePoint(random(0xd000)).repeat(random(200)),
      () => random(2) === 1, () => null, () => new Uint8Array(random(300)).fill(random(256)), () => new Set(['a', `b${random(9)}`]),
      () => Array.from({ length: random(5) }, () => make(depth + 1)),
      () => Object.fromEntries(Array.from({ length: random(5) }, (_, i) => [`name${i}`, make(depth + 1)])),
    ];
    return kinds[random(depth > 6 ? 7 : kinds.length)]();
  };
  for (let i = 0; i < 300; ++i) {
    const item = { value: make(0), other: make(0) };
    assert.deepEqual(roundTrip(item), item);
  }
});

test('an attribute may have the name of a member of objects', () => {
  const item = JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1, "toString": "x"}');
  const read = roundTrip(item);
  assert.deepEqual(Object.keys(read).sort(), ['__proto__', 'constructor', 'toString']);
  assert.equal({}.polluted, undefined);
  assert.equal(read.polluted, undefined);
});

test('values that the database does not have are refused by their path', () => {
  for (const [item, message] of [
    [{ a: { b: [1, NaN] } }, /^a\.b\[1\]: NaN is not a number/], [{ when: new Date() }, /^when: a Date is no value/],
    [{ f: () => 1 }, /^f: function is no type/], [{ a: [undefined] }, /^a\[0\]: undefined is no type/], [{ s: new Set() }, /^s: a set must not be empty/],
    [{ s: new Set(['a', 1]) }, /^s: the elements of a set have one type/], [{ r: /x/ }, /^r: RegExp is no type/],
    [{ m: new Map([[1, 2]]) }, /^m: a map has texts as keys/], [{ t: '\ud800' }, /^t: a text has an unpaired surrogate/], [{ y: Symbol('x') }, /^y: symbol/],
  ]) {
    assert.throws(() => putItem(item), (error) => error instanceof InvalidArgumentError && message.test(error.message), String(message));
  }
});

test('a value that contains itself is refused', () => {
  const loop = {};
  loop.self = loop;
  assert.throws(() => putItem({ loop }), /nested too deeply/);
});

test('members that a message does not have are refused', () => {
  assert.throws(() => encode(GetItemRequest, { tableName: 't', keys: {} }), /GetItemRequest has no member "keys"/);
  assert.throws(() => encode(PutItemRequest, { tableName: 't', item: {}, returnValues: 'OLD' }), /ReturnValues has no value "OLD"/);
  assert.throws(() => encode(GetItemRequest, { tableName: 7 }), /tableName must be a text/);
});

test('a refused message leaves nothing behind for the next one', () => {
  assert.throws(() => putItem({ a: 'left', b: NaN }));
  assert.equal(toObject(lookup('PutItemRequest'), putItem({ c: '1' })).tableName, 't');
  assert.deepEqual(Object.keys(toObject(lookup('PutItemRequest'), putItem({ c: '1' })).item.attributes), ['c']);
});

test('nested actions have their own expressions', () => {
  const bytes = encode(TransactWriteItemsRequest, {
    transactItems: [
      { update: { tableName: 't', key: { id: 1 }, updateExpression: 'SET a = $v', params: { v: 1 } } },
      { delete: { tableName: 't', key: { id: 2 }, conditionExpression: '#status = $v', params: { v: 2 } } },
    ],
  });
  const { transactItems: [{ update }, { delete: removal }] } = toObject(lookup('TransactWriteItemsRequest'), bytes);
  assert.deepEqual(update.expressionAttributeValues, { ':v': { n: '1' } });
  assert.deepEqual([removal.expressionAttributeNames, removal.expressionAttributeValues], [{ '#status': 'status' }, { ':v': { n: '2' } }]);
});

test('damaged bytes are an error and nothing else', () => {
  const bytes = encode(GetItemResponse, { item: { a: 'text', b: [1, { c: new Set(['x']) }], n: 12345678901234567890n } });
  for (let length = 1; length < bytes.length; ++length) {
    assert.throws(() => decode(GetItemResponse, bytes.subarray(0, length)), RangeError, `${length} bytes`);
  }
  for (let at = 0; at < bytes.length; ++at) {
    for (const byte of [0, 127, 128, 255]) {
      const damaged = Buffer.from(bytes);
      damaged[at] = byte;
      try {
        decode(GetItemResponse, damaged);
      } catch (error) {
        assert.ok(error instanceof RangeError || error instanceof InvalidArgumentError, error.stack);
      }
    }
  }
});
