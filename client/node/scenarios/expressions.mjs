// Expressions of scenarios: texts as they are, and trees by the package's builder.

import { and, attr, expression as text, Expression, not, or, project, update } from '@armaturedb/client';

import { toNative } from './values.mjs';

const operand = (value) => (value?.$path === undefined ? toNative(value) : attr(value.$path));

const compare = (method) => (path, ...values) => attr(path)[method](...values.map(operand));

const NODES = {
  eq: compare('eq'), ne: compare('ne'), lt: compare('lt'), le: compare('le'), gt: compare('gt'), ge: compare('ge'),
  between: compare('between'), in: compare('in'), begins_with: compare('beginsWith'), contains: compare('contains'),
  type: compare('type'), exists: compare('exists'), not_exists: compare('notExists'),
  size_eq: (path, value) => attr(path).size().eq(operand(value)),
  size_gt: (path, value) => attr(path).size().gt(operand(value)),
  and: (...nodes) => and(...nodes.map(tree)), or: (...nodes) => or(...nodes.map(tree)), not: (node) => not(tree(node)),
  set: compare('set'), set_if_missing: compare('setIfMissing'), increment: compare('increment'), append: compare('append'),
  remove: compare('remove'), add: compare('add'), delete: compare('delete'),
  text: (source, params) => text(source, toNative(params)),
  all: (...nodes) => update(...nodes.map(tree)), fields: (...paths) => project(...paths),
};

function tree([operator, ...operands]) {
  const build = NODES[operator];
  if (build === undefined) throw new Error(`the runner does not know the operator ${operator}`);
  return build(...operands);
}

/** The package's expression; undefined if there is none. */
export function expression(node) {
  if (node === undefined || typeof node === 'string') return node;
  const built = tree(node);
  if (!(built instanceof Expression)) throw new Error(`${node} is no expression`);
  return built;
}
