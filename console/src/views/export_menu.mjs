// Saves the rows that are shown as a file.

import { html, useState } from '../../vendor/htm-preact.mjs';
import { csv, download, jsonLines } from '../lib/export_rows.mjs';
import * as format from '../lib/format.mjs';
import { Button, Dialog } from '../ui/controls.mjs';

export function ExportMenu({ items, columns, name }) {
  const [isOpen, setIsOpen] = useState(false);
  const save = (suffix, type, content) => {
    download(`${name}.${suffix}`, type, content);
    setIsOpen(false);
  };
  return html`<${Button} disabled=${items.length === 0} onClick=${() => setIsOpen(true)}>Export…<//>
    ${isOpen && html`<${Dialog} title="Export ${format.plural(items.length, 'item')}" onClose=${() => setIsOpen(false)}>
      <p>The rows that were read so far. For a whole table use <code>armature export</code>.</p>
      <div class="bar">
        <${Button} onClick=${() => save('jsonl', 'application/x-ndjson', jsonLines(items))}>JSON lines, typed<//>
        <${Button} onClick=${() => save('csv', 'text/csv', csv(items, columns))}>CSV of the shown columns<//>
      </div><//>`}`;
}
