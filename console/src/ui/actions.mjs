// Changes: a form for each subject, a question where a change cannot be taken back, and what came of it.

import { html, useEffect, useRef, useState } from '../../vendor/htm-preact.mjs';
import { Button, Dialog, ErrorNotice, Field, TextInput } from './controls.mjs';

// {isRunning, error, run(work), clear()}. `run` returns true if the work has ended well. One at a time.
export function useAction() {
  const [state, setState] = useState({ isRunning: false, error: null });
  const running = useRef(false);
  const isGone = useRef(false);
  useEffect(() => () => { isGone.current = true; }, []);
  const put = (next) => !isGone.current && setState(next);
  const run = async (work) => {
    if (running.current) return false;
    running.current = true;
    put({ isRunning: true, error: null });
    try {
      await work();
      put({ isRunning: false, error: null });
      return true;
    } catch (error) {
      put({ isRunning: false, error });
      return false;
    } finally {
      running.current = false;
    }
  };
  return { ...state, run, clear: () => put({ isRunning: running.current, error: null }) };
}

// A question before a change. `work`: makes the change; its error is shown here. `word`: to be typed first, or nothing.
export function Ask({ title, button, kind = 'danger', word, work, onDone, onClose, children, keep = 'Cancel' }) {
  const action = useAction();
  const [typed, setTyped] = useState('');
  const isReady = (word === undefined || typed === word) && !action.isRunning;
  const submit = async (event) => {
    event.preventDefault();
    if (isReady && await action.run(work)) onDone();
  };
  return html`<${Dialog} title=${title} onClose=${onClose} footer=${html`
      <${Button} onClick=${onClose}>${keep}<//>
      <${Button} kind=${kind} type="submit" form="ask" disabled=${!isReady}>${button}<//>`}>
    <form id="ask" onSubmit=${submit}>
      ${children}
      ${word !== undefined && html`<${Field} label="Type ${word} to confirm">${(id) =>
        html`<${TextInput} id=${id} value=${typed} onInput=${setTyped} autofocus />`}<//>`}
      ${action.error && html`<${ErrorNotice} error=${action.error} />`}
    </form>
  <//>`;
}

// One subject of the settings: its state in words, and its form. `error`: one that belongs to no field.
export function Subject({ title, state, error, children, id }) {
  return html`<section class="subject" aria-label=${title} id=${id}>
    <h2>${title}</h2>
    <div class="subject-state">${state}</div>
    ${children}
    ${error && html`<${ErrorNotice} error=${error} />`}
  </section>`;
}

// The text of an error at its field.
export const errorText = (error) => (error === null || error === undefined ? null : error.message);

const HINTS = {
  ResourceInUseException: 'The table is being changed just now. This form can be sent again when it is active.',
  LimitExceededException: 'The daemon takes one change of indexes at a time. Try again when the other has ended.',
};
// Advice about an error of a change, or nothing.
export const hintOf = (error) => HINTS[error?.name] ?? null;
