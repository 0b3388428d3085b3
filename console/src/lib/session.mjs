// The state of this page's connection to its daemon. Nothing of it is stored, so a secret ends with the page.

import { Store } from './store.mjs';

// settings: of daemon.json, null until it has arrived. signer: null without a sign-in. isDown: the daemon did not
// answer the last request. generation: grows when the daemon has come back, so that views read again.
export const session = new Store({ settings: null, signer: null, isDown: false, generation: 0 });

// How far the daemon's clock is ahead of the browser's, in milliseconds: signatures are valid for minutes only.
let clockAheadMs = 0;
export const daemonTime = () => new Date(Date.now() + clockAheadMs);

const RETRY_MS = 1500;
const SECOND_MS = 1000;
let retry = null;

// Reads daemon.json. Returns false if the daemon does not answer.
export async function loadSettings() {
  try {
    const answer = await fetch('daemon.json', { cache: 'no-store' });
    if (!answer.ok) return false;
    const date = Date.parse(answer.headers.get('date') ?? '');
    const ahead = Number.isNaN(date) ? 0 : date - Date.now();
    clockAheadMs = Math.abs(ahead) > 2 * SECOND_MS ? ahead : 0;
    const settings = await answer.json();
    const { isDown, generation } = session.value;
    session.update({ settings, isDown: false, generation: generation + (isDown ? 1 : 0) });
    return true;
  } catch {
    return false;
  }
}

// A page that nobody sees asks nothing.
function becomesVisible() {
  if (document.visibilityState === 'visible') return null;
  return new Promise((resolve) => { document.addEventListener('visibilitychange', resolve, { once: true }); });
}

// Call it when a request got no answer: asks until the daemon is back.
export function noteDown() {
  if (!session.value.isDown) session.update({ isDown: true });
  if (retry !== null) return;
  retry = setTimeout(async () => {
    await becomesVisible();
    retry = null;
    if (!(await loadSettings())) noteDown();
  }, RETRY_MS);
}

export const mustSignIn = ({ settings, signer }) => settings !== null && settings.needs_key && signer === null;
export const signIn = (signer) => session.update({ signer });
export const signOut = () => session.update({ signer: null });
