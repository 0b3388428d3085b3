// One table: its items, its structure, its definition as code.

import { html, useEffect } from '../../vendor/htm-preact.mjs';
import { call } from '../lib/api.mjs';
import { go, href } from '../lib/router.mjs';
import { ErrorNotice, Loading, Status, Tabs } from '../ui/controls.mjs';
import { useLoad } from '../ui/use_load.mjs';
import { Items } from './items.mjs';
import { Structure } from './structure.mjs';
import { Definition } from './definition.mjs';

const POLL_MS = 2000;
const TABS = [['items', 'Items'], ['structure', 'Structure'], ['definition', 'Definition']];

// The table changes by itself until it and its indexes are active.
const isChanging = (table) => table.TableStatus !== 'ACTIVE' ||
  (table.GlobalSecondaryIndexes ?? []).some((index) => index.IndexStatus !== 'ACTIVE');

export function Table({ name, tab = 'items' }) {
  const { data, error, reload } = useLoad(async (signal) =>
    (await call('DescribeTable', { TableName: name }, { signal })).Table, [name]);
  useEffect(() => {
    if (data === null || !isChanging(data)) return undefined;
    const timer = setTimeout(reload, POLL_MS);
    return () => clearTimeout(timer);
  }, [data]);
  const gone = () => go('tables');
  return html`
    <div class="view-head"><h1>${name}</h1>${data && html`<${Status} value=${data.TableStatus} />`}</div>
    <${Tabs} label="Table" current=${tab}
      tabs=${TABS.map(([id, text]) => ({ id, text, href: href('tables', name, id) }))} />
    ${error && html`<div class="view-body"><br /><${ErrorNotice} error=${error} retry=${reload} /></div>`}
    ${data === null && !error && html`<div class="view-body"><${Loading} /></div>`}
    ${data !== null && tab === 'items' && html`<${Items} table=${data} />`}
    ${data !== null && tab === 'structure' && html`<${Structure} table=${data} onChange=${reload} onDelete=${gone} />`}
    ${data !== null && tab === 'definition' && html`<${Definition} table=${data} />`}`;
}
