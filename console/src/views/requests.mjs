// The requests that the daemon works on, and those that were slow.

import { html } from '../../vendor/htm-preact.mjs';
import * as format from '../lib/format.mjs';

const US = 1e-6;
const WAITS = [['QueueUs', 'queue'], ['LockUs', 'row lock'], ['ReadUs', 'read'], ['CommitUs', 'commit'],
  ['IndexUs', 'index']];
const SHOWN_US = 100;
// They last as long as their clients wish.
const STREAMS = ['Watch', 'Pipeline', 'admin:ExportTable'];

const duration = (us) => format.seconds(Number(us) * US);

// Where a request has spent its time.
function waitsText({ Waits }) {
  if (!Waits) return '–';
  const found = WAITS.filter(([name]) => Number(Waits[name] ?? 0) >= SHOWN_US);
  return found.map(([name, text]) => `${text} ${duration(Waits[name])}`).join(', ') || 'none';
}

function Rows({ title, columns, rows, empty }) {
  return html`<section class="requests" aria-label=${title}><h2>${title}</h2>
    ${rows.length === 0 ? html`<p class="hint">${empty}</p>` : html`<div class="wide" tabindex="0"><table>
      <thead><tr>${columns.map(([name]) => html`<th key=${name} scope="col">${name}</th>`)}</tr></thead>
      <tbody>${rows.map((row, i) => html`<tr key=${i}>${columns.map(([name, read]) => html`<td
        key=${name}>${read(row)}</td>`)}</tr>`)}</tbody></table></div>`}</section>`;
}

const OPERATION = ['Operation', (each) => each.Operation];
const TABLE = ['Table', (each) => each.TableName ?? ''];
const CLIENT = ['Client', (each) => each.Peer ?? ''];
const TIME = ['Time', (each) => duration(each.DurationUs)];
const WAITED = ['Waited for', waitsText];

export function Requests({ lists }) {
  const running = (lists.running.Requests ?? []).filter(({ Operation }) => !STREAMS.includes(Operation));
  const slow = lists.slow.Requests ?? [];
  const began = ['Began', (each) => new Date(each.BeganTime * 1000).toLocaleTimeString()];
  return html`
    <${Rows} title="Running requests" rows=${running} columns=${[OPERATION, TIME, TABLE, CLIENT, WAITED]}
      empty="None at the time of the last reading." />
    <${Rows} title="Slow requests" rows=${slow}
      columns=${[began, OPERATION, TIME, TABLE, ['Result', (each) => each.Result], CLIENT, WAITED]}
      empty=${`None took ${duration(lists.slow.SlowUs)} or longer.`} />`;
}
