// The address of a view in the part of the URL behind '#': #/tables/orders/items.

import { Store } from './store.mjs';

const parse = () => location.hash.replace(/^#\/?/, '').split('/').filter((part) => part !== '').map((part) => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
});

export const route = new Store(parse());
addEventListener('hashchange', () => route.set(parse()));

export const href = (...parts) => `#/${parts.map(encodeURIComponent).join('/')}`;
export const go = (...parts) => {
  location.hash = href(...parts);
};
