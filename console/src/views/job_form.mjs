// The form of a new export, import or bulk operation.

import { html, useState } from '../../vendor/htm-preact.mjs';
import { call } from '../lib/api.mjs';
import { bulkRequest, COMPRESSIONS, exportRequest, FORMATS, importRequest, jobField } from '../lib/jobs.mjs';
import { errorText, useAction } from '../ui/actions.mjs';
import { Button, Dialog, ErrorNotice, Field, Select, TextInput } from '../ui/controls.mjs';
import { KeyPart } from './index_form.mjs';

const FORMS = {
  export: { title: 'Export a table', operation: 'ExportTableToPointInTime', request: exportRequest,
    bucket: 'Directory below --export_dir', prefix: 'Path in it (optional)', button: 'Export',
    hint: 'All items, as files on the daemon\'s machine. Continuous backups of the table must be on.' },
  import: { title: 'Import a table', operation: 'ImportTable', request: importRequest,
    bucket: 'Directory below --import_dir', prefix: 'Files that begin with (optional)', button: 'Import',
    hint: 'Makes a new table of files on the daemon\'s machine. Lines that are no items of it are counted.' },
  bulk: { title: 'Put the items of files', operation: 'StartBulkPutItems', request: bulkRequest,
    bucket: 'Directory below --import_dir', prefix: 'Files that begin with (optional)', button: 'Start',
    hint: 'Puts items of files into a table that is there. Items with the same key are replaced.' },
};
const TABLE_LABELS = { import: 'Name of the new table' };

export function JobForm({ kind, onDone, onClose }) {
  const { title, operation, request, bucket, prefix, button, hint } = FORMS[kind];
  const [form, setForm] = useState({
    table: '', bucket: '', prefix: '', output: '', format: 'DYNAMODB_JSON', compression: 'NONE',
    partition: [{ name: '', type: 'S' }], sort: [],
  });
  const action = useAction();
  const change = (name) => (value) => setForm({ ...form, [name]: value });
  const field = jobField(action.error);
  const at = (name) => (field === name ? errorText(action.error) : null);
  const text = (name, label, more = {}) => html`<${Field} label=${label} error=${at(name)}>${(id) => html`<${TextInput}
    id=${id} value=${form[name]} onInput=${change(name)} ...${more} />`}<//>`;
  const choice = (name, label, options) => html`<${Field} label=${label}>${(id) => html`<${Select} id=${id}
    value=${form[name]} options=${options} onChange=${change(name)} />`}<//>`;
  const submit = async (event) => {
    event.preventDefault();
    if (await action.run(() => call(operation, request(form)))) onDone();
  };
  return html`<${Dialog} title=${title} onClose=${onClose} footer=${html`<${Button} onClick=${onClose}>Cancel<//>
      <${Button} kind="main" type="submit" form="job" disabled=${action.isRunning}>${button}<//>`}>
    <form id="job" onSubmit=${submit}>
      <p class="hint">${hint}</p>
      ${text('table', TABLE_LABELS[kind] ?? 'Table', { autofocus: true })}
      ${kind === 'import' && html`<${KeyPart} label="Partition key" parts=${form.partition} min=${1} max=${1}
        error=${at('key')} hint="Every item has it." onChange=${change('partition')} />
        <${KeyPart} label="Sort key" parts=${form.sort} min=${0} max=${1} hint="Optional." onChange=${change('sort')} />`}
      ${text('bucket', bucket)}${text('prefix', prefix)}
      ${kind === 'import' && choice('format', 'Format', FORMATS)}
      ${kind !== 'export' && choice('compression', 'Compression', COMPRESSIONS)}
      ${kind === 'bulk' && text('output', 'Directory below --export_dir for lines that could not be put')}
      ${action.error && field === null && html`<${ErrorNotice} error=${action.error} />`}
    </form><//>`;
}
