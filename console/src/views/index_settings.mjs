// Global indexes of a table in use: new ones, how far their building is, items that they leave out, their removal.

import { html, useEffect, useRef, useState } from '../../vendor/htm-preact.mjs';
import { call, fetchIndexes, fetchViolations } from '../lib/api.mjs';
import { indexCreation, indexDeletion, indexObstacle, isOnDemand } from '../lib/changes.mjs';
import * as format from '../lib/format.mjs';
import { useRepeat } from '../lib/pace.mjs';
import { newIndex } from '../lib/table_form.mjs';
import { keysOf, projectionText, typesOf } from '../lib/table_model.mjs';
import { shortText } from '../lib/values.mjs';
import { Ask, errorText, hintOf, Subject, useAction } from '../ui/actions.mjs';
import { Button, ErrorNotice, Field, Notice, Status, TextInput } from '../ui/controls.mjs';
import { IndexForm } from './index_form.mjs';
import { KeyAttributes } from './structure.mjs';

const PROGRESS_MS = 2000;
const VIOLATIONS_MAX = 500;
const REASONS = { TYPE: 'has another type', EMPTY: 'is empty', TOO_LONG: 'is too long' };

const isBusy = (index) => index.IndexStatus !== 'ACTIVE';

// The daemon's knowledge of the indexes, by name, while one of them is built: Map, empty if the user may not see it.
function useProgress(table, may) {
  const [found, setFound] = useState(new Map());
  const isWanted = may('admin:ListIndexStatus') && (table.GlobalSecondaryIndexes ?? []).some(isBusy);
  useRepeat(async (signal) => {
    try {
      const { Indexes: indexes = [] } = await fetchIndexes(table.TableName, { signal });
      setFound(new Map(indexes.map((each) => [each.IndexName, each])));
      return true;
    } catch (error) {
      return error.name === 'AbortError' || error.name === 'NoAnswer';
    }
  }, isWanted ? PROGRESS_MS : null, [table.TableName]);
  return found;
}

function Progress({ index, build, tableItems }) {
  const read = build === undefined ? index.ItemCount ?? 0 : Number(build.ItemsRead ?? 0);
  const total = build === undefined ? tableItems : Number(build.ItemsTotal ?? 0);
  const left = Number(build?.SecondsLeft ?? 0);
  const words = [
    `${format.integer(read)} of ${format.plural(total, 'item')}`,
    left > 0 && `about ${format.duration(left)} left`,
    Number(build?.ItemsSkipped ?? 0) > 0 && `${format.plural(Number(build.ItemsSkipped), 'item')} left out`,
  ].filter(Boolean).join(', ');
  return html`<div class="progress">
    <progress aria-label="Building ${index.IndexName}" max=${Math.max(total, 1)} value=${Math.min(read, total)} />
    <span class="hint" role="status">${words}</span></div>`;
}

const keyTextOf = (key) => Object.entries(key).map(([name, value]) => `${name} = ${shortText(value, 60)}`).join(', ');

// Items that an index leaves out. Reads the table page by page until the user stops it.
function Violations({ tableName, indexName, onClose }) {
  const [state, setState] = useState({ rows: [], read: 0, next: '', isDone: false });
  const action = useAction();
  const controller = useRef(null);
  const latest = useRef(state);
  const put = (next) => {
    latest.current = next;
    setState(next);
  };
  const readOn = () => action.run(async () => {
    controller.current = new AbortController();
    const { signal } = controller.current;
    const goal = latest.current.rows.length + VIOLATIONS_MAX;
    while (!signal.aborted && !latest.current.isDone && latest.current.rows.length < goal) {
      const { rows, read, next } = latest.current;
      const page = await fetchViolations(tableName, indexName, next, { signal });
      put({
        rows: [...rows, ...(page.Violations ?? [])], read: read + Number(page.ItemsRead ?? 0),
        next: page.NextPosition ?? '', isDone: (page.NextPosition ?? '') === '',
      });
    }
  });
  useEffect(() => {
    readOn();
    return () => controller.current?.abort();
  }, []);
  const { rows, read, isDone } = state;
  const error = action.error?.name === 'AbortError' ? null : action.error;
  return html`<div class="violations">
    <div class="bar"><span role="status">${format.plural(read, 'item')} read${isDone ? '' : ' so far'},
      ${' '}${format.integer(rows.length)} left out.</span>
      ${action.isRunning && html`<${Button} onClick=${() => controller.current?.abort()}>Stop<//>`}
      ${!action.isRunning && !isDone && html`<${Button} onClick=${readOn}>Read on<//>`}
      <${Button} onClick=${onClose}>Close<//></div>
    ${error && html`<${ErrorNotice} error=${error} />`}
    ${rows.length > 0 && html`<ul class="plain-list" tabindex="0" aria-label="Items left out">
      ${rows.map((row, i) => html`<li key=${i}><span class="mono">${keyTextOf(row.Key ?? {})}</span>:
        ${' '}<b>${row.AttributeName}</b> ${REASONS[row.Reason] ?? row.Reason}</li>`)}</ul>`}
  </div>`;
}

function IndexRow({ table, index, status, may, onRemove }) {
  const [isOpen, setIsOpen] = useState(false);
  const build = status?.Build;
  const backlog = index.Backlog?.Records ?? 0;
  const obstacle = indexObstacle(table);
  return html`<div class="index" role="group" aria-label=${index.IndexName}>
    <div class="bar"><h3>${index.IndexName}</h3><${Status} value=${index.IndexStatus} /><span class="grow"></span>
      ${may('admin:ListIndexViolations') && index.IndexStatus !== 'DELETING' && !isOpen && html`<${Button}
        onClick=${() => setIsOpen(true)} aria-label="Items left out of ${index.IndexName}">Items left out<//>`}
      ${may('UpdateTable') && html`<${Button} kind="danger" disabled=${obstacle !== null} title=${obstacle}
        onClick=${onRemove} aria-label="Remove ${index.IndexName}…">Remove…<//>`}</div>
    <${KeyAttributes} keys=${keysOf(index.KeySchema, typesOf(table))} />
    <div class="hint">Projects ${projectionText(index.Projection)}.</div>
    ${index.IndexStatus === 'CREATING' && html`<${Progress} index=${index} build=${build}
      tableItems=${table.ItemCount} />`}
    ${backlog > 0 && html`<div class="hint">${format.plural(backlog, 'change')} not applied yet, the oldest
      ${' '}${format.duration(index.Backlog.AgeSeconds ?? 0)} old.</div>`}
    ${status?.Stalled && html`<${Notice} kind="error">Its changes cannot be applied: it or one of them is damaged.
      Remove it and add it again.<//>`}
    ${isOpen && html`<${Violations} tableName=${table.TableName} indexName=${index.IndexName}
      onClose=${() => setIsOpen(false)} />`}
  </div>`;
}

// The field of the form that an error is about: name, key, projection, units, or null.
function fieldOf(error) {
  if (error === null) return null;
  if (/unit/i.test(error.message) && error.name === 'Error') return 'units';
  if (/provisionedthroughput/i.test(error.message)) return 'units';
  if (/no name yet\.$/.test(error.message)) return /^The index/.test(error.message) ? 'name' : 'key';
  if (/projection|nonkey/i.test(error.message)) return 'projection';
  if (/indexname|index name|already exist|duplicate index/i.test(error.message)) return 'name';
  return /attribute|key ?schema|key element/i.test(error.message) ? 'key' : null;
}

function AddIndex({ table, onDone, onClose }) {
  const [index, setIndex] = useState(() => newIndex('global'));
  const [units, setUnits] = useState({ read: '5', write: '5' });
  const action = useAction();
  const submit = async (event) => {
    event.preventDefault();
    if (await action.run(() => call('UpdateTable', indexCreation(table, index, units)))) onDone();
  };
  const field = fieldOf(action.error);
  const number = (name, label) => html`<${Field} label=${label} narrow
    error=${field === 'units' && name === 'read' ? errorText(action.error) : null}>${(id) =>
    html`<${TextInput} id=${id} inputmode="numeric" value=${units[name]}
      onInput=${(text) => setUnits({ ...units, [name]: text })} />`}<//>`;
  return html`<form class="subject-form" aria-label="New index" onSubmit=${submit}>
    <${IndexForm} index=${index} number=${1} onChange=${setIndex}
      errors=${field === null ? {} : { [field]: errorText(action.error) }} />
    ${!isOnDemand(table) && html`<div class="bar">${number('read', 'Read units a second')}
      ${number('write', 'Write units a second')}</div>`}
    <p class="hint">The index is built from the items that are there while the table stays in use. Items that lack one of
      its attributes are not in it.</p>
    ${action.error && field === null && html`<${ErrorNotice} error=${action.error} />`}
    ${hintOf(action.error) && html`<p class="hint">${hintOf(action.error)}</p>`}
    <div class="bar"><${Button} kind="main" type="submit" disabled=${action.isRunning}>Add the index<//>
      <${Button} onClick=${onClose}>Cancel<//></div>
  </form>`;
}

export function IndexSettings({ table, may, onChange }) {
  const [isAdding, setIsAdding] = useState(false);
  const [removed, setRemoved] = useState(null);
  const progress = useProgress(table, may);
  const indexes = table.GlobalSecondaryIndexes ?? [];
  const obstacle = indexObstacle(table);
  const state = indexes.length === 0 ? 'There is none.' : `${format.plural(indexes.length, 'index', 'indexes')}.`;
  const added = () => {
    setIsAdding(false);
    onChange();
  };
  return html`<${Subject} title="Global indexes" id="indexes" state=${state}>
    ${indexes.map((index) => html`<${IndexRow} key=${index.IndexName} table=${table} index=${index}
      status=${progress.get(index.IndexName)} may=${may} onRemove=${() => setRemoved(index.IndexName)} />`)}
    ${may('UpdateTable') && !isAdding && html`<div class="bar"><${Button} disabled=${obstacle !== null}
      onClick=${() => setIsAdding(true)}>Add an index…<//>
      ${obstacle !== null && html`<span class="hint">${obstacle}</span>`}</div>`}
    ${isAdding && html`<${AddIndex} table=${table} onDone=${added} onClose=${() => setIsAdding(false)} />`}
    ${removed !== null && html`<${Ask} title="Remove ${removed}" button="Remove the index" keep="Keep it"
      work=${() => call('UpdateTable', indexDeletion(table, removed))} onClose=${() => setRemoved(null)}
      onDone=${() => {
    setRemoved(null);
    onChange();
  }}><p>Queries of the index fail from then on. The items of the table stay. It can be added again, which reads the
      whole table.</p><//>`}
  <//>`;
}
