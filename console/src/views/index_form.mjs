// The form of an index: attributes of its key, and its projection.

import { html } from '../../vendor/htm-preact.mjs';
import { Button, Field, Select, TextInput } from '../ui/controls.mjs';

const KEY_PARTS_MAX = 4;
const TYPE_OPTIONS = [['S', 'string'], ['N', 'number'], ['B', 'binary']];
const PROJECTIONS = [['ALL', 'all attributes'], ['KEYS_ONLY', 'keys only'], ['INCLUDE', 'keys and chosen attributes']];

export const replaced = (list, index, value) => list.map((each, i) => (i === index ? value : each));

// The attributes of one part of a key. `max`: how many there may be; `min`: how many there must be.
export function KeyPart({ label, hint, parts, min, max, onChange, error }) {
  const remove = (i) => onChange(parts.filter((_, j) => j !== i));
  return html`<fieldset class="key-part"><legend>${label}</legend>
    ${parts.map((part, i) => html`<div class="key-row" key=${i}>
      <${TextInput} aria-label="${label}, attribute ${i + 1}" placeholder="attribute" value=${part.name}
        onInput=${(name) => onChange(replaced(parts, i, { ...part, name }))} />
      <${Select} aria-label="${label}, type ${i + 1}" value=${part.type} options=${TYPE_OPTIONS}
        onChange=${(type) => onChange(replaced(parts, i, { ...part, type }))} />
      ${parts.length > min && html`<${Button} kind="bare" aria-label="${label}, remove attribute ${i + 1}"
        onClick=${() => remove(i)}>
        <span aria-hidden="true">✕</span><//>`}</div>`)}
    ${parts.length < max && html`<${Button} kind="link" onClick=${() => onChange([...parts, { name: '', type: 'S' }])}>
      ${parts.length === 0 ? 'Add a sort attribute' : 'Add an attribute'}<//>`}
    ${error ? html`<div class="field-error" role="alert">${error}</div>` : html`<div
      class="hint">${hint}</div>`}</fieldset>`;
}

// Name, keys and projection of an index. Without onRemove it stays. `errors`: texts by field: name, key, projection.
export function IndexForm({ index, number, onChange, onRemove, errors = {} }) {
  const change = (members) => onChange({ ...index, ...members });
  const isGlobal = index.kind === 'global';
  return html`<section class="index-form" aria-label="Index ${number}">
    ${onRemove && html`<div class="bar"><h3>${isGlobal ? 'Global' : 'Local'} index</h3><span class="grow"></span>
      <${Button} kind="bare" onClick=${onRemove}>Remove<//></div>`}
    <${Field} label="Name of the index" error=${errors.name}>${(id) => html`<${TextInput} id=${id} value=${index.name}
      onInput=${(name) => change({ name })} />`}<//>
    ${isGlobal && html`<${KeyPart} label="Partition key" parts=${index.partition} min=${1} max=${KEY_PARTS_MAX} error=${errors.key}
      hint="A query gives all of these by equality. Up to four attributes, each with its own type."
      onChange=${(partition) => change({ partition })} />`}
    <${KeyPart} label="Sort key" parts=${index.sort} min=${isGlobal ? 0 : 1} max=${isGlobal ? KEY_PARTS_MAX : 1}
      hint=${isGlobal ? 'A query gives them from left to right by equality; the last one may have a range.'
    : 'Another order of the items with one partition key of the table.'} onChange=${(sort) => change({ sort })} />
    <${Field} label="Projection" error=${errors.projection} hint="Attributes that a query of the index returns.">${(id) =>
      html`<${Select} id=${id} value=${index.projection} options=${PROJECTIONS}
        onChange=${(projection) => change({ projection })} />`}<//>
    ${index.projection === 'INCLUDE' && html`<${Field} label="Attributes, separated by commas">${(id) =>
      html`<${TextInput} id=${id} value=${index.included} onInput=${(included) => change({ included })} />`}<//>`}
  </section>`;
}
