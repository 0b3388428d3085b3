// The form of a query or a scan: fields for the key of the chosen index from left to right, and filters.

import { html, useState } from '../../vendor/htm-preact.mjs';
import { FILTER_OPERATORS, hasNoValue, KEY_OPERATORS } from '../lib/expressions.mjs';
import { TYPE_NAMES, TYPES } from '../lib/values.mjs';
import { Button, CheckBox, Field, Select, Tag, TextInput } from '../ui/controls.mjs';

const PAGE_ROWS = 100;
const OPERATOR_TEXTS = { '<=': '≤', '>=': '≥', '<>': '≠', begins_with: 'begins with' };
const operatorOptions = (operators) => operators.map((each) => [each, OPERATOR_TEXTS[each] ?? each]);
const emptyField = () => ({ operator: '=', texts: ['', ''] });

// The state of the form when nothing is filled in. `source`: the table or the index to read.
export const newChoice = (source) => ({
  sourceName: source.name, fields: source.keys.map(emptyField), filters: [], isDescending: false, isConsistent: false,
  limit: PAGE_ROWS,
});

const replaced = (list, index, members) => list.map((each, i) => (i === index ? { ...each, ...members } : each));

function sourceText({ name, kind, keys }) {
  if (name === null) return 'Table';
  return `${name} (${kind}: ${keys.map((key) => key.name).join(', ')})`;
}

function ValueInputs({ texts, operator, label, onChange, ...rest }) {
  const inputs = operator === 'between' ? [0, 1] : [0];
  return inputs.map((i) => html`<${TextInput} key=${i} ...${rest} value=${texts[i]}
    aria-label=${inputs.length === 1 ? label : `${label}, ${i === 0 ? 'from' : 'to'}`}
    onInput=${(text) => onChange(i === 0 ? [text, texts[1]] : [texts[0], text])} />`);
}

// One key attribute. A sort attribute can be given once those on its left are, by equality.
function KeyField({ keyAttribute, field, isOpen, onChange }) {
  const { name, type, isPartition } = keyAttribute;
  const operators = type === 'N' ? KEY_OPERATORS.filter((each) => each !== 'begins_with') : KEY_OPERATORS;
  return html`<div class="key-field ${isOpen ? '' : 'closed'}">
    <div class="bar"><span class="mono">${name}</span><${Tag} kind="type" title=${TYPE_NAMES[type]}>${type}<//>
      <span class="hint">${isPartition ? 'partition' : 'sort'}</span></div>
    <div class="inputs">
      ${!isPartition && html`<${Select} aria-label="Condition on ${name}" value=${field.operator} disabled=${!isOpen}
        options=${operatorOptions(operators)} onChange=${(operator) => onChange({ operator })} />`}
      <${ValueInputs} texts=${field.texts} operator=${isPartition ? '=' : field.operator} label=${name}
        disabled=${!isOpen}
        placeholder=${isPartition ? '= any' : 'any'} onChange=${(texts) => onChange({ texts })} />
    </div></div>`;
}

function Filter({ filter, number, onChange, onRemove }) {
  const { name, operator, type, texts } = filter;
  const label = `Filter ${number}`;
  const hasType = !hasNoValue(operator);
  return html`<div class="filter-row" role="group" aria-label=${label}>
    <${TextInput} aria-label="${label}, attribute" placeholder="attribute" value=${name}
      onInput=${(text) => onChange({ name: text })} />
    <${Select} aria-label="${label}, condition" value=${operator} options=${operatorOptions(FILTER_OPERATORS)}
      onChange=${(value) => onChange({ operator: value })} />
    ${hasType && html`<${Select} aria-label="${label}, type" value=${type}
      options=${TYPES.map((each) => [each, TYPE_NAMES[each]])}
      onChange=${(value) => onChange({ type: value })} />`}
    ${hasType && operator !== 'is of type' && html`<${ValueInputs} texts=${texts} operator=${operator}
      label="${label}, value"
      placeholder="value" onChange=${(value) => onChange({ texts: value })} />`}
    <${Button} kind="bare" aria-label="Remove filter ${number}" onClick=${onRemove}><span
      aria-hidden="true">✕</span><//>
  </div>`;
}

export function ReadForm({ sources, source, choice, onChange, onRun, isRunning }) {
  const [isOpen, setIsOpen] = useState(matchMedia('(min-width: 721px)').matches);
  const change = (members) => onChange({ ...choice, ...members });
  const { fields, filters } = choice;
  const partitionCount = source.keys.filter((key) => key.isPartition).length;
  // A field with a text stays open, so that it can be emptied.
  const isFieldOpen = (i) => i < partitionCount || fields[i].texts[0] !== ''
    || fields.slice(0, i).every((field, j) => field.texts[0] !== '' && (j < partitionCount || field.operator === '='));
  const isQuery = fields[0].texts[0] !== '';
  const submit = (event) => {
    event.preventDefault();
    onRun();
  };
  const addFilter = () => change({ filters: [...filters, { name: '', operator: '=', type: 'S', texts: ['', ''] }] });
  return html`<form class="read-form" onSubmit=${submit} aria-label="Request">
    <div class="bar">
      <div class="source"><${Select} aria-label="Read from" value=${source.name ?? ''}
        options=${sources.map((each) => [each.name ?? '', sourceText(each)])}
        onChange=${(name) => onChange(newChoice(sources.find((each) => (each.name ?? '') === name)))} /></div>
      <${Button} type="button" aria-expanded=${isOpen ? 'true' : 'false'}
        onClick=${() => setIsOpen(!isOpen)}>${isOpen ? 'Fewer fields' : 'Fields'}<//>
      <span class="grow"></span>
      <${Button} kind="main" type="submit" disabled=${isRunning}>${isQuery ? 'Query' : 'Scan'}<//>
    </div>
    ${isOpen && html`<div class="key-fields">${source.keys.map((key, i) => html`<${KeyField}
      key=${key.name} keyAttribute=${key}
        field=${fields[i]} isOpen=${isFieldOpen(i)}
          onChange=${(members) => change({ fields: replaced(fields, i, members) })} />`)}</div>
      ${filters.map((filter, i) => html`<${Filter} key=${i} filter=${filter} number=${i + 1}
        onChange=${(members) => change({ filters: replaced(filters, i, members) })}
        onRemove=${() => change({ filters: filters.filter((_, j) => j !== i) })} />`)}
      <div class="bar options"><${Button} onClick=${addFilter}>Add filter<//>
        <${CheckBox} label="Descending" checked=${choice.isDescending} disabled=${!isQuery}
          onChange=${(isDescending) => change({ isDescending })} />
        <${CheckBox} label="Consistent read" checked=${choice.isConsistent && source.kind !== 'global'}
          disabled=${source.kind === 'global'}
          onChange=${(isConsistent) => change({ isConsistent })} />
        <span class="hint">${isQuery ? 'Reads one partition.'
    : 'Without a partition the whole table is read, page by page.'}</span>
      </div>`}
  </form>`;
}
