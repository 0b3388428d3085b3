// Backups of tables: on request, and continuous ones.

import { html, useEffect, useRef, useState } from '../../vendor/htm-preact.mjs';
import { call } from '../lib/api.mjs';
import * as format from '../lib/format.mjs';
import { useRepeat } from '../lib/pace.mjs';
import { useRights } from '../lib/rights.mjs';
import { href } from '../lib/router.mjs';
import { session } from '../lib/session.mjs';
import { useStore } from '../lib/store.mjs';
import { Ask, errorText, Subject, useAction } from '../ui/actions.mjs';
import { Button, Empty, ErrorNotice, Field, Loading, Notice, Status, TextInput } from '../ui/controls.mjs';
import { useLoad } from '../ui/use_load.mjs';
import { VirtualRows } from '../ui/virtual_rows.mjs';
import { RestoreBackup, RestoreMoment } from './restore.mjs';

const POLL_MS = 2000;
const ROW_HEIGHT = 37;
const KEPT_MAX = 20_000;

// All backups, the newest first: {backups, isWhole, error, reload}. tableName null: of all tables.
function useBackups(tableName) {
  const [state, setState] = useState({ backups: [], isWhole: false, error: null });
  const [turn, setTurn] = useState(0);
  const { generation } = useStore(session);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const load = async () => {
      const backups = [];
      let last;
      do {
        const request = { ...(tableName === null ? {} : { TableName: tableName }),
          ...(last === undefined ? {} : { ExclusiveStartBackupArn: last }) };
        const answer = await call('ListBackups', request, { signal });
        backups.push(...answer.BackupSummaries);
        last = answer.LastEvaluatedBackupArn;
      } while (last !== undefined && backups.length < KEPT_MAX && !signal.aborted);
      backups.sort((a, b) => b.BackupCreationDateTime - a.BackupCreationDateTime);
      if (!signal.aborted) setState({ backups, isWhole: true, error: null });
    };
    load().catch((error) => !signal.aborted && setState((old) => ({ ...old, isWhole: true, error })));
    return () => controller.abort();
  }, [tableName, turn, generation]);
  return { ...state, reload: () => setTurn((old) => old + 1) };
}

// `isOfTable`: all rows are of one table.
const rowClass = (isOfTable, more = '') => `backup-row ${isOfTable ? 'of-table' : ''} ${more}`;
const headerOf = (isOfTable) => html`<div class=${rowClass(isOfTable, 'head')} role="row" aria-rowindex="1">
  <span role="columnheader">Name</span>${!isOfTable && html`<span role="columnheader">Table</span>`}
  <span role="columnheader" class=${isOfTable ? '' : 'wide-only'}>Status</span>
  <span role="columnheader" class="wide-only">Made</span>
  <span role="columnheader" class="number wide-only">Size</span><span role="columnheader">Actions</span></div>`;

function Row({ backup, index, may, show, isOfTable }) {
  const { BackupName: name, BackupStatus: status, TableName: table } = backup;
  const isReady = status === 'AVAILABLE';
  return html`<div class=${rowClass(isOfTable)} role="row" aria-rowindex=${index + 2}>
    <span role="cell" title=${name}>${name}</span>
    ${!isOfTable && html`<span role="cell" title=${table}><a
      href=${href('tables', table, 'backups')}>${table}</a></span>`}
    <span role="cell" class=${isOfTable ? '' : 'wide-only'}><${Status} value=${status} /></span>
    <span role="cell" class="wide-only">${format.moment(backup.BackupCreationDateTime)}</span>
    <span role="cell" class="number wide-only">${format.bytes(backup.BackupSizeBytes)}</span>
    <span role="cell" class="row-actions">
      ${may('RestoreTableFromBackup') && html`<${Button} kind="link" disabled=${!isReady}
        aria-label="Restore ${name}…" onClick=${() => show({ kind: 'restore', backup })}>Restore…<//>`}
      ${may('DeleteBackup') && html`<${Button} kind="link" disabled=${!isReady}
        aria-label="Delete ${name}…" onClick=${() => show({ kind: 'delete', backup })}>Delete…<//>`}</span>
  </div>`;
}

function CreateBackup({ tableName, onDone }) {
  const [name, setName] = useState(() => `${tableName}-${new Date().toISOString().slice(0, 16).replace(':', '')}`
    .slice(-255));
  const action = useAction();
  const submit = async (event) => {
    event.preventDefault();
    if (await action.run(() => call('CreateBackup', { TableName: tableName, BackupName: name.trim() }))) onDone();
  };
  return html`<form class="inline-form" onSubmit=${submit}>
    <${Field} label="Name of a new backup" error=${errorText(action.error)}>${(id) => html`<${TextInput} id=${id}
      value=${name} onInput=${setName} />`}<//>
    <${Button} type="submit" disabled=${action.isRunning || name.trim() === ''}>Back up now<//></form>`;
}

// Continuous backups of a table.
function Continuous({ table, may }) {
  const name = table.TableName;
  const { data, error, reload } = useLoad(async (signal) => (await call('DescribeContinuousBackups',
    { TableName: name }, { signal })).ContinuousBackupsDescription.PointInTimeRecoveryDescription, [name]);
  const [isRestoring, setIsRestoring] = useState(false);
  const action = useAction();
  const change = (isEnabled) => action.run(() => call('UpdateContinuousBackups', {
    TableName: name, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: isEnabled } })).then(reload);
  if (data === null) {
    return html`<${Subject} title="Continuous backups" error=${error} state=${error ? '' : html`<${Loading} />`} />`;
  }
  const isOn = data.PointInTimeRecoveryStatus === 'ENABLED';
  const { EarliestRestorableDateTime: earliest, LatestRestorableDateTime: latest } = data;
  const state = isOn
    ? `On${earliest === undefined ? '' : `: any moment from ${format.moment(earliest)} to ${format.moment(latest)}`}`
      + `${data.RecoveryPeriodInDays ? `, for ${format.plural(data.RecoveryPeriodInDays, 'day')}` : ''}.`
    : 'Off.';
  return html`<${Subject} title="Continuous backups" state=${state} error=${action.error}>
    <div class="bar">
      ${may('UpdateContinuousBackups') && html`<${Button} disabled=${action.isRunning}
        onClick=${() => change(!isOn)}>${isOn ? 'Turn them off' : 'Turn them on'}<//>`}
      ${isOn && may('RestoreTableToPointInTime') && html`<${Button}
        onClick=${() => setIsRestoring(true)}>Restore a moment…<//>`}</div>
    ${isRestoring && html`<${RestoreMoment} table=${table} recovery=${data} onClose=${() => setIsRestoring(false)} />`}
  <//>`;
}

function DeleteBackup({ backup, onDone, onClose }) {
  return html`<${Ask} title="Delete a backup" button="Delete the backup" keep="Keep it" word=${backup.BackupName}
    work=${() => call('DeleteBackup', { BackupArn: backup.BackupArn })} onDone=${onDone} onClose=${onClose}>
    <p>The backup of <b class="mono">${backup.TableName}</b> from ${format.moment(backup.BackupCreationDateTime)} is
      gone then. It cannot be undone.</p><//>`;
}

// The list, with what can be done. tableName null: of all tables.
function BackupList({ tableName, may }) {
  const { backups, isWhole, error, reload } = useBackups(tableName);
  const [shown, setShown] = useState(null);
  const region = useRef(null);
  useRepeat(() => reload(), backups.some(({ BackupStatus }) => BackupStatus === 'CREATING') ? POLL_MS : null,
    [tableName]);
  const closed = () => setShown(null);
  const deleted = () => {
    closed();
    reload();
    region.current?.focus();
  };
  return html`<div class="backups" ref=${region} tabindex="-1">
    ${tableName !== null && may('CreateBackup') && html`<${CreateBackup} tableName=${tableName} onDone=${reload} />`}
    ${error && html`<${ErrorNotice} error=${error} retry=${reload} />`}
    ${!isWhole && html`<${Loading} />`}
    ${isWhole && !error && html`<p class="hint" role="status">${format.plural(backups.length, 'backup')}.</p>`}
    ${backups.length >= KEPT_MAX && html`<${Notice}>More than ${format.integer(KEPT_MAX)} backups: only these are
      shown.<//>`}
    ${isWhole && !error && backups.length === 0 && html`<${Empty} title="There are no backups yet">
      <p>A backup has the items of one table as they were at one moment, and outlives it.</p><//>`}
    ${backups.length > 0 && html`<${VirtualRows} count=${backups.length} rowHeight=${ROW_HEIGHT} label="Backups"
      header=${headerOf(tableName !== null)} columns=${tableName === null ? 6 : 5}
      row=${(index) => html`<${Row} isOfTable=${tableName !== null} backup=${backups[index]} index=${index} may=${may} show=${setShown} />`} />`}
    ${shown?.kind === 'restore' && html`<${RestoreBackup} arn=${shown.backup.BackupArn}
      name=${shown.backup.BackupName} onClose=${closed} />`}
    ${shown?.kind === 'delete' && html`<${DeleteBackup} backup=${shown.backup} onDone=${deleted} onClose=${closed} />`}
  </div>`;
}

// The tab of a table.
export function TableBackups({ table }) {
  const may = useRights(table.TableName);
  return html`<div class="view-body fixed"><div class="backups-page">
    <${Continuous} table=${table} may=${may} />
    <h2>Backups on request</h2>
    <${BackupList} tableName=${table.TableName} may=${may} /></div></div>`;
}

// The backups of all tables, also of deleted ones.
export function Backups() {
  const may = useRights('');
  return html`<div class="view-head"><h1>Backups</h1><span class="hint">Of all tables, also of those that are
      deleted.</span></div>
    <div class="view-body fixed"><div class="backups-page"><${BackupList} tableName=${null} may=${may} /></div></div>`;
}
