// JSON that keeps every digit of its numbers: JSON.parse makes doubles of them.
//
// Objects have no prototype, so that a member may have any name. A member that is repeated is an error.

// A number as it was written.
export class Digits {
  constructor(text) {
    this.text = text;
  }
}

export class JsonError extends Error {
  // `at`: offset into the text.
  constructor(message, text, at) {
    const before = text.slice(0, at);
    const line = before.split('\n').length;
    const column = at - before.lastIndexOf('\n');
    super(`${message} (line ${line}, column ${column})`);
    this.at = at;
  }
}

export const record = () => Object.create(null);

const DEPTH_MAX = 64;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const ESCAPED = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

class Parser {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  fail(message) {
    throw new JsonError(message, this.text, Math.min(this.at, this.text.length));
  }

  skipBlanks() {
    while (this.at < this.text.length && ' \t\n\r'.includes(this.text[this.at])) this.at += 1;
  }

  expect(letter) {
    if (this.text[this.at] !== letter) this.fail(`'${letter}' is missing`);
    this.at += 1;
  }

  value(depth) {
    if (depth > DEPTH_MAX) this.fail('The document is nested too deeply');
    this.skipBlanks();
    const letter = this.text[this.at];
    if (letter === undefined) this.fail('A value is missing at the end');
    if (letter === '{') return this.object(depth);
    if (letter === '[') return this.array(depth);
    if (letter === '"') return this.string();
    for (const [word, value] of [['true', true], ['false', false], ['null', null]]) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return value;
      }
    }
    NUMBER.lastIndex = this.at;
    const found = NUMBER.exec(this.text);
    if (found === null) this.fail('This is no value of JSON');
    this.at += found[0].length;
    return new Digits(found[0]);
  }

  object(depth) {
    const members = record();
    this.expect('{');
    this.skipBlanks();
    if (this.text[this.at] === '}') {
      this.at += 1;
      return members;
    }
    for (;;) {
      this.skipBlanks();
      if (this.text[this.at] !== '"') this.fail('The name of a member is missing');
      const begin = this.at;
      const name = this.string();
      if (name in members) {
        this.at = begin;
        this.fail(`The member ${JSON.stringify(name)} is there twice`);
      }
      this.skipBlanks();
      this.expect(':');
      members[name] = this.value(depth + 1);
      this.skipBlanks();
      if (this.text[this.at] === '}') break;
      this.expect(',');
    }
    this.at += 1;
    return members;
  }

  array(depth) {
    const elements = [];
    this.expect('[');
    this.skipBlanks();
    if (this.text[this.at] === ']') {
      this.at += 1;
      return elements;
    }
    for (;;) {
      elements.push(this.value(depth + 1));
      this.skipBlanks();
      if (this.text[this.at] === ']') break;
      this.expect(',');
    }
    this.at += 1;
    return elements;
  }

  string() {
    this.expect('"');
    let value = '';
    for (;;) {
      const letter = this.text[this.at];
      if (letter === undefined) this.fail('A string has no end');
      if (letter < ' ') this.fail('A string has a line end or another control character');
      this.at += 1;
      if (letter === '"') return value;
      value += letter === '\\' ? this.escape() : letter;
    }
  }

  escape() {
    const letter = this.text[this.at];
    this.at += 1;
    if (letter in ESCAPED) return ESCAPED[letter];
    const digits = this.text.slice(this.at, this.at + 4);
    if (letter !== 'u' || !/^[0-9a-fA-F]{4}$/.test(digits)) this.fail('This escape is not known to JSON');
    this.at += 4;
    return String.fromCharCode(parseInt(digits, 16));
  }
}

// The value of a document: null, true, false, a string, Digits, an array or an object. Throws JsonError.
export function parseJson(text) {
  const parser = new Parser(text);
  const value = parser.value(0);
  parser.skipBlanks();
  if (parser.at < text.length) parser.fail('There is text after the end of the document');
  return value;
}

// The document of a value as parseJson returns it, with two blanks for each level.
export function printJson(value, indent = '') {
  if (value instanceof Digits) return value.text;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    const isFlat = value.every((each) => each === null || typeof each !== 'object' || each instanceof Digits);
    const elements = value.map((each) => printJson(each, inner));
    const line = `[${elements.join(', ')}]`;
    if (isFlat && line.length + indent.length <= 80) return line;
    return `[\n${inner}${elements.join(`,\n${inner}`)}\n${indent}]`;
  }
  const names = Object.keys(value);
  if (names.length === 0) return '{}';
  const members = names.map((name) => `${JSON.stringify(name)}: ${printJson(value[name], inner)}`);
  return `{\n${inner}${members.join(`,\n${inner}`)}\n${indent}}`;
}
