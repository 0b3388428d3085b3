// The daemon's load over time: plots, numbers, and words about trouble.

import { html, useEffect, useState } from '../../vendor/htm-preact.mjs';
import * as format from '../lib/format.mjs';
import { activity, look } from '../lib/sampler.mjs';
import { session } from '../lib/session.mjs';
import { useStore } from '../lib/store.mjs';
import { Choice, ErrorNotice, Loading, Select } from '../ui/controls.mjs';
import { Plot } from '../ui/plot.mjs';
import { Attention } from './attention.mjs';
import { Requests } from './requests.mjs';

const OPERATIONS_SHOWN = 5;
const SPANS = [[300, '5 min'], [900, '15 min'], [3600, '1 hour']];

const last = (samples) => samples.filter((each) => !each.isGap).at(-1);
const times = (samples) => samples.map((each) => each.time);
const values = (samples, read) => samples.map((each) => (each.isGap ? null : read(each) ?? null));

// Operations by the number of their requests, the most used first.
function operationsOf(samples) {
  const sums = new Map();
  for (const { requests = {} } of samples) {
    for (const [name, rate] of Object.entries(requests)) sums.set(name, (sums.get(name) ?? 0) + rate);
  }
  return [...sums].filter(([, sum]) => sum > 0).sort((a, b) => b[1] - a[1]).map(([name]) => name);
}

function Numbers({ sample }) {
  const busiest = Object.entries(sample.latencies).reduce((most, [, { p99 }]) => Math.max(most, p99), 0);
  const rows = [
    ['Requests', `${format.short(sample.all)} / s`], ['Errors', `${format.short(sample.errors)} / s`],
    ['Slowest p99', busiest === 0 ? '–' : format.seconds(busiest)], ['Index lag', format.seconds(sample.lag)],
    ['Disk free', format.bytes(sample.disk - sample.diskUsed)], ['Memory', format.bytes(sample.memory)],
    ['Processor', `${format.short(sample.processor * 100)} %`],
  ];
  return html`<dl class="numbers">${rows.map(([name, value]) => html`<div
    key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

function Latency({ samples, span, operations, chosen, onChoose }) {
  const name = chosen ?? operations[0];
  const read = (part) => ({ latencies }) => latencies[name]?.[part];
  const choice = operations.length > 0 && html`<${Select} aria-label="Operation" value=${name}
    options=${operations} onChange=${onChoose} />`;
  return html`<${Plot} title="Latency" extra=${choice} times=${times(samples)} span=${span}
    unit=${format.seconds} series=${[
    { label: 'p50', values: values(samples, read('p50')) },
    { label: 'p99', values: values(samples, read('p99')) }]} />`;
}

function Plots({ samples, span }) {
  const [chosen, setChosen] = useState(null);
  const operations = operationsOf(samples);
  const rate = (number) => `${format.short(number)} / s`;
  return html`<div class="plots">
    <${Plot} title="Requests" times=${times(samples)} span=${span} unit=${rate} series=${[
      { label: 'all', values: values(samples, (each) => each.all) },
      { label: 'errors', values: values(samples, (each) => each.errors), isBad: true }]} />
    <${Latency} samples=${samples} span=${span} operations=${operations} chosen=${chosen} onChoose=${setChosen} />
    <${Plot} title="Requests by operation" times=${times(samples)} span=${span} unit=${rate}
      series=${operations.slice(0, OPERATIONS_SHOWN)
      .map((name) => ({ label: name, values: values(samples, ({ requests }) => requests[name] ?? 0) }))} />
    <${Plot} title="Lag of global indexes" times=${times(samples)} span=${span} unit=${format.seconds} series=${[
      { label: 'oldest change', values: values(samples, (each) => each.lag) }]} />
    <${Plot} title="Disk" times=${times(samples)} span=${span} unit=${format.bytes} isBinary series=${[
      { label: 'used', values: values(samples, (each) => each.diskUsed) },
      { label: 'table files', values: values(samples, (each) => each.files) }]} />
    <${Plot} title="Memory" times=${times(samples)} span=${span} unit=${format.bytes} isBinary series=${[
      { label: 'process', values: values(samples, (each) => each.memory) },
      { label: 'block cache', values: values(samples, (each) => each.cache) }]} />
  </div>`;
}

export function Activity() {
  const { samples, attention: found, requests, error } = useStore(activity);
  const [span, setSpan] = useState(900);
  const { isDown } = useStore(session);
  useEffect(look, []);
  const sample = last(samples);
  const now = Date.now() / 1000;
  const shown = samples.filter(({ time }) => time > now - span);
  const isDenied = error !== null && error.name === 'AccessDeniedException';
  return html`
    <div class="view-head"><h1>Activity</h1><span class="hint">Every 3 seconds; once a minute while nobody uses the page.</span>
      <div class="actions">
        <${Choice} label="Time shown" options=${SPANS} value=${span} onChange=${setSpan} /></div></div>
    <div class="view-body" role="region" aria-label="Measurements" tabindex="0">
      ${error && !isDown && html`<${ErrorNotice} error=${error}
        title=${isDenied ? 'Metrics need a key with "admin"' : undefined} />`}
      ${!error && !sample && html`<${Loading}>Measuring the first interval<//>`}
      ${found && html`<${Attention} found=${found} />`}
      ${sample && html`<${Numbers} sample=${sample} />
        <${Plots} samples=${shown} span=${span} />`}
      ${requests && html`<${Requests} lists=${requests} />`}
    </div>`;
}
