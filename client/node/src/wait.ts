// Waits for background work of the daemon, by polling with growing pauses.

import type { Client } from './client';
import { DeadlineExceededError, ResourceNotFoundException } from './errors';
import { checkMembers, Names } from './known';
import type { IndexStatus as TableIndexStatus } from './generated/types';

export interface WaitOptions {
  /** Milliseconds until the wait fails with DeadlineExceededError. Default 60,000. */
  timeoutMs?: number;
  signal?: AbortSignal;
}

const NAMES: Names<WaitOptions> = { timeoutMs: true, signal: true };

const TIMEOUT_MS = 60_000;
const PAUSE_INITIAL_MS = 5;
const PAUSE_MAX_MS = 500;

type Call = { timeoutMs: number; signal?: AbortSignal };

/** Calls `probe` until it gives nothing. It gives the condition that is not met. */
async function waitFor(client: Client, options: WaitOptions, probe: (call: Call) => Promise<string | undefined>): Promise<void> {
  checkMembers('the options of a wait', options, NAMES);
  const deadline = Date.now() + (options.timeoutMs ?? TIMEOUT_MS);
  for (let pause = PAUSE_INITIAL_MS; ; pause = Math.min(pause * 2, PAUSE_MAX_MS)) {
    const timeoutMs = Math.max(1, Math.min(client.caller.timeoutMs, deadline - Date.now()));
    const missing = await probe({ timeoutMs, ...(options.signal === undefined ? {} : { signal: options.signal }) });
    if (missing === undefined) return;
    if (Date.now() + pause >= deadline) throw new DeadlineExceededError(missing, { code: 'DEADLINE_EXCEEDED' });
    await client.caller.pause(pause, options.signal);
  }
}

export async function forTable(client: Client, tableName: string, options: WaitOptions = {}): Promise<void> {
  await waitFor(client, options, async (call) => {
    try {
      const { table } = await client.describeTable({ tableName }, call);
      if (table?.tableStatus !== 'ACTIVE') return `the table ${tableName} is ${table?.tableStatus}`;
      const index = table.globalSecondaryIndexes.find(({ indexStatus }) => indexStatus !== ('ACTIVE' satisfies TableIndexStatus));
      return index === undefined ? undefined : `the index ${index.indexName} is ${index.indexStatus}`;
    } catch (error) {
      if (error instanceof ResourceNotFoundException) return `the table ${tableName} does not exist`;
      throw error;
    }
  });
}

export async function forTableGone(client: Client, tableName: string, options: WaitOptions = {}): Promise<void> {
  await waitFor(client, options, async (call) => {
    try {
      const { table } = await client.describeTable({ tableName }, call);
      return `the table ${tableName} is still ${table?.tableStatus}`;
    } catch (error) {
      if (error instanceof ResourceNotFoundException) return undefined;
      throw error;
    }
  });
}

export async function forIndexes(client: Client, tableName: string, sequence: bigint | undefined, options: WaitOptions = {}): Promise<void> {
  let wanted = sequence;
  await waitFor(client, options, async (call) => {
    const { indexes } = await client.listIndexStatus({ tableName }, call);
    wanted ??= indexes.reduce((last, { logSequence }) => (logSequence > last ? logSequence : last), 0n);
    for (const { kind, state, indexName, appliedSequence } of indexes) {
      if (kind !== 'GLOBAL') continue;
      if (state !== 'ACTIVE') return `the index ${indexName} is ${state}`;
      if (appliedSequence < wanted) return `the index ${indexName} is at sequence ${appliedSequence} of ${wanted}`;
    }
    return undefined;
  });
}

export async function forBackup(client: Client, backupArn: string, options: WaitOptions = {}): Promise<void> {
  await waitFor(client, options, async (call) => {
    const { backupDescription } = await client.describeBackup({ backupArn }, call);
    const status = backupDescription?.backupDetails?.backupStatus;
    return status === 'AVAILABLE' ? undefined : `the backup ${backupArn} is ${status}`;
  });
}
