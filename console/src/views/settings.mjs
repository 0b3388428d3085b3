// Changes of a table in use, one form a subject. A subject that the user may not change is shown without a form.

import { html, useEffect, useState } from '../../vendor/htm-preact.mjs';
import { call } from '../lib/api.mjs';
import { isOnDemand, STREAM_VIEWS, streamChange, tagChanges, throughputChange, throughputChoice }
  from '../lib/changes.mjs';
import * as format from '../lib/format.mjs';
import { useRights } from '../lib/rights.mjs';
import { href } from '../lib/router.mjs';
import { Ask, errorText, hintOf, Subject, useAction } from '../ui/actions.mjs';
import { Button, ErrorNotice, Field, Loading, Select, TextInput } from '../ui/controls.mjs';
import { useLoad } from '../ui/use_load.mjs';
import { replaced } from './index_form.mjs';
import { IndexSettings } from './index_settings.mjs';

const MODES = [['PAY_PER_REQUEST', 'on demand'], ['PROVISIONED', 'provisioned']];
const TAGS_MAX = 50;

// The last line of a form: its button, and what can be done about its error.
function FormEnd({ action, button, isUnchanged = false, children }) {
  const hint = hintOf(action.error);
  return html`${hint && html`<p class="hint">${hint}</p>`}
    <div class="bar"><${Button} type="submit" disabled=${action.isRunning || isUnchanged}>${button}<//>${children}</div>`;
}

function useForm(action, work, onDone) {
  return async (event) => {
    event.preventDefault();
    if (await action.run(work)) onDone();
  };
}

function throughputText(table) {
  if (!isOnDemand(table)) {
    const { ReadCapacityUnits: read, WriteCapacityUnits: write } = table.ProvisionedThroughput;
    return `Provisioned: ${read} read units and ${write} write units a second. Requests beyond are throttled.`;
  }
  const { maxRead, maxWrite } = throughputChoice(table);
  const most = [maxRead && `${maxRead} read units`, maxWrite && `${maxWrite} write units`].filter(Boolean).join(' and ');
  return most === '' ? 'On demand: requests are not throttled.' : `On demand, at most ${most} a second.`;
}

const UNIT_FIELDS = {
  PROVISIONED: [['read', 'Read units a second'], ['write', 'Write units a second']],
  PAY_PER_REQUEST: [['maxRead', 'Most read units a second'], ['maxWrite', 'Most write units a second']],
};

function Throughput({ table, may, onChange }) {
  const now = throughputChoice(table);
  const signature = JSON.stringify(now);
  const [choice, setChoice] = useState(now);
  useEffect(() => setChoice(JSON.parse(signature)), [signature]);
  const action = useAction();
  const submit = useForm(action, async () => {
    const request = throughputChange(table, choice);
    if (request !== null) await call('UpdateTable', request);
  }, onChange);
  const isRead = /read/i.test(action.error?.message ?? '');
  const number = ([name, label], i) => html`<${Field} key=${name} label=${label} narrow
    hint=${choice.mode === 'PAY_PER_REQUEST' ? 'Empty: no limit.' : undefined}
    error=${i === (isRead ? 0 : 1) && action.error?.name === 'Error' ? errorText(action.error) : null}>${(id) =>
    html`<${TextInput} id=${id} inputmode="numeric" value=${choice[name]}
      onInput=${(text) => setChoice({ ...choice, [name]: text })} />`}<//>`;
  const indexUnits = (name) => (field) => html`<${TextInput} inputmode="numeric"
    aria-label="${name}, ${field} units" value=${choice.indexes[name][field]}
    onInput=${(text) => setChoice({
    ...choice, indexes: { ...choice.indexes, [name]: { ...choice.indexes[name], [field]: text } } })} />`;
  return html`<${Subject} title="Throughput" id="throughput" state=${throughputText(table)}>
    ${may('UpdateTable') && html`<form class="subject-form" onSubmit=${submit}>
      <${Field} label="Billing" error=${action.error?.name === 'Error' ? null : errorText(action.error)}>${(id) =>
        html`<${Select} id=${id} value=${choice.mode} options=${MODES}
          onChange=${(mode) => setChoice({ ...choice, mode })} />`}<//>
      <div class="bar top">${UNIT_FIELDS[choice.mode].map(number)}</div>
      ${choice.mode === 'PROVISIONED' && Object.keys(choice.indexes).map((name) => html`<div class="unit-row"
        key=${name}><span class="mono">${name}</span>${['read', 'write'].map(indexUnits(name))}</div>`)}
      <${FormEnd} action=${action} button="Change the throughput"
        isUnchanged=${JSON.stringify(choice) === signature} /></form>`}
  <//>`;
}

function Stream({ table, may, onChange }) {
  const { StreamEnabled: isOn = false, StreamViewType: current } = table.StreamSpecification ?? {};
  const [view, setView] = useState('NEW_AND_OLD_IMAGES');
  const [isAsking, setIsAsking] = useState(false);
  const action = useAction();
  const submit = useForm(action, () => call('UpdateTable', streamChange(table, view)), onChange);
  const state = isOn
    ? html`On, with ${format.words(current)}. <a href=${href('tables', table.TableName, 'stream')}>Follow it</a>`
    : 'Off. Changes of items are not recorded.';
  return html`<${Subject} title="Stream of changes" id="stream" state=${state}>
    ${may('UpdateTable') && !isOn && html`<form class="subject-form" onSubmit=${submit}>
      <${Field} label="Images in the records" error=${errorText(action.error)}
        hint="They are kept for 24 hours.">${(id) => html`<${Select} id=${id} value=${view} options=${STREAM_VIEWS}
          onChange=${setView} />`}<//>
      <${FormEnd} action=${action} button="Turn the stream on" /></form>`}
    ${may('UpdateTable') && isOn && html`<div class="bar"><${Button} kind="danger"
        onClick=${() => setIsAsking(true)}>Turn the stream off…<//>
      <span class="hint">For other images, turn it off and on again.</span></div>`}
    ${isAsking && html`<${Ask} title="Turn the stream off" button="Turn it off" keep="Keep it on"
      work=${() => call('UpdateTable', streamChange(table, ''))} onClose=${() => setIsAsking(false)}
      onDone=${() => {
    setIsAsking(false);
    onChange();
  }}><p>Changes from then on are not recorded. Programs that read the stream get what is there for 24 hours, and must
      begin with a new stream when it is turned on again.</p><//>`}
  <//>`;
}

function Expiry({ table, may, onChange }) {
  const name = table.TableName;
  const { data, error, reload } = useLoad(async (signal) =>
    (await call('DescribeTimeToLive', { TableName: name }, { signal })).TimeToLiveDescription, [name]);
  const [attribute, setAttribute] = useState('');
  const [isAsking, setIsAsking] = useState(false);
  const action = useAction();
  const change = (isEnabled, attributeName) => call('UpdateTimeToLive', {
    TableName: name, TimeToLiveSpecification: { Enabled: isEnabled, AttributeName: attributeName } });
  const changed = () => {
    reload();
    onChange();
  };
  const submit = useForm(action, () => change(true, attribute.trim()), changed);
  if (data === null) {
    return html`<${Subject} title="Expiry of items" id="expiry" error=${error} state=${error ? '' : html`<${Loading} />`} />`;
  }
  const isOn = data.TimeToLiveStatus.startsWith('ENABL');
  const state = isOn
    ? html`On: an item is deleted after the time in its attribute <b class="mono">${data.AttributeName}</b>.`
    : 'Off. Items stay until they are deleted.';
  return html`<${Subject} title="Expiry of items" id="expiry" state=${state}>
    ${may('UpdateTimeToLive') && !isOn && html`<form class="subject-form" onSubmit=${submit}>
      <${Field} label="Attribute with the time" error=${errorText(action.error)}
        hint="A number: seconds since 1970. Items whose time is over already are deleted, too.">${(id) =>
        html`<${TextInput} id=${id} value=${attribute} onInput=${setAttribute} />`}<//>
      <${FormEnd} action=${action} button="Turn the expiry on" isUnchanged=${attribute.trim() === ''} /></form>`}
    ${may('UpdateTimeToLive') && isOn && html`<div class="bar"><${Button}
      onClick=${() => setIsAsking(true)}>Turn the expiry off…<//></div>`}
    ${isAsking && html`<${Ask} title="Turn the expiry off" button="Turn it off" kind="main" keep="Keep it on"
      work=${() => change(false, data.AttributeName)} onClose=${() => setIsAsking(false)}
      onDone=${() => {
    setIsAsking(false);
    changed();
  }}><p>Items stay from then on, also those whose time is over.</p><//>`}
  <//>`;
}

function Protection({ table, may, onChange }) {
  const isOn = table.DeletionProtectionEnabled === true;
  const action = useAction();
  const submit = useForm(action, () => call('UpdateTable', {
    TableName: table.TableName, DeletionProtectionEnabled: !isOn }), onChange);
  return html`<${Subject} title="Protection from deletion" id="protection" error=${action.error}
    state=${isOn ? 'On: the table cannot be deleted.' : 'Off.'}>
    ${may('UpdateTable') && html`<form class="subject-form" onSubmit=${submit}>
      <${FormEnd} action=${action} button=${isOn ? 'Take the protection away' : 'Protect the table'} /></form>`}
  <//>`;
}

// All tags of a resource, as {key, value}.
async function readTags(arn, signal) {
  const tags = [];
  let token;
  do {
    const answer = await call('ListTagsOfResource', { ResourceArn: arn, ...(token ? { NextToken: token } : {}) },
      { signal });
    tags.push(...(answer.Tags ?? []).map(({ Key: key, Value: value }) => ({ key, value })));
    token = answer.NextToken;
  } while (token !== undefined && tags.length < 10 * TAGS_MAX);
  return tags;
}

function TagRow({ tag, number, error, onChange, onRemove }) {
  return html`<div class="tag-row"><${TextInput} aria-label="Key ${number}" value=${tag.key}
      aria-invalid=${error ? 'true' : null} onInput=${(key) => onChange({ ...tag, key })} />
    <${TextInput} aria-label="Value ${number}" value=${tag.value} onInput=${(value) => onChange({ ...tag, value })} />
    <${Button} kind="bare" aria-label="Remove tag ${number}" onClick=${onRemove}><span aria-hidden="true">✕</span><//>
    ${error && html`<div class="field-error" role="alert">${error}</div>`}</div>`;
}

function TagForm({ arn, before, may, onDone }) {
  const [tags, setTags] = useState(before);
  const action = useAction();
  const submit = useForm(action, async () => {
    const { put, removed } = tagChanges(before, tags);
    if (removed.length > 0) await call('UntagResource', { ResourceArn: arn, TagKeys: removed });
    if (put.length > 0) await call('TagResource', { ResourceArn: arn, Tags: put });
  }, onDone);
  const { error } = action;
  const isUnchanged = JSON.stringify(tags) === JSON.stringify(before);
  return html`<form class="subject-form" onSubmit=${submit}>
    ${tags.map((tag, i) => html`<${TagRow} key=${i} tag=${tag} number=${i + 1}
      error=${error?.row === i ? error.message : null}
      onChange=${(next) => setTags(replaced(tags, i, next))}
      onRemove=${() => setTags(tags.filter((_, j) => j !== i))} />`)}
    ${error && error.row === undefined && html`<${ErrorNotice} error=${error} />`}
    <${FormEnd} action=${action} button="Save the tags" isUnchanged=${isUnchanged}>
      ${may('TagResource') && tags.length < TAGS_MAX && html`<${Button}
        onClick=${() => setTags([...tags, { key: '', value: '' }])}>Add a tag<//>`}
    <//></form>`;
}

function Tags({ table, may }) {
  const arn = table.TableArn;
  const { data, error, reload } = useLoad((signal) => readTags(arn, signal), [arn]);
  const [turn, setTurn] = useState(0);
  const saved = () => {
    setTurn(turn + 1);
    reload();
  };
  const canChange = may('TagResource') && may('UntagResource');
  const state = data === null ? (!error && html`<${Loading} />`)
    : data.length === 0 ? 'There is none.' : format.plural(data.length, 'tag');
  return html`<${Subject} title="Tags" id="tags" state=${state} error=${error}>
    ${data !== null && canChange && html`<${TagForm} key=${`${turn} ${JSON.stringify(data)}`} arn=${arn}
      before=${data} may=${may} onDone=${saved} />`}
    ${data !== null && !canChange && html`<dl class="facts-list">${data.map(({ key, value }) => html`<div
      key=${key}><dt>${key}</dt><dd>${value}</dd></div>`)}</dl>`}
  <//>`;
}

export function Settings({ table, onChange }) {
  const may = useRights(table.TableName);
  const parts = { table, may, onChange };
  return html`<div class="view-body"><div class="section settings">
    <${IndexSettings} ...${parts} />
    <${Throughput} ...${parts} />
    <${Stream} ...${parts} />
    <${Expiry} ...${parts} />
    <${Protection} ...${parts} />
    <${Tags} ...${parts} />
  </div></div>`;
}
