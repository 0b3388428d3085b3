// Values of attributes: the typed form of the protocol ({"N": "1"}), plain JSON, short texts, and sizes.

import { Digits, parseJson, printJson, record } from './json.mjs';

export const TYPES = ['S', 'N', 'B', 'BOOL', 'NULL', 'SS', 'NS', 'BS', 'L', 'M'];
export const TYPE_NAMES = {
  S: 'string', N: 'number', B: 'binary', BOOL: 'boolean', NULL: 'null', SS: 'set of strings', NS: 'set of numbers',
  BS: 'set of binaries', L: 'list', M: 'map',
};

const NUMBER = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;
const NUMBER_PARTS = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?$/;
const JSON_NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const encoder = new TextEncoder();

export const isNumber = (text) => typeof text === 'string' && NUMBER.test(text);
export const isBase64 = (text) => typeof text === 'string' && BASE64.test(text);
const isString = (value) => typeof value === 'string';
const isObject = (value) =>
  value !== null && typeof value === 'object' && !Array.isArray(value) && !(value instanceof Digits);
const isSetOf = (check) => (value) =>
  Array.isArray(value) && value.length > 0 && value.every(check) && new Set(value).size === value.length;

// Type -> whether a value has the form of that type in the protocol.
const HAS_FORM = {
  S: isString, N: isNumber, B: isBase64, BOOL: (value) => typeof value === 'boolean', NULL: (value) => value === true,
  SS: isSetOf(isString), NS: isSetOf(isNumber), BS: isSetOf(isBase64), L: Array.isArray, M: isObject,
};

export const typeOf = (value) => Object.keys(value)[0];

// The type of an object that is in the typed form; null for any other value.
function typeOfForm(value) {
  if (!isObject(value)) return null;
  const names = Object.keys(value);
  const isTyped = names.length === 1 && TYPES.includes(names[0]) && HAS_FORM[names[0]](value[names[0]]);
  return isTyped ? names[0] : null;
}

// `value`: of parseJson, plain or typed at each level. Returns the typed value.
export function toTyped(value) {
  const type = typeOfForm(value);
  if (type === 'L') return { L: value.L.map(toTyped) };
  if (type === 'M') return { M: toItem(value.M) };
  if (type !== null) return { [type]: value[type] };
  if (value === null) return { NULL: true };
  if (value instanceof Digits) return { N: value.text };
  if (typeof value === 'boolean') return { BOOL: value };
  if (isString(value)) return { S: value };
  return Array.isArray(value) ? { L: value.map(toTyped) } : { M: toItem(value) };
}

function toItem(members) {
  const item = record();
  for (const name of Object.keys(members)) item[name] = toTyped(members[name]);
  return item;
}

// The item in a document. Throws an Error with a text for the user.
export function parseItem(text) {
  const value = parseJson(text);
  if (!isObject(value)) throw new Error('An item is an object: {"attribute": value}');
  return toItem(value);
}

// A typed value as plain JSON for printJson. Types that plain JSON does not have stay typed.
export function toPlain(value) {
  const type = typeOf(value);
  const content = value[type];
  if (type === 'S' || type === 'BOOL') return content;
  if (type === 'NULL') return null;
  if (type === 'N') return JSON_NUMBER.test(content) ? new Digits(content) : { N: content };
  if (type === 'L') return content.map(toPlain);
  if (type !== 'M') return { [type]: content };
  const plain = plainItem(content);
  // A map that looks like a typed value would be read as one.
  return typeOfForm(plain) === null ? plain : { M: plain };
}

function plainItem(item) {
  const plain = record();
  for (const name of Object.keys(item)) plain[name] = toPlain(item[name]);
  return plain;
}

// The key attributes first, then the others by name.
export function orderedNames(item, keyNames) {
  const others = Object.keys(item).filter((name) => !keyNames.includes(name)).sort();
  return [...keyNames.filter((name) => name in item), ...others];
}

export function printItem(item, keyNames, isTyped) {
  const ordered = record();
  for (const name of orderedNames(item, keyNames)) ordered[name] = item[name];
  return printJson(isTyped ? ordered : plainItem(ordered));
}

// A text of at most `max` letters, on one line.
export function shortText(value, max = 200) {
  const type = typeOf(value);
  const content = value[type];
  if (type === 'S') return content.length > max ? `${content.slice(0, max)}…` : content;
  if (type === 'N') return content;
  if (type === 'BOOL') return String(content);
  if (type === 'NULL') return 'NULL';
  if (type === 'B') return `${content.slice(0, 24)}${content.length > 24 ? '…' : ''} (${binaryBytes(content)} bytes)`;
  if (type === 'SS' || type === 'NS' || type === 'BS') return cut(`{${content.slice(0, 50).join(', ')}}`, max);
  if (type === 'L') return cut(`[${shortList(content, max)}]`, max);
  const names = Object.keys(content);
  return cut(`{${shortList(names.map((name) => [name, content[name]]), max)}}`, max);
}

// Elements until the text is long enough, because a list may be very long.
function shortList(elements, max) {
  let text = '';
  for (const element of elements) {
    if (text.length > max) return `${text}, …`;
    const [name, value] = Array.isArray(element) ? element : [null, element];
    text += `${text === '' ? '' : ', '}${name === null ? '' : `${name}: `}${shortText(value, max)}`;
  }
  return text;
}

const cut = (text, max) => (text.length > max ? `${text.slice(0, max)}…` : text);

const binaryBytes = (base64) => (base64.length / 4) * 3 - (base64.match(/=+$/)?.[0].length ?? 0);

// The parts of a number without zeros that say nothing: {sign, digits, exponent: of the last digit}.
function partsOf(text) {
  const [, sign, whole, fraction = '', exponent = 0] = NUMBER_PARTS.exec(text);
  const all = (whole + fraction).replace(/^0+/, '');
  const digits = all.replace(/0+$/, '');
  if (digits === '') return { sign: '', digits: '0', exponent: 0 };
  const last = Number(exponent) - fraction.length + all.length - digits.length;
  return { sign: sign === '-' ? '-' : '', digits, exponent: last };
}

// Equal texts for equal numbers.
export function canonicalNumber(text) {
  const { sign, digits, exponent } = partsOf(text);
  return `${sign}${digits}e${exponent}`;
}

// As the daemon counts it: one byte, one for each two significant digits on each side of the point, one for the sign.
function numberBytes(text) {
  const { sign, digits, exponent } = partsOf(text);
  if (digits === '0') return 1;
  const whole = digits.length + exponent;
  const hasBothSides = exponent < 0 && whole > 0;
  const pairs = hasBothSides ? Math.ceil(whole / 2) + Math.ceil(-exponent / 2) : Math.ceil(digits.length / 2);
  return 1 + pairs + sign.length;
}

const textBytes = (text) => encoder.encode(text).length;
const sum = (numbers) => numbers.reduce((total, each) => total + each, 0);

function valueBytes(value) {
  const type = typeOf(value);
  const content = value[type];
  if (type === 'S') return textBytes(content);
  if (type === 'N') return numberBytes(content);
  if (type === 'B') return binaryBytes(content);
  if (type === 'BOOL' || type === 'NULL') return 1;
  if (type === 'SS') return sum(content.map(textBytes));
  if (type === 'NS') return sum(content.map(numberBytes));
  if (type === 'BS') return sum(content.map(binaryBytes));
  if (type === 'L') return 3 + sum(content.map((each) => 1 + valueBytes(each)));
  return 3 + sum(Object.keys(content).map((name) => 1 + textBytes(name) + valueBytes(content[name])));
}

export const ITEM_BYTES_MAX = 409600;

// The size of an item as the API counts it.
export const itemBytes = (item) => sum(Object.keys(item).map((name) => textBytes(name) + valueBytes(item[name])));

// True if two typed values are the same to the daemon, whatever the order of members and of elements of sets, and the
// notation of numbers.
export function isSame(a, b) {
  if (a === undefined || b === undefined) return a === b;
  const type = typeOf(a);
  if (type !== typeOf(b)) return false;
  const [x, y] = [a[type], b[type]];
  if (type === 'L') return x.length === y.length && x.every((each, i) => isSame(each, y[i]));
  if (type === 'M') {
    const names = Object.keys(x);
    return names.length === Object.keys(y).length && names.every((name) => name in y && isSame(x[name], y[name]));
  }
  const canonical = type === 'N' || type === 'NS' ? canonicalNumber : (text) => text;
  if (!Array.isArray(x)) return canonical(x) === canonical(y);
  const sorted = (set) => JSON.stringify(set.map(canonical).sort());
  return sorted(x) === sorted(y);
}

// A typed value of what the user has written into a field for `type`. Throws an Error with a text for the user.
export function fieldValue(type, text) {
  if (type === 'S') return { S: text };
  if (type === 'NULL') return { NULL: true };
  if (type === 'N') {
    const trimmed = text.trim();
    if (!isNumber(trimmed)) throw new Error(`"${text}" is not a number`);
    return { N: trimmed };
  }
  if (type === 'B') {
    if (!isBase64(text)) throw new Error('A binary is written in base64');
    return { B: text };
  }
  if (type === 'BOOL') {
    if (text !== 'true' && text !== 'false') throw new Error('A boolean is true or false');
    return { BOOL: text === 'true' };
  }
  return toTyped(parseJson(text));
}
