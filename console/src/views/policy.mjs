// The policy of a table or its stream: who may use it, beside the policies of the daemon's credentials.

import { html, useEffect, useRef, useState } from '../../vendor/htm-preact.mjs';
import { call } from '../lib/api.mjs';
import { parseJson } from '../lib/json.mjs';
import { forgetRights, useRights } from '../lib/rights.mjs';
import { Ask, useAction } from '../ui/actions.mjs';
import { Button, CheckBox, ErrorNotice, Field, Loading, Notice, Select } from '../ui/controls.mjs';
import { useLoad } from '../ui/use_load.mjs';

const BYTES_MAX = 20_480;
const NONE = 'NO_POLICY';

// The policy and its revision: {text, revision}, with the text '' if there is none.
async function readPolicy(arn, signal) {
  try {
    const { Policy: policy, RevisionId: revision } = await call('GetResourcePolicy', { ResourceArn: arn }, { signal });
    return { text: pretty(policy), revision };
  } catch (error) {
    if (error.name === 'PolicyNotFoundException') return { text: '', revision: NONE };
    throw error;
  }
}

// Numbers in policies have no fractions that JSON.parse could lose; a policy is shown as it is if it has.
function pretty(policy) {
  try {
    return JSON.stringify(JSON.parse(policy), null, 2);
  } catch {
    return policy;
  }
}

const template = (arn) => JSON.stringify({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Principal: { AWS: ['KEY-ID'] }, Action: ['dynamodb:GetItem', 'dynamodb:Query'], Resource: arn }],
}, null, 2);

// Throws an Error, with `at` for a place in the text.
function check(text) {
  const value = parseJson(text);
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw Object.assign(new Error('A policy is an object with the member Statement.'), { at: 0 });
  }
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > BYTES_MAX) throw new Error(`A policy has at most ${BYTES_MAX} bytes; this one has ${bytes}.`);
}

// Somebody else was faster. `theirs`: the policy that is there now, once it is read.
function Conflict({ theirs, onShow, onTake }) {
  return html`<${Notice} kind="warning" title="Somebody else has changed the policy">
    <p>Nothing is saved. ${theirs === null ? 'Your text stays here.'
    : 'Below is the policy as it is now. Save once more to put yours in its place.'}</p>
    ${theirs !== null && html`<pre tabindex="0" aria-label="The policy as it is now">${theirs.text || 'none'}</pre>`}
    <div class="bar">${theirs === null && html`<${Button} onClick=${onShow}>Show it<//>`}
      <${Button} onClick=${onTake}>Drop my text<//></div><//>`;
}

function Editor({ arn, policy, may, onReload }) {
  const [base, setBase] = useState(policy);  // as the daemon has it, as far as is known
  const [text, setText] = useState(policy.text);
  const [note, setNote] = useState('');
  const [theirs, setTheirs] = useState(null);
  const [confirms, setConfirms] = useState(false);
  const [isDeleting, setIsDeleting] = useState(false);
  const area = useRef(null);
  const action = useAction();
  const { error } = action;
  useEffect(() => {
    if (error?.at === undefined) return;
    area.current.focus();
    area.current.setSelectionRange(error.at, Math.min(error.at + 1, text.length));
  }, [error]);
  const isLockOut = error !== null && /ConfirmRemoveSelfResourceAccess/.test(error.message);
  const save = async (event) => {
    event.preventDefault();
    setNote('');
    const done = await action.run(async () => {
      check(text);
      const { RevisionId: revision } = await call('PutResourcePolicy', {
        ResourceArn: arn, Policy: text, ExpectedRevisionId: (theirs ?? base).revision,
        ...(confirms ? { ConfirmRemoveSelfResourceAccess: true } : {}) });
      // Text that the user writes meanwhile stays.
      setBase({ text, revision });
    });
    if (!done) return;
    forgetRights();
    setTheirs(null);
    setNote('Saved.');
  };
  const atText = error !== null && (error.at !== undefined || error.name === 'ValidationException' || error.name === 'Error')
    ? error.message : null;
  const isConflict = error?.name === 'PolicyNotFoundException';
  const canSave = may('PutResourcePolicy');
  return html`<form class="subject-form policy" onSubmit=${save}>
    <${Field} label="Policy as JSON" error=${atText}
      hint=${base.revision === NONE ? 'There is no policy.' : `Revision ${base.revision}`}>${(id) =>
      html`<textarea id=${id} ref=${area} class="editor" spellcheck=${false} readonly=${!canSave} value=${text}
        aria-invalid=${atText ? 'true' : null} onInput=${(event) => {
    setText(event.target.value);
    setNote('');
  }}></textarea>`}<//>
    ${isConflict && html`<${Conflict} theirs=${theirs} onShow=${async () => setTheirs(await readPolicy(arn))}
      onTake=${onReload} />`}
    ${error && !isConflict && atText === null && html`<${ErrorNotice} error=${error} />`}
    ${(isLockOut || confirms) && html`<${CheckBox} label="I know that I may not change it afterwards" checked=${confirms}
      onChange=${setConfirms} />`}
    <div class="bar">
      ${canSave && html`<${Button} kind="main" type="submit"
        disabled=${action.isRunning || text === base.text || text.trim() === ''}>Save the policy<//>`}
      ${canSave && text.trim() === '' && html`<${Button} onClick=${() => setText(template(arn))}>Begin with an example<//>`}
      ${may('DeleteResourcePolicy') && base.revision !== NONE && html`<${Button} kind="danger"
        onClick=${() => setIsDeleting(true)}>Delete…<//>`}
      <span role="status">${note}</span></div>
    ${isDeleting && html`<${Ask} title="Delete the policy" button="Delete the policy" keep="Keep it"
      work=${() => call('DeleteResourcePolicy', { ResourceArn: arn, ExpectedRevisionId: base.revision })}
      onClose=${() => setIsDeleting(false)} onDone=${() => {
    setIsDeleting(false);
    forgetRights();
    onReload();
  }}><p>Then the policies of the daemon's credentials decide alone.</p><//>`}
  </form>`;
}

export function Policy({ table }) {
  const may = useRights(table.TableName);
  const [isOfStream, setIsOfStream] = useState(false);
  const [turn, setTurn] = useState(0);
  const arn = isOfStream ? table.LatestStreamArn : table.TableArn;
  const { data, error, isLoading } = useLoad(
    async (signal) => ({ arn, turn, ...await readPolicy(arn, signal) }), [arn, turn]);
  const again = () => setTurn(turn + 1);
  const isCurrent = data !== null && data.arn === arn;
  return html`<div class="view-body"><div class="section">
    ${table.LatestStreamArn !== undefined && html`<${Select} aria-label="Policy of" class="short"
      value=${isOfStream ? 'stream' : 'table'} options=${[['table', 'the table'], ['stream', 'its stream']]}
      onChange=${(name) => setIsOfStream(name === 'stream')} />`}
    <p class="hint">It gives or takes rights on <span class="mono">${arn}</span>, beside the policies of the daemon's
      credentials file. A denial counts, whoever says it.</p>
    ${error && html`<${ErrorNotice} error=${error} retry=${again} />`}
    ${!isCurrent && !error && isLoading && html`<${Loading} />`}
    ${isCurrent && html`<${Editor} key=${`${arn} ${data.turn}`} arn=${arn} policy=${data} may=${may}
      onReload=${again} />`}
  </div></div>`;
}
