// The form that restores a table as a new one, from a backup or from a moment of the past.

import { html, useState } from '../../vendor/htm-preact.mjs';
import { call } from '../lib/api.mjs';
import { isOnDemand } from '../lib/changes.mjs';
import * as format from '../lib/format.mjs';
import { backupRestore, indexesOf, indexLabel, localText, momentRestore, restoreField } from '../lib/restore.mjs';
import { go } from '../lib/router.mjs';
import { errorText, useAction } from '../ui/actions.mjs';
import { Button, CheckBox, Choice, Dialog, ErrorNotice, Field, Loading, TextInput } from '../ui/controls.mjs';
import { useLoad } from '../ui/use_load.mjs';

const HINTS = {
  PointInTimeRecoveryUnavailableException:
    'Continuous backups must be on, and the daemon must keep an archive. A backup on request can be restored instead.',
  LimitExceededException: 'Too many restores wait. Try again when one has ended.',
  BackupInUseException: 'The backup is being made just now.',
};

function IndexChoice({ indexes, chosen, onChange }) {
  if (indexes.length === 0) return html`<p class="hint">It has no indexes.</p>`;
  const toggle = (name, isChosen) => {
    const next = new Set(chosen);
    if (isChosen) next.add(name);
    else next.delete(name);
    onChange(next);
  };
  return html`<fieldset class="key-part"><legend>Indexes to restore</legend>
    ${indexes.map((index) => html`<${CheckBox} key=${index.name} label=${indexLabel(index)}
      checked=${chosen.has(index.name)} onChange=${(isChosen) => toggle(index.name, isChosen)} />`)}</fieldset>`;
}

// `makeRequest(choice)`: the request. `moment`: {earliest, latest} in seconds if the moment can be chosen, or null.
function RestoreForm({ title, source, indexes, moment, operation, makeRequest, children, onClose }) {
  const [choice, setChoice] = useState(() => ({
    target: `${source}-restored`.slice(0, 255), chosen: new Set(indexes.map(({ name }) => name)), isLatest: true,
    time: moment === null ? '' : localText(moment.latest ?? Date.now() / 1000),
  }));
  const action = useAction();
  const change = (members) => setChoice({ ...choice, ...members });
  const field = restoreField(action.error);
  const at = (name) => (field === name ? errorText(action.error) : null);
  const submit = async (event) => {
    event.preventDefault();
    let request;
    const done = await action.run(async () => {
      request = makeRequest(choice);
      await call(operation, request);
    });
    // The table's page shows how far it is.
    if (done) go('tables', request.TargetTableName, 'structure');
  };
  return html`<${Dialog} title=${title} onClose=${onClose} footer=${html`<${Button} onClick=${onClose}>Cancel<//>
      <${Button} kind="main" type="submit" form="restore" disabled=${action.isRunning}>Restore<//>`}>
    <form id="restore" onSubmit=${submit}>
      ${children}
      <${Field} label="Name of the new table" error=${at('target')}
        hint="The old one stays as it is.">${(id) => html`<${TextInput} id=${id} value=${choice.target}
          onInput=${(target) => change({ target })} autofocus />`}<//>
      ${moment !== null && html`<${Choice} label="Moment" value=${choice.isLatest ? 'latest' : 'time'}
        options=${[['latest', 'The latest possible'], ['time', 'A moment']]}
        onChange=${(name) => change({ isLatest: name === 'latest' })} />`}
      ${moment !== null && !choice.isLatest && html`<${Field} label="Date and time on this machine" error=${at('time')}
        hint="From ${format.moment(moment.earliest)} to ${format.moment(moment.latest)}.">${(id) => html`<input id=${id}
          type="datetime-local" step="1" value=${choice.time} onInput=${(event) => change({ time: event.target.value })} />`}<//>`}
      <${IndexChoice} indexes=${indexes} chosen=${choice.chosen} onChange=${(chosen) => change({ chosen })} />
      <p class="hint">Stream, expiry, tags, policy, protection and continuous backups are not restored.</p>
      ${action.error && field === null && html`<${ErrorNotice} error=${action.error} />`}
      ${HINTS[action.error?.name] && html`<p class="hint">${HINTS[action.error.name]}</p>`}
    </form><//>`;
}

export function RestoreBackup({ arn, name, onClose }) {
  const { data, error, reload } = useLoad(async (signal) =>
    (await call('DescribeBackup', { BackupArn: arn }, { signal })).BackupDescription, [arn]);
  if (data === null) {
    return html`<${Dialog} title="Restore ${name}" onClose=${onClose}>
      ${error ? html`<${ErrorNotice} error=${error} retry=${reload} />` : html`<${Loading} />`}<//>`;
  }
  const source = data.SourceTableDetails;
  const indexes = indexesOf(data.SourceTableFeatureDetails ?? {});
  const isProvisioned = source.BillingMode !== 'PAY_PER_REQUEST';
  return html`<${RestoreForm} title="Restore ${name}" source=${source.TableName} indexes=${indexes} moment=${null}
    operation="RestoreTableFromBackup" onClose=${onClose}
    makeRequest=${(choice) => backupRestore(arn, indexes, isProvisioned, choice)}>
    <p>${format.plural(source.ItemCount, 'item')} of <b class="mono">${source.TableName}</b>, ${' '}
      ${format.bytes(source.TableSizeBytes)}, as of ${format.moment(data.BackupDetails.BackupCreationDateTime)}.</p>
  <//>`;
}

export function RestoreMoment({ table, recovery, onClose }) {
  const indexes = indexesOf(table);
  const moment = { earliest: recovery.EarliestRestorableDateTime, latest: recovery.LatestRestorableDateTime };
  return html`<${RestoreForm} title="Restore ${table.TableName} as of a moment" source=${table.TableName}
    indexes=${indexes} moment=${moment} operation="RestoreTableToPointInTime" onClose=${onClose}
    makeRequest=${(choice) => momentRestore(table.TableName, indexes, !isOnDemand(table), choice)} />`;
}
