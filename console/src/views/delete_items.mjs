// Deletes the selected items, after a question.

import { html, useState } from '../../vendor/htm-preact.mjs';
import { call } from '../lib/api.mjs';
import * as format from '../lib/format.mjs';
import { keyOf, keyText } from '../lib/table_model.mjs';
import { Button, Dialog, ErrorNotice } from '../ui/controls.mjs';

const BATCH_MAX = 25;
const PAUSE_MS = 200;

// Deletes items batch by batch; those that the daemon had no room for come again. `onDeleted(item)`: for each.
async function deleteAll(tableName, keys, items, onDeleted) {
  let left = items.map((item) => ({ item, request: { DeleteRequest: { Key: keyOf(item, keys) } } }));
  while (left.length > 0) {
    const batch = left.slice(0, BATCH_MAX);
    const answer = await call('BatchWriteItem', { RequestItems: { [tableName]: batch.map(({ request }) => request) } });
    const unprocessed = answer.UnprocessedItems?.[tableName] ?? [];
    const again = new Set(unprocessed.map((each) => keyText(each.DeleteRequest.Key)));
    const isAgain = ({ request }) => again.has(keyText(request.DeleteRequest.Key));
    for (const each of batch) if (!isAgain(each)) onDeleted(each.item);
    left = [...batch.filter(isAgain), ...left.slice(BATCH_MAX)];
    if (again.size > 0) await new Promise((resolve) => { setTimeout(resolve, PAUSE_MS); });
  }
}

export function DeleteItems({ tableName, keys, items: selected, onDeleted, onClose }) {
  const [items] = useState(selected);  // whatever becomes of the selection
  const [done, setDone] = useState(null);  // number, once it has begun
  const [error, setError] = useState(null);
  const run = async () => {
    setDone(0);
    try {
      await deleteAll(tableName, keys, items, (item) => {
        onDeleted(item);
        setDone((count) => count + 1);
      });
      onClose();
    } catch (failure) {
      setError(failure);
    }
  };
  const isRunning = done !== null && error === null;
  return html`<${Dialog} title="Delete ${format.plural(items.length, 'item')}" onClose=${onClose} footer=${html`
      <${Button} onClick=${onClose} disabled=${isRunning}>${error ? 'Close' : 'Keep them'}<//>
      ${!error && html`<${Button} kind="danger" disabled=${isRunning} onClick=${run}>Delete from ${tableName}<//>`}`}>
    ${error && html`<${ErrorNotice} error=${error} />`}
    ${done === null
    ? html`<p>The items are deleted as they are now, also if they were changed after they were read.</p>`
    : html`<p role="status">${format.integer(done)} of ${format.integer(items.length)} deleted</p>`}
  <//>`;
}
