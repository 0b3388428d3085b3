// Items as files: JSON lines and CSV.

import { shortText, toPlain, typeOf } from './values.mjs';
import { printJson } from './json.mjs';

// Typed items, one a line, as `armature load` and `armature export` have them.
export const jsonLines = (items) => items.map((item) => `${JSON.stringify(item)}\n`).join('');

const quoted = (text) => (/[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text);

// Scalars as they are, documents and sets as JSON. An absent attribute is an empty cell.
function cell(value) {
  if (value === undefined) return '';
  const type = typeOf(value);
  if (type === 'S' || type === 'N' || type === 'B') return quoted(value[type]);
  if (type === 'BOOL' || type === 'NULL') return shortText(value);
  const plain = Array.isArray(value[type]) && type !== 'L' ? value[type] : toPlain(value);
  return quoted(printJson(plain).replace(/\n\s*/g, ' '));
}

export const csv = (items, columns) => [
  columns.map(quoted).join(','), ...items.map((item) => columns.map((name) => cell(item[name])).join(',')),
].map((line) => `${line}\r\n`).join('');

// Has the browser save a file.
export function download(name, type, content) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
