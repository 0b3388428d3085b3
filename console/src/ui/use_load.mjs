// The result of an asynchronous function, for a view.

import { useCallback, useEffect, useState } from '../../vendor/htm-preact.mjs';
import { session } from '../lib/session.mjs';
import { useStore } from '../lib/store.mjs';

// Calls `load(signal)` at once, when `dependencies` change, and when the daemon has come back. An older call is
// aborted.
// {data, error, isLoading, reload}; `data` of an earlier call stays while the next one runs.
export function useLoad(load, dependencies) {
  const [state, setState] = useState({ data: null, error: null, isLoading: true });
  const [turn, setTurn] = useState(0);
  const { generation } = useStore(session);
  useEffect(() => {
    const controller = new AbortController();
    setState((old) => ({ ...old, isLoading: true }));
    load(controller.signal).then(
      (data) => !controller.signal.aborted && setState({ data, error: null, isLoading: false }),
      (error) => !controller.signal.aborted && setState({ data: null, error, isLoading: false }));
    return () => controller.abort();
  }, [...dependencies, turn, generation]);
  const reload = useCallback(() => setTurn((old) => old + 1), []);
  return { ...state, reload };
}
