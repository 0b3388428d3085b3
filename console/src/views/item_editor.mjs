// One item as JSON: read, changed, saved if nobody else has changed the same attributes.

import { html, useEffect, useRef, useState } from '../../vendor/htm-preact.mjs';
import { call } from '../lib/api.mjs';
import { changeRequest, newItemRequest } from '../lib/expressions.mjs';
import * as format from '../lib/format.mjs';
import { record } from '../lib/json.mjs';
import { keyOf } from '../lib/table_model.mjs';
import { isSame, ITEM_BYTES_MAX, itemBytes, parseItem, printItem, shortText } from '../lib/values.mjs';
import { Button, Choice, CopyButton, Dialog, ErrorNotice, Loading, Notice } from '../ui/controls.mjs';

const EMPTY_OF_TYPE = { S: { S: '' }, N: { N: '0' }, B: { B: '' } };
const VERSIONS = ['Attribute', 'As you read it', 'Now in the table', 'Yours'];
const FORMS = [['plain', 'Plain JSON'], ['typed', 'Typed JSON']];

// The item, or the error in its text.
function parsed(text) {
  try {
    return { item: parseItem(text) };
  } catch (error) {
    return { error };
  }
}

const isSameKey = (keys, a, b) => keys.every(({ name }) => name in b && isSame(a[name], b[name]));
const differences = (a, b) => [...new Set([...Object.keys(a), ...Object.keys(b)])]
  .filter((name) => !isSame(a[name], b[name])).sort();

// `mine` with the attributes of `theirs` that I have not changed since `before`.
function merged(before, mine, theirs) {
  const item = Object.assign(record(), theirs);
  for (const name of differences(before, mine)) {
    if (name in mine) item[name] = mine[name];
    else delete item[name];
  }
  return item;
}

function Conflict({ before, mine, theirs, onKeepMine, onTakeTheirs }) {
  if (theirs === null) {
    return html`<${Notice} kind="warning" title="The item was deleted meanwhile">
      <p>Saving again makes a new item of your version.</p><${Button} onClick=${onKeepMine}>Keep my version<//><//>`;
  }
  const names = [...new Set([...differences(before, theirs), ...differences(before, mine)])].sort();
  const text = (item, name) => (name in item ? shortText(item[name], 300) : html`<span class="hint">absent</span>`);
  return html`<${Notice} kind="warning" title="Somebody has changed the item since you read it">
    <div class="scroll" role="region" aria-label="Versions" tabindex="0"><table class="versions">
      <thead><tr>${VERSIONS.map((each) => html`<th scope="col" key=${each}>${each}</th>`)}</tr></thead>
      <tbody>${names.map((name) => html`<tr key=${name}><th scope="row" class="mono">${name}</th>
        ${[before, theirs, mine].map((item) => html`<td class="mono">${text(item, name)}</td>`)}</tr>`)}</tbody>
    </table></div>
    <p>Nothing was saved. Your version keeps the attributes that only others have changed.</p>
    <div class="bar"><${Button} onClick=${onKeepMine}>Go on with my changes<//>
      <${Button} onClick=${onTakeTheirs}>Take what is in the table<//></div><//>`;
}

function Facts({ item, error }) {
  if (error) return html`<span class="field-error grow" role="alert">${error.message}</span>`;
  const size = itemBytes(item);
  return html`<span class="grow ${size > ITEM_BYTES_MAX ? 'field-error' : 'hint'}" role="status">
    ${format.plural(Object.keys(item).length, 'attribute')}, ${format.bytes(size)} of 400 KiB</span>`;
}

// The item with `itemKey`, or null if it is gone.
async function read(tableName, itemKey, signal) {
  const request = { TableName: tableName, Key: itemKey, ConsistentRead: true };
  const { Item: item = null } = await call('GetItem', request, { signal });
  return item;
}

// `itemKey`: of the item to edit; null for a new one. `onChanged(key, item)`: was saved, or deleted if item is null.
export function ItemEditor({ tableName, keys, itemKey, isReadOnly, onChanged, onClose }) {
  const keyNames = keys.map((key) => key.name);
  const template = Object.fromEntries(keys.map(({ name, type }) => [name, EMPTY_OF_TYPE[type]]));
  const [before, setBefore] = useState(null);  // as it was read; null: a new item
  const [text, setText] = useState(itemKey === null ? printItem(template, keyNames, false) : null);
  const [form, setForm] = useState('plain');
  const [conflict, setConflict] = useState(null);  // {mine, theirs}
  const [error, setError] = useState(null);
  const [asks, setAsks] = useState(false);  // whether to delete
  const [isRunning, setIsRunning] = useState(false);
  const [note, setNote] = useState(null);
  const area = useRef(null);

  const show = (item, read_) => {
    setBefore(read_);
    setText(printItem(item, keyNames, form === 'typed'));
    setConflict(null);
    setError(null);
  };
  useEffect(() => {
    if (itemKey === null) return undefined;
    const controller = new AbortController();
    read(tableName, itemKey, controller.signal).then((item) => {
      if (item === null) setError(new Error('The item is gone: it was deleted after it was listed.'));
      else show(item, item);
    }, (failure) => !controller.signal.aborted && setError(failure));
    return () => controller.abort();
  }, []);
  useEffect(() => area.current?.focus(), [text === null]);

  const { item, error: textError } = text === null ? {} : parsed(text);
  const isNew = before === null || (item !== undefined && !isSameKey(keys, before, item));
  const isChanged = item !== undefined && (before === null || differences(before, item).length > 0);
  const changeForm = (next) => {
    if (item === undefined) return;
    setForm(next);
    setText(printItem(item, keyNames, next === 'typed'));
  };

  const save = async () => {
    if (item === undefined || !isChanged || isRunning) return;
    setError(null);
    setNote(null);
    setIsRunning(true);
    try {
      if (isNew) {
        await call('PutItem', newItemRequest(tableName, keys, item));
        onChanged(keyOf(item, keys), item);
        onClose();
        return;
      }
      const { Attributes: saved } = await call('UpdateItem', changeRequest(tableName, keys, before, item, isSame));
      onChanged(keyOf(item, keys), saved);
      const others = differences(saved, item);
      if (others.length === 0) {
        onClose();
        return;
      }
      show(saved, saved);
      setNote(`Saved. Others have changed ${others.join(', ')} meanwhile; their values are kept.`);
    } catch (failure) {
      if (failure.name === 'ConditionalCheckFailedException' && !isNew) {
        setConflict({ mine: item, theirs: failure.document.Item ?? null });
      } else if (failure.name === 'ConditionalCheckFailedException') {
        setError(new Error('There is an item with this key already. Open it to change it.'));
      } else setError(failure);
    } finally {
      setIsRunning(false);
    }
  };
  const remove = async () => {
    setIsRunning(true);
    try {
      await call('DeleteItem', { TableName: tableName, Key: itemKey });
      onChanged(itemKey, null);
      onClose();
    } catch (failure) {
      setError(failure);
      setIsRunning(false);
      setAsks(false);
    }
  };
  const keepMine = () => {
    const { mine, theirs } = conflict;
    show(theirs === null ? mine : merged(before, mine, theirs), theirs);
  };
  const keyPressed = (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) save();
  };
  const title = itemKey === null ? 'New item' : keyNames.map((name) => shortText(itemKey[name], 60)).join(', ');
  const footer = text !== null && html`
    ${!isReadOnly && itemKey !== null && !asks && html`<${Button} kind="danger" disabled=${isRunning}
      onClick=${() => setAsks(true)}>Delete…<//>`}
    ${asks && html`<${Button} kind="danger" disabled=${isRunning} onClick=${remove}>Delete this item now<//>
      <${Button} onClick=${() => setAsks(false)}>Keep it<//>`}
    <${Facts} item=${item ?? {}} error=${textError} />
    <${Button} onClick=${onClose}>${isReadOnly ? 'Close' : 'Cancel'}<//>
    ${!isReadOnly && html`<${Button} kind="main" disabled=${!isChanged || isRunning || conflict !== null}
      onClick=${save}>
      ${isNew && itemKey !== null ? 'Save as a new item' : 'Save'}<//>`}`;
  return html`<${Dialog} wide title=${title} onClose=${onClose} footer=${footer}>
    ${error && html`<${ErrorNotice} error=${error} />`}
    ${note && html`<${Notice}>${note}<//>`}
    ${conflict && html`<${Conflict} before=${before} ...${conflict} onKeepMine=${keepMine}
      onTakeTheirs=${() => show(conflict.theirs, conflict.theirs)} />`}
    ${text === null && !error && html`<${Loading}>Reading<//>`}
    ${text !== null && html`
      <div class="bar editor-bar"><${Choice} label="Form of the item" options=${FORMS} value=${form}
        onChange=${changeForm} />
        <span class="grow"></span><${CopyButton} text=${text} /></div>
      <textarea ref=${area} class="editor" aria-label="Item as JSON" spellcheck=${false}
        readonly=${isReadOnly || conflict !== null} value=${text}
        onInput=${(event) => setText(event.target.value)} onKeyDown=${keyPressed}></textarea>
      <p class="hint">Plain values and typed ones, such as ${'{"B": "aGk="}'} or ${'{"SS": ["a"]}'}, may be mixed.
        Numbers keep all digits.${isReadOnly ? '' : ' Ctrl+Enter saves.'}</p>`}
  <//>`;
}
