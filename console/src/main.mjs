// Starts the console.

import { html, render } from '../vendor/htm-preact.mjs';
import { loadSettings, noteDown } from './lib/session.mjs';
import { App } from './views/app.mjs';

if (!(await loadSettings())) noteDown();
const place = document.getElementById('app');
place.replaceChildren();
render(html`<${App} />`, place);
