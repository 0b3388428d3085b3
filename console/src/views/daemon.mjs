// The daemon's own settings with their sources, and its place.

import { html, useState } from '../../vendor/htm-preact.mjs';
import { fetchSettings } from '../lib/api.mjs';
import * as format from '../lib/format.mjs';
import { Choice, Empty, ErrorNotice, Loading } from '../ui/controls.mjs';
import { useLoad } from '../ui/use_load.mjs';

function sourceText(flag, config) {
  if (flag.Source === 'flag') return 'command line';
  return flag.Source === 'file' ? `${config}, line ${flag.Line}` : 'default';
}

function Place({ data }) {
  const { Owner: owner } = data;
  const rows = [
    ['Version', data.Version], ['Database', html`<span class="mono">${data.Place}</span>`],
    ...(data.Config === '' ? [] : [['File of flags', html`<span class="mono">${data.Config}</span>`]]),
    ...(owner === undefined ? [] : [
      ['Owner of the volume', html`this daemon <span class="mono">${owner.Service}</span>`],
      ['Owners so far', format.integer(owner.Epoch)],
      ['Lease', `certain for ${format.seconds(owner.LeaseLeftSeconds)}`],
      ['Objects', `${format.integer(owner.Objects)}, ${format.bytes(owner.FileBytes)}`
        + `${owner.LostObjects > 0 ? `; ${format.integer(owner.LostObjects)} are missing` : ''}`],
      ['Standbys', 'An owner does not know them. Each answers /readyz at its own address.'],
    ]),
  ];
  return html`<dl class="facts-list">${rows.map(([name, value]) => html`<div
    key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

function Group({ name, flags, config }) {
  return html`<section class="requests" aria-label=${name}><h2>${name}</h2><table class="flags" role="table" aria-label=${name}>
    <thead role="rowgroup"><tr role="row">${['Flag', 'Value', 'From', 'Meaning'].map((each) => html`<th key=${each}
      scope="col" role="columnheader">${each}</th>`)}</tr></thead>
    <tbody role="rowgroup">${flags.map((flag) => html`<tr key=${flag.Name} role="row"
      class=${flag.Source === 'default' ? '' : 'is-given'}>
      <td role="cell" class="mono">--${flag.Name}</td>
      <td role="cell" class="mono">${flag.Value === '' ? '–' : flag.Value}${flag.InEffect !== undefined && flag.InEffect !== ''
    && html`<div class="hint">in effect: ${flag.InEffect}</div>`}</td>
      <td role="cell">${sourceText(flag, config)}</td>
      <td role="cell" class="meaning">${flag.Help}</td></tr>`)}</tbody></table></section>`;
}

export function DaemonView() {
  const { data, error, reload } = useLoad((signal) => fetchSettings({ signal }), []);
  const [filter, setFilter] = useState('');
  const [which, setWhich] = useState('all');
  const needle = filter.trim().toLowerCase();
  const shown = (data?.Flags ?? []).filter((flag) => (which === 'all' || flag.Source !== 'default')
    && (flag.Name.includes(needle) || flag.Help.toLowerCase().includes(needle)));
  const groups = [...new Set(shown.map((flag) => flag.Group))];
  const isDenied = error?.name === 'AccessDeniedException';
  return html`
    <div class="view-head"><h1>Daemon</h1><div class="actions">
      <input type="search" class="filter" aria-label="Filter flags" placeholder="Filter flags" value=${filter}
        onInput=${(event) => setFilter(event.target.value)} />
      <${Choice} label="Flags shown" options=${[['all', 'All'], ['given', 'Only given ones']]} value=${which}
        onChange=${setWhich} /></div></div>
    <div class="view-body" role="region" aria-label="Settings of the daemon" tabindex="0">
      ${error && html`<${ErrorNotice} error=${error} retry=${isDenied ? undefined : reload}
        title=${isDenied ? 'Settings need a key with "admin"' : undefined} />`}
      ${data === null && !error && html`<${Loading} />`}
      ${data !== null && html`<${Place} data=${data} />`}
      ${groups.map((name) => html`<${Group} key=${name} name=${name} config=${data.Config}
        flags=${shown.filter((flag) => flag.Group === name)} />`)}
      ${data !== null && shown.length === 0 && html`<${Empty} title="No flag fits" />`}
    </div>`;
}
