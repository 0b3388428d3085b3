// Expressions: texts with `$name` parameters, templates, and a builder.

import { InvalidArgumentError } from './errors';
import type { ValueInput } from './values';

/** Values of the `$name` parameters of expressions. */
export type Params = { readonly [name: string]: ValueInput };

const EXPRESSION_MEMBERS = [
  'conditionExpression',
  'updateExpression',
  'keyConditionExpression',
  'filterExpression',
  'projectionExpression',
] as const;

const TEXTS_MAX = 1000; // texts whose parts are remembered

const PARAMETER = /\$([A-Za-z0-9_]+)/g;

function missing(param: string, text: string): InvalidArgumentError {
  return new InvalidArgumentError(`the parameter $${param} has no value: ${text}`);
}

/** The placeholders of one request. */
class Placeholders {
  readonly names: Record<string, string>;
  readonly values: Record<string, unknown>;
  private readonly made = new Map<string, string>();
  private readonly used = new Set<string>();
  private count = 0;

  constructor(
    names: Readonly<Record<string, string>> | undefined,
    values: Readonly<Record<string, unknown>> | undefined,
    private readonly params: Params | undefined,
  ) {
    this.names = { ...names };
    this.values = { ...values };
  }

  /** A placeholder for an attribute name. */
  name(attribute: string): string {
    const known = this.made.get(attribute);
    if (known !== undefined) return known;
    const placeholder = `#_${this.made.size}`;
    this.made.set(attribute, placeholder);
    this.names[placeholder] = attribute;
    return placeholder;
  }

  /** A placeholder for a value. */
  value(value: unknown): string {
    if (value === undefined) throw new InvalidArgumentError('an operand of an expression is undefined');
    const placeholder = `:_${this.count++}`;
    this.values[placeholder] = value;
    return placeholder;
  }

  /** A text whose parameters are `params` and not those of the request. */
  ownText(text: string, params: Params): string {
    const parsed = parse(text);
    for (const name of parsed.names) this.names[name] ??= name.slice(1);
    const made = new Map<string, string>();
    return text.replace(PARAMETER, (_match, name: string) => {
      if (!Object.hasOwn(params, name) || params[name] === undefined) throw missing(name, text);
      if (!made.has(name)) made.set(name, this.value(params[name]));
      return made.get(name)!;
    });
  }

  /** A text whose parameters and names are placeholders. */
  text(text: string): string {
    const parsed = parse(text);
    for (const name of parsed.names) this.names[name] ??= name.slice(1);
    for (const param of parsed.params) {
      const value = this.params !== undefined && Object.hasOwn(this.params, param) ? this.params[param] : undefined;
      if (value === undefined) throw missing(param, text);
      this.used.add(param);
      const placeholder = `:${param}`;
      if (Object.hasOwn(this.values, placeholder) && this.values[placeholder] !== value) {
        throw new InvalidArgumentError(`$${param} and ${placeholder} are in one request`);
      }
      this.values[placeholder] = value;
    }
    return parsed.text;
  }

  /** @throws InvalidArgumentError if a parameter is in no text. */
  checkUsed(): void {
    for (const param in this.params) {
      if (!this.used.has(param)) throw new InvalidArgumentError(`no expression has the parameter $${param}`);
    }
  }
}

interface Parsed {
  text: string;
  params: readonly string[];
  names: readonly string[];
}

const parsedTexts = new Map<string, Parsed>();

function parse(text: string): Parsed {
  const known = parsedTexts.get(text);
  if (known !== undefined) return known;
  const params = new Set<string>();
  const names = new Set<string>();
  const replaced = text.replace(PARAMETER, (_match, name: string) => {
    params.add(name);
    return `:${name}`;
  });
  for (const [name] of text.matchAll(/#[A-Za-z0-9_]+/g)) names.add(name);
  const parsed = { text: replaced, params: [...params], names: [...names] };
  if (parsedTexts.size >= TEXTS_MAX) parsedTexts.clear();
  parsedTexts.set(text, parsed);
  return parsed;
}

/** An expression, or a part of one, made by the builder or by `expr`. It carries its names and values. */
export class Expression {
  /** @internal */
  constructor(
    private readonly write: (placeholders: Placeholders) => string,
    private readonly isCompound = false,
  ) {}

  /** @internal */
  render(placeholders: Placeholders): string {
    return this.write(placeholders);
  }

  /** @internal */
  renderOperand(placeholders: Placeholders): string {
    return this.isCompound ? `(${this.write(placeholders)})` : this.write(placeholders);
  }

  and(...others: Expression[]): Expression {
    return and(this, ...others);
  }

  or(...others: Expression[]): Expression {
    return or(this, ...others);
  }

  not(): Expression {
    return not(this);
  }
}

/** An action of an update expression. */
export class UpdateAction extends Expression {
  /** @internal */
  constructor(
    readonly clause: 'SET' | 'REMOVE' | 'ADD' | 'DELETE',
    readonly action: (placeholders: Placeholders) => string,
  ) {
    super((placeholders) => `${clause} ${action(placeholders)}`);
  }
}

/** Steps of a path: attribute names, and positions in lists. */
export type PathSteps = readonly (string | number)[];

function stepsOf(path: string | PathSteps): PathSteps {
  if (typeof path !== 'string') return path;
  const steps: (string | number)[] = [];
  for (const part of path.split('.')) {
    const [, name, positions = ''] = /^([^[\]]+)((?:\[\d+\])*)$/.exec(part) ?? [];
    if (name === undefined) throw new InvalidArgumentError(`"${path}" is not a path`);
    steps.push(name, ...[...positions.matchAll(/\d+/g)].map(([digits]) => Number(digits)));
  }
  return steps;
}

function renderSteps(steps: PathSteps, placeholders: Placeholders): string {
  let text = '';
  for (const step of steps) {
    if (typeof step === 'number') text += `[${step}]`;
    else text += (text === '' ? '' : '.') + placeholders.name(step);
  }
  return text;
}

/** An operand: a value, or another attribute. */
export type Operand = ValueInput | Operation;

function operand(value: unknown, placeholders: Placeholders): string {
  return value instanceof Expression ? value.renderOperand(placeholders) : placeholders.value(value);
}

function joined(parts: readonly unknown[], separator: string, placeholders: Placeholders): string {
  return parts.map((part) => operand(part, placeholders)).join(separator);
}

/** A value that the daemon computes: an attribute, or a function of one. */
export class Operation extends Expression {
  private compare(operator: string, value: Operand): Expression {
    return new Expression((p) => `${this.renderOperand(p)} ${operator} ${operand(value, p)}`);
  }

  eq(value: Operand): Expression {
    return this.compare('=', value);
  }
  ne(value: Operand): Expression {
    return this.compare('<>', value);
  }
  lt(value: Operand): Expression {
    return this.compare('<', value);
  }
  le(value: Operand): Expression {
    return this.compare('<=', value);
  }
  gt(value: Operand): Expression {
    return this.compare('>', value);
  }
  ge(value: Operand): Expression {
    return this.compare('>=', value);
  }
  between(low: Operand, high: Operand): Expression {
    return new Expression((p) => `${this.renderOperand(p)} BETWEEN ${operand(low, p)} AND ${operand(high, p)}`);
  }
  in(...values: Operand[]): Expression {
    return new Expression((p) => `${this.renderOperand(p)} IN (${joined(values, ', ', p)})`);
  }
  plus(value: Operand): Operation {
    return new Operation((p) => `${this.renderOperand(p)} + ${operand(value, p)}`);
  }
  minus(value: Operand): Operation {
    return new Operation((p) => `${this.renderOperand(p)} - ${operand(value, p)}`);
  }
}

/** An attribute, or a part of one. */
export class Attribute extends Operation {
  private call(name: string, ...operands: unknown[]): Expression {
    return new Expression((p) => `${name}(${joined([this, ...operands], ', ', p)})`);
  }
  private assign(value: (placeholders: Placeholders) => string): UpdateAction {
    return new UpdateAction('SET', (p) => `${this.render(p)} = ${value(p)}`);
  }

  exists(): Expression {
    return this.call('attribute_exists');
  }
  notExists(): Expression {
    return this.call('attribute_not_exists');
  }
  /** `type`: S, N, B, BOOL, NULL, SS, NS, BS, L or M. */
  type(type: string): Expression {
    return this.call('attribute_type', type);
  }
  beginsWith(prefix: Operand): Expression {
    return this.call('begins_with', prefix);
  }
  contains(value: Operand): Expression {
    return this.call('contains', value);
  }
  size(): Operation {
    return new Operation((p) => `size(${this.render(p)})`);
  }
  /** The value of the attribute, or `value` if it is missing. */
  orElse(value: Operand): Operation {
    return new Operation((p) => `if_not_exists(${this.render(p)}, ${operand(value, p)})`);
  }

  set(value: Operand): UpdateAction {
    return this.assign((p) => operand(value, p));
  }
  setIfMissing(value: Operand): UpdateAction {
    return this.assign((p) => `if_not_exists(${this.render(p)}, ${operand(value, p)})`);
  }
  /** Adds to a number, which must exist. `add` does not need it. */
  increment(by: Operand = 1): UpdateAction {
    return this.assign((p) => `${this.render(p)} + ${operand(by, p)}`);
  }
  append(list: Operand): UpdateAction {
    return this.assign((p) => `list_append(${this.render(p)}, ${operand(list, p)})`);
  }
  prepend(list: Operand): UpdateAction {
    return this.assign((p) => `list_append(${operand(list, p)}, ${this.render(p)})`);
  }
  remove(): UpdateAction {
    return new UpdateAction('REMOVE', (p) => this.render(p));
  }
  /** Adds to a number or to a set; the attribute may be missing. */
  add(value: ValueInput): UpdateAction {
    return new UpdateAction('ADD', (p) => `${this.render(p)} ${p.value(value)}`);
  }
  /** Removes elements from a set. */
  delete(elements: ValueInput): UpdateAction {
    return new UpdateAction('DELETE', (p) => `${this.render(p)} ${p.value(elements)}`);
  }
}

/**
 * An attribute for the builder. In a text, dots and brackets lead into maps and lists: `attr('address.lines[0]')`. Each name
 * is taken literally, so reserved words need nothing. Names with dots are given as steps: `attr(['full.name', 'last'])`.
 */
export function attr(path: string | PathSteps): Attribute {
  const steps = stepsOf(path);
  return new Attribute((placeholders) => renderSteps(steps, placeholders));
}

export function and(...conditions: Expression[]): Expression {
  return new Expression((p) => joined(conditions, ' AND ', p), conditions.length > 1);
}

export function or(...conditions: Expression[]): Expression {
  return new Expression((p) => joined(conditions, ' OR ', p), conditions.length > 1);
}

export function not(condition: Expression): Expression {
  return new Expression((p) => `NOT (${condition.render(p)})`);
}

/** An update expression of several actions. */
export function update(...actions: UpdateAction[]): Expression {
  return new Expression((p) => {
    const clauses = new Map<string, string[]>();
    for (const { clause, action } of actions) clauses.set(clause, [...(clauses.get(clause) ?? []), action(p)]);
    return [...clauses].map(([clause, texts]) => `${clause} ${texts.join(', ')}`).join(' ');
  });
}

/** A projection expression. */
export function project(...paths: (string | PathSteps | Attribute)[]): Expression {
  const attributes = paths.map((path) => (path instanceof Attribute ? path : attr(path)));
  return new Expression((p) => attributes.map((attribute) => attribute.render(p)).join(', '));
}

/**
 * An expression as a template: values become placeholders, parts of the builder are inserted, and a `#name` stands for the
 * attribute of that name, which helps with reserved words.
 *
 *   expr`SET #status = ${'open'}, visits = visits + ${1}`
 */
export function expr(texts: TemplateStringsArray, ...values: (ValueInput | Expression)[]): Expression {
  return new Expression(
    (p) => texts.reduce((text, part, i) => text + p.text(part) + (i < values.length ? operand(values[i], p) : ''), ''),
    true,
  );
}

/**
 * A text with parameters of its own, as a part of an expression of the builder.
 *
 *   and(expression('visits > $least', { least: 3 }), attr('city').eq('Bonn'))
 */
export function expression(text: string, params: Params = {}): Expression {
  const parsed = parse(text);
  for (const name of Object.keys(params)) {
    if (!parsed.params.includes(name)) throw new InvalidArgumentError(`the text has no parameter $${name}: ${text}`);
  }
  return new Expression((p) => p.ownText(text, params), true);
}

function needsWork(message: Record<string, unknown>): boolean {
  if (message['params'] !== undefined) return true;
  for (const member of EXPRESSION_MEMBERS) {
    const expression = message[member];
    if (expression instanceof Expression) return true;
    if (typeof expression === 'string' && /[$#]/.test(expression)) return true;
  }
  return false;
}

/**
 * The message with expressions as texts, and with their names and values. The same message if it has nothing to replace.
 *
 * @throws InvalidArgumentError for a parameter without a value.
 */
export function prepareExpressions(message: Record<string, unknown>): Record<string, unknown> {
  if (!needsWork(message)) return message;
  const { params, expressionAttributeNames, expressionAttributeValues, ...rest } = message;
  const placeholders = new Placeholders(
    expressionAttributeNames as Record<string, string> | undefined,
    expressionAttributeValues as Record<string, unknown> | undefined,
    params as Params | undefined,
  );
  for (const member of EXPRESSION_MEMBERS) {
    const expression = rest[member];
    if (expression instanceof Expression) rest[member] = expression.render(placeholders);
    else if (typeof expression === 'string') rest[member] = placeholders.text(expression);
  }
  placeholders.checkUsed();
  if (Object.keys(placeholders.names).length > 0) rest['expressionAttributeNames'] = placeholders.names;
  if (Object.keys(placeholders.values).length > 0) rest['expressionAttributeValues'] = placeholders.values;
  return rest;
}
