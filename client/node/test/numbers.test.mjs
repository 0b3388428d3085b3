import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';

import { compareDecimals, InvalidArgumentError, NumberValue } from '@armaturedb/client';

const { nativeNumber, numberText } = createRequire(import.meta.url)('../build/numbers.js');

test('a number is native where that is exact', () => {
  for (const [text, native] of [
    ['0', 0], ['-7', -7], ['9007199254740991', 2 ** 53 - 1], ['0.1', 0.1], ['-12.5', -12.5], ['0.0000001', 1e-7],
    ['9007199254740992', 9007199254740992n], ['-99999999999999999999999999999999999999', -99999999999999999999999999999999999999n],
  ]) {
    assert.strictEqual(nativeNumber(text), native, text);
  }
});

test('a fraction with more digits than a number has is a NumberValue', () => {
  for (const text of ['0.12345678901234567890123456789012345678', '9007199254740993.5', '0.10000000000000000001']) {
    const value = nativeNumber(text);
    assert.ok(value instanceof NumberValue, text);
    assert.equal(value.value, text);
  }
});

test('numbers that have lost digits already are refused', () => {
  for (const value of [NaN, Infinity, -Infinity, 2 ** 53, -(2 ** 60), 1e21]) {
    assert.throws(() => numberText(value), InvalidArgumentError, String(value));
  }
  assert.equal(numberText(2 ** 53 - 1), '9007199254740991');
  assert.equal(numberText(1e-7), '1e-7');
});

test('texts that are no decimals are refused', () => {
  for (const text of ['', '.', '-', '1e', 'x', '0x1', ' 1', '1_000', 'NaN']) {
    assert.throws(() => NumberValue.from(text), InvalidArgumentError, text);
  }
});

test('decimals are compared as numbers', () => {
  const ascending = ['-1e125', '-10', '-9.5', '-1E-130', '0', '1e-130', '0.5', '0.51', '1', '9', '10', '1e2', '101'];
  for (const [i, a] of ascending.entries()) {
    for (const [j, b] of ascending.entries()) assert.equal(Math.sign(compareDecimals(a, b)), Math.sign(i - j), `${a} ${b}`);
  }
  for (const [a, b] of [['1', '1.0'], ['0', '-0.0'], ['100', '1e2'], ['.5', '5E-1'], ['+1', '01']]) {
    assert.equal(compareDecimals(a, b), 0, `${a} ${b}`);
  }
});

test('a NumberValue converts where that is exact', () => {
  assert.equal(NumberValue.from('1.5e3').toBigInt(), 1500n);
  assert.equal(NumberValue.from('-0').toBigInt(), 0n);
  assert.throws(() => NumberValue.from('1.5').toBigInt(), InvalidArgumentError);
  assert.equal(NumberValue.from('0.25').toNumber(), 0.25);
  assert.equal(JSON.stringify({ n: NumberValue.from('1.10') }), '{"n":"1.10"}');
});
