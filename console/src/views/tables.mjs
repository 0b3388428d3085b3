// The list of tables. Only the visible ones are described, so it may be long.

import { html, useEffect, useRef, useState } from '../../vendor/htm-preact.mjs';
import { call } from '../lib/api.mjs';
import * as format from '../lib/format.mjs';
import { repeat } from '../lib/pace.mjs';
import { go, href } from '../lib/router.mjs';
import { session } from '../lib/session.mjs';
import { useStore } from '../lib/store.mjs';
import { Button, Empty, ErrorNotice, Field, Loading, Status, TextInput } from '../ui/controls.mjs';
import { VirtualRows } from '../ui/virtual_rows.mjs';

const ROW_HEIGHT = 33;
const DESCRIBED_AT_ONCE = 6;
const FRESH_MS = 5000;

// All names, page by page: {names, isWhole, error, reload}.
function useNames() {
  const [state, setState] = useState({ names: [], isWhole: false, error: null });
  const [turn, setTurn] = useState(0);
  const { generation } = useStore(session);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const load = async () => {
      const names = [];
      let last;
      do {
        const start = last === undefined ? {} : { ExclusiveStartTableName: last };
        const answer = await call('ListTables', start, { signal });
        names.push(...answer.TableNames);
        last = answer.LastEvaluatedTableName;
        if (!signal.aborted) setState({ names: [...names], isWhole: last === undefined, error: null });
      } while (last !== undefined && !signal.aborted);
    };
    load().catch((error) => !signal.aborted && setState((old) => ({ ...old, isWhole: true, error })));
    return () => controller.abort();
  }, [turn, generation]);
  return { ...state, reload: () => setTurn((old) => old + 1) };
}

// Descriptions of the tables that `want` was called with last: Map of name -> {table} or {error}.
function useDescriptions() {
  const known = useRef(new Map());
  const wanted = useRef([]);
  const running = useRef(0);
  const [, draw] = useState(0);
  const isStale = (name) => {
    const found = known.current.get(name);
    return found === undefined || (!found.isPending && Date.now() - found.at > FRESH_MS);
  };
  const next = () => {
    while (running.current < DESCRIBED_AT_ONCE) {
      const name = wanted.current.find(isStale);
      if (name === undefined) return;
      running.current += 1;
      known.current.set(name, { ...known.current.get(name), isPending: true });
      call('DescribeTable', { TableName: name })
        .then(({ Table: table }) => ({ table }), (error) => ({ error }))
        .then((found) => {
          running.current -= 1;
          known.current.set(name, { ...found, at: Date.now() });
          draw((old) => old + 1);
          next();
        });
    }
  };
  useEffect(() => {
    const stop = repeat(next, FRESH_MS);
    return () => {
      wanted.current = [];
      stop();
    };
  }, []);
  return {
    find: (name) => known.current.get(name) ?? {},
    want: (names) => {
      wanted.current = names;
      next();
    },
  };
}

function indexText({ GlobalSecondaryIndexes: globals = [], LocalSecondaryIndexes: locals = [] }) {
  if (globals.length + locals.length === 0) return '–';
  return [globals.length > 0 && `${globals.length} global`, locals.length > 0 && `${locals.length} local`]
    .filter(Boolean).join(', ');
}

function Row({ name, index, found }) {
  const { table, error } = found;
  const failed = error && (error.name === 'ResourceNotFoundException' ? 'gone' : error.name);
  return html`<div class="table-row" role="row" aria-rowindex=${index + 2}>
    <span role="cell"><a href=${href('tables', name, 'items')}>${name}</a></span>
    <span role="cell">${table ? html`<${Status} value=${table.TableStatus} />` : html`<span
      class="hint">${failed ?? ''}</span>`}</span>
    <span role="cell" class="number">${table ? format.integer(table.ItemCount) : ''}</span>
    <span role="cell" class="number wide-only">${table ? format.bytes(table.TableSizeBytes) : ''}</span>
    <span role="cell" class="wide-only">${table ? indexText(table) : ''}</span>
  </div>`;
}

const HEADER = html`<div class="table-row head" role="row" aria-rowindex="1">
  <span role="columnheader">Name</span><span role="columnheader">Status</span>
  <span role="columnheader" class="number">Items</span><span role="columnheader" class="number wide-only">Size</span>
  <span role="columnheader" class="wide-only">Indexes</span></div>`;

// For a key that may use tables and not list them.
function OpenByName() {
  const [name, setName] = useState('');
  const submit = (event) => {
    event.preventDefault();
    if (name !== '') go('tables', name, 'items');
  };
  return html`<form class="open-by-name" onSubmit=${submit}>
    <${Field} label="Open a table by its name">${(id) => html`<${TextInput} id=${id} value=${name}
      onInput=${setName} />`}<//>
    <${Button} type="submit">Open<//></form>`;
}

export function Tables() {
  const { names, isWhole, error, reload } = useNames();
  const [filter, setFilter] = useState('');
  const descriptions = useDescriptions();
  const { settings } = useStore(session);
  const input = useRef(null);
  useEffect(() => {
    const focus = (event) => {
      if (event.key !== '/' || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
      event.preventDefault();
      input.current?.focus();
    };
    addEventListener('keydown', focus);
    return () => removeEventListener('keydown', focus);
  }, []);
  const needle = filter.trim().toLowerCase();
  const shown = needle === '' ? names : names.filter((name) => name.toLowerCase().includes(needle));
  const part = needle === '' ? '' : `${format.integer(shown.length)} of `;
  const count = `${part}${format.plural(names.length, 'table')}${isWhole ? '' : '…'}`;
  const create = !settings.is_read_only && html`<a class="button main" href=${href('create')}>Create table</a>`;
  return html`
    <div class="view-head"><h1>Tables</h1><span class="hint" role="status">${count}</span>
      <div class="actions">
        <input type="search" ref=${input} class="filter" aria-label="Filter by name"
          placeholder="Filter by name" title="Press / to come here" value=${filter}
          onInput=${(event) => setFilter(event.target.value)} />
        <${Button} onClick=${reload}>Refresh<//>${create}
      </div></div>
    <div class="view-body fixed">
      ${error && html`<${ErrorNotice} error=${error} retry=${reload} />`}
      ${error?.name === 'AccessDeniedException' && html`<${OpenByName} />`}
      ${names.length === 0 && !isWhole && !error && html`<${Loading} />`}
      ${names.length === 0 && isWhole && !error && html`<${Empty} title="There are no tables yet">
        <p>A table holds items that are found by their key. Programs create tables by CreateTable, people here.</p>
        <div class="actions">${create}</div><//>`}
      ${names.length > 0 && shown.length === 0 && html`<${Empty} title="No name contains “${filter.trim()}”" />`}
      ${shown.length > 0 && html`<${VirtualRows} count=${shown.length} rowHeight=${ROW_HEIGHT} header=${HEADER}
        label="Tables"
        columns=${5} onVisible=${(first, end) => descriptions.want(shown.slice(first, end))}
        row=${(index) => html`<${Row} name=${shown[index]} index=${index}
          found=${descriptions.find(shown[index])} />`} />`}
    </div>`;
}
