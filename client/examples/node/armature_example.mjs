// A small client in JavaScript: creates a table with an index on several attributes, uses it, and deletes it.
//
// Prints one line of JSON for each step; exits with 1 if an answer is not the expected one.
//
//   cd client/examples/node && npm ci && node armature_example.mjs localhost:7700
//
// The API is loaded at run time from the proto/ directory of this tree; nothing is generated.

import { isDeepStrictEqual } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import grpc from '@grpc/grpc-js';
import protoLoader from '@grpc/proto-loader';

const PROTO_ROOT = fileURLToPath(new URL('../../../proto', import.meta.url));
const DEADLINE_MS = 10_000;
const TABLE = `example_node_${process.pid}`;

const definition = protoLoader.loadSync(
  ['armature/api/v1/service.proto', 'armature/api/v1/errors.proto'],
  { includeDirs: [PROTO_ROOT], keepCase: true, longs: String, enums: String, oneofs: false });
const { v1 } = grpc.loadPackageDefinition(definition).armature.api;
const RpcStatus = definition['armature.api.v1.RpcStatus'];
const ErrorDetail = definition['armature.api.v1.ErrorDetail'];

// The name of the documented exception, from the trailer of a failed call.
function exceptionName(error) {
  for (const bytes of error.metadata?.get('grpc-status-details-bin') ?? []) {
    for (const any of RpcStatus.deserialize(bytes).details ?? []) {
      if (any.type_url.endsWith('/armature.api.v1.ErrorDetail')) {
        return ErrorDetail.deserialize(any.value).exception;
      }
    }
  }
  return '';
}

function step(name, ok, facts) {
  console.log(JSON.stringify({ step: name, ok: Boolean(ok), ...facts }));
  if (!ok) throw new Error(`step ${name} failed`);
}

// The first true value of `condition`, or undefined after the deadline.
async function waitUntil(condition) {
  const end = Date.now() + DEADLINE_MS;
  for (let pause = 10; Date.now() < end; pause = Math.min(pause * 2, 500)) {
    const value = await condition();
    if (value) return value;
    await sleep(pause);
  }
  return undefined;
}

function call(stub, method, request) {
  return new Promise((resolve, reject) => {
    stub[method](request, { deadline: Date.now() + DEADLINE_MS },
      (error, answer) => (error ? reject(error) : resolve(answer)));
  });
}

function value(plain) {
  if (typeof plain === 'boolean') return { bool: plain };
  if (typeof plain === 'number') return { n: String(plain) };
  return { s: plain };
}

function item(attributes) {
  return { attributes: Object.fromEntries(Object.entries(attributes).map(([k, v]) => [k, value(v)])) };
}

function createTableRequest() {
  const types = { user: 'S', country: 'S', city: 'S', visits: 'N' };
  return {
    table_name: TABLE,
    billing_mode: 'BILLING_MODE_PAY_PER_REQUEST',
    attribute_definitions: Object.entries(types).map(([attribute_name, type]) => (
      { attribute_name, attribute_type: `SCALAR_ATTRIBUTE_TYPE_${type}` })),
    key_schema: [{ attribute_name: 'user', key_type: 'KEY_TYPE_HASH' }],
    global_secondary_indexes: [{
      index_name: 'by_place',
      key_schema: [
        { attribute_name: 'country', key_type: 'KEY_TYPE_HASH' },
        { attribute_name: 'city', key_type: 'KEY_TYPE_HASH' },
        { attribute_name: 'visits', key_type: 'KEY_TYPE_RANGE' },
      ],
      projection: { projection_type: 'PROJECTION_TYPE_ALL' },
    }],
  };
}

// The name of the status, or 'GONE'.
async function tableStatus(tables) {
  try {
    return (await call(tables, 'DescribeTable', { table_name: TABLE })).table.table_status;
  } catch (error) {
    if (exceptionName(error) === 'ResourceNotFoundException') return 'GONE';
    throw error;
  }
}

// The name of the exception of a put whose condition fails.
async function putOnce(items, attributes) {
  try {
    await call(items, 'PutItem', {
      table_name: TABLE,
      item: item(attributes),
      condition_expression: 'attribute_not_exists(#user)',
      expression_attribute_names: { '#user': 'user' },
    });
    return '';
  } catch (error) {
    return exceptionName(error);
  }
}

async function queryUsers(items) {
  const request = {
    table_name: TABLE,
    index_name: 'by_place',
    key_condition_expression: 'country = :country AND city = :city AND visits >= :least',
    expression_attribute_values: { ':country': value('de'), ':city': value('Bonn'), ':least': value(2) },
  };
  const users = [];
  for (;;) {
    const page = await call(items, 'Query', request);
    users.push(...(page.items ?? []).map((found) => found.attributes.user.s));
    if (!page.last_evaluated_key) return users;
    request.exclusive_start_key = page.last_evaluated_key;
  }
}

async function useTable(items) {
  for (const [index, user] of ['ann', 'bob', 'cid'].entries()) {
    const attributes = { user, country: 'de', city: 'Bonn', visits: index + 1, member: true };
    const answer = await call(items, 'PutItem', { table_name: TABLE, item: item(attributes) });
    step('put_item', true, { user, change_sequence: answer.change_sequence });
  }
  const exception = await putOnce(items, { user: 'ann' });
  step('put_item_once', exception === 'ConditionalCheckFailedException', { exception });

  const got = await call(items, 'GetItem',
    { table_name: TABLE, key: item({ user: 'ann' }), consistent_read: true });
  const attributes = Object.fromEntries(
    Object.entries(got.item?.attributes ?? {}).map(([k, v]) => [k, { ...v }]));
  const expected = item({ user: 'ann', country: 'de', city: 'Bonn', visits: 1, member: true });
  step('get_item', isDeepStrictEqual(attributes, expected.attributes), { item: attributes });

  await waitUntil(async () => isDeepStrictEqual(await queryUsers(items), ['bob', 'cid']));
  const users = await queryUsers(items);
  step('query', isDeepStrictEqual(users, ['bob', 'cid']), { users });
}

async function run(endpoint) {
  const credentials = grpc.credentials.createInsecure();
  const items = new v1.ItemService(endpoint, credentials);
  const tables = new v1.TableService(endpoint, credentials);
  try {
    await call(tables, 'CreateTable', createTableRequest());
    try {
      step('create_table', await waitUntil(async () => (await tableStatus(tables)) === 'TABLE_STATUS_ACTIVE'),
        { table: TABLE });
      await useTable(items);
    } finally {
      await call(tables, 'DeleteTable', { table_name: TABLE });
    }
    step('delete_table', await waitUntil(async () => (await tableStatus(tables)) === 'GONE'), { table: TABLE });
  } finally {
    items.close();
    tables.close();
  }
}

if (process.argv.length !== 3) {
  console.error('usage: node armature_example.mjs HOST:PORT');
  process.exit(2);
}
run(process.argv[2]).catch((error) => {
  console.error(`${error.message} ${exceptionName(error)}`);
  process.exitCode = 1;
});
