// Small parts of all views.

import { html, useEffect, useRef, useState } from '../../vendor/htm-preact.mjs';

export function Button({ kind = 'plain', type = 'button', children, ...rest }) {
  return html`<button type=${type} class="button ${kind}" ...${rest}>${children}</button>`;
}

let lastId = 0;
export const useId = () => useState(() => {
  lastId += 1;
  return `id${lastId}`;
})[0];

// A label above its control. `children`: function of the control's id.
export function Field({ label, hint, error, children, narrow }) {
  const id = useId();
  return html`<div class="field ${narrow ? 'narrow' : ''}">
    <label for=${id}>${label}</label>
    ${children(id)}
    ${error ? html`<div class="field-error" role="alert">${error}</div>` : hint && html`<div
      class="hint">${hint}</div>`}
  </div>`;
}

export function Select({ value, options, onChange, ...rest }) {
  return html`<select value=${value} onChange=${(event) => onChange(event.target.value)} ...${rest}>
    ${options.map((each) => {
      const [key, text] = Array.isArray(each) ? each : [each, each];
      return html`<option key=${key} value=${key} selected=${key === value}>${text}</option>`;
    })}
  </select>`;
}

export function TextInput({ value, onInput, ...rest }) {
  return html`<input type="text" autocomplete="off" spellcheck=${false} autocapitalize="off" value=${value}
    onInput=${(event) => onInput(event.target.value)} ...${rest} />`;
}

export function CheckBox({ label, checked, onChange, ...rest }) {
  return html`<label class="check"><input type="checkbox" checked=${checked}
    onChange=${(event) => onChange(event.target.checked)} ...${rest} /> ${label}</label>`;
}

export const Tag = ({ kind = '', children, ...rest }) => html`<span class="tag ${kind}" ...${rest}>${children}</span>`;

const STATUS_KINDS = {
  ACTIVE: 'good', AVAILABLE: 'good', COMPLETED: 'good', ENABLED: 'good', CREATING: 'busy', UPDATING: 'busy',
  IN_PROGRESS: 'busy', CANCELLING: 'busy', COMPLETED_WITH_ERRORS: 'busy', CANCELLED: 'off', DISABLED: 'off',
  DELETING: 'bad',
};
export const Status = ({ value }) => html`<span
  class="status ${STATUS_KINDS[value] ?? 'bad'}">${value.toLowerCase().replaceAll('_', ' ')}</span>`;

export function Notice({ kind = 'info', title, children }) {
  return html`<div class="notice ${kind}" role=${kind === 'error' ? 'alert' : 'status'}>
    ${title && html`<strong>${title}</strong>`}<div class="notice-body">${children}</div></div>`;
}

// An error of the daemon or of this page. `retry`: function, or nothing.
export function ErrorNotice({ error, retry, title }) {
  const isDenied = error.name === 'AccessDeniedException';
  const name = error.name === 'NoAnswer' || error.name === 'Error' ? null : error.name;
  return html`<${Notice} kind="error" title=${title ?? (isDenied ? 'Your access key does not permit this' : name)}>
    <div class="error-text">${error.message}</div>
    ${error.requestId && html`<div class="hint">Request ${error.requestId}</div>`}
    ${retry && html`<${Button} onClick=${retry}>Try again<//>`}
  <//>`;
}

export function Empty({ title, children }) {
  return html`<div class="empty"><h2>${title}</h2>${children}</div>`;
}

export const Loading = ({ children = 'Loading' }) => html`<div class="loading" role="status">${children}…</div>`;

// A modal dialog. Escape and the button in its corner call onClose.
export function Dialog({ title, onClose, wide, children, footer }) {
  const id = useId();
  const element = useRef(null);
  useEffect(() => {
    const { current } = element;
    if (!current.open) current.showModal();
    current.querySelector('[autofocus]')?.focus();
    return () => current.close();
  }, []);
  const cancel = (event) => {
    event.preventDefault();
    onClose();
  };
  return html`<dialog ref=${element} class=${wide ? 'wide' : ''} aria-labelledby=${id} onCancel=${cancel}>
    <header><h2 id=${id}>${title}</h2>
      <${Button} kind="bare" aria-label="Close" onClick=${onClose}><span aria-hidden="true">✕</span><//></header>
    <div class="dialog-body">${children}</div>
    ${footer && html`<footer>${footer}</footer>`}
  </dialog>`;
}

// Links that are one choice of several views.
export function Tabs({ label, tabs, current }) {
  const element = useRef(null);
  // On a narrow screen there is no room for all of them.
  useEffect(() => element.current.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' }),
    [current]);
  return html`<nav class="tabs" aria-label=${label} ref=${element}>
    ${tabs.map(({ id, text, href }) => html`<a key=${id} href=${href}
      aria-current=${id === current ? 'page' : null}>${text}</a>`)}
  </nav>`;
}

// Buttons of which one is chosen.
export function Choice({ label, options, value, onChange }) {
  return html`<div class="choice" role="group" aria-label=${label}>
    ${options.map((each) => {
      const [key, text] = Array.isArray(each) ? each : [each, each];
      return html`<button type="button" key=${key} aria-pressed=${key === value ? 'true' : 'false'}
        onClick=${() => onChange(key)}>${text}</button>`;
    })}
  </div>`;
}

// The clipboard API exists in secure contexts only.
async function copy(text) {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  (document.querySelector('dialog[open]') ?? document.body).append(area);
  area.select();
  document.execCommand('copy');
  return area.remove();
}

export function CopyButton({ text, label = 'Copy' }) {
  const [state, setState] = useState(label);
  const timer = useRef(null);
  useEffect(() => () => clearTimeout(timer.current), []);
  const click = async () => {
    try {
      await copy(text);
      setState('Copied');
    } catch {
      setState('Not permitted');
    }
    timer.current = setTimeout(() => setState(label), 1500);
  };
  return html`<${Button} onClick=${click} aria-live="polite">${state}<//>`;
}

// One text in several forms: {name: function without arguments}.
export function CodeForms({ label, forms }) {
  const [name, setName] = useState(Object.keys(forms)[0]);
  const text = forms[name]();
  return html`<div class="code-forms">
    <div class="bar"><${Choice} label=${label} options=${Object.keys(forms)} value=${name} onChange=${setName} />
      <${CopyButton} text=${text} /></div>
    <pre tabindex="0" aria-label="${label}: ${name}">${text}</pre>
  </div>`;
}
