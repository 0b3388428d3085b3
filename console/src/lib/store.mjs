// A value that views watch.

import { useEffect, useState } from '../../vendor/htm-preact.mjs';

export class Store {
  constructor(value) {
    this.value = value;
    this.watchers = new Set();
  }

  set(value) {
    this.value = value;
    for (const watcher of [...this.watchers]) watcher(value);
  }

  update(members) {
    this.set({ ...this.value, ...members });
  }

  watch(watcher) {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }
}

// The value of a store; the component is drawn again when it changes.
export function useStore(store) {
  const [value, setValue] = useState(store.value);
  useEffect(() => {
    setValue(store.value);
    return store.watch(setValue);
  }, [store]);
  return value;
}
