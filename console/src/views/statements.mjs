// PartiQL statements and their results.

import { html, useRef, useState } from '../../vendor/htm-preact.mjs';
import { call } from '../lib/api.mjs';
import * as format from '../lib/format.mjs';
import { Button, Empty, ErrorNotice, Loading } from '../ui/controls.mjs';
import { ExportMenu } from './export_menu.mjs';
import { ItemGrid } from './item_grid.mjs';

const HISTORY_KEY = 'armature-statements';
const HISTORY_MAX = 50;

// Statements may contain data, so they are kept for this tab of the browser only.
function history() {
  try {
    const list = JSON.parse(sessionStorage.getItem(HISTORY_KEY) ?? '[]');
    return Array.isArray(list) ? list.filter((each) => typeof each === 'string') : [];
  } catch {
    return [];
  }
}

function remember(list) {
  try {
    sessionStorage.setItem(HISTORY_KEY, JSON.stringify(list));
  } catch {
    // It is there until the view is left.
  }
}

const NOTHING = { statement: null, items: [], units: 0, ms: 0, next: undefined, isRunning: false, error: null };

export function Statements() {
  const [text, setText] = useState('');
  const [past, setPast] = useState(history);
  const [columns, setColumns] = useState([]);
  const [result, setResult] = useState(NOTHING);
  const current = useRef(NOTHING);
  const put = (members) => {
    current.current = { ...current.current, ...members };
    setResult(current.current);
  };
  const page = async () => {
    const { statement, next, items, units, ms } = current.current;
    put({ isRunning: true, error: null });
    const begin = performance.now();
    try {
      const answer = await call('ExecuteStatement', {
        Statement: statement, ReturnConsumedCapacity: 'TOTAL', ...(next === undefined ? {} : { NextToken: next }),
      });
      if (current.current.statement !== statement) return;
      put({
        items: [...items, ...(answer.Items ?? [])], units: units + (answer.ConsumedCapacity?.CapacityUnits ?? 0),
        ms: ms + performance.now() - begin, next: answer.NextToken, isRunning: false,
      });
    } catch (error) {
      put({ isRunning: false, error });
    }
  };
  const run = (event) => {
    event?.preventDefault();
    const statement = text.trim();
    if (statement === '' || current.current.isRunning) return;
    const list = [statement, ...past.filter((each) => each !== statement)].slice(0, HISTORY_MAX);
    setPast(list);
    remember(list);
    current.current = { ...NOTHING, statement };
    page();
  };
  const more = () => {
    if (current.current.next !== undefined && !current.current.isRunning) page();
  };
  const clear = () => {
    setPast([]);
    remember([]);
  };
  const keyPressed = (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) run();
  };
  const { statement, items, units, ms, next, isRunning, error } = result;
  return html`
    <div class="view-head"><h1>PartiQL</h1></div>
    <div class="view-body fixed statements">
      <form class="statement-form" onSubmit=${run}>
        <textarea class="statement" aria-label="Statement" rows="4" spellcheck=${false} autofocus value=${text}
          placeholder=${'SELECT * FROM "table" WHERE "key" = \'value\''}
            onInput=${(event) => setText(event.target.value)}
          onKeyDown=${keyPressed}></textarea>
        <div class="bar"><${Button} kind="main" type="submit" disabled=${isRunning || text.trim() === ''}>Run<//>
          <span class="hint">Ctrl+Enter. A statement that changes items does so at once.</span></div>
      </form>
      ${past.length > 0 && html`<details class="history"><summary>History (${past.length})</summary>
        <ul>${past.map((each) => html`<li key=${each}><button type="button" class="button link mono"
          onClick=${() => setText(each)}>${each}</button></li>`)}</ul>
        <${Button} onClick=${clear}>Clear the history<//></details>`}
      ${error && html`<${ErrorNotice} error=${error} />`}
      ${isRunning && items.length === 0 && html`<${Loading}>Running<//>`}
      ${statement !== null && !error && !isRunning && items.length === 0 && html`<${Empty} title="Done, without items">
        <p>${format.units(units, 'unit')}, ${format.seconds(ms / 1000)}</p><//>`}
      ${items.length > 0 && html`<div class="bar results-bar"><span class="summary" role="status">
          <span>${format.plural(items.length, 'item')}${next === undefined ? '' : ', more to come'}</span>
          <span>${format.units(units, 'unit')}</span><span>${format.seconds(ms / 1000)}</span></span>
          <span class="grow"></span><${ExportMenu} items=${items} columns=${columns} name="statement" /></div>
        <${ItemGrid} key=${statement} items=${items} keys=${[]} tableKeys=${[]} selection=${null} onOpen=${null}
          onEnd=${more} isLoading=${isRunning} onColumns=${setColumns} />`}
    </div>`;
}
