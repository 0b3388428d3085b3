// Items as rows: key columns first, then all attributes that were seen.

import { html, useEffect, useMemo, useState } from '../../vendor/htm-preact.mjs';
import { shortText, TYPE_NAMES, typeOf } from '../lib/values.mjs';
import { Button, CheckBox, Dialog, Tag } from '../ui/controls.mjs';
import { VirtualRows } from '../ui/virtual_rows.mjs';

const ROW_HEIGHT = 29;
const SHOWN_MAX = 50;  // columns, until the user chooses
const MEASURED = 60;  // items that decide on the widths
const CHARACTER_PX = 7.3;
const PADDING_PX = 40;

// The columns of all items: those of the keys, then the others in the order in which they were seen.
function columnsOf(items, keys, tableKeys) {
  const names = new Set([...keys, ...tableKeys].map((key) => key.name));
  for (const item of items) for (const name of Object.keys(item)) names.add(name);
  return [...names];
}

function widthOf(name, items) {
  let letters = name.length;
  for (const item of items.slice(0, MEASURED)) {
    if (item[name] !== undefined) letters = Math.max(letters, shortText(item[name], 40).length);
  }
  return Math.round(Math.min(Math.max(letters, 6), 36) * CHARACTER_PX + PADDING_PX);
}

function Cell({ value, column, isKey, onOpen }) {
  if (value === undefined) return html`<span role="gridcell" class="cell absent" title="absent"
    aria-colindex=${column}></span>`;
  const type = typeOf(value);
  const text = shortText(value);
  const content = isKey ? html`<button type="button" class="button link"
    onClick=${onOpen}>${text === '' ? '(empty)' : text}</button>` : text;
  return html`<span role="gridcell" class="cell of-${type}" title=${text} aria-colindex=${column}>
    <span class="cell-text">${type === 'NULL' ? html`<${Tag}>NULL<//>` : content}</span>
    ${type !== 'NULL' && html`<${Tag} kind="type" title=${TYPE_NAMES[type]}>${type}<//>`}</span>`;
}

function ColumnChoice({ all, shown, onChange, onClose }) {
  const toggle = (name, isShown) => onChange(isShown ? all.filter((each) => each === name || shown.includes(each))
    : shown.filter((each) => each !== name));
  return html`<${Dialog} title="Columns" onClose=${onClose}
    footer=${html`<${Button} onClick=${() => onChange(all)}>All<//>
      <${Button} onClick=${() => onChange(all.slice(0, 1))}>Key only<//><${Button} kind="main"
        onClick=${onClose}>Done<//>`}>
    <div class="column-choice">${all.map((name) => html`<${CheckBox} key=${name} label=${name}
      checked=${shown.includes(name)}
      onChange=${(isShown) => toggle(name, isShown)} />`)}</div><//>`;
}

// `selection`: Map of row number -> item, or null if rows cannot be selected. `keys`: of the table or index that was
// read. `tableKeys`: of the table. onOpen null: rows cannot be opened.
export function ItemGrid({ items, keys, tableKeys, selection, onSelect, onOpen, onEnd, isLoading, onColumns }) {
  const all = useMemo(() => columnsOf(items, keys, tableKeys), [items, keys.map((key) => key.name).join('\0')]);
  const [chosen, setChosen] = useState(null);
  const [isChoosing, setIsChoosing] = useState(false);
  const columns = chosen === null ? all.slice(0, SHOWN_MAX) : all.filter((name) => chosen.includes(name));
  const signature = columns.join('\0');
  const widths = useMemo(() => columns.map((name) => widthOf(name, items)),
    [signature, Math.min(items.length, MEASURED)]);
  useEffect(() => onColumns?.(columns), [signature]);
  const canSelect = selection !== null && selection !== undefined;
  const template = `${canSelect ? '34px ' : ''}${widths.map((width) => `${width}px`).join(' ')}`;
  const total = `${widths.reduce((sum, width) => sum + width, canSelect ? 34 : 0)}px`;
  const toggle = (index, isSelected) => {
    const next = new Map(selection);
    if (isSelected) next.set(index, items[index]);
    else next.delete(index);
    onSelect(next);
  };
  const toggleAll = (isSelected) => onSelect(new Map(isSelected ? items.map((item, index) => [index, item]) : []));
  const types = Object.fromEntries([...keys, ...tableKeys].map((key) => [key.name, key.type]));
  const header = html`<div class="grid-row head" role="row" aria-rowindex="1"
    style=${{ gridTemplateColumns: template }}>
    ${canSelect && html`<span role="columnheader" class="cell"><input type="checkbox" aria-label="Select all rows"
      checked=${selection.size === items.length} onChange=${(event) => toggleAll(event.target.checked)} /></span>`}
    ${columns.map((name) => html`<span key=${name} role="columnheader"
      class="cell ${Object.hasOwn(types, name) ? 'of-key' : ''}" title=${name}>
      <span class="cell-text">${name}</span></span>`)}</div>`;
  const row = (index) => {
    const item = items[index];
    const open = () => onOpen(item);
    return html`<div class="grid-row ${canSelect && selection.has(index) ? 'selected' : ''}" role="row"
        aria-rowindex=${index + 2} style=${{ gridTemplateColumns: template }}>
      ${canSelect && html`<span role="gridcell" class="cell"><input type="checkbox" aria-label="Select row ${index + 1}"
        checked=${selection.has(index)} onChange=${(event) => toggle(index, event.target.checked)} /></span>`}
      ${columns.map((name, i) => html`<${Cell} key=${name} value=${item[name]} column=${i + 1}
        isKey=${onOpen !== null && i === 0} onOpen=${open} />`)}</div>`;
  };
  return html`<div class="grid-frame">
    <${VirtualRows} role="grid" label="Items" count=${items.length} rowHeight=${ROW_HEIGHT}
      columns=${columns.length} header=${header}
      row=${row} width=${total} turn=${isLoading} onVisible=${(first, end) => end > items.length - 10 && onEnd?.()} />
    <div class="grid-foot"><${Button} kind="link"
      onClick=${() => setIsChoosing(true)}>Columns: ${columns.length} of ${all.length}<//></div>
    ${isChoosing && html`<${ColumnChoice} all=${all} shown=${columns} onChange=${setChosen}
      onClose=${() => setIsChoosing(false)} />`}
  </div>`;
}
