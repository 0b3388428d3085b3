// One table: a tab for each subject.

import { html } from '../../vendor/htm-preact.mjs';
import { call } from '../lib/api.mjs';
import { useRepeat } from '../lib/pace.mjs';
import { go, href } from '../lib/router.mjs';
import { ErrorNotice, Loading, Status, Tabs } from '../ui/controls.mjs';
import { useLoad } from '../ui/use_load.mjs';
import { TableBackups } from './backups.mjs';
import { Items } from './items.mjs';
import { Policy } from './policy.mjs';
import { Settings } from './settings.mjs';
import { Stream } from './stream.mjs';
import { Structure } from './structure.mjs';
import { Definition } from './definition.mjs';

const POLL_MS = 2000;
const TABS = [
  ['items', 'Items', Items], ['structure', 'Structure', Structure], ['settings', 'Settings', Settings],
  ['stream', 'Stream', Stream], ['backups', 'Backups', TableBackups], ['policy', 'Policy', Policy],
  ['definition', 'Definition', Definition],
];

// The table changes by itself until it and its indexes are active.
const isChanging = (table) => table.TableStatus !== 'ACTIVE' ||
  (table.GlobalSecondaryIndexes ?? []).some((index) => index.IndexStatus !== 'ACTIVE');

export function Table({ name, tab = 'items' }) {
  const { data, error, reload } = useLoad(async (signal) =>
    (await call('DescribeTable', { TableName: name }, { signal })).Table, [name]);
  useRepeat(() => reload(), data !== null && isChanging(data) ? POLL_MS : null, [name]);
  const found = TABS.find(([id]) => id === tab);
  const gone = () => go('tables');
  return html`
    <div class="view-head"><h1>${name}</h1>${data && html`<${Status} value=${data.TableStatus} />`}</div>
    <${Tabs} label="Table" current=${tab}
      tabs=${TABS.map(([id, text]) => ({ id, text, href: href('tables', name, id) }))} />
    ${error && html`<div class="view-body"><br /><${ErrorNotice} error=${error} retry=${reload} /></div>`}
    ${data === null && !error && html`<div class="view-body"><${Loading} /></div>`}
    ${data !== null && found && html`<${found[2]} key=${tab} table=${data} onChange=${reload} onDelete=${gone} />`}`;
}
