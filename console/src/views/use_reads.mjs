// Pages of a Query or a Scan, one after another.

import { useRef, useState } from '../../vendor/htm-preact.mjs';
import { call } from '../lib/api.mjs';
import { isSame } from '../lib/values.mjs';

// Pages without a single item, after which the user is asked whether to read on: a filter may fit nothing in a table of
// millions.
const EMPTY_PAGES_MAX = 5;

const NOTHING = {
  operation: null, request: null, items: [], scanned: 0, units: 0, ms: 0, isLoading: false, isDone: false,
  isPaused: false, error: null,
};

// Returns [reads, start(operation, request), more(), replace(keys, key, item)]. `more` reads the next page, if there is
// one. `replace` puts an item in the place of the one with this key, or removes that; a new item comes first, unless an
// index is read, which may not have it.
export function useReads() {
  const [reads, setReads] = useState(NOTHING);
  const current = useRef(NOTHING);
  const controller = useRef(null);
  const put = (members) => {
    current.current = { ...current.current, ...members };
    setReads(current.current);
  };

  const page = async (signal, startKey) => {
    const { operation, request } = current.current;
    const begin = performance.now();
    const answer = await call(operation, {
      ...request, ReturnConsumedCapacity: 'TOTAL', ...(startKey === undefined ? {} : { ExclusiveStartKey: startKey }),
    }, { signal });
    const { items, scanned, units, ms } = current.current;
    put({
      items: answer.Items.length === 0 ? items : [...items, ...answer.Items], scanned: scanned + answer.ScannedCount,
      units: units + (answer.ConsumedCapacity?.CapacityUnits ?? 0), ms: ms + performance.now() - begin,
      next: answer.LastEvaluatedKey, isDone: answer.LastEvaluatedKey === undefined,
    });
    return answer.Items.length;
  };

  const readOn = async () => {
    const { signal } = controller.current;
    put({ isLoading: true, isPaused: false, error: null });
    try {
      let empty = 0;
      while (empty < EMPTY_PAGES_MAX) {
        const count = await page(signal, current.current.next);
        if (count > 0 || current.current.isDone) break;
        empty += 1;
      }
      put({ isLoading: false, isPaused: empty === EMPTY_PAGES_MAX });
    } catch (error) {
      if (!signal.aborted) put({ isLoading: false, error });
    }
  };

  const start = (operation, request) => {
    controller.current?.abort();
    controller.current = new AbortController();
    current.current = { ...NOTHING, operation, request };
    readOn();
  };
  const more = () => {
    const { isLoading, isDone, request } = current.current;
    if (request !== null && !isLoading && !isDone) readOn();
  };
  const replace = (keys, key, item) => {
    const isIt = (each) => keys.every(({ name }) => isSame(each[name], key[name]));
    const { items, request } = current.current;
    if (item === null) put({ items: items.filter((each) => !isIt(each)) });
    else if (items.some(isIt)) put({ items: items.map((each) => (isIt(each) ? item : each)) });
    else if (request.IndexName === undefined) put({ items: [item, ...items] });
  };
  return [reads, start, more, replace];
}
