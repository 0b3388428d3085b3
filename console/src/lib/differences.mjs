// Differences between two items.

import { printJson } from './json.mjs';
import { isSame, toPlain } from './values.mjs';

const SHOWN_MAX = 4000;

// A value as plain JSON, cut if it is long. '' for one that is not there.
export function shownValue(value) {
  if (value === undefined) return '';
  const text = printJson(toPlain(value));
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}… (${text.length} letters)` : text;
}

const kindOf = (before, after) => {
  if (before === undefined) return 'added';
  if (after === undefined) return 'removed';
  return isSame(before, after) ? 'same' : 'changed';
};

// The attributes of both images: {name, kind: 'same' | 'changed' | 'added' | 'removed', before, after}, key attributes
// first, then those that differ. An image that is not there has no attributes.
export function differencesOf(before, after, keyNames) {
  const [a, b] = [before ?? {}, after ?? {}];
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  const rank = ({ name, kind }) => (keyNames.includes(name) ? keyNames.indexOf(name) - keyNames.length
    : kind === 'same' ? 1 : 0);
  return names.map((name) => ({ name, kind: kindOf(a[name], b[name]), before: a[name], after: b[name] }))
    .sort((x, y) => rank(x) - rank(y) || (x.name < y.name ? -1 : 1));
}
