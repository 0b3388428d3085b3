// Trouble in words, with a link to its place, at the top of every view.

import { html } from '../../vendor/htm-preact.mjs';
import { useRepeat } from '../lib/pace.mjs';
import { useRights } from '../lib/rights.mjs';
import { href } from '../lib/router.mjs';
import { useStore } from '../lib/store.mjs';
import { readTrouble, trouble } from '../lib/trouble.mjs';

const EVERY_MS = 30_000;
const SHOWN = 3;

const Line = ({ severity, text, place }) => html`<li class=${severity}>
  <a href=${href(...place)}>${text}</a></li>`;

// All of it, for the view Activity.
export function Attention({ found }) {
  if (found.length === 0) return html`<p class="calm" role="status">Nothing needs attention.</p>`;
  return html`<div role="status"><ul class="attention">${found.map((each) => html`<${Line} key=${each.text}
    ...${each} />`)}</ul></div>`;
}

// The worst of it.
export function AttentionBar() {
  const may = useRights('');
  const { found } = useStore(trouble);
  useRepeat(readTrouble, may('admin:GetMetrics') ? EVERY_MS : null, [may]);
  if (found === null || found.length === 0 || !may('admin:GetMetrics')) return null;
  const rest = found.length - SHOWN;
  return html`<div class="bar-of-view" role="status" aria-label="Needs attention"><ul class="attention">
    ${found.slice(0, SHOWN).map((each) => html`<${Line} key=${each.text} ...${each} />`)}
    ${rest > 0 && html`<li><a href=${href('activity')}>${rest} more</a></li>`}</ul></div>`;
}
