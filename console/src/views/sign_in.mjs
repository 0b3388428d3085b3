// Asks for an access key. The secret is never stored: it ends with the page.

import { html, useState } from '../../vendor/htm-preact.mjs';
import { call } from '../lib/api.mjs';
import { session, signIn } from '../lib/session.mjs';
import { canSign, Signer } from '../lib/sigv4.mjs';
import { useStore } from '../lib/store.mjs';
import { Button, ErrorNotice, Field, Notice, TextInput } from '../ui/controls.mjs';

export function SignIn() {
  const { isDown } = useStore(session);
  const [id, setId] = useState('');
  const [secret, setSecret] = useState('');
  const [error, setError] = useState(null);
  const submit = async (event) => {
    event.preventDefault();
    setError(null);
    try {
      await tryKey(id.trim(), secret);
    } catch (failure) {
      setError(failure);
    }
  };
  return html`<main class="sign-in"><form onSubmit=${submit}>
    <h1><img src="icon.svg" alt="" /> Armature</h1>
    <p class="hint">${location.host}</p>
    ${isDown && html`<${Notice} kind="warning">The daemon does not answer. This page asks again every few seconds.<//>`}
    ${!canSign() && html`<${Notice} kind="error" title="Signing in is not possible here">
      Browsers sign requests only on pages that came over TLS or from this machine. Open the console by https://, or by
      http://localhost.<//>`}
    ${error && html`<${ErrorNotice} error=${error} title="The daemon does not accept this key" />`}
    <${Field} label="Access key">${(field) =>
      html`<${TextInput} id=${field} value=${id} onInput=${setId} autocomplete="username" autofocus required />`}<//>
    <${Field} label="Secret" hint="Kept in memory only: signing in is needed again after a reload.">${(field) =>
      html`<${TextInput} id=${field} type="password" value=${secret} onInput=${setSecret}
        autocomplete="current-password"
        required />`}<//>
    <${Button} kind="main" type="submit" disabled=${!canSign() || id === '' || secret === ''}>Sign in<//>
  </form></main>`;
}

// A key without the right to ListTables is a key nevertheless.
async function tryKey(id, secret) {
  const signer = await Signer.make(id, secret);
  try {
    await call('ListTables', { Limit: 1 }, { signer });
  } catch (error) {
    if (error.name !== 'AccessDeniedException') throw error;
  }
  signIn(signer);
}
