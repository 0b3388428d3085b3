// The modules of console/src/lib that need no browser: `node --test modules.mjs`.

import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { test } from 'node:test';

globalThis.location = { origin: 'http://127.0.0.1:7701', host: '127.0.0.1:7701', hash: '' };
globalThis.crypto ??= crypto.webcrypto;
const source = (name) => import(new URL(`../../console/src/lib/${name}.mjs`, import.meta.url));

const { Digits, parseJson, printJson } = await source('json');
const values = await source('values');
const { changeRequest, givenKeys, newItemRequest, readRequest } = await source('expressions');
const { creationRequest, newIndex, newTable } = await source('table_form');
const { creationOf, keyText, sourcesOf } = await source('table_model');
const { csv, jsonLines } = await source('export_rows');
const { FORMS } = await source('snippets');
const { TABLE_FORMS } = await source('table_code');
const metrics = await source('metrics');
const format = await source('format');
const { basicTime, Signer } = await source('sigv4');

const plainOf = (document) => JSON.parse(JSON.stringify(document));

test('numbers keep all their digits', () => {
  const text = '{"a": 12345678901234567890123456789012345678, "b": 1.50, "c": -1e-130}';
  const item = values.parseItem(text);
  assert.deepEqual(plainOf(item), {
    a: { N: '12345678901234567890123456789012345678' }, b: { N: '1.50' }, c: { N: '-1e-130' } });
  assert.equal(values.printItem(item, [], false), text.replaceAll(', ', ',\n  ').replace('{', '{\n  ').replace('}', '\n}'));
});

test('documents that are no JSON name the place', () => {
  for (const [text, place] of [
    ['', 'line 1, column 1'], ['{"a": 01}', 'line 1, column 8'], ['{\n"a" 1}', 'line 2, column 5'], ['[1,]', 'line 1, column 4'],
    ['{"a": 1, "a": 2}', 'line 1, column 10'], ['{"a": "\n"}', 'line 1, column 8'], ['1 2', 'line 1, column 3'],
    ['"\\x"', 'line 1, column 4'], ["{'a': 1}", 'line 1, column 2'], ['nul', 'line 1, column 1'], ['"', 'line 1, column 2']]) {
    assert.throws(() => parseJson(text), (error) => error.message.includes(place), text);
  }
  assert.throws(() => parseJson('['.repeat(1000)), /nested too deeply/);
  assert.throws(() => values.parseItem('[1]'), /An item is an object/);
});

test('members may have any name', () => {
  const item = values.parseItem('{"__proto__": {"constructor": 1}, "toString": "x", "": null}');
  assert.deepEqual(Object.keys(item), ['__proto__', 'toString', '']);
  assert.equal(Object.getPrototypeOf(item), null);
  assert.deepEqual(values.parseItem(values.printItem(item, [], false)), item);
});

test('an object with one member is typed if its value has the form of that type', () => {
  for (const [text, typed] of [
    ['{"S": "x"}', { S: 'x' }], ['{"N": "1"}', { N: '1' }], ['{"N": "x"}', { M: { N: { S: 'x' } } }], ['{"N": 1}', { M: { N: { N: '1' } } }],
    ['{"B": "aGk="}', { B: 'aGk=' }], ['{"B": "aGk"}', { M: { B: { S: 'aGk' } } }], ['{"BOOL": true}', { BOOL: true }],
    ['{"NULL": true}', { NULL: true }], ['{"NULL": false}', { M: { NULL: { BOOL: false } } }], ['{"SS": ["a", "b"]}', { SS: ['a', 'b'] }],
    ['{"SS": ["a", "a"]}', { M: { SS: { L: [{ S: 'a' }, { S: 'a' }] } } }], ['{"SS": []}', { M: { SS: { L: [] } } }],
    ['{"NS": ["1", "2"]}', { NS: ['1', '2'] }], ['{"L": [1, {"S": "x"}]}', { L: [{ N: '1' }, { S: 'x' }] }],
    ['{"M": {"S": "x"}}', { M: { S: { S: 'x' } } }], ['{"S": "x", "N": "1"}', { M: { S: { S: 'x' }, N: { S: '1' } } }],
    ['{}', { M: {} }], ['[]', { L: [] }], ['null', { NULL: true }], ['""', { S: '' }]]) {
    assert.deepEqual(plainOf(values.toTyped(parseJson(text))), typed, text);
  }
});

test('every item comes back from both of its forms', () => {
  const item = values.parseItem(JSON.stringify({
    s: { S: '\u0000 "\\ \ud83d\ude00' }, n: { N: '1E+2' }, odd: { N: '.5' }, b: { B: '' }, t: { BOOL: false }, nil: { NULL: true }, ss: { SS: ['b', 'a'] },
    ns: { NS: ['1', '2.0'] }, bs: { BS: ['aGk='] }, list: { L: [{ N: '1' }, { L: [] }, { M: {} }] },
    ambiguous: { M: { S: { S: 'a map' } } }, also: { M: { NS: { NS: ['1'] } } }, not: { M: { N: { S: 'x' } } }, wrapped: { M: { M: { M: {} } } },
    listOfLike: { M: { L: { L: [{ S: 'x' }] } } },
  }));
  for (const isTyped of [false, true]) {
    assert.deepEqual(values.parseItem(values.printItem(item, ['s'], isTyped)), item, `typed: ${isTyped}`);
  }
});

test('sizes are those of the API', () => {
  // From tests/unit/storage/model: one byte and one for two digits on each side of the point.
  for (const [number, bytes] of [
    ['0', 1], ['7', 2], ['-7', 3], ['100', 2], ['123', 3], ['1234567', 5], ['1.5', 3], ['12.345', 4], ['0.001', 2], ['1e125', 2],
    ['12345678901234567890123456789012345678', 20], ['-0.5', 3], ['10.0', 2], ['0.10', 2], ['1e-130', 2]]) {
    assert.equal(values.itemBytes({ a: { N: number } }) - 1, bytes, number);
  }
  assert.equal(values.itemBytes({ ä: { S: 'öl' }, b: { B: 'aGk=' }, c: { NULL: true }, d: { L: [{ S: 'x' }] }, e: { M: { k: { BOOL: true } } },
    f: { SS: ['a', 'bc'] } }), 2 + 3 + (1 + 2) + (1 + 1) + (1 + 3 + 1 + 1) + (1 + 3 + 1 + 1 + 1) + (1 + 3));
});

test('texts of cells are short and on one level', () => {
  assert.equal(values.shortText({ S: 'x'.repeat(1000) }).length, 201);
  assert.equal(values.shortText({ L: Array.from({ length: 100000 }, () => ({ N: '1' })) }, 40).length, 41);
  assert.equal(values.shortText({ M: { a: { SS: ['x'] }, b: { NULL: true } } }), '{a: {x}, b: NULL}');
  assert.equal(values.shortText({ B: 'aGk=' }), 'aGk= (2 bytes)');
});

const SOURCE = { name: 'ByFour', kind: 'global', keys: [
  { name: 'a', type: 'S', isPartition: true }, { name: 'b', type: 'N', isPartition: true }, { name: 'c', type: 'S' }, { name: 'd', type: 'N' }] };
const field = (operator, ...texts) => ({ operator, texts: [texts[0] ?? '', texts[1] ?? ''] });
const choice = (fields, more = {}) => ({
  tableName: 't', source: SOURCE, filters: [], isDescending: false, isConsistent: false, limit: 10,
  fields: Array.from({ length: 4 }, (_, i) => fields[i] ?? field('=')), ...more });

test('a query gives its key from the left, and a range last', () => {
  const made = readRequest(choice([field('=', 'x'), field('=', '1'), field('=', 'y'), field('between', '2', '3')], { isDescending: true }));
  assert.deepEqual(made, { operation: 'Query', request: {
    TableName: 't', IndexName: 'ByFour', KeyConditionExpression: '#a0 = :v0 AND #a1 = :v1 AND #a2 = :v2 AND #a3 BETWEEN :v3 AND :v4',
    ScanIndexForward: false, ExpressionAttributeNames: { '#a0': 'a', '#a1': 'b', '#a2': 'c', '#a3': 'd' },
    ExpressionAttributeValues: { ':v0': { S: 'x' }, ':v1': { N: '1' }, ':v2': { S: 'y' }, ':v3': { N: '2' }, ':v4': { N: '3' } }, Limit: 10 } });
  assert.equal(givenKeys(SOURCE.keys, choice([field('=', 'x'), field('=', '1')]).fields).length, 2);
  assert.throws(() => readRequest(choice([field('=', 'x')])), /all partition attributes: a, b/);
  assert.throws(() => readRequest(choice([field('=', 'x'), field('=', '1'), field('='), field('=', '2')])), /Give c before d/);
  assert.throws(() => readRequest(choice([field('=', 'x'), field('=', '1'), field('<', 'y'), field('=', '2')])), /Only the last/);
  assert.throws(() => readRequest(choice([field('=', 'x'), field('=', 'one')])), /"one" is not a number/);
});

test('without a key the table is scanned, with filters', () => {
  const filters = [
    { name: 'x', operator: 'contains', type: 'S', texts: ['y', ''] }, { name: 'x', operator: 'not exists', type: 'S', texts: ['', ''] },
    { name: 'z', operator: 'is of type', type: 'SS', texts: ['', ''] }, { name: '', operator: '=', type: 'S', texts: ['', ''] },
    { name: 'n', operator: '<>', type: 'NULL', texts: ['', ''] }, { name: 'm', operator: '=', type: 'M', texts: ['{"a": 1}', ''] }];
  const { operation, request } = readRequest(choice([], { filters, isConsistent: true }));
  assert.equal(operation, 'Scan');
  assert.equal(request.ConsistentRead, undefined);  // a global index has none
  assert.equal(request.FilterExpression,
    'contains(#a0, :v0) AND attribute_not_exists(#a0) AND attribute_type(#a1, :v1) AND #a2 <> :v2 AND #a3 = :v3');
  assert.deepEqual(plainOf(request.ExpressionAttributeValues),
    { ':v0': { S: 'y' }, ':v1': { S: 'SS' }, ':v2': { NULL: true }, ':v3': { M: { a: { N: '1' } } } });
});

test('a change names what was read, and nothing else', () => {
  const keys = [{ name: 'id' }];
  const before = { id: { S: '1' }, a: { N: '1' }, b: { S: 'old' }, same: { SS: ['x', 'y'] } };
  const after = { id: { S: '1' }, a: { N: '2' }, c: { S: 'new' }, same: { SS: ['y', 'x'] } };
  const request = changeRequest('t', keys, before, after, values.isSame);
  assert.equal(request.UpdateExpression, 'SET #a1 = :v0, #a3 = :v3 REMOVE #a2');
  assert.equal(request.ConditionExpression,
    'attribute_exists(#a0) AND #a1 = :v1 AND #a2 = :v2 AND attribute_not_exists(#a3)');
  assert.deepEqual(request.ExpressionAttributeNames, { '#a0': 'id', '#a1': 'a', '#a2': 'b', '#a3': 'c' });
  assert.deepEqual(request.Key, { id: { S: '1' } });
  assert.equal(changeRequest('t', keys, before, { ...before }, values.isSame), null);
  assert.equal(newItemRequest('t', keys, after).ConditionExpression, 'attribute_not_exists(#a0)');
});

test('a key is known again in the order of the daemon', () => {
  const key = { tenant: { S: 'a' }, at: { N: '1.50' } };
  assert.equal(keyText({ at: { N: '1.5' }, tenant: { S: 'a' } }), keyText(key));
  assert.equal(keyText({ id: { B: 'aGk=' } }), keyText({ id: { B: 'aGk=' } }));
  for (const other of [{ at: { N: '1.5' } }, { tenant: { S: 'b' }, at: { N: '1.5' } }, { tenant: { B: 'a' }, at: { N: '1.5' } },
    { tenant: { S: 'a' }, at: { S: '1.5' } }, { tenant: { S: 'a' }, to: { N: '1.5' } }]) {
    assert.notEqual(keyText(other), keyText(key), JSON.stringify(other));
  }
});

test('values are compared as the daemon does', () => {
  for (const [a, b] of [
    [{ N: '1.50' }, { N: '1.5' }], [{ N: '100' }, { N: '1E+2' }], [{ N: '-0' }, { N: '0.000' }], [{ NS: ['1', '2'] }, { NS: ['2.0', '1'] }],
    [{ SS: ['a', 'b'] }, { SS: ['b', 'a'] }], [{ M: { a: { N: '1' }, b: { L: [] } } }, { M: { b: { L: [] }, a: { N: '1.0' } } }], [undefined, undefined]]) {
    assert.ok(values.isSame(a, b), JSON.stringify([a, b]));
  }
  for (const [a, b] of [
    [{ N: '1' }, { S: '1' }], [{ N: '1' }, { N: '-1' }], [{ N: '10' }, { N: '1' }], [{ L: [{ N: '1' }, { N: '2' }] }, { L: [{ N: '2' }, { N: '1' }] }],
    [{ S: 'a' }, undefined], [{ SS: ['a,b'] }, { SS: ['a', 'b'] }], [{ M: {} }, { M: { a: { NULL: true } } }], [{ S: '1.0' }, { S: '1' }]]) {
    assert.ok(!values.isSame(a, b), JSON.stringify([a, b]));
  }
});

test('a table of the form is the table of the request', () => {
  const form = { ...newTable(), name: ' orders ', partition: [{ name: 'id', type: 'S' }], sort: [{ name: 'at', type: 'N' }], stream: 'NEW_IMAGE',
    indexes: [
      { ...newIndex('global'), name: 'ByFour', partition: [{ name: 'a', type: 'S' }, { name: 'b', type: 'N' }],
        sort: [{ name: 'c', type: 'S' }, { name: 'at', type: 'N' }], projection: 'INCLUDE', included: 'x, y' },
      { ...newIndex('local'), name: 'Local', sort: [{ name: 'c', type: 'S' }], projection: 'KEYS_ONLY' }] };
  const request = creationRequest(form);
  assert.deepEqual(request.GlobalSecondaryIndexes[0].KeySchema.map((each) => `${each.AttributeName} ${each.KeyType}`),
    ['a HASH', 'b HASH', 'c RANGE', 'at RANGE']);
  assert.deepEqual(request.GlobalSecondaryIndexes[0].Projection, { ProjectionType: 'INCLUDE', NonKeyAttributes: ['x', 'y'] });
  assert.deepEqual(request.LocalSecondaryIndexes[0].KeySchema.map((each) => each.AttributeName), ['id', 'c']);
  assert.deepEqual(request.AttributeDefinitions.map((each) => each.AttributeName + each.AttributeType), ['idS', 'atN', 'aS', 'bN', 'cS']);
  assert.equal(request.TableName, 'orders');
  form.indexes[1].sort[0].type = 'N';
  assert.throws(() => creationRequest(form), /c has two types/);
  assert.throws(() => creationRequest(newTable()), /no name yet/);
});

const TABLE = {
  TableName: 'my.orders', TableStatus: 'ACTIVE', AttributeDefinitions: [
    { AttributeName: 'id', AttributeType: 'S' }, { AttributeName: 'a', AttributeType: 'S' }, { AttributeName: 'b', AttributeType: 'N' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }], BillingModeSummary: { BillingMode: 'PAY_PER_REQUEST' },
  GlobalSecondaryIndexes: [{ IndexName: 'Two', IndexStatus: 'ACTIVE', ItemCount: 3, Projection: { ProjectionType: 'ALL' },
    KeySchema: [{ AttributeName: 'a', KeyType: 'HASH' }, { AttributeName: 'b', KeyType: 'HASH' }] }],
};

test('a definition says all that makes the table', () => {
  const request = creationOf(TABLE);
  assert.deepEqual(JSON.parse(TABLE_FORMS.JSON(request)), {
    TableName: 'my.orders', AttributeDefinitions: TABLE.AttributeDefinitions, KeySchema: TABLE.KeySchema, BillingMode: 'PAY_PER_REQUEST',
    GlobalSecondaryIndexes: [{ IndexName: 'Two', KeySchema: TABLE.GlobalSecondaryIndexes[0].KeySchema, Projection: { ProjectionType: 'ALL' } }] });
  assert.match(TABLE_FORMS['Command line'](request), /^aws dynamodb create-table --endpoint-url http:\/\/127\.0\.0\.1:7701 --cli-input-json '\{/);
  assert.match(TABLE_FORMS.CloudFormation(request), /Resources:\n {2}myorders:\n {4}Type: "AWS::DynamoDB::Table"\n/);
  const terraform = TABLE_FORMS.Terraform(request);
  assert.match(terraform, /^resource "aws_dynamodb_table" "my_orders" \{/);
  assert.match(terraform, /key_schema \{\n {6}attribute_name = "b"\n {6}key_type {7}= "HASH"/);
  assert.deepEqual(sourcesOf(TABLE).map((each) => each.name), [null, 'Two']);
});

test('requests as code quote what they are given', () => {
  const request = { TableName: 't', Limit: 3, ScanIndexForward: false, ExpressionAttributeNames: { '#a0': "it's $(x) `y` \"z\"" },
    ExpressionAttributeValues: { ':v0': { B: 'aGk=' }, ':v1': { L: [{ BS: ['aGk='] }, { M: { k: { NULL: true } } }] } } };
  const forms = Object.fromEntries(Object.entries(FORMS).map(([name, write]) => [name, write('Query', request)]));
  assert.match(forms['Command line'], /--expression-attribute-names '\{"#a0":"it'\\''s \$\(x\) `y` \\"z\\""\}'/);
  assert.match(forms['Command line'], /--limit 3 \\\n {2}--no-scan-index-forward/);
  assert.match(forms.Python, /^import base64\n\nimport boto3\n/);
  assert.match(forms.Python, /ScanIndexForward=False,/);
  assert.match(forms.Python, /\{"B": base64\.b64decode\("aGk="\)\}/);
  assert.match(forms.Python, /\{"BS": \[base64\.b64decode\("aGk="\)\]\}/);
  assert.match(forms.JavaScript, /B: Buffer\.from\("aGk=", "base64"\)/);
  assert.match(forms.Go, /&types\.AttributeValueMemberL\{Value: \[\]types\.AttributeValue\{&types\.AttributeValueMemberBS/);
  assert.match(forms.Java, /\.scanIndexForward\(false\)/);
  assert.deepEqual(JSON.parse(forms.JSON), request);
});

test('rows as files', () => {
  const items = [{ id: { S: 'a,"b"\n' }, n: { N: '1.50' } }, { id: { S: 'x' }, m: { M: { k: { L: [{ N: '1' }] } } }, s: { SS: ['a'] }, z: { NULL: true } }];
  assert.equal(csv(items, ['id', 'n', 'm', 's', 'z']),
    'id,n,m,s,z\r\n"a,""b""\n",1.50,,,\r\nx,,"{ ""k"": [1] }","[""a""]",NULL\r\n');
  assert.deepEqual(jsonLines(items).trimEnd().split('\n').map((line) => JSON.parse(line)), items);
});

const TEXT = (count, slow, more = '') => `# HELP x y
armature_requests_total{front="http",operation="GetItem",result="ok"} ${count}
armature_requests_total{front="grpc",operation="GetItem",result="ok"} ${count}
armature_requests_total{front="http",operation="PutItem",result="ValidationException"} 4
armature_request_duration_seconds_bucket{front="http",operation="GetItem",le="0.001"} ${count - slow}
armature_request_duration_seconds_bucket{front="http",operation="GetItem",le="0.01"} ${count}
armature_request_duration_seconds_bucket{front="http",operation="GetItem",le="+Inf"} ${count}
armature_disk_total_bytes 100
armature_disk_free_bytes 40
${more}`;

test('two readings of the metrics make rates and quantiles', () => {
  const [before, now] = [metrics.parseMetrics(TEXT(100, 0)), metrics.parseMetrics(TEXT(200, 10))];
  const sample = metrics.sampleOf(before, now, 2);
  assert.equal(sample.requests.GetItem, 100);
  assert.equal(sample.errors, 0);
  assert.equal(sample.diskUsed, 60);
  assert.ok(sample.latencies.GetItem.p50 < 0.001 && sample.latencies.GetItem.p99 > 0.009);
  assert.equal(metrics.sampleOf(now, before, 1).requests.GetItem, 200, 'counters that shrank began anew');
  assert.equal(metrics.quantile([], 0.5), null);
});

test('numbers for people', () => {
  assert.deepEqual([0, 1023, 1536, 5e9].map(format.bytes), ['0 B', '1023 B', '1.5 KiB', '4.7 GiB']);
  assert.deepEqual([0, 0.0000015, 0.25, 3].map(format.seconds), ['0 s', '1.50 µs', '250 ms', '3 s']);
  assert.deepEqual([null, 1234567, 12345].map(format.short), ['–', '1.2M', '12k']);
  assert.deepEqual([40, 300, 9000, 432000, NaN].map(format.duration), ['40 s', '5 min', '3 h', '5 days', '–']);
  assert.equal(format.plural(2, 'index', 'indexes'), '2 indexes');
});

test('signatures are those of the documented process', async () => {
  const now = new Date('2015-08-30T12:36:00Z');
  assert.equal(basicTime(now), '20150830T123600Z');
  const signer = await Signer.make('AKIDEXAMPLE', 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY');
  const headers = await signer.sign({ method: 'POST', path: '/', host: 'example.org', headers: { 'content-type': 'x' }, body: '{}', now });
  const hmac = (key, text) => crypto.createHmac('sha256', key).update(text).digest();
  const hash = (text) => crypto.createHash('sha256').update(text).digest('hex');
  const canonical = `POST\n/\n\ncontent-type:x\nhost:example.org\nx-amz-date:20150830T123600Z\n\ncontent-type;host;x-amz-date\n${hash('{}')}`;
  const key = ['20150830', 'local', 'dynamodb', 'aws4_request'].reduce(hmac, 'AWS4wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY');
  const wanted = hmac(key, `AWS4-HMAC-SHA256\n20150830T123600Z\n20150830/local/dynamodb/aws4_request\n${hash(canonical)}`).toString('hex');
  assert.match(headers.authorization, new RegExp(`Signature=${wanted}$`));
});

test('documents are printed as they are read', () => {
  const value = parseJson('{"a": [1, 2.0], "b": [[]], "c": {}}');
  assert.ok(value.a[1] instanceof Digits);
  assert.equal(printJson(value), '{\n  "a": [1, 2.0],\n  "b": [\n    []\n  ],\n  "c": {}\n}');
});
