// Keys and indexes of a table, its settings, and its deletion.

import { html, useState } from '../../vendor/htm-preact.mjs';
import { call } from '../lib/api.mjs';
import * as format from '../lib/format.mjs';
import { session } from '../lib/session.mjs';
import { useStore } from '../lib/store.mjs';
import { projectionText, sourcesOf } from '../lib/table_model.mjs';
import { TYPE_NAMES } from '../lib/values.mjs';
import { Button, Dialog, ErrorNotice, Field, Status, Tag, TextInput } from '../ui/controls.mjs';
import { useLoad } from '../ui/use_load.mjs';

// The attributes of a key from left to right.
export function KeyAttributes({ keys }) {
  const group = (isPartition, text) => {
    const members = keys.filter((key) => key.isPartition === isPartition);
    return members.length > 0 && html`<div class="key-group"><span class="label">${text}</span>
      ${members.map(({ name, type }) => html`<span class="key" key=${name}><span class="mono">${name}</span>
        <${Tag} kind="type" title=${TYPE_NAMES[type]}>${type}<//></span>`)}</div>`;
  };
  return html`<div class="keys">${group(true, 'partition')}${group(false, 'sort')}</div>`;
}

const KINDS = { global: 'global index', local: 'local index', table: 'table' };

function Index({ index }) {
  const isBuilding = index.status === 'CREATING' || index.isFilling;
  return html`<div class="index">
    <div class="bar"><h3>${index.name}</h3><${Tag}>${KINDS[index.kind]}<//>
      ${index.kind === 'global' && html`<${Status} value=${index.status} />`}</div>
    <${KeyAttributes} keys=${index.keys} />
    <div class="facts"><span>Projects ${projectionText(index.projection)}</span>
      <span>${format.integer(index.items ?? 0)} ${index.items === 1 ? 'entry' : 'entries'}</span>
      <span>${format.bytes(index.bytes ?? 0)}</span></div>
    ${isBuilding && html`<div class="hint"
      role="status">Being built${index.isFilling ? ': items of the table are added' : ''};
      ${' '}${format.integer(index.items ?? 0)} entries so far. Queries read it once it is active.</div>`}
  </div>`;
}

function Facts({ table, ttl }) {
  const restored = table.RestoreSummary;
  const stream = table.StreamSpecification?.StreamEnabled ? table.StreamSpecification.StreamViewType : null;
  const isOnDemand = table.BillingModeSummary?.BillingMode === 'PAY_PER_REQUEST';
  const { ReadCapacityUnits: read, WriteCapacityUnits: write } = table.ProvisionedThroughput ?? {};
  const expiry = ttl?.TimeToLiveStatus?.startsWith('ENABL') ? `by attribute ${ttl.AttributeName}` : 'off';
  const rows = [
    ['Items', format.integer(table.ItemCount)], ['Size', format.bytes(table.TableSizeBytes)],
    ['Throughput', isOnDemand ? 'on demand' : `${read} read units, ${write} write units a second`],
    ['Stream', stream === null ? 'off' : stream.toLowerCase().replaceAll('_', ' ')],
    ['Expiry', ttl === null ? '–' : expiry],
    ['Protected from deletion', table.DeletionProtectionEnabled ? 'yes' : 'no'],
    ...(restored === undefined ? [] : [['Restore', html`${restored.RestoreInProgress
      ? `Being restored: ${format.plural(table.ItemCount, 'item')} so far` : 'Restored'}, from${' '}
      <span class="mono">${restored.SourceBackupArn ?? restored.SourceTableArn}</span>`]]),
    ['Created', new Date(table.CreationDateTime * 1000).toLocaleString()],
    ['ARN', html`<span class="mono">${table.TableArn}</span>`],
  ];
  return html`<dl class="facts-list">${rows.map(([name, value]) => html`<div
    key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

function DeleteTable({ table, onClose, onDeleted }) {
  const [typed, setTyped] = useState('');
  const [error, setError] = useState(null);
  const [isRunning, setIsRunning] = useState(false);
  const name = table.TableName;
  const submit = async (event) => {
    event.preventDefault();
    if (typed !== name || isRunning) return;
    setIsRunning(true);
    try {
      await call('DeleteTable', { TableName: name });
      onDeleted();
    } catch (failure) {
      setError(failure);
      setIsRunning(false);
    }
  };
  return html`<${Dialog} title="Delete ${name}" onClose=${onClose} footer=${html`
      <${Button} onClick=${onClose}>Keep it<//>
      <${Button} kind="danger" type="submit" form="delete-table"
        disabled=${typed !== name || isRunning}>Delete the table<//>`}>
    <form id="delete-table" onSubmit=${submit}>
      ${error && html`<${ErrorNotice} error=${error} />`}
      <p>This deletes the table with ${format.plural(table.ItemCount, 'item')} and all its indexes. It cannot be undone;
        only a backup has them then.</p>
      <${Field} label="Type the name of the table">${(id) =>
        html`<${TextInput} id=${id} value=${typed} onInput=${setTyped} placeholder=${name} autofocus />`}<//>
    </form>
  <//>`;
}

export function Structure({ table, onDelete }) {
  const [isDeleting, setIsDeleting] = useState(false);
  const { settings } = useStore(session);
  const ttl = useLoad(async (signal) => {
    const answer = await call('DescribeTimeToLive', { TableName: table.TableName }, { signal });
    return answer.TimeToLiveDescription;
  }, [table.TableName]);
  const [own, ...indexes] = sourcesOf(table);
  const isProtected = table.DeletionProtectionEnabled === true;
  return html`<div class="view-body"><div class="section">
    <h2>Key</h2>
    <${KeyAttributes} keys=${own.keys} />
    <h2>Indexes</h2>
    ${indexes.length === 0 && html`<p class="hint">None. Items are found by the key of the table only.</p>`}
    ${indexes.map((index) => html`<${Index} key=${index.name} index=${index} />`)}
    <h2>Settings</h2>
    <${Facts} table=${table} ttl=${ttl.data} />
    ${!settings.is_read_only && html`<div class="bar danger-bar">
      <${Button} kind="danger" disabled=${isProtected || table.TableStatus !== 'ACTIVE'}
        onClick=${() => setIsDeleting(true)}>Delete table…<//>
      ${isProtected && html`<span class="hint">The table is protected from deletion.</span>`}</div>`}
    ${isDeleting && html`<${DeleteTable} table=${table} onClose=${() => setIsDeleting(false)} onDeleted=${onDelete} />`}
  </div></div>`;
}
