// The operations that the user may do, so that nothing else is offered. The daemon decides again at each call.

import { useEffect, useState } from '../../vendor/htm-preact.mjs';
import { fetchRights } from './api.mjs';
import { session } from './session.mjs';
import { useStore } from './store.mjs';

const NOTHING = Object.assign(() => false, { isKnown: false });

// The answers of this sign-in, by the table's name.
let known = { signer: undefined, generation: -1, byTable: new Map() };

function rightsOf(tableName, { signer, generation, settings }) {
  if (known.signer !== signer || known.generation !== generation) known = { signer, generation, byTable: new Map() };
  const { byTable } = known;
  if (!byTable.has(tableName)) {
    byTable.set(tableName, fetchRights(tableName).then(
      ({ Operations: operations }) => {
        const permitted = new Set(operations);
        return Object.assign((operation) => permitted.has(operation), { isKnown: true });
      },
      () => {
        byTable.delete(tableName);
        return Object.assign(() => !settings.is_read_only, { isKnown: true });
      }));
  }
  return byTable.get(tableName);
}

// A function of an operation's name: true if the user may do it on the table. tableName '': operations about no single
// table. Until the answer has come, nothing is permitted, and its `isKnown` is false.
export function useRights(tableName) {
  const state = useStore(session);
  const [may, setMay] = useState(() => NOTHING);
  useEffect(() => {
    let isGone = false;
    rightsOf(tableName, state).then((found) => !isGone && setMay(() => found));
    return () => { isGone = true; };
  }, [tableName, state.signer, state.generation]);
  return may;
}

// After a change of a policy.
export const forgetRights = () => { known = { signer: undefined, generation: -1, byTable: new Map() }; };
