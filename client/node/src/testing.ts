// A daemon for tests: on a temporary directory, on free ports of this machine.
//
//     import { start } from '@armaturedb/client/testing';
//     const daemon = await start();
//     const client = daemon.client();
//     ...
//     await daemon.stop();

import { ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { Client } from './client';
import type { ClientOptions } from './options';

export interface StartOptions {
  /** Path of `armatured`. Default: the environment variable ARMATURED, then the one on the PATH. */
  binary?: string;
  /** Flags of the daemon, such as "--durability=os". */
  flags?: readonly string[];
  /** Data directory, which stays. Absent: a temporary one, which `stop` removes. */
  dataDir?: string;
  /** Address for gRPC. Default: a free port of 127.0.0.1. It stays the same over restarts. */
  listen?: string;
  /** Milliseconds until the daemon must serve. Default 30,000. */
  timeoutMs?: number;
}

const TIMEOUT_MS = 30_000;

interface Running {
  process: ChildProcess;
  exited: Promise<void>;
  address: string;
}

async function run(options: StartOptions, dataDir: string, listen: string): Promise<Running> {
  const binary = options.binary ?? process.env['ARMATURED'] ?? 'armatured';
  const flags = [`--data_dir=${dataDir}`, `--grpc_listen=${listen}`, '--http_listen=off', ...(options.flags ?? [])];
  const child = spawn(binary, flags, { stdio: ['ignore', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-4096)));
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => {
      child.kill('SIGKILL');
      reject(new Error(`${binary}: ${why}\n${errors}`));
    };
    const timer = setTimeout(() => fail('does not serve in time'), options.timeoutMs ?? TIMEOUT_MS);
    child.once('error', (error) => (clearTimeout(timer), fail(error.message)));
    const ended = (code: number | null): void => (clearTimeout(timer), fail(`has ended with ${code}`));
    child.once('close', ended);
    createInterface({ input: child.stdout }).on('line', (line) => {
      const address = /^ready .*?grpc=(\S+)/.exec(line)?.[1];
      if (address === undefined) return;
      clearTimeout(timer);
      child.removeListener('close', ended);
      resolve({ process: child, exited, address });
    });
  });
}

/** A running daemon. */
export class TestDaemon {
  private readonly clients: Client[] = [];
  private readonly stopWithProcess = (): void => void this.running?.process.kill('SIGKILL');

  /** @internal */
  constructor(
    private readonly options: StartOptions,
    readonly dataDir: string,
    private readonly isTemporary: boolean,
    private running: Running | undefined,
    /** Address for clients, such as "127.0.0.1:40213". */
    readonly address: string,
  ) {
    process.once('exit', this.stopWithProcess);
  }

  /** A new client, which `stop` closes. */
  client(options?: ClientOptions): Client {
    const client = new Client(this.address, options);
    this.clients.push(client);
    return client;
  }

  /** Number of the daemon's process, or undefined if it does not run. */
  get pid(): number | undefined {
    return this.running?.process.pid;
  }

  /** Sends a signal to the daemon. */
  signal(name: NodeJS.Signals): void {
    this.running?.process.kill(name);
  }

  /** Ends the daemon as a crash does, and waits for its end. The data stay. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  /** Starts the daemon again, after `kill`, with the same data and address. */
  async restart(): Promise<void> {
    await this.end('SIGKILL');
    this.running = await run(this.options, this.dataDir, this.address);
  }

  /** Ends the daemon cleanly, and waits for its end. The data stay. */
  async shutDown(): Promise<void> {
    await this.end('SIGTERM');
  }

  /** Closes all clients, ends the daemon, and removes a temporary directory. */
  async stop(): Promise<void> {
    for (const client of this.clients) client.close();
    await this.end('SIGTERM');
    process.removeListener('exit', this.stopWithProcess);
    if (this.isTemporary) await rm(this.dataDir, { recursive: true, force: true });
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const { running } = this;
    if (running === undefined) return;
    this.running = undefined;
    running.process.kill(signal);
    await running.exited;
  }
}

/** Starts a daemon and waits until it serves. */
export async function start(options: StartOptions = {}): Promise<TestDaemon> {
  const isTemporary = options.dataDir === undefined;
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'armature-test-')));
  try {
    const running = await run(options, dataDir, options.listen ?? '127.0.0.1:0');
    return new TestDaemon(options, dataDir, isTemporary, running, running.address);
  } catch (error) {
    if (isTemporary) await rm(dataDir, { recursive: true, force: true });
    throw error;
  }
}
