// The items of a table: the request, the rows that it found, and what can be done with them.

import { html, useEffect, useRef, useState } from '../../vendor/htm-preact.mjs';
import { call } from '../lib/api.mjs';
import { readRequest } from '../lib/expressions.mjs';
import * as format from '../lib/format.mjs';
import { session } from '../lib/session.mjs';
import { FORMS } from '../lib/snippets.mjs';
import { useStore } from '../lib/store.mjs';
import { keyOf, sourcesOf } from '../lib/table_model.mjs';
import { Button, CodeForms, Dialog, Empty, ErrorNotice, Loading } from '../ui/controls.mjs';
import { DeleteItems } from './delete_items.mjs';
import { ExportMenu } from './export_menu.mjs';
import { ItemEditor } from './item_editor.mjs';
import { ItemGrid } from './item_grid.mjs';
import { newChoice, ReadForm } from './read_form.mjs';
import { useReads } from './use_reads.mjs';

function Summary({ reads, selected }) {
  const { items, scanned, units, ms, isDone } = reads;
  return html`<span class="summary" role="status">
    <span>${format.plural(items.length, 'item')}${isDone ? '' : ', more to come'}</span>
    ${scanned !== items.length && html`<span>${format.integer(scanned)} read</span>`}
    <span>${format.units(units, 'read unit')}</span><span>${format.seconds(ms / 1000)}</span>
    ${selected > 0 && html`<strong>${format.integer(selected)} selected</strong>`}</span>`;
}

function ShowRequest({ operation, request, onClose }) {
  const forms = Object.fromEntries(
    Object.entries(FORMS).map(([name, write]) => [name, () => write(operation, request)]));
  return html`<${Dialog} wide title="${operation} as code" onClose=${onClose}>
    <${CodeForms} label="Request" forms=${forms} /><//>`;
}

function NothingFound({ reads, isQuery }) {
  const text = isQuery || reads.scanned > 0 ? 'No item fits' : 'There are no items yet';
  const why = reads.scanned > 0 && html`<p>${format.plural(reads.scanned, 'item')} read, none fits the filter.</p>`;
  return html`<${Empty} title=${text}>${why}<//>`;
}

// Toolbar above the rows.
function Bar({ reads, selection, columns, isReadOnly, show }) {
  const hasSelection = selection.size > 0;
  return html`<div class="bar results-bar">
    <${Summary} reads=${reads} selected=${selection.size} /><span class="grow"></span>
    ${hasSelection && html`<${Button} kind="danger" onClick=${() => show('delete')}>Delete selected…<//>`}
    <${Button} onClick=${() => show('code')}>Code<//>
    <${ExportMenu} items=${reads.items} columns=${columns} name=${reads.request.TableName} />
    ${!isReadOnly && html`<${Button} kind="main" onClick=${() => show('new')}>New item<//>`}
  </div>`;
}

export function Items({ table }) {
  const { settings: { is_read_only: isReadOnly } } = useStore(session);
  const sources = sourcesOf(table);
  const keys = sources[0].keys;
  const [choice, setChoice] = useState(() => newChoice(sources[0]));
  const [formError, setFormError] = useState(null);
  const [reads, start, more, replace] = useReads();
  const [selection, setSelection] = useState(new Map());
  const [columns, setColumns] = useState([]);
  const [shown, setShown] = useState(null);  // 'new', 'code', 'delete', or the key of an item
  const source = sources.find((each) => each.name === choice.sourceName) ?? sources[0];

  const run = () => {
    try {
      const { operation, request } = readRequest({ ...choice, tableName: table.TableName, source });
      setFormError(null);
      setSelection(new Map());
      start(operation, request);
    } catch (error) {
      setFormError(error);
    }
  };
  const isFirst = useRef(true);
  const { generation } = useStore(session);
  useEffect(() => {
    // The first rows come without a question, and again when the daemon has come back that left the last request
    // unanswered.
    if (isFirst.current || reads.error?.name === 'NoAnswer') run();
    isFirst.current = false;
  }, [generation]);

  // Rows move, so numbers of selected rows say nothing any more.
  const changed = (key, item) => {
    setSelection(new Map());
    replace(keys, key, item);
  };
  const closed = () => setShown(null);
  const editedKey = shown !== null && typeof shown === 'object' ? shown : null;
  return html`<div class="view-body fixed items">
    <${ReadForm} sources=${sources} source=${source} choice=${choice} onChange=${setChoice} onRun=${run}
      isRunning=${reads.isLoading} />
    ${formError && html`<${ErrorNotice} error=${formError} />`}
    ${reads.request && html`<${Bar} reads=${reads} selection=${selection} columns=${columns}
      isReadOnly=${isReadOnly} show=${setShown} />`}
    ${reads.error && html`<${ErrorNotice} error=${reads.error} retry=${reads.items.length > 0 ? more : run} />`}
    ${reads.isLoading && reads.items.length === 0 && html`<${Loading}>Reading<//>`}
    ${reads.request && !reads.isLoading && !reads.error && reads.items.length === 0 && reads.isDone
      && html`<${NothingFound} reads=${reads} isQuery=${reads.operation === 'Query'} />`}
    ${reads.items.length > 0 && html`<${ItemGrid} items=${reads.items} keys=${source.keys} tableKeys=${keys}
      selection=${isReadOnly ? null : selection} onSelect=${setSelection}
        onOpen=${(item) => setShown(keyOf(item, keys))}
      onEnd=${more} isLoading=${reads.isLoading} onColumns=${setColumns} />`}
    ${reads.isPaused && html`<div class="bar paused"><span>${format.plural(reads.scanned, 'item')} read so far.</span>
      <${Button} onClick=${more}>Read on<//></div>`}
    ${shown === 'code' && html`<${ShowRequest} operation=${reads.operation} request=${reads.request}
      onClose=${closed} />`}
    ${shown === 'delete' && html`<${DeleteItems} tableName=${table.TableName} keys=${keys}
      items=${[...selection.values()]}
      onDeleted=${(item) => changed(keyOf(item, keys), null)}
        onClose=${closed} />`}
    ${(shown === 'new' || editedKey) && html`<${ItemEditor} tableName=${table.TableName} keys=${keys}
      itemKey=${editedKey}
      isReadOnly=${isReadOnly} onChanged=${changed} onClose=${closed} />`}
  </div>`;
}
