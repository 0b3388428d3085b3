// A table's stream as it grows: rows of changes, and both images of one.

import { html, useEffect, useRef, useState } from '../../vendor/htm-preact.mjs';
import { call } from '../lib/api.mjs';
import { differencesOf, shownValue } from '../lib/differences.mjs';
import * as format from '../lib/format.mjs';
import { useRepeat } from '../lib/pace.mjs';
import { href } from '../lib/router.mjs';
import { StreamTail, withRecords } from '../lib/stream_tail.mjs';
import { sourcesOf } from '../lib/table_model.mjs';
import { shortText } from '../lib/values.mjs';
import { Button, Choice, Dialog, Empty, ErrorNotice, Notice, Select, Tag } from '../ui/controls.mjs';
import { VirtualRows } from '../ui/virtual_rows.mjs';

const EVERY_MS = 1000;
const ROW_HEIGHT = 31;
const STARTS = [['LATEST', 'changes from now on'], ['TRIM_HORIZON', 'all that is kept']];
const EVENTS = [['', 'All'], ['INSERT', 'New'], ['MODIFY', 'Changed'], ['REMOVE', 'Deleted']];
const EVENT_WORDS = { INSERT: 'new', MODIFY: 'changed', REMOVE: 'deleted' };
const KIND_WORDS = { same: '', changed: 'changed', added: 'added', removed: 'removed' };

const keyText = (record, keyNames) => keyNames.filter((name) => name in record.dynamodb.Keys)
  .map((name) => shortText(record.dynamodb.Keys[name], 80)).join(', ');
const isExpired = ({ userIdentity: by }) => by?.type === 'Service' || by?.Type === 'Service';

function Images({ record, keyNames, onClose, move }) {
  const { OldImage: old, NewImage: now, Keys: keys } = record.dynamodb;
  const hasImages = old !== undefined || now !== undefined;
  const rows = hasImages ? differencesOf(old, now, keyNames) : differencesOf(keys, keys, keyNames);
  return html`<${Dialog} wide title="${EVENT_WORDS[record.eventName]}: ${keyText(record, keyNames)}" onClose=${onClose}
    footer=${html`<${Button} disabled=${move.newer === null} onClick=${move.newer}>Newer<//>
      <${Button} disabled=${move.older === null} onClick=${move.older}>Older<//><span class="grow"></span>
      <${Button} kind="main" onClick=${onClose}>Close<//>`}>
    <p class="hint">${format.moment(record.dynamodb.ApproximateCreationDateTime)},
      ${' '}sequence number <span class="mono">${record.dynamodb.SequenceNumber}</span>${isExpired(record)
    ? ', deleted because its time was over' : ''}.</p>
    ${!hasImages && html`<p>The stream has keys only.</p>`}
    <div class="scroll" tabindex="0" role="region" aria-label="Images"><table class="versions images">
      <thead><tr><th scope="col">Attribute</th><th scope="col">Old</th><th scope="col">New</th></tr></thead>
      <tbody>${rows.map(({ name, kind, before, after }) => html`<tr key=${name} class="is-${kind}">
        <th scope="row"><span class="mono">${name}</span>${kind !== 'same' && hasImages && html` <${Tag}
          kind=${kind}>${KIND_WORDS[kind]}<//>`}</th>
        <td class="mono">${shownValue(before)}</td><td class="mono">${shownValue(after)}</td></tr>`)}</tbody>
    </table></div><//>`;
}

const HEADER = html`<div class="stream-row head" role="row" aria-rowindex="1"><span role="columnheader">Time</span>
  <span role="columnheader">Event</span><span role="columnheader">Key</span>
  <span role="columnheader" class="wide-only">Attributes that differ</span></div>`;

function Row({ record, index, keyNames, onOpen }) {
  const { OldImage: old, NewImage: now } = record.dynamodb;
  const changed = old === undefined || now === undefined ? ''
    : differencesOf(old, now, keyNames).filter(({ kind }) => kind !== 'same').map(({ name }) => name).join(', ');
  return html`<div class="stream-row" role="row" aria-rowindex=${index + 2}>
    <span role="cell">${format.moment(record.dynamodb.ApproximateCreationDateTime)}</span>
    <span role="cell"><${Tag} kind="event-${record.eventName.toLowerCase()}">${EVENT_WORDS[record.eventName]
      ?? record.eventName}<//>${isExpired(record) && html` <${Tag}>expired<//>`}</span>
    <span role="cell"><button type="button" class="button link"
      onClick=${onOpen}>${keyText(record, keyNames) || '(empty)'}</button></span>
    <span role="cell" class="wide-only mono">${changed}</span></div>`;
}

// Records of the stream from `start` on, while `isOn`: {rows, seen, hasGap, isOver, error}.
function useTail(arn, start, turn, isOn) {
  const nothing = { rows: [], seen: 0, hasGap: false, isOver: false, error: null };
  const [state, setState] = useState(nothing);
  const tail = useRef(null);
  useEffect(() => {
    tail.current = new StreamTail(call, arn, start);
    setState(nothing);
  }, [arn, start, turn]);
  useRepeat(async (signal) => {
    const own = tail.current;
    try {
      const records = await own.round(signal);
      if (own !== tail.current || signal.aborted) return false;
      if (records.length > 0 || state.error !== null || own.isOver || own.hasGap !== state.hasGap) {
        setState((old) => ({ rows: withRecords(old.rows, records), seen: old.seen + records.length,
          hasGap: own.hasGap, isOver: own.isOver, error: null }));
      }
      return !own.isOver;
    } catch (error) {
      if (error.name === 'AbortError') throw error;
      setState((old) => ({ ...old, error }));
      // A daemon that comes back goes on with the stream.
      return error.name === 'NoAnswer';
    }
  }, isOn ? EVERY_MS : null, [arn, start, turn]);
  return state;
}

function Tail({ table, arn }) {
  const keyNames = sourcesOf(table)[0].keys.map(({ name }) => name);
  const [start, setStart] = useState('LATEST');
  const [turn, setTurn] = useState(0);
  const [isPaused, setIsPaused] = useState(false);
  const [event, setEvent] = useState('');
  const [opened, setOpened] = useState(null);  // id of a record
  const { rows, seen, hasGap, isOver, error } = useTail(arn, start, turn, !isPaused);
  const shown = event === '' ? rows : rows.filter(({ eventName }) => eventName === event);
  const at = shown.findIndex(({ eventID }) => eventID === opened);
  const kept = useRef(null);  // stays open when its row has gone
  if (at !== -1) kept.current = shown[at];
  const open = (i) => (i < 0 || i >= shown.length ? null : () => setOpened(shown[i].eventID));
  const state = isOver ? 'The stream was turned off, and is read to its end.'
    : isPaused ? 'Paused: nothing is missed.' : 'Every second; once a minute while nobody uses the page.';
  return html`<div class="bar stream-bar">
      <${Select} aria-label="Begin with" value=${start} options=${STARTS} onChange=${setStart} class="short" />
      <${Choice} label="Events" options=${EVENTS} value=${event} onChange=${setEvent} />
      <${Button} onClick=${() => setIsPaused(!isPaused)}>${isPaused ? 'Go on' : 'Pause'}<//>
      <${Button} onClick=${() => setTurn(turn + 1)}>Clear<//>
      <span class="hint" role="status">${format.plural(seen, 'change')}${seen > rows.length
    ? `, the last ${format.integer(rows.length)} are kept` : ''}. ${state}</span></div>
    ${hasGap && html`<${Notice} kind="warning">The page rested for too long: some changes were not read.<//>`}
    ${error && html`<${ErrorNotice} error=${error} retry=${() => setTurn(turn + 1)} />`}
    ${rows.length === 0 && !error && html`<${Empty} title="No changes so far"><p>A change of an item appears here a moment
      later.</p><//>`}
    ${rows.length > 0 && shown.length === 0 && html`<p class="hint">No such event so far.</p>`}
    ${shown.length > 0 && html`<${VirtualRows} count=${shown.length} rowHeight=${ROW_HEIGHT} header=${HEADER}
      label="Changes" columns=${4} row=${(i) => html`<${Row} record=${shown[i]} index=${i} keyNames=${keyNames}
        onOpen=${open(i)} />`} />`}
    ${opened !== null && kept.current && html`<${Images} record=${kept.current} keyNames=${keyNames}
      onClose=${() => setOpened(null)} move=${{ newer: at === -1 ? null : open(at - 1), older: at === -1 ? null
    : open(at + 1) }} />`}`;
}

export function Stream({ table }) {
  const arn = table.LatestStreamArn;
  const isOn = table.StreamSpecification?.StreamEnabled === true;
  if (arn === undefined) {
    return html`<div class="view-body"><${Empty} title="The table has no stream">
      <p>A stream records each change of an item for 24 hours, with its old and its new image.</p>
      <div class="actions"><a class="button" href=${href('tables', table.TableName, 'settings')}>Settings</a></div><//></div>`;
  }
  return html`<div class="view-body fixed stream">
    ${!isOn && html`<${Notice}>The stream is off. Its last records are kept for 24 hours.<//>`}
    <${Tail} table=${table} arn=${arn} key=${arn} /></div>`;
}
