// A table's definition as code.

import { html } from '../../vendor/htm-preact.mjs';
import { TABLE_FORMS } from '../lib/table_code.mjs';
import { creationOf } from '../lib/table_model.mjs';
import { CodeForms } from '../ui/controls.mjs';

export const formsOfTable = (request) =>
  Object.fromEntries(Object.entries(TABLE_FORMS).map(([name, write]) => [name, () => write(request)]));

export function Definition({ table }) {
  return html`<div class="view-body"><div class="section">
    <p class="hint">A table with the same key and indexes. Multi-attribute keys in Terraform need a version of its AWS
      provider that knows <code>key_schema</code> blocks.</p>
    <${CodeForms} label="Definition" forms=${formsOfTable(creationOf(table))} />
  </div></div>`;
}
