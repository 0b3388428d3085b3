// A form for a new table, which explains keys and indexes.

import { html, useState } from '../../vendor/htm-preact.mjs';
import { call } from '../lib/api.mjs';
import { STREAM_VIEWS } from '../lib/changes.mjs';
import { go, href } from '../lib/router.mjs';
import { creationRequest, newIndex, newTable } from '../lib/table_form.mjs';
import { Button, CheckBox, CodeForms, ErrorNotice, Field, Select, TextInput } from '../ui/controls.mjs';
import { formsOfTable } from './definition.mjs';
import { IndexForm, KeyPart, replaced } from './index_form.mjs';

const STREAMS = [['', 'off'], ...STREAM_VIEWS];

const EXPLANATIONS = html`<aside class="explain">
  <h3>Keys</h3>
  <p>The <b>partition key</b> says which items belong together: a customer, a device, a game. All items with one value
    are stored side by side.</p>
  <p>The <b>sort key</b> orders them within it, such as a time. Both together name one item. Without a sort key there is
    one item for each partition key.</p>
  <h3>Indexes</h3>
  <p>A <b>global index</b> finds items by other attributes. Its partition and sort keys have up to four attributes each,
    so nothing has to be glued together in one string. It can be added to a table later.</p>
  <p>A <b>local index</b> orders the items of one partition in another way. It can be read consistently, and is there
    from the beginning or never.</p>
  <p>Items that lack an attribute of an index are not in it.</p></aside>`;

export function CreateTable() {
  const [table, setTable] = useState(newTable);
  const [error, setError] = useState(null);
  const [isRunning, setIsRunning] = useState(false);
  const change = (members) => setTable({ ...table, ...members });
  const setIndex = (i, index) => change({ indexes: replaced(table.indexes, i, index) });
  const addIndex = (kind) => change({ indexes: [...table.indexes, newIndex(kind)] });
  const submit = async (event) => {
    event.preventDefault();
    setError(null);
    setIsRunning(true);
    try {
      const request = creationRequest(table);
      await call('CreateTable', request);
      go('tables', request.TableName, 'structure');
    } catch (failure) {
      setError(failure);
      setIsRunning(false);
    }
  };
  const preview = () => {
    try {
      return html`<${CodeForms} label="Definition" forms=${formsOfTable(creationRequest(table))} />`;
    } catch (failure) {
      return html`<p class="hint">${failure.message}</p>`;
    }
  };
  return html`
    <div class="view-head"><h1>Create table</h1></div>
    <div class="view-body"><div class="create">
      <form onSubmit=${submit} class="create-form">
        <${Field} label="Name of the table" hint="3 to 255 letters, digits, dots, hyphens and underscores.">${(id) =>
          html`<${TextInput} id=${id} value=${table.name} onInput=${(name) => change({ name })} autofocus />`}<//>
        <${KeyPart} label="Table partition key" parts=${table.partition} min=${1} max=${1}
          hint="Every item has it." onChange=${(partition) => change({ partition })} />
        <${KeyPart} label="Table sort key" parts=${table.sort} min=${0} max=${1} hint="Optional."
          onChange=${(sort) => change({ sort })} />
        ${table.indexes.map((index, i) => html`<${IndexForm} key=${index.id} index=${index} number=${i + 1}
          onChange=${(next) => setIndex(i, next)}
            onRemove=${() => change({ indexes: table.indexes.filter((_, j) => j !== i) })} />`)}
        <div class="bar"><${Button} onClick=${() => addIndex('global')}>Add a global index<//>
          <${Button} disabled=${table.sort.length === 0} title="A local index needs a sort key of the table"
            onClick=${() => addIndex('local')}>Add a local index<//></div>
        <${Field} label="Stream of changes">${(id) => html`<${Select} id=${id} value=${table.stream} options=${STREAMS}
          onChange=${(stream) => change({ stream })} />`}<//>
        <${CheckBox} label="Protected from deletion" checked=${table.isProtected}
          onChange=${(isProtected) => change({ isProtected })} />
        ${error && html`<${ErrorNotice} error=${error} />`}
        <div class="bar"><${Button} kind="main" type="submit" disabled=${isRunning}>Create table<//>
          <a class="button" href=${href('tables')}>Cancel</a></div>
      </form>
      <div class="create-side">${EXPLANATIONS}<h3>As code</h3>${preview()}</div>
    </div></div>`;
}
