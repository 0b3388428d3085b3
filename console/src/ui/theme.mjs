// Light or dark: as the system says, or as the user has chosen in this browser.

import { Store } from '../lib/store.mjs';

const KEY = 'armature-theme';
const THEMES = ['system', 'light', 'dark'];

function stored() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;  // storage is switched off
  }
}

export const theme = new Store(THEMES.includes(stored()) ? stored() : 'system');

function apply(name) {
  if (name === 'system') document.documentElement.removeAttribute('data-theme');
  else document.documentElement.setAttribute('data-theme', name);
}

export function nextTheme() {
  const name = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length];
  try {
    localStorage.setItem(KEY, name);
  } catch {
    // It lasts as long as the page.
  }
  apply(name);
  theme.set(name);
}

apply(theme.value);
