// The frame of all views: navigation, the state of the connection, the view of the route.

import { html, useEffect } from '../../vendor/htm-preact.mjs';
import { href, route } from '../lib/router.mjs';
import { mustSignIn, session, signOut } from '../lib/session.mjs';
import { useStore } from '../lib/store.mjs';
import { Button, Empty, Loading, Tag } from '../ui/controls.mjs';
import { nextTheme, theme } from '../ui/theme.mjs';
import { Activity } from './activity.mjs';
import { AttentionBar } from './attention.mjs';
import { Backups } from './backups.mjs';
import { CreateTable } from './create_table.mjs';
import { DaemonView } from './daemon.mjs';
import { Jobs } from './jobs.mjs';
import { SignIn } from './sign_in.mjs';
import { Statements } from './statements.mjs';
import { Table } from './table.mjs';
import { Tables } from './tables.mjs';

function viewOf([place = 'tables', name, tab], { is_read_only: isReadOnly }) {
  if (place === 'tables' && name !== undefined) return html`<${Table} key=${name} name=${name} tab=${tab} />`;
  if (place === 'tables') return html`<${Tables} />`;
  if (place === 'create' && !isReadOnly) return html`<${CreateTable} />`;
  if (place === 'partiql' && !isReadOnly) return html`<${Statements} />`;
  if (place === 'backups') return html`<${Backups} />`;
  if (place === 'jobs') return html`<${Jobs} />`;
  if (place === 'activity') return html`<${Activity} />`;
  if (place === 'daemon') return html`<${DaemonView} />`;
  return html`<${Empty} title="There is no such page"><a href=${href('tables')}>Tables</a><//>`;
}

function Side({ place, settings, signer }) {
  const chosen = useStore(theme);
  const links = [
    ['tables', 'Tables'], ...(settings.is_read_only ? [] : [['partiql', 'PartiQL']]), ['backups', 'Backups'],
    ['jobs', 'Jobs'], ['activity', 'Activity'], ['daemon', 'Daemon'],
  ];
  const isIn = (id) => id === place || (id === 'tables' && place === 'create');
  return html`<header class="side">
    <a class="brand" href=${href('tables')} aria-label="Armature"><img src="icon.svg" alt="" /><span>Armature</span></a>
    <nav aria-label="Views">${links.map(([id, text]) =>
      html`<a key=${id} href=${href(id)} aria-current=${isIn(id) ? 'page' : null}>${text}</a>`)}</nav>
    <div class="side-end">
      ${settings.is_read_only && html`<span><${Tag} kind="accent">read-only<//></span>`}
      <span class="mono" title=${location.host}>${location.host}</span>
      ${signer !== null && html`<span class="mono wide-only" title="Access key">${signer.id}</span>`}
      <${Button} kind="bare" onClick=${nextTheme} title="Light, dark, or as the system says">Theme: ${chosen}<//>
      ${signer !== null && html`<${Button} onClick=${signOut}>Sign out<//>`}
    </div>
  </header>`;
}

const titleOf = ([place = 'tables', name]) => ({
  tables: name ?? 'Tables', create: 'Create table', partiql: 'PartiQL', backups: 'Backups', jobs: 'Jobs',
  activity: 'Activity', daemon: 'Daemon',
}[place] ?? 'Armature');

export function App() {
  const state = useStore(session);
  const parts = useStore(route);
  useEffect(() => {
    document.title = `${titleOf(parts)} – Armature`;
  }, [parts]);
  if (state.settings === null) {
    return state.isDown
      ? html`<main><${Empty} title="The daemon does not answer">
          <p>This page asks again every few seconds.</p><//></main>`
      : html`<${Loading} />`;
  }
  if (mustSignIn(state)) return html`<${SignIn} />`;
  return html`<div class="frame">
    <${Side} place=${parts[0] ?? 'tables'} settings=${state.settings} signer=${state.signer} />
    <main class="view">
      ${state.isDown && html`<div class="down"
        role="alert">The daemon does not answer. This page asks again every few seconds.</div>`}
      ${parts[0] !== 'activity' && html`<${AttentionBar} />`}
      ${viewOf(parts, state.settings)}
    </main>
  </div>`;
}
