// Batches of reads of any size.

import type { Client } from './client';
import { ThrottlingError } from './errors';
import type { KeysAndAttributes } from './generated/types';
import type { CallOptions } from './options';
import type { Item } from './values';

const KEYS_MAX = 100;

/** Keys by table, as many as needed. */
export interface BatchGetter {
  [table: string]: KeysAndAttributes;
}

interface Wanted {
  table: string;
  key: KeysAndAttributes['keys'][number];
}

function requestOf(wanted: readonly Wanted[], request: BatchGetter): BatchGetter {
  const items: BatchGetter = {};
  for (const { table, key } of wanted) (items[table] ??= { ...request[table], keys: [] }).keys.push(key);
  return items;
}

/** The items of all keys, by table, in no order. */
export async function batchGet(client: Client, request: BatchGetter, options?: CallOptions): Promise<{ [table: string]: Item[] }> {
  const found: { [table: string]: Item[] } = {};
  let wanted: Wanted[] = [];
  for (const [table, { keys }] of Object.entries(request)) {
    found[table] = [];
    wanted.push(...keys.map((key) => ({ table, key })));
  }
  const { retry } = client.caller;
  for (let fruitless = 0; wanted.length > 0; ) {
    const asked = wanted.slice(0, KEYS_MAX);
    const answer = await client.batchGetItem({ requestItems: requestOf(asked, request) }, options);
    for (const [table, items] of Object.entries(answer.responses)) (found[table] ??= []).push(...items);
    const left = Object.entries(answer.unprocessedKeys ?? {}).flatMap(([table, { keys }]) => keys.map((key) => ({ table, key })));
    wanted = [...left, ...wanted.slice(KEYS_MAX)];
    fruitless = left.length === asked.length ? fruitless + 1 : 0;
    if (fruitless >= retry.attempts) {
      throw new ThrottlingError('the daemon takes no reads now', { code: 'RESOURCE_EXHAUSTED', notApplied: true });
    }
    if (left.length > 0) await client.caller.pause(retry.backoffMs(Math.max(fruitless, 1)), options?.signal);
  }
  return found;
}
