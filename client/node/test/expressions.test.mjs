import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';

import { and, attr, expr, expression, InvalidArgumentError, not, or, project, update } from '@armaturedb/client';

const { prepareExpressions } = createRequire(import.meta.url)('../build/expressions.js');

// The text of an expression with its names and values in place of the placeholders.
function shown(expression, params) {
  const message = prepareExpressions({ conditionExpression: expression, params });
  return message.conditionExpression
    .replace(/#\w+/g, (name) => message.expressionAttributeNames[name])
    .replace(/:\w+/g, (name) => JSON.stringify(message.expressionAttributeValues[name]));
}

test('conditions of the builder', () => {
  const a = attr('a');
  for (const [expression, text] of [
    [a.eq(1), 'a = 1'], [a.ne(1), 'a <> 1'], [a.lt(1), 'a < 1'], [a.le(1), 'a <= 1'], [a.gt(1), 'a > 1'], [a.ge(1), 'a >= 1'],
    [a.between(1, 3), 'a BETWEEN 1 AND 3'], [a.in(1, 2), 'a IN (1, 2)'], [a.beginsWith('x'), 'begins_with(a, "x")'],
    [a.contains('x'), 'contains(a, "x")'], [a.type('S'), 'attribute_type(a, "S")'], [a.exists(), 'attribute_exists(a)'],
    [a.notExists(), 'attribute_not_exists(a)'], [a.size().gt(3), 'size(a) > 3'], [a.eq(attr('b.c[0].d')), 'a = b.c[0].d'],
    [and(a.eq(1), or(a.eq(2), a.eq(3)), not(a.eq(4))), 'a = 1 AND (a = 2 OR a = 3) AND NOT (a = 4)'],
    [a.eq(1).or(a.eq(2)).and(a.eq(3)), '(a = 1 OR a = 2) AND a = 3'],
  ]) {
    assert.equal(shown(expression), text);
  }
});

test('updates of the builder are grouped by their clauses', () => {
  const all = update(
    attr('a').set(1), attr('b').remove(), attr('c').increment(), attr('d').add(2), attr('e').setIfMissing(0), attr('f').append(['x']),
    attr('g').delete(new Set(['y'])), attr('h').set(attr('i').minus(1)), attr('j').set(attr('j').orElse(0).plus(1)), attr('k').prepend([1]), attr('l').remove());
  assert.equal(shown(all), 'SET a = 1, c = c + 1, e = if_not_exists(e, 0), f = list_append(f, ["x"]), h = i - 1, ' +
    'j = if_not_exists(j, 0) + 1, k = list_append([1], k) REMOVE b, l ADD d 2 DELETE g {}');
});

test('a path is literal in each step', () => {
  const message = prepareExpressions({ projectionExpression: project('a.b[3][0]', ['full.name', 0, 'last'], 'a') });
  assert.equal(message.projectionExpression, '#_0.#_1[3][0], #_2[0].#_3, #_0');
  assert.deepEqual(message.expressionAttributeNames, { '#_0': 'a', '#_1': 'b', '#_2': 'full.name', '#_3': 'last' });
  for (const path of ['', 'a..b', 'a[x]', '[0]', 'a[1']) assert.throws(() => attr(path), InvalidArgumentError, path);
});

test('parameters of texts become placeholders', () => {
  const message = prepareExpressions({
    keyConditionExpression: 'id = $id AND #at > $from', filterExpression: 'b = :given OR c = $id', params: { id: 'x', from: null },
    expressionAttributeNames: { '#other': 'o' }, expressionAttributeValues: { ':given': 1 },
  });
  assert.deepEqual(message, {
    keyConditionExpression: 'id = :id AND #at > :from', filterExpression: 'b = :given OR c = :id',
    expressionAttributeNames: { '#other': 'o', '#at': 'at' }, expressionAttributeValues: { ':given': 1, ':id': 'x', ':from': null },
  });
});

test('a parameter without a value is refused', () => {
  for (const params of [undefined, {}, { b: 1 }, { a: undefined }]) {
    assert.throws(() => prepareExpressions({ conditionExpression: 'a = $a', params }), /the parameter \$a has no value: a = \$a/);
  }
  assert.throws(() => prepareExpressions({ conditionExpression: 'a = $toString', params: {} }), /\$toString has no value/);
});

test('a parameter that no expression uses is refused', () => {
  assert.throws(() => prepareExpressions({ conditionExpression: 'a = $a', params: { a: 1, b: 2 } }), /no expression has the parameter \$b/);
  assert.throws(() => prepareExpressions({ params: { a: 1 } }), /no expression has the parameter \$a/);
  assert.throws(() => expression('a = $a', { a: 1, b: 2 }), /the text has no parameter \$b/);
});

test('a text with its own parameters is a part of a tree', () => {
  const both = and(expression('a = $x OR #b = $x', { x: 1 }), expression('c = $x', { x: 2 }));
  assert.equal(shown(both), '(a = 1 OR b = 1) AND (c = 2)');
  assert.throws(() => shown(expression('a = $x')), /the parameter \$x has no value/);
});

test('a parameter and a placeholder of one name are refused', () => {
  assert.throws(() => prepareExpressions({ conditionExpression: 'a = $a AND b = :a', params: { a: 1 }, expressionAttributeValues: { ':a': 2 } }),
    /\$a and :a are in one request/);
});

test('templates take values, attributes and conditions', () => {
  const condition = expr`${attr('a.b')} = ${1} AND ${attr('c').gt(2).or(attr('c').eq(0))} AND #status <> ${'x'}`;
  assert.equal(shown(condition), 'a.b = 1 AND (c > 2 OR c = 0) AND status <> "x"');
  assert.throws(() => shown(expr`a = ${undefined}`), /undefined/);
});

test('a message without parameters is not copied', () => {
  const message = { tableName: 't', conditionExpression: 'a = :a', expressionAttributeValues: { ':a': 1 } };
  assert.equal(prepareExpressions(message), message);
});
