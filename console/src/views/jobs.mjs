// Jobs of the daemon over files, with their progress.

import { html, useRef, useState } from '../../vendor/htm-preact.mjs';
import { call } from '../lib/api.mjs';
import * as format from '../lib/format.mjs';
import { describeJob, isRunning, JOB_KINDS, kindOf, listJobs, summaryOf } from '../lib/jobs.mjs';
import { useRepeat } from '../lib/pace.mjs';
import { useRights } from '../lib/rights.mjs';
import { href } from '../lib/router.mjs';
import { session } from '../lib/session.mjs';
import { useStore } from '../lib/store.mjs';
import { Ask } from '../ui/actions.mjs';
import { Button, Empty, ErrorNotice, Loading, Status } from '../ui/controls.mjs';
import { JobForm } from './job_form.mjs';

const POLL_MS = 2000;
const REST_MS = 30_000;
const DESCRIBED_AT_ONCE = 4;
const STARTS = { export: 'ExportTableToPointInTime', import: 'ImportTable', bulk: 'StartBulkPutItems' };

// The first page of each kind that the user may list, the newest first: {jobs, more: Map of kind -> token, error}.
async function readAll(kinds, known, signal) {
  const jobs = [];
  let error = null;
  for (const kind of kinds) {
    try {
      jobs.push(...(await listJobs(call, kind, null, signal)).jobs);
    } catch (failure) {
      if (failure.name === 'AbortError') throw failure;
      error = failure;
    }
  }
  // Jobs that have ended do not change any more.
  const isKnown = ({ arn, status }) => known.has(arn) && known.get(arn).status === status && !isRunning(status);
  const wanted = jobs.filter((job) => !isKnown(job));
  for (let i = 0; i < wanted.length; i += DESCRIBED_AT_ONCE) {
    const part = wanted.slice(i, i + DESCRIBED_AT_ONCE);
    const described = await Promise.all(part.map((job) => describeJob(call, job, signal).catch((failure) => {
      if (failure.name === 'AbortError') throw failure;
      return job;
    })));
    for (const job of described) known.set(job.arn, job);
  }
  const found = jobs.map((job) => known.get(job.arn) ?? job);
  const beganAt = (job) => job.facts?.StartTime ?? 0;
  return { jobs: found.sort((a, b) => beganAt(b) - beganAt(a)), error };
}

function Progress({ job, summary }) {
  const { items, failed, bytes, total } = summary;
  const parts = [
    items !== null && format.plural(items, 'item'), bytes !== null && bytes > 0 && format.bytes(bytes),
    failed > 0 && `${format.integer(failed)} not taken`,
  ].filter(Boolean).join(', ');
  const hasBar = total !== null && isRunning(job.status);
  return html`${hasBar && html`<progress aria-label="Progress" max=${Math.max(total, 1)} value=${Math.min(bytes, total)} />`}
    <span>${parts || '–'}</span>`;
}

function Row({ job, may, onCancel }) {
  const summary = summaryOf(job);
  const took = summary.ended === null ? null : summary.ended - summary.began;
  return html`<tr>
    <td>${kindOf(job.kind).noun}</td>
    <td>${summary.table && html`<a href=${href('tables', summary.table, 'items')}>${summary.table}</a>`}</td>
    <td><${Status} value=${job.status} />
      ${summary.failure && html`<div class="field-error">${summary.failure}</div>`}</td>
    <td class="progress-cell"><${Progress} job=${job} summary=${summary} /></td>
    <td class="mono">${summary.place}</td>
    <td>${format.moment(summary.began)}${took !== null && html`<div class="hint">took ${format.duration(took)}</div>`}</td>
    <td>${job.kind === 'bulk' && isRunning(job.status) && may('CancelBulkOperation') && html`<${Button} kind="link"
      onClick=${() => onCancel(job)}>Cancel…<//>`}</td></tr>`;
}

const COLUMNS = ['Job', 'Table', 'State', 'Progress', 'Files', 'Began', 'Actions'];

export function Jobs() {
  const may = useRights('');
  const { generation } = useStore(session);
  const [state, setState] = useState({ jobs: null, error: null });
  const [shown, setShown] = useState(null);  // a kind for a new job, or a job to cancel
  const [turn, setTurn] = useState(0);
  const known = useRef(new Map());
  const kinds = JOB_KINDS.filter((kind) => may(kindOf(kind).list));
  const hasRunning = (state.jobs ?? []).some(({ status }) => isRunning(status));
  useRepeat(async (signal) => {
    try {
      setState(await readAll(kinds, known.current, signal));
    } catch (error) {
      if (error.name !== 'AbortError') setState((old) => ({ ...old, error }));
    }
  }, kinds.length === 0 ? null : hasRunning ? POLL_MS : REST_MS, [kinds.join(), hasRunning, turn, generation]);
  const again = () => {
    setShown(null);
    setTurn(turn + 1);
  };
  const { jobs, error } = state;
  return html`
    <div class="view-head"><h1>Jobs</h1><span class="hint">Exports, imports and bulk operations of the last 90 days.</span>
      <div class="actions">${JOB_KINDS.filter((kind) => may(STARTS[kind])).map((kind) => html`<${Button} key=${kind}
        onClick=${() => setShown(kind)}>${kindOf(kind).noun}…<//>`)}</div></div>
    <div class="view-body" role="region" aria-label="Jobs" tabindex="0">
      ${error && html`<${ErrorNotice} error=${error} retry=${() => setTurn(turn + 1)} />`}
      ${may.isKnown && kinds.length === 0 && html`<p class="hint">Your access key may not list jobs.</p>`}
      ${jobs === null && !error && (!may.isKnown || kinds.length > 0) && html`<${Loading} />`}
      ${jobs?.length === 0 && !error && html`<${Empty} title="There are no jobs">
        <p>An export writes the items of a table to files of the daemon's machine, an import makes a table of files, a bulk
          put adds the items of files to a table.</p><//>`}
      ${jobs?.length > 0 && html`<div class="requests"><div class="wide" tabindex="0" role="region"
        aria-label="Table of jobs"><table aria-label="Jobs">
        <thead><tr>${COLUMNS.map((name) => html`<th key=${name} scope="col">${name}</th>`)}</tr></thead>
        <tbody>${jobs.map((job) => html`<${Row} key=${job.arn} job=${job} may=${may} onCancel=${setShown} />`)}</tbody>
      </table></div></div>`}
      ${typeof shown === 'string' && html`<${JobForm} kind=${shown} onDone=${again} onClose=${() => setShown(null)} />`}
      ${shown !== null && typeof shown === 'object' && html`<${Ask} title="Cancel a bulk put" button="Cancel it"
        keep="Let it go on" work=${() => call('CancelBulkOperation', { BulkOperationArn: shown.arn })} onDone=${again}
        onClose=${() => setShown(null)}><p>Items that were put already stay.</p><//>`}
    </div>`;
}
